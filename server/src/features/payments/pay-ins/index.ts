// Incoming payments: deposits, debits and payments from UMA addresses.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { incomingJobs } from './jobs.ts';
import { incomingOperations } from './operations.ts';

export { isDebit, stageDebit, startDebit } from './debit.ts';
export {
  type Deposit,
  hasDepositPosting,
  isHeld,
  PENDING_REASONS,
  receiveDeposit,
  rejectDeposit,
  releaseDeposit,
  returnHeldDeposit,
  reverseDeposit,
} from './deposit.ts';
export { applyIncomingStatus } from './jobs.ts';
export { REVIEW_EXPIRY } from './kinds.ts';
export { receiveUmaPayment } from './uma.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const payInFeature = {
  operations: incomingOperations,
  jobs: incomingJobs,
} satisfies Feature;
