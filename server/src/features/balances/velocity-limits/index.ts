// Limits of amounts and counts in a period, kept in the ledger beside the money.
export { checkPaymentSize, countPayment, hasPaymentRoom } from './payment-limits.ts';
export {
  countToward,
  openVelocityLimits,
  reverseUse,
  usedOf,
  type VelocityLimit,
} from './velocity-limit.ts';
