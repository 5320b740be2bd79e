// What other features may use of incoming money, and what the composition lists.
export {
  bounceDeposit,
  broughtMoney,
  type Deposit,
  isHeld,
  receiveDeposit,
  refuseDeposit,
  releaseDeposit,
  returnDeposit,
} from './deposit.ts';
export { heedIncoming, incomingJobs } from './jobs.ts';
export { HELD_LONG } from './kinds.ts';
export { incomingOperations } from './operations.ts';
export { cancelPull, isPull, stagePull, startPull } from './pull.ts';
export { receiveUmaPayment } from './uma.ts';
