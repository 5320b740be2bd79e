// Limits of amounts and counts in a period, kept in the ledger beside the money.
export { checkPaymentSize, countPayment, hasPaymentRoom } from './payment-limits.ts';
export {
  countUsage,
  openVelocityLimits,
  reverseUsage,
  usedOf,
  type VelocityLimit,
} from './velocity-limit.ts';
