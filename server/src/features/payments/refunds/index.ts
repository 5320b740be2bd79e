// The legs of a payment in the ledger, and the way back of money that was taken for it.

export { fund, handOver, hold, type Legs, legsOf, payThrough, settle } from './legs.ts';
export {
  balanceFor,
  CANCEL_PAYOUT,
  CancelInput,
  CHECK_PAYOUT,
  fundedOf,
  fundedOutside,
  goesBackByRail,
  openRefund,
  PAY_REFUND,
  PaymentInput,
  payRefund,
  SEND_PAYOUT,
  takesBack,
} from './refund.ts';
