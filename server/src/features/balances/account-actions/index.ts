// The record of what operators do to accounts.
export { accountActionsOf, recordAccountAction } from './store.ts';
