// The legs of a payment in the ledger, and the way back of money that was taken for it.

export { fund, hold, type Legs, legsOf, payDirect, settle, submit } from './legs.ts';
export {
  balanceFor,
  CANCEL_PAYOUT,
  CancelInput,
  CHECK_PAYOUT,
  canReceiveRefund,
  fundedOf,
  isExternallyFunded,
  isRefundedByRail,
  openRefund,
  PAY_REFUND,
  PaymentInput,
  payRefund,
  SEND_PAYOUT,
} from './refund.ts';
