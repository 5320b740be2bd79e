// The ledger legs of outgoing payments, and refunds.

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
