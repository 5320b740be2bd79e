// Lifecycles of agent actions and device codes.
import { stateTable } from '../../kernel/states.ts';

export const ACTION_TYPES = ['EXECUTE_QUOTE', 'TRANSFER_OUT', 'TRANSFER_IN'] as const;
export type ActionType = (typeof ACTION_TYPES)[number];

export const ACTION_STATUSES = ['PENDING_APPROVAL', 'APPROVED', 'REJECTED', 'FAILED'] as const;
export type ActionStatus = (typeof ACTION_STATUSES)[number];

/** Lifecycle of an action. An action without approval begins as APPROVED. */
export const actionStates = stateTable<ActionStatus, 'approve' | 'reject' | 'fail'>(
  'agent action',
  {
    PENDING_APPROVAL: { approve: 'APPROVED', reject: 'REJECTED', fail: 'FAILED' },
    APPROVED: {},
    REJECTED: {},
    FAILED: {},
  },
);

export type CodeStatus = 'PENDING' | 'REDEEMED' | 'REPLACED';

/**
 * Lifecycle of a device code. Expiry has no state, because `expires_at` is compared with the clock.
 */
export const codeStates = stateTable<CodeStatus, 'redeem' | 'replace'>('device code', {
  PENDING: { redeem: 'REDEEMED', replace: 'REPLACED' },
  REDEEMED: {},
  REPLACED: {},
});
