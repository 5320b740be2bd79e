// Internal accounts: balances of customers and of the platform.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { internalAccountWebhooks } from './contract.ts';
import { accountJobs } from './jobs.ts';
import { internalAccountOperations } from './operations.ts';
import { internalAccountPersonalData } from './personal-data.ts';
import { internalAccountStates } from './states.ts';

export { isBalance } from './account.ts';
export { InternalAccount, listCustomerInternalAccounts } from './contract.ts';
export { listInternalAccountsOf } from './operations.ts';
export { accountsByOperator, transitionAccount } from './operator-actions.ts';
export { emitBalances, internalAccountOf, presentAccount, provisionAccounts } from './provision.ts';
export { refreshAccountFunding } from './refresh-funding.ts';
export {
  findInternalAccounts,
  findStagedAccount,
  type InternalAccountRow,
  readInternalAccount,
  requireInternalAccount,
  setAccountPrivacy,
  setOwed,
} from './store.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const internalAccountFeature = {
  operations: () => internalAccountOperations,
  jobs: accountJobs,
  webhooks: internalAccountWebhooks,
  personalData: internalAccountPersonalData,
  states: { internalAccount: internalAccountStates },
  reset: { retained: { internal_accounts: 't.customer_id is null' } },
} satisfies Feature;
