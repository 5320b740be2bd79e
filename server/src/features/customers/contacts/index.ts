// What the composition uses of contact verification.
export { type ContactParts, contactOperations } from './operations.ts';
export { contactPersonalData } from './personal-data.ts';
