// The steps of a payment, and its cancellation.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { lifecycleOperations } from './operations.ts';

export { CANCEL_DEBIT, CANCEL_FUNDING } from './operations.ts';
export {
  awaitAuthorization,
  awaitFunds,
  cancelPayout,
  checkFunds,
  expirePayment,
  failPayout,
  failUnauthorized,
  payInternal,
  type ReceivedFunds,
  rejectCancel,
  rejectFunds,
  releasePayment,
  settlePayout,
  startPayout,
  submitPayout,
} from './payment.ts';
export { isCustomerPaying, isPaymentInProgress } from './payments-in-progress.ts';

/** Parts that this feature adds to a server. */
export const lifecycleFeature = {
  operations: () => lifecycleOperations,
} satisfies Feature;
