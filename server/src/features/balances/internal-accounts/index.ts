// What other features may use of internal accounts, and what the composition lists.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { internalAccountWebhooks } from './contract.ts';
import { accountJobs } from './jobs.ts';
import { internalAccountOperations } from './operations.ts';
import { internalAccountPersonalData } from './personal-data.ts';
import { internalAccountStates } from './states.ts';

export { isBalance, presentInternalAccount, withBalances } from './account.ts';
export { accountHistory, listAccounts, moveAccount, movesOf } from './by-hand.ts';
export { InternalAccount, listCustomerInternalAccounts } from './contract.ts';
export { moveInternalAccount, refuseWhileUsed } from './lifecycle.ts';
export { listInternalAccountsOf } from './operations.ts';
export { balancesOf, emitBalance, internalAccountOf, provisionAccounts } from './provision.ts';
export { refreshAccountFunding } from './refresh-funding.ts';
export { refuseOwing, repayOwed, takeBack } from './shortfall.ts';
export { INTERNAL_ACCOUNT_STATUSES, type InternalAccountEvent } from './states.ts';
export {
  accountMoves,
  findInternalAccounts,
  type InternalAccountRow,
  internalAccounts,
  readInternalAccount,
  requireInternalAccount,
  setAccountPrivacy,
} from './store.ts';

/** What this feature adds to a server. */
export const internalAccountFeature = {
  operations: () => internalAccountOperations,
  jobs: accountJobs,
  webhooks: internalAccountWebhooks,
  personalData: internalAccountPersonalData,
  states: { internalAccount: internalAccountStates },
} satisfies Feature;
