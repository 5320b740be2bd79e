// What other parts may use of imports.
export { importWebhooks } from './contract.ts';
export { importJobs } from './jobs.ts';
export { importOperations } from './operations.ts';
export { importPersonalData } from './personal-data.ts';
export { importStates } from './states.ts';
export { type ImportRow, importErrors, imports } from './store.ts';
