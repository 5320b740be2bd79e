// Proofs of ownership of self-custody wallets.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { livenessPage, ownershipJobs } from './liveness.ts';
import { ownershipOperations } from './operations.ts';
import { ownershipPersonalData } from './personal-data.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const ownershipFeature = {
  operations: ownershipOperations,
  jobs: ownershipJobs,
  personalData: ownershipPersonalData,
  page: livenessPage,
} satisfies Feature;
