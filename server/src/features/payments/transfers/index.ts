// What other features and the composition use of transfers.
export { createTransferOut } from './contract.ts';
export {
  createTransferIn,
  stageTransferIn,
  startTransferIn,
  transferInOperations,
} from './in.ts';
export { stageTransferOut, startTransferOut, transferOperations } from './operations.ts';
