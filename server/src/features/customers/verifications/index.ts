// Public interface of verifications for other features and the operator command.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { verificationWebhooks } from './contract.ts';
import { verificationJobs } from './jobs.ts';
import { verificationOperations } from './operations.ts';
import { verificationPersonalData } from './personal-data.ts';
import { verificationStates } from './states.ts';

export { VerificationError } from './contract.ts';
export { applyReportedDecision } from './jobs.ts';
export { presentVerification } from './record.ts';
export {
  type Decision,
  decideVerification,
  findingProblem,
  latestVerification,
  listVerifications,
  showVerification,
} from './review.ts';
export { VERIFICATION_STATUSES } from './states.ts';
export { requirementsOf, submit, type VerificationDeps } from './submit.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const verificationFeature = {
  operations: verificationOperations,
  jobs: verificationJobs,
  webhooks: verificationWebhooks,
  personalData: verificationPersonalData,
  states: { verification: verificationStates },
} satisfies Feature;
