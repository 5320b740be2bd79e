// Instructions to rails, payouts and refunds over rails, and decisions on funds in suspense.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { type ConnectorsOf, payoutJobs } from './payout-jobs.ts';

export { debitOf, payoutOf, refundOf, transferredBy } from './instructions.ts';
export {
  createRailJobHandler,
  type RailTransfer,
  RailTransferInput,
} from './over-rail.ts';
export {
  applyPayoutStatus,
  applyRefundStatus,
  type ConnectorsOf,
  loadPayment,
  type PaymentJob,
  postpone,
  readCurrent,
} from './payout-jobs.ts';
export {
  findSuspenseReturnAccount,
  returnSuspenseFunds,
  settleSuspenseShortfall,
  suspenseCurrencyOf,
} from './resolve.ts';

/** Parts that this feature adds to a server. */
export const payoutFeature = {
  jobs: ({ connectors }: { connectors: ConnectorsOf }) => payoutJobs(connectors),
} satisfies Feature;
