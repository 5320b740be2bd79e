// What goes out over a rail: payouts and refunds.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { type ConnectorsOf, payoutJobs } from './payout-jobs.ts';

export { payoutOf, pullOf, refundOf } from './instructions.ts';
export { MovementInput, overRail, type RailMovement } from './over-rail.ts';
export {
  type ConnectorsOf,
  currentOf,
  heedPayout,
  heedRefund,
  loadOf,
  type PaymentJob,
  postpone,
} from './payout-jobs.ts';
export { coverMissing, parkedCurrency, parkedFrom, returnParked } from './resolve.ts';

/** What this feature adds to a server. */
export const payoutFeature = {
  jobs: ({ connectors }: { connectors: ConnectorsOf }) => payoutJobs(connectors),
} satisfies Feature;
