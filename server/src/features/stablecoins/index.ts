// What the composition lists of stablecoins, and what the operator's command does with them.
export { decideService, stablecoinJobs } from './coin-jobs.ts';
export { presentCoin } from './coins.ts';
export { stablecoinOperations } from './operations.ts';
export { supplyProblems } from './recount.ts';
export {
  issuanceStates,
  linkStates as providerAccountStates,
  OPERATION_STATUSES,
  operationStates as stablecoinOperationStates,
  SERVICE_STATUSES,
  type ServiceEvent,
  serviceStates,
} from './states.ts';
export {
  type StablecoinOperationRow,
  type StablecoinRow,
  stablecoinOperations as mintsAndBurns,
  stablecoins,
} from './store.ts';
