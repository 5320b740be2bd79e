// The lives of what belongs to strong customer authentication, as tables.
import { stateTable } from '../../../kernel/states.ts';

export type ChallengeStatus = 'PENDING' | 'SATISFIED' | 'REPLACED' | 'EXPIRED';

/** What a customer is asked to prove. It is over once, and nothing brings it back. */
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

/** How a lost factor is cleared: somebody shows that they are the customer, then the factor goes. */
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
