// Accounting: ledger accounts and their postings, exports by day, and verification of the ledger.
import type { Feature } from '../../runtime/operation/feature.ts';
import { type LedgerCheckOptions, ledgerCheckSweep } from './ledger-check.ts';

export { listLedgerAccountPostings } from './account-postings.ts';
export {
  type BalanceLine,
  type ExportRange,
  exportBalances,
  exportPostings,
  exportTransactions,
  type PostingLine,
  type TransactionLine,
} from './export.ts';
export { balancesPage, postingsPage, transactionsPage } from './export-pages.ts';
export { listPostings, readableAmount, verifyLedger } from './ledger.ts';
export { LEDGER_ACCOUNT_TYPES, listLedgerAccounts, trialBalance } from './ledger-accounts.ts';
export { type LedgerCheckOptions, watchLedgerCheck } from './ledger-check.ts';

/** The regular verification of the ledger. */
export const accountingFeature = {
  sweeps: ({ ledgerCheck }: { ledgerCheck: LedgerCheckOptions }) => [ledgerCheckSweep(ledgerCheck)],
} satisfies Feature;
