// States of an import. An import is final when all rows are processed, or when its file is rejected
// or can no longer be read.
import { stateTable } from '../../../kernel/states.ts';

export const IMPORT_STATUSES = ['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED'] as const;
export type ImportStatus = (typeof IMPORT_STATUSES)[number];
export type ImportOutcome = 'complete' | 'fail';
type ImportTransition = 'begin' | ImportOutcome;

export const importStates = stateTable<ImportStatus, ImportTransition>('Import of customers', {
  PENDING: { begin: 'PROCESSING', fail: 'FAILED' },
  PROCESSING: { begin: 'PROCESSING', complete: 'COMPLETED', fail: 'FAILED' },
  COMPLETED: {},
  FAILED: {},
});
