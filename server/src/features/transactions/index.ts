// What other features may use of transactions: their rows, and the steps of a payment.
export {
  getTransactionById,
  IncomingTransaction,
  listTransactions,
  OutgoingTransaction,
  RateDetails,
  TransactionOneOf,
  transactionWebhooks,
} from './contract.ts';
export { transactionOf, transactionOperations } from './operations.ts';
export { expirePayment, payInside, startPayout } from './payment.ts';
export { payoutJobs } from './payout-jobs.ts';
export { presentTransaction, type TransactionRow } from './present.ts';
export { transactions } from './store.ts';
