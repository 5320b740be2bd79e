// The accounts of the ledger as features see them. Postings are decided in ledger/ and written by the
// committer.
export {
  openLedgerAccount,
  openSystemAccounts,
  readLedgerAccount,
} from './store.ts';
