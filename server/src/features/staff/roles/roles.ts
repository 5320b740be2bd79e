// Roles of operators: sets of permissions.
import {
  OPERATOR_PERMISSION_NAMES,
  OPERATOR_ROLE_NAMES,
  type OperatorPermission,
  type OperatorRole,
} from '../../../kernel/contract/operator-permissions.ts';

/**
 * Permissions of every role: the user's own sign-in methods, and reads without personal data. Reading
 * users, operator tokens and audit records is excluded.
 */
const COMMON_PERMISSIONS = OPERATOR_PERMISSION_NAMES.filter(
  (permission) =>
    permission === 'profile.manage' ||
    (permission.endsWith('.read') && permission !== 'audit.read' && permission !== 'staff.read'),
);

export const ROLES = {
  viewer: COMMON_PERMISSIONS,
  support: [
    ...COMMON_PERMISSIONS,
    'authentication.manage',
    'personal-data.reveal',
    'webhooks.manage',
  ],
  compliance: [
    ...COMMON_PERMISSIONS,
    'approvals.decide',
    'agents.manage',
    'audit.read',
    'authentication.manage',
    'cards.manage',
    'customers.decide',
    'customers.erase',
    'external-accounts.decide',
    'limits.manage',
    'payments.decide',
    'personal-data.reveal',
    'stablecoins.manage',
    'wallets.manage',
  ],
  treasury: [
    ...COMMON_PERMISSIONS,
    'accounts.manage',
    'approvals.decide',
    'cards.manage',
    'external-accounts.decide',
    'payments.settle',
    'providers.manage',
    'reconciliation.manage',
  ],
  developer: [
    ...COMMON_PERMISSIONS,
    'jobs.manage',
    'keys.manage',
    'requests.manage',
    'sandbox.manage',
    'tokens.manage',
    'webhooks.manage',
  ],
  administrator: OPERATOR_PERMISSION_NAMES,
} as const satisfies Record<OperatorRole, readonly OperatorPermission[]>;

export type RoleName = OperatorRole;

export const ROLE_NAMES: readonly RoleName[] = OPERATOR_ROLE_NAMES;

/** The permissions of several roles, each once. */
export const permissionsOf = (roles: readonly RoleName[]): OperatorPermission[] => [
  ...new Set(roles.flatMap((role): readonly OperatorPermission[] => ROLES[role])),
];
