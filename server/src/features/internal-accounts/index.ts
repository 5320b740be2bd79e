// What other features may use of internal accounts, and what the composition lists.
export { type Holding, presentInternalAccount, withBalances } from './account.ts';
export { InternalAccount, internalAccountWebhooks } from './contract.ts';
export { accountJobs } from './jobs.ts';
export { internalAccountOperations } from './operations.ts';
export {
  balancesOf,
  emitBalance,
  internalAccountOf,
  moveInternalAccount,
  provisionAccounts,
} from './provision.ts';
export { type InternalAccountRow, internalAccounts } from './store.ts';
