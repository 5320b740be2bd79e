// Texts of the screens for developers, of the sandbox and of the system.

export const DEVELOPER_TEXTS = {
  actions: 'Actions',
  event: 'Event',
  request: 'Request',
  job: 'Job',
  details: 'Details',
  data: 'Data',
  deliveries: 'Deliveries',
  showData: 'Show the data',
  resend: 'Resend',
  rotate: 'Rotate keys',
  retire: 'Retire',
  createToken: 'Create API token',
  revoke: 'Revoke',
  retry: 'Retry',
  retryDead: 'Retry dead jobs',
  cancel: 'Cancel job',
  pause: 'Pause',
  resume: 'Resume',
  noDeliveries: 'No webhook endpoint receives this event.',
  noEndpoints: 'This platform has no webhook endpoint.',
  selectSandbox: 'Select a sandbox platform to advance its clock and to load data.',
  clock: 'Clock',
  clockText:
    'Advances the clock of this platform and executes the work that becomes due. If one request ' +
    'cannot execute all of it, the clock stops before the target.',
  advanceClock: 'Advance clock',
  /** By duration in ISO 8601. */
  advances: { PT1H: '+1 hour', P1D: '+1 day', P2D: '+2 days', P7D: '+1 week' },
  worldDone:
    'The world `business` is built in the background. The clock shows its progress. ' +
    'The other worlds are complete.',
  worlds: {
    WORLD: {
      title: 'Worlds',
      text: 'Customers, accounts and payments that are created by real requests.',
      load: 'Load',
    },
    SCENARIO: {
      title: 'Scenarios',
      text: 'Each scenario produces one result and can be run any number of times.',
      load: 'Run',
    },
  },
  import: 'Import',
  importErrors: 'Rejected rows',
  noImportErrors: 'No row was rejected.',
  reset: 'Reset platform',
  process: 'Process',
  installation: 'Installation',
  database: 'Database',
} as const;
