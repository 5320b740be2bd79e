// The ledger legs of outgoing payments, and refunds.

export { hold, type Legs, legsOf, payDirect, postFunding, settle, submit } from './legs.ts';
export {
  CANCEL_PAYOUT,
  CancelInput,
  CHECK_PAYOUT,
  canReceiveRefund,
  findRefundBalance,
  fundedOf,
  isExternallyFunded,
  isRefundedByRail,
  openRefund,
  PAY_REFUND,
  PaymentInput,
  payRefund,
  SEND_PAYOUT,
} from './refund.ts';
