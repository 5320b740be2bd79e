// The record of actions on accounts, stablecoins, mints and burns.
export {
  type ActionsQuery,
  accountActionsOf,
  pageOfAccountActions,
  recordAccountAction,
} from './store.ts';
