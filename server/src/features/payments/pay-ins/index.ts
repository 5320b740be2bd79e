// What other features may use of incoming money, and what the composition lists.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { incomingJobs } from './jobs.ts';
import { incomingOperations } from './operations.ts';

export {
  bounceDeposit,
  broughtMoney,
  type Deposit,
  isHeld,
  PENDING_REASONS,
  receiveDeposit,
  refuseDeposit,
  releaseDeposit,
  returnDeposit,
} from './deposit.ts';
export { heedIncoming } from './jobs.ts';
export { HELD_LONG } from './kinds.ts';
export { isPull, stagePull, startPull } from './pull.ts';
export { receiveUmaPayment } from './uma.ts';

/** What this feature adds to a server. */
export const payInFeature = {
  operations: incomingOperations,
  jobs: incomingJobs,
} satisfies Feature;
