// The lives of what belongs to agents, as tables.
import { stateTable } from '../../kernel/states.ts';

export const ACTION_TYPES = ['EXECUTE_QUOTE', 'TRANSFER_OUT', 'TRANSFER_IN'] as const;
export type ActionType = (typeof ACTION_TYPES)[number];

export const ACTION_STATUSES = ['PENDING_APPROVAL', 'APPROVED', 'REJECTED', 'FAILED'] as const;
export type ActionStatus = (typeof ACTION_STATUSES)[number];

/** What an agent asked for. Where nobody has to be asked it begins APPROVED. */
export const actionStates = stateTable<ActionStatus, 'approve' | 'reject' | 'fail'>(
  'action of an agent',
  {
    PENDING_APPROVAL: { approve: 'APPROVED', reject: 'REJECTED', fail: 'FAILED' },
    APPROVED: {},
    REJECTED: {},
    FAILED: {},
  },
);

export type CodeStatus = 'PENDING' | 'REDEEMED' | 'REPLACED';

/** A code that connects a program to its agent. That it ran out is told by the clock. */
export const codeStates = stateTable<CodeStatus, 'redeem' | 'replace'>('device code', {
  PENDING: { redeem: 'REDEEMED', replace: 'REPLACED' },
  REDEEMED: {},
  REPLACED: {},
});
