// What other features and the operator's command use of verifications.
export { caseOf, dossierOf, errorsOf, gapsOfDossier } from './case.ts';
export { type VerificationError, verificationWebhooks } from './contract.ts';
export { decide, moveOwner } from './decide.ts';
export { verificationJobs } from './jobs.ts';
export { verificationOperations } from './operations.ts';
export { verificationPersonalData } from './personal-data.ts';
export { findingsOf, latestOf, presentVerification } from './record.ts';
export {
  type Decision,
  decideVerification,
  listVerifications,
  showVerification,
} from './review.ts';
export { VERIFICATION_STATUSES, verificationStates } from './states.ts';
export { type VerificationRow, verifications } from './store.ts';
export { submit, type VerificationParts, wantedOf } from './submit.ts';
