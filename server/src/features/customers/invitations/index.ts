// What the composition lists of invitations, and what other features may know of them.
export { invitationWebhooks } from './contract.ts';
export { invitationJobs } from './jobs.ts';
export { invitationOperations } from './operations.ts';
export { invitationPage } from './page.ts';
export { invitationPersonalData } from './personal.ts';
export { invitationStates } from './states.ts';
export { invitations } from './store.ts';
