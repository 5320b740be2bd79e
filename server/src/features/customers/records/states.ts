// States of the identity check of a customer or beneficial owner. APPROVED and REJECTED are final.
// HOLD: more information is required.
import { stateTable } from '../../../kernel/states.ts';

const CHECK_STATUSES = ['UNVERIFIED', 'PENDING', 'HOLD', 'APPROVED', 'REJECTED'] as const;
export type CheckStatus = (typeof CHECK_STATUSES)[number];
export type CheckTransition = 'submit' | 'hold' | 'approve' | 'reject';

export const checkStates = stateTable<CheckStatus, CheckTransition>('Identity check', {
  UNVERIFIED: { submit: 'PENDING', hold: 'HOLD', approve: 'APPROVED', reject: 'REJECTED' },
  PENDING: { submit: 'PENDING', hold: 'HOLD', approve: 'APPROVED', reject: 'REJECTED' },
  HOLD: { submit: 'PENDING', hold: 'HOLD', approve: 'APPROVED', reject: 'REJECTED' },
  APPROVED: {},
  REJECTED: {},
});

export const isFinal = ({ status }: { status: CheckStatus }): boolean =>
  Object.keys(checkStates.transitions[status]).length === 0;
