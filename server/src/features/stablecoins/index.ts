// What the composition lists of stablecoins, and what the operator's command does with them.

export { circulatingOf, unitOf } from './books.ts';
export { decideService, stablecoinJobs } from './coin-jobs.ts';
export { presentCoin } from './coins.ts';
export { stablecoinOperations } from './operations.ts';
export { writeDown } from './parts.ts';
export { endByHand } from './progress.ts';
export { supplyProblems } from './recount.ts';
export {
  isLiving,
  issuanceStates,
  linkStates as providerAccountStates,
  OPERATION_STATUSES,
  operationStates as stablecoinOperationStates,
  SERVICE_STATUSES,
  type ServiceEvent,
  serviceStates,
} from './states.ts';
export {
  mintsAndBurns,
  type StablecoinOperationRow,
  type StablecoinRow,
  stablecoins,
} from './store.ts';
