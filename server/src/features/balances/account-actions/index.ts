// The record of operator actions on accounts.
export { accountActionsOf, recordAccountAction } from './store.ts';
