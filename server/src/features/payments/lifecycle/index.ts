// The steps of a payment, and what a platform may do about it.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { transactionOperations } from './operations.ts';

export { anyTransactionOf, CANCEL_FUNDING, CANCEL_PULL, transactionOf } from './operations.ts';
export {
  awaitAuthorization,
  awaitFunds,
  type CameIn,
  cancelPayout,
  checkFunds,
  expirePayment,
  failPayout,
  failUnauthorized,
  handOverPayout,
  payInside,
  refuseCancel,
  refuseFunds,
  releasePayment,
  settlePayout,
  startPayout,
} from './payment.ts';
export {
  balanceFor,
  CANCEL_PAYOUT,
  CancelInput,
  CHECK_PAYOUT,
  fundedOutside,
  goesBackByRail,
  openRefund,
  PAY_REFUND,
  PaymentInput,
  payRefund,
  SEND_PAYOUT,
  takesBack,
} from './refund.ts';

/** What this feature adds to a server. */
export const lifecycleFeature = {
  operations: () => transactionOperations,
} satisfies Feature;
