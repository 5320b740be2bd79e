// What other features may use of external accounts, and what the composition lists.
export { railsOfAccount } from './account.ts';
export {
  externalAccountHistory,
  listExternalAccounts,
  moveExternalAccountByHand,
} from './by-hand.ts';
export {
  createCustomerExternalAccount,
  deleteCustomerExternalAccountById,
  ExternalAccount,
  externalAccountWebhooks,
  getCustomerExternalAccountById,
  listCustomerExternalAccounts,
} from './contract.ts';
export { isDeclared, noteDeclared, WALLET_DECLARED } from './declared.ts';
export { nameJobs } from './names.ts';
export { externalAccountOperations } from './operations.ts';
export { externalAccountPersonalData } from './personal-data.ts';
export {
  externalAccountOf,
  moveExternalAccount,
  type Owner,
  ownedBy as ownedExternalAccount,
  presentTo as presentExternalAccountTo,
} from './present.ts';
export {
  EXTERNAL_ACCOUNT_STATUSES,
  type ExternalAccountEvent,
  externalAccountStates,
} from './states.ts';
export { type ExternalAccountRow, externalAccounts } from './store.ts';
