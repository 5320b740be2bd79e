// Permissions of the operator API. Roles are sets of permissions (features/staff/roles).

/** Descriptions of the permissions. */
export const OPERATOR_PERMISSIONS = {
  'accounts.read': 'Read internal and external accounts, their balances and history',
  'accounts.manage':
    'Freeze, unfreeze and close accounts, record and retry failed openings, refresh funding details',
  'agents.read': 'Read agents, their policies and their audit entries',
  'agents.manage': 'Pause and resume agents',
  'approvals.read': 'Read changes that a second person must approve',
  'approvals.decide':
    'Approve or reject changes for whose operation the operator has the permission',
  'audit.read': 'Read, verify and export the audit records of operators, and read archives',
  'authentication.read': 'Read factors and lockouts of customers',
  'authentication.manage': 'Unlock customers and decide resets of lost factors',
  'cards.read': 'Read cards, their payments and decisions',
  'cards.manage':
    'Close cards, decide exceptions of card payments and record results of funding debits',
  'customers.read':
    'Find customers and read their state, imports and erasures, without personal data',
  'customers.decide': 'Read verification cases with personal data, and decide them',
  'customers.erase': 'Erase the personal data of a customer',
  'external-accounts.decide': 'Check, review, disable and reactivate external accounts',
  'jobs.read': 'Read jobs',
  'jobs.manage': 'Retry and cancel jobs, recount payment metrics and apply the retention',
  'keys.manage': 'Rotate and retire the keys that sign webhooks',
  'ledger.read': 'Read and export postings and balances, and verify the ledger',
  'limits.manage': 'Set and remove the payment limits of platforms',
  'messages.read': 'Read the status of messages to customers',
  'payments.read': 'Read payments, quotes, payment metrics and held deposits',
  'payments.decide': 'Release or reject held deposits',
  'payments.settle':
    'Record deposits, results of manual transfers, mints and burns, and settle funds in suspense',
  'personal-data.reveal': 'Show personal data. Each use is recorded',
  'platforms.read':
    'Read platforms, their settings, limits and tokens, and the state of the installation',
  'platforms.manage': 'Create platforms and change their settings',
  'profile.manage': 'Read and change your own sign-in methods and sessions',
  'providers.read': 'Read providers, their health, their routes and the messages that they sent',
  'providers.manage':
    'Add, check, pause and resume providers, change their keys, terms, balances and routes',
  'reconciliation.read': 'Read statements of providers, differences and balances at providers',
  'reconciliation.manage':
    'Request and compare statements, decide differences and close days of providers',
  'requests.read': 'Read recorded requests',
  'requests.manage': 'Enable the retention of bodies of production requests',
  'sandbox.manage': 'Change the clock of a sandbox platform, create its fixtures and reset it',
  'stablecoins.read': 'Read stablecoins, mints and burns',
  'stablecoins.manage': 'Approve, reject and disable stablecoins',
  'staff.read': 'Read users, sessions, operator tokens, roles and approval policies',
  'staff.manage':
    'Create, change and recover users, end sessions, and manage operator tokens and approval policies',
  'tokens.manage': 'Create and revoke API tokens of platforms',
  'wallets.read': 'Read embedded wallets, their authorizations and recoveries',
  'wallets.manage': 'Start and cancel recoveries of embedded wallets',
  'webhooks.read': 'Read events, deliveries, webhook endpoints and signing keys',
  'webhooks.manage': 'Resend events, and pause and resume webhook endpoints',
} as const;

export const OPERATOR_ROLE_NAMES = [
  'viewer',
  'support',
  'compliance',
  'treasury',
  'developer',
  'administrator',
] as const;

export type OperatorRole = (typeof OPERATOR_ROLE_NAMES)[number];

export type OperatorPermission = keyof typeof OPERATOR_PERMISSIONS;

export const OPERATOR_PERMISSION_NAMES = Object.keys(
  OPERATOR_PERMISSIONS,
) as readonly OperatorPermission[];
