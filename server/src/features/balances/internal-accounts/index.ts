// What other features may use of internal accounts, and what the composition lists.
export { isBalance, presentInternalAccount, withBalances } from './account.ts';
export { accountHistory, listAccounts, moveAccount, movesOf } from './by-hand.ts';
export {
  InternalAccount,
  internalAccountWebhooks,
  listCustomerInternalAccounts,
} from './contract.ts';
export { accountJobs } from './jobs.ts';
export { moveInternalAccount, refuseWhileUsed } from './lifecycle.ts';
export { internalAccountOperations, listInternalAccountsOf } from './operations.ts';
export { internalAccountPersonalData } from './personal-data.ts';
export {
  balancesOf,
  emitBalance,
  internalAccountOf,
  provisionAccounts,
} from './provision.ts';
export { refreshAccountFunding } from './refresh-funding.ts';
export { refuseOwing, repayOwed, takeBack } from './shortfall.ts';
export {
  INTERNAL_ACCOUNT_STATUSES,
  type InternalAccountEvent,
  internalAccountStates,
} from './states.ts';
export { accountMoves, type InternalAccountRow, internalAccounts } from './store.ts';
