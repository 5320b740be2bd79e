// Permissions of the operator API. Roles are sets of permissions (features/staff/roles).

/** Descriptions of the permissions. */
export const OPERATOR_PERMISSIONS = {
  'accounts.read': 'Read internal accounts, their balances and history',
  'accounts.manage': 'Close accounts and refresh funding instructions',
  'agents.read': 'Read agents, their policies and their audit entries',
  'agents.manage': 'Pause, resume and revoke agents',
  'approvals.read': 'Read changes that a second person must approve',
  'approvals.decide':
    'Approve or reject changes for whose operation the operator has the permission',
  'audit.read': 'Read, verify and export the audit records of operators',
  'authentication.read': 'Read factors and lockouts of customers',
  'authentication.manage': 'Unlock customers and decide resets of lost factors',
  'cards.read': 'Read cards, their payments and decisions',
  'cards.manage': 'Decide exceptions of card payments',
  'customers.read': 'Find customers and read their state, without personal data',
  'customers.decide': 'Decide verifications and imports',
  'customers.erase': 'Erase the personal data of a customer',
  'external-accounts.decide': 'Review external accounts',
  'jobs.read': 'Read jobs',
  'jobs.manage': 'Retry jobs',
  'keys.manage': 'Rotate and retire the keys that sign webhooks',
  'ledger.read': 'Read postings and verify the books',
  'limits.manage': 'Change sending limits',
  'messages.read': 'Read the status of messages to customers',
  'payments.read': 'Read payments, deposits, held funds and funds in suspense',
  'payments.decide': 'Release or reject held deposits',
  'payments.settle': 'Record the results of manual payouts, deposits and returns',
  'personal-data.reveal': 'Show personal data. Each use is recorded',
  'platforms.read': 'Read platforms, their settings, limits and tokens',
  'platforms.manage': 'Create platforms and change their settings',
  'profile.manage': 'Read and change your own sign-in methods and sessions',
  'providers.read': 'Read providers, their routes and the messages that they sent',
  'providers.manage': 'Add, check, pause and resume providers, rotate their keys and change routes',
  'reconciliation.read': 'Read statements of providers, differences and balances at providers',
  'reconciliation.manage':
    'Request and compare statements, decide differences and close days of providers',
  'requests.read': 'Read recorded requests',
  'requests.manage': 'Enable the retention of bodies of production requests',
  'sandbox.manage': 'Change the clock of a sandbox platform, create its fixtures and reset it',
  'stablecoins.read': 'Read stablecoins, mints and burns',
  'stablecoins.manage': 'Approve, reject and disable stablecoins',
  'staff.read': 'Read users, sessions, operator tokens and roles',
  'staff.manage':
    'Create, change and recover users, end their sessions, and manage operator tokens',
  'tokens.manage': 'Create and revoke API tokens of platforms',
  'wallets.read': 'Read embedded wallets, their authorizations and recoveries',
  'wallets.manage': 'Start and cancel recoveries of embedded wallets',
  'webhooks.read': 'Read events, deliveries and signing keys',
  'webhooks.manage': 'Resend events',
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
