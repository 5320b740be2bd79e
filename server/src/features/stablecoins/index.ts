// What the composition lists of stablecoins, and what the operator's command does with them.
import type { Feature } from '../../runtime/operation/feature.ts';
import { stablecoinJobs } from './coins/coin-jobs.ts';
import { stablecoinOperations } from './operations.ts';
import { stablecoinPersonalData } from './personal-data.ts';
import { issuanceStates, linkStates, operationStates, serviceStates } from './states.ts';

export { decideService } from './coins/coin-jobs.ts';
export { presentCoin } from './coins/coins.ts';
export { endByHand } from './minting/progress.ts';
export { writeDown } from './parts.ts';
export {
  isLiving,
  OPERATION_STATUSES,
  SERVICE_STATUSES,
  type ServiceEvent,
} from './states.ts';
export {
  mintsAndBurns,
  type StablecoinOperationRow,
  type StablecoinRow,
  stablecoins,
} from './store.ts';
export { circulatingOf, unitOf } from './supply/books.ts';
export { supplyProblems } from './supply/recount.ts';

/** What this feature adds to a server. */
export const stablecoinFeature = {
  operations: stablecoinOperations,
  jobs: stablecoinJobs,
  personalData: stablecoinPersonalData,
  states: {
    providerAccount: linkStates,
    issuance: issuanceStates,
    service: serviceStates,
    operation: operationStates,
  },
} satisfies Feature;
