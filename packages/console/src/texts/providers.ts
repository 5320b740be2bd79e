// Texts of providers, their routes and their messages.

const plural = (count: number, singular: string, pluralForm: string) =>
  `${count.toLocaleString()} ${count === 1 ? singular : pluralForm}`;

const routes = (count: number) => plural(count, 'route selects', 'routes select');

export const PROVIDER_TEXTS = {
  provider: 'Provider',
  providers:
    'Banks and processors that execute transfers and provide services. A provider receives transfers ' +
    'after a successful check, and only those for which a route selects it. Built-in connectors execute ' +
    'all other transfers.',
  noProviders: 'There is no provider. The built-in rail executes all transfers.',
  add: 'Add provider',
  addDone:
    'The provider must accept the key of Railhead before the first check. The page of the provider shows ' +
    'the key and the address for its messages.',
  next: 'Continue',
  offers: 'Offers',
  types: { GATEWAY: 'Provider', BUILT_IN: 'Built in' },
  availability: 'Availability',
  availabilities: {
    available: 'Available',
    unavailable: 'Unavailable',
    unchecked: 'Not checked',
    failed: 'Check failed',
  },
  states: {
    available: 'This provider receives the transfers for which a route selects it.',
    paused:
      'This provider is paused and receives no new transfers. Transfers in progress continue.',
    unavailable:
      'Calls to this provider fail, so its routes are skipped until a call succeeds again.',
    unchecked: 'This provider receives no transfers until a check has read its offers.',
  },
  problem: 'The last check failed:',
  details: 'Details',
  capabilities: 'Offers',
  noCapabilities: 'Not known. Check the provider to read its offers.',
  offersNothing: 'The provider has no offers.',
  cancelable: 'Transfers can be canceled before they are executed.',
  notCancelable: 'Transfers cannot be canceled.',
  services: {
    account_check: 'Checks external accounts and the names of their owners.',
    rates: 'Reports mid rates.',
    identity: 'Verifies customers.',
    email: 'Sends e-mails.',
    sms: 'Sends text messages.',
  } as Readonly<Record<string, string>>,
  funding: (currencies: string) => `Provides account details for deposits in ${currencies}.`,
  cards: 'Issues cards.',
  statements: 'Returns statements of past days on request.',
  anyCurrency: 'all currencies',
  offer: (kinds: string, currencies: string, rails: string) =>
    `${kinds} in ${currencies} over ${rails}`,
  receivers: (countries: string) => `to accounts in ${countries}`,
  limits: (limits: string) => `${limits} each`,
  from: (amount: string) => `from ${amount}`,
  upTo: (amount: string) => `up to ${amount}`,
  between: (min: string, max: string) => `from ${min} to ${max}`,
  address: 'Address for messages of this provider',
  addressText:
    'The provider sends signed messages to this address. If Railhead has a public URL, the host is that of ' +
    'the public URL.',
  ownKeys: 'Keys of Railhead',
  ownKeysText:
    'Calls to the provider are signed with a key of this installation, which the provider must accept.',
  own: {
    current: 'Signs calls',
    next: 'Signs later. Register it with the provider first.',
    former: 'No longer signs',
  },
  providerKeys: 'Keys of the provider',
  providerKeysText:
    'Messages of the provider are accepted if they are signed with one of these keys.',
  accepted: 'Accepted',
  acceptedUntil: 'Accepted until its retirement',
  publicKey: 'public key',
  check: 'Check',
  pause: 'Pause',
  resume: 'Resume',
  rotate: 'Rotate key',
  addKey: 'Add key',
  routes: 'Routes',
  messages: 'Recent messages',
  allMessages: 'All messages',
  noMessages: 'This provider has sent no messages.',
  consequences: {
    check: 'One signed call requests the offers of the provider. Transfers are not affected.',
    pause: (count: number) =>
      `${routes(count)} this provider. Affected new transfers go to the next matching route, or to the ` +
      'built-in rail. New transfers of other providers are not affected.',
    pauseNone: 'No route selects this provider, so no transfer is affected.',
    resume: (count: number) =>
      `${routes(count)} this provider. Affected new transfers go to this provider again.`,
    rotate:
      'The new key is shown immediately. It signs calls after the overlap, or after five seconds if ' +
      'there is no overlap. Register the new key with the provider during the overlap. Otherwise the ' +
      'provider rejects calls, and transfers are delayed.',
    addKey:
      'Messages with the new key are accepted immediately. After the overlap, messages with an ' +
      'earlier key are rejected.',
    deleteRoute:
      'New transfers of this route go to the next matching route, or to the built-in rail. Transfers that ' +
      'were sent keep their provider.',
    deleteService: 'The next route of this service applies, or the settings of the server.',
  },
  routesText:
    'In the order of priority and cost, the first matching route selects the provider of a new transfer. ' +
    'A route is skipped if its provider is paused or unavailable, does not offer the transfer, or has no ' +
    'sufficient limit or balance.',
  noRoutes: 'There is no route. The built-in rail executes all transfers.',
  noRoutesOfProvider: 'No route selects this provider.',
  addRoute: 'Add route',
  deleteRoute: 'Delete',
  appliesTo: 'Applies to',
  use: 'For',
  builtIn: 'Built-in rail',
  allTransfers: 'All transfers',
  kinds: {
    payout: 'Payouts',
    debit: 'Debits',
    refund: 'Refunds',
    card: 'Cards',
    account_check: 'Account checks',
    rates: 'Rates',
    identity: 'Identity checks',
    funding: 'Account details for deposits',
    email: 'E-mails',
    sms: 'Text messages',
    rail: 'Transfers',
    names: 'Names of payees',
    mail: 'E-mails',
    uma: 'UMA addresses',
    networkFees: 'Network fees',
    liveness: 'Liveness checks',
    contractWallets: 'Contract wallets',
    oidc: 'Sign-in',
    walletScript: 'Wallet script',
    issuer: 'Cards',
    mint: 'Stablecoins',
  } as Readonly<Record<string, string>>,
  inCurrency: (currency: string) => `in ${currency}`,
  overRail: (rail: string) => `over ${rail}`,
  ofPlatform: (name: string) => `of ${name}`,
  choice:
    'Shows the provider to which a new transfer would be routed now, and why. No transfer is sent.',
  explain: 'Explain',
  platformField: 'Platform that sends the transfer.',
  environmentField: 'Environment of the platform.',
  kindField: 'Kind of transfer.',
  railField: 'Rail of the transfer. Not set if the payment specifies no rail.',
  currencyField: 'Currency of the transfer, such as EUR.',
  countryField: 'Country of the external account, such as DE. Not set if unknown.',
  amountField: 'Amount of the transfer.',
  transfer: 'Transfer',
  result: 'Result',
  executes: (provider: string) => `${provider} would execute this transfer.`,
  builtInByRoute: 'A route selects the built-in rail for this transfer.',
  builtInByDefault:
    'The built-in rail would execute this transfer, because no route selects a provider.',
  noRouteAtAll: 'There is no route.',
  priority: (priority: number) => `Priority ${priority}`,
  marks: { selected: 'Selected', skipped: 'Skipped', unused: 'Not needed' },
  verdicts: {
    SELECTED: 'The first route that matches and whose provider can execute the transfer.',
    LOWER_PRIORITY: 'Matches, but an earlier route is selected.',
    OTHER_TRANSFERS: 'Applies to other transfers.',
    PROVIDER_PAUSED: 'The provider is paused.',
    NOT_OFFERED: 'The provider does not offer this transfer.',
    UNAVAILABLE: 'The provider is unavailable, because calls currently fail.',
    OVER_LIMIT: 'The amount exceeds the limit of the provider for one transfer.',
    OVER_DAILY_LIMIT: 'The amount exceeds the remaining daily limit of the provider.',
    OVER_BALANCE: 'The prefunded balance at the provider is too low or unknown.',
    HIGHER_COST: 'Matches, but a route with the same priority costs less.',
  } as Readonly<Record<string, string>>,
  costs: (cost: string) => `Cost: ${cost}.`,
  arrives: (day: string) => `Expected on ${day}.`,
  mismatch: (condition: string) => `Applies to other transfers: ${condition}.`,
  mismatches: {
    environment: (value: string) => `those of the environment ${value}`,
    platform: (value: string) => `those of ${value}`,
    kind: (value: string) => `${value}`,
    rail: (value: string) => `those over ${value}`,
    currency: (value: string) => `those in ${value}`,
    country: (value: string) => `those to accounts in ${value}`,
    amount: (value: string) => `those ${value}`,
  },
  pausedBy: {
    SYSTEM: 'Paused automatically, as the terms of the provider require.',
    OPERATOR: 'Paused by an operator.',
  },
  since: 'Since',
  health: 'Health',
  healthText: 'Calls to the provider and results of its transfers, over all server processes.',
  windows: { 5: '5 minutes', 60: '1 hour', 1440: '1 day' } as Readonly<Record<number, string>>,
  minutes: (count: number) => plural(count, 'minute', 'minutes'),
  window: 'Period',
  calls: 'Calls',
  errorRate: 'Failed calls',
  average: 'Average',
  fast: 'Within 500 ms',
  results: 'Results',
  successRate: 'Success rate',
  returnRate: 'Return rate',
  ms: (value: number) => `${value.toLocaleString()} ms`,
  terms: 'Limits and times',
  noTerms: 'No limits, cut-off times, prefunding or automatic pause.',
  changeTerms: 'Change terms',
  perTransfer: (amount: string) => `At most ${amount} for each transfer.`,
  perDay: (amount: string) => `At most ${amount} on each day (UTC).`,
  cutOff: (rail: string, time: string, zone: string) => `Cut-off of ${rail}: ${time} (${zone}).`,
  prefunded: (currency: string) =>
    `Prefunded in ${currency}: payouts and refunds need an available balance.`,
  alertBelow: (amount: string) => `Alert below ${amount}.`,
  errorPause: (percent: number, minimum: number, window: string) =>
    `Paused automatically if more than ${percent} % of at least ${minimum} calls within ${window} fail.`,
  returnPause: (percent: number, minimum: number, window: string) =>
    `Paused automatically if more than ${percent} % of at least ${minimum} settled transfers within ` +
    `${window} are returned.`,
  resumesItself:
    'Resumed automatically when the provider responds again after a pause for failed calls.',
  prefunding: 'Prefunded balances',
  setBalance: 'Set balance',
  low: 'Low',
  enough: 'Sufficient',
  chosen: 'Provider',
  chosenBy: (provider: string, priority: number) =>
    `${provider}, by the route with priority ${priority}`,
  chosenByDefault: (provider: string) => `${provider}, because no route was selected`,
  consideredRoutes: 'Routes at that time, with the reasons',
  messagesText:
    'Messages that providers sent. Rejected messages are invalid. Contradictory messages were not applied ' +
    'and need a decision by an operator.',
  noMessagesAtAll: 'No provider has sent a message.',
  file: {
    text:
      'One file with the providers and routes of this installation, for another installation or for a ' +
      'repository. It contains public keys and no secret.',
    exportTitle: 'Export',
    exportText: 'Importing this file into the same installation has no effect.',
    export: 'Export file',
    importTitle: 'Import',
    importText:
      'Providers of the file are added or changed. Others are unchanged. If the file contains routes, they ' +
      'replace all routes. The changes are listed before the import.',
    choose: 'File',
    comparing: 'Comparing …',
    nothing: 'The file contains no changes.',
    wouldChange: (count: number) =>
      `${plural(count, 'change', 'changes')} of providers, keys and routes:`,
    more: (count: number) => `The first ${count.toLocaleString()} changes are listed.`,
    import: 'Import file',
    subjects: {
      PROVIDER: (id: string) => `the provider ${id}`,
      KEY: (id: string) => `the key ${id}`,
      ROUTE: (fields: string) => `the route ${fields}`,
    },
    actions: {
      ADD: (subject: string) => `Adds ${subject}.`,
      CHANGE: (subject: string) => `Changes ${subject}.`,
      REMOVE: (subject: string) => `Removes ${subject}.`,
    },
    changes: (
      field: string,
      subject: string,
      before: string | undefined,
      after: string | undefined,
    ) => `Changes ${field} of ${subject} from ${before ?? 'nothing'} to ${after ?? 'nothing'}.`,
  },
} as const;
