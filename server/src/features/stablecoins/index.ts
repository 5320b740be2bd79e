// What the composition lists of stablecoins, and what the operator's command does with them.

export { decideService, stablecoinJobs } from './coins/coin-jobs.ts';
export { presentCoin } from './coins/coins.ts';
export { endByHand } from './minting/progress.ts';
export { stablecoinOperations } from './operations.ts';
export { writeDown } from './parts.ts';
export { stablecoinPersonalData } from './personal-data.ts';
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
export { circulatingOf, unitOf } from './supply/books.ts';
export { supplyProblems } from './supply/recount.ts';
