// What the composition uses of transfers.
export { transferInOperations } from './in.ts';
export { transferOperations } from './operations.ts';
