// What the composition lists of the proofs that wallets are their owners'.
export { livenessPage, ownershipJobs } from './liveness.ts';
export { ownershipOperations } from './operations.ts';
export { ownershipPersonalData } from './personal-data.ts';
