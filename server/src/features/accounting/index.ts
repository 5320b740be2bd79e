// What an accountant and an auditor read: exports of days, and the proof of the ledger.
export {
  type BalanceLine,
  type ExportRange,
  exportBalances,
  exportPostings,
  exportTransactions,
  type PostingLine,
  type TransactionLine,
} from './export.ts';
export { type CurrencyTotal, listPostings, readableAmount, verifyLedger } from './ledger.ts';
