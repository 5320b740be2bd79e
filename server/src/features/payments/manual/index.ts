// What the operator's command, and whatever else serves operators, may use of payments carried by hand.
export {
  type DepositResult,
  recordDeposit,
  recordDepositReturn,
  rejectHeldDeposit,
  releaseHeldDeposit,
} from './deposits.ts';
export { listHeldFunds } from './held.ts';
export { onAnyTransaction } from './notice.ts';
export { listSuspense, returnSuspense, settleShortfall } from './suspense.ts';
export {
  type Carried,
  cancelTransfer,
  failTransfer,
  listAwaitedTransfers,
  rejectTransferCancel,
  returnTransfer,
  settleTransfer,
  type TransferResult,
} from './transfers.ts';
