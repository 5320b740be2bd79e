// How far an import may go. It ends when all of its rows are done, or before the first where something is
// wrong with the whole file.
import { stateTable } from '../../../kernel/states.ts';

export type ImportStatus = 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'FAILED';
export type ImportEnd = 'complete' | 'fail';
type ImportMove = 'begin' | ImportEnd;

export const importStates = stateTable<ImportStatus, ImportMove>('Import of customers', {
  PENDING: { begin: 'PROCESSING', fail: 'FAILED' },
  PROCESSING: { begin: 'PROCESSING', complete: 'COMPLETED', fail: 'FAILED' },
  COMPLETED: {},
  FAILED: {},
});
