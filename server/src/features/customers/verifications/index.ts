// What other features and the operator's command use of verifications.
export { type VerificationError, verificationWebhooks } from './contract.ts';
export { decide } from './decide.ts';
export { verificationJobs } from './jobs.ts';
export { verificationOperations } from './operations.ts';
export { verificationPersonalData } from './personal-data.ts';
export { latestOf, presentVerification } from './record.ts';
export {
  type Decision,
  decideVerification,
  listVerifications,
  showVerification,
} from './review.ts';
export { VERIFICATION_STATUSES, verificationStates } from './states.ts';
export { verifications } from './store.ts';
export { submit, type VerificationParts, wantedOf } from './submit.ts';
