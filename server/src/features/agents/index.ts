// What whoever puts the server together may use of agents.
export { agentWebhooks } from './actions/actions-contract.ts';
export { waitingAction } from './actions/approvals.ts';
export { note } from './audit.ts';
export { agentBearers } from './management/authenticator.ts';
export { agentJobs } from './management/management.ts';
export { agentOperations } from './operations.ts';
export { agentPersonalData } from './personal-data.ts';
export { presentAgent } from './present.ts';
export { actionStates, codeStates } from './states.ts';
export { type AgentRow, type AuditRow, agentAudit, agents } from './store.ts';
export { agentSweep } from './sweep.ts';
