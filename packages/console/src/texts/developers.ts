// Texts of events, webhooks, requests, keys and jobs.

export const DEVELOPER_TEXTS = {
  actions: 'Actions',
  event: 'Event',
  request: 'Request',
  job: 'Job',
  details: 'Details',
  data: 'Data',
  deliveries: 'Deliveries',
  showData: 'Show the data',
  pending:
    'Deliveries that are pending on all platforms. Select a platform to see all of its deliveries.',
  resend: 'Resend',
  rotate: 'Rotate keys',
  retire: 'Retire',
  createToken: 'Create API token',
  revoke: 'Revoke',
  retry: 'Retry',
  retryDead: 'Retry dead jobs',
  cancel: 'Cancel job',
} as const;
