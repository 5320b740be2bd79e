// Velocity limits: amounts and counts per period, in the ledger.
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
