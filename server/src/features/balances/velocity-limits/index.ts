// The limit of one payment, and velocity limits: amounts and counts, in the ledger.
export {
  checkPaymentSize,
  countPayment,
  hourlyUsage,
  isWithinPaymentLimits,
} from './payment-limits.ts';
export {
  countUsage,
  openVelocityLimits,
  reverseUsage,
  usedOf,
  type VelocityLimit,
} from './velocity-limit.ts';
