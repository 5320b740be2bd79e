// Operator lists and actions: deposits, held funds, transfers over manual rails, and suspense.
export { paymentsOfBankReference } from './bank-references.ts';
export { MANUAL_CHOICES } from './choices.ts';
export {
  type DepositResult,
  recordDeposit,
  recordDepositReturn,
  rejectHeldDeposit,
  releaseHeldDeposit,
} from './deposits.ts';
export { listHeldFunds } from './held.ts';
export { onAnyTransaction } from './notice.ts';
export { providerReports } from './reports.ts';
export { listSuspense, returnSuspense, settleShortfall } from './suspense.ts';
export {
  cancelTransfer,
  failTransfer,
  listAwaitedTransfers,
  rejectTransferCancel,
  returnTransfer,
  settleTransfer,
  type TransferResult,
} from './transfers.ts';
