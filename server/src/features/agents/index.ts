// What whoever puts the server together may use of agents.
import type { Feature } from '../../runtime/operation/feature.ts';
import { agentWebhooks } from './actions/actions-contract.ts';
import { agentJobs } from './management/management.ts';
import { agentOperations } from './operations.ts';
import { agentPersonalData } from './personal-data.ts';
import { actionStates, codeStates } from './states.ts';
import { agentSweep } from './sweep.ts';

export { pendingActionOf, waitingAction } from './actions/approvals.ts';
export { agentBearers } from './management/authenticator.ts';
export {
  type AgentDetails,
  agentDetails,
  pauseAgentByHand,
  searchAgentAudit,
  searchAgents,
} from './management/by-hand.ts';

/** What this feature adds to a server. */
export const agentFeature = {
  operations: agentOperations,
  jobs: agentJobs,
  sweeps: () => [agentSweep()],
  webhooks: agentWebhooks,
  personalData: agentPersonalData,
  states: { action: actionStates, code: codeStates },
} satisfies Feature;
