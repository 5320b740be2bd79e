// States of a verification. The initial status is the outcome of the submission. Only a pending
// review changes. Corrections require a new submission.
import { stateTable } from '../../../kernel/states.ts';

export type VerificationStatus =
  | 'RESOLVE_ERRORS'
  | 'PENDING_MANUAL_REVIEW'
  | 'APPROVED'
  | 'REJECTED';

export const VERIFICATION_STATUSES = [
  'RESOLVE_ERRORS',
  'PENDING_MANUAL_REVIEW',
  'APPROVED',
  'REJECTED',
] as const satisfies VerificationStatus[];

export const verificationStates = stateTable<
  VerificationStatus,
  'approve' | 'reject' | 'requestChanges'
>('Verification', {
  PENDING_MANUAL_REVIEW: {
    approve: 'APPROVED',
    reject: 'REJECTED',
    requestChanges: 'RESOLVE_ERRORS',
  },
  RESOLVE_ERRORS: {},
  APPROVED: {},
  REJECTED: {},
});
