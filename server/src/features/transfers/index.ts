// What the composition uses of transfers.
export { transferOperations } from './operations.ts';
