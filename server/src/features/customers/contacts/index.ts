// What the composition uses of contact verification.
export { contactOperations } from './operations.ts';
export { contactPersonalData } from './personal-data.ts';
