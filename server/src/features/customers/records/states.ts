// How far the check of a customer, or of somebody who owns a part of one, may move. Approved and rejected
// are final; HOLD means that the reviewer wants to know more.
import { stateTable } from '../../../kernel/states.ts';

const CHECK_STATUSES = ['UNVERIFIED', 'PENDING', 'HOLD', 'APPROVED', 'REJECTED'] as const;
export type CheckStatus = (typeof CHECK_STATUSES)[number];
export type CheckMove = 'submit' | 'hold' | 'approve' | 'reject';

export const checkStates = stateTable<CheckStatus, CheckMove>('Identity check', {
  UNVERIFIED: { submit: 'PENDING', hold: 'HOLD', approve: 'APPROVED', reject: 'REJECTED' },
  PENDING: { submit: 'PENDING', hold: 'HOLD', approve: 'APPROVED', reject: 'REJECTED' },
  HOLD: { submit: 'PENDING', hold: 'HOLD', approve: 'APPROVED', reject: 'REJECTED' },
  APPROVED: {},
  REJECTED: {},
});

/** Whether nothing can move this check any more. */
export const isFinal = ({ status }: { status: CheckStatus }): boolean =>
  Object.keys(checkStates.moves[status]).length === 0;
