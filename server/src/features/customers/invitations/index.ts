// Public interface of invitations.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { invitationWebhooks } from './contract.ts';
import { invitationJobs } from './jobs.ts';
import { invitationOperations } from './operations.ts';
import { invitationPage } from './page.ts';
import { invitationPersonalData } from './personal-data.ts';
import { invitationStates } from './states.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const invitationFeature = {
  operations: invitationOperations,
  jobs: invitationJobs,
  webhooks: invitationWebhooks,
  personalData: invitationPersonalData,
  page: invitationPage,
  states: { invitation: invitationStates },
} satisfies Feature;
