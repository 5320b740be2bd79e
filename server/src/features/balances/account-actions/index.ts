// The record of operator actions on accounts.
export {
  type ActionsQuery,
  accountActionsOf,
  pageOfAccountActions,
  recordAccountAction,
} from './store.ts';
