// Lifecycles of challenges and factor resets.
import { stateTable } from '../../../kernel/states.ts';

export type ChallengeStatus = 'PENDING' | 'SATISFIED' | 'REPLACED' | 'EXPIRED';

export const challengeStates = stateTable<ChallengeStatus, 'satisfy' | 'replace' | 'expire'>(
  'challenge',
  {
    PENDING: { satisfy: 'SATISFIED', replace: 'REPLACED', expire: 'EXPIRED' },
    SATISFIED: {},
    REPLACED: {},
    EXPIRED: {},
  },
);

export const RESET_STATUSES = [
  'INITIATED',
  'PENDING_REVIEW',
  'LIVENESS_PASSED',
  'COMPLETED',
  'REJECTED',
  'EXPIRED',
] as const;
export type ResetStatus = (typeof RESET_STATUSES)[number];

/** Removal of a lost factor after an identity check. */
export const resetStates = stateTable<
  ResetStatus,
  'review' | 'pass' | 'reject' | 'complete' | 'expire'
>('factor reset', {
  INITIATED: {
    review: 'PENDING_REVIEW',
    pass: 'LIVENESS_PASSED',
    reject: 'REJECTED',
    expire: 'EXPIRED',
  },
  PENDING_REVIEW: { pass: 'LIVENESS_PASSED', reject: 'REJECTED', expire: 'EXPIRED' },
  LIVENESS_PASSED: { complete: 'COMPLETED', expire: 'EXPIRED' },
  COMPLETED: {},
  REJECTED: {},
  EXPIRED: {},
});
