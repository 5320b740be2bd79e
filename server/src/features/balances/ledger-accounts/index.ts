// Access of features to ledger accounts. Postings are validated in ledger/ and written by the
// committer.
export {
  openLedgerAccount,
  openSystemAccounts,
  readLedgerAccount,
} from './store.ts';
