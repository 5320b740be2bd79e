// What other features may use of external accounts, and what the composition lists.
export { railsOfAccount } from './account.ts';
export { ExternalAccount, externalAccountWebhooks } from './contract.ts';
export { externalAccountOperations } from './operations.ts';
export { externalAccountOf, moveExternalAccount, presentExternalAccount } from './present.ts';
export { type ExternalAccountRow, externalAccounts } from './store.ts';
