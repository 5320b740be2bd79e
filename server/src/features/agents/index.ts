// What whoever puts the server together may use of agents.
export { agentWebhooks } from './actions-contract.ts';
export { waitingAction } from './approvals.ts';
export { note } from './audit.ts';
export { agentBearers } from './authenticator.ts';
export { agentJobs, endOneAgent } from './management.ts';
export { agentOperations } from './operations.ts';
export { presentAgent } from './present.ts';
export { actionStates, codeStates } from './states.ts';
export { type AgentRow, type AuditRow, agentAudit, agents } from './store.ts';
export { agentSweep } from './sweep.ts';
