// Public interface of stablecoins for `compose.ts` and the operator.

import type { Feature } from '../../runtime/operation/feature.ts';
import { stablecoinJobs } from './coins/coin-jobs.ts';
import { credentialsContext } from './coins/provider-accounts.ts';
import { stablecoinOperations } from './operations.ts';
import { stablecoinPersonalData } from './personal-data.ts';
import { issuanceStates, linkStates, operationStates, serviceStates } from './states.ts';

export {
  decideStablecoin,
  type ServiceDecision,
  searchStablecoins,
  stablecoinHistory,
  stablecoinSupply,
} from './coins/approval.ts';
export { Stablecoin } from './contract.ts';
export {
  endStablecoinOperation,
  OUTCOMES,
  searchStablecoinOperations,
} from './minting/by-operator.ts';
export { applyReportedOrder } from './minting/reported.ts';
export { OPERATION_STATUSES, SERVICE_STATUSES } from './states.ts';
export { readStablecoin } from './store.ts';
export { SUPPLY_MEASURES, supplyProblems } from './supply/reconciliation.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const stablecoinFeature = {
  sealed: [
    {
      table: 'stablecoin_provider_accounts',
      column: 'credentials',
      contexts: (id) => [credentialsContext(id)],
    },
  ],
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
