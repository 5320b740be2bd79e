// What other features may use of incoming money, and what the composition lists.
export { approvePendingPayment, rejectPendingPayment } from './contract.ts';
export {
  type Bounce,
  bounceDeposit,
  broughtMoney,
  type Deposit,
  isHeld,
  type Origin,
  receiveDeposit,
  refuseDeposit,
  releaseDeposit,
  returnDeposit,
} from './deposit.ts';
export { heedIncoming, heedSendBack, incomingJobs } from './jobs.ts';
export { HELD_LONG } from './kinds.ts';
export { incomingOperations } from './operations.ts';
export { cancelPull, heedPull, isPull, type Pull, stagePull, startPull } from './pull.ts';
export { receiveUmaPayment, type UmaIncoming } from './uma.ts';
