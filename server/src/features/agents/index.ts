// Public interface of the agents feature.
import type { Feature } from '../../runtime/operation/feature.ts';
import { agentActionOperations } from './actions/action-operations.ts';
import { agentWebhooks } from './actions/actions-contract.ts';
import { agentApprovalOperations } from './actions/approvals.ts';
import { agentQuoteOperations } from './actions/quotes.ts';
import { deviceCodeSweep } from './management/device-codes.ts';
import {
  agentJobs,
  agentManagementOperations,
  type ManagementDeps,
} from './management/management.ts';
import { agentPersonalData } from './personal-data.ts';
import { agentReadOperations } from './reads/reads.ts';
import { actionStates, codeStates } from './states.ts';

export { decidePendingAction, pendingActionOf } from './actions/approvals.ts';
export { Agent } from './contract.ts';
export { agentBearers, agentCaller } from './management/authenticator.ts';
export {
  AGENT_STATES,
  type AgentDetails,
  agentById,
  pauseAgentByOperator,
  readAgentDetails,
  searchAgentAudit,
  searchAgents,
} from './management/by-operator.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const agentFeature = {
  // In the order of the API document: operations of the platform, then operations of agents.
  operations: (deps: ManagementDeps) => [
    ...agentManagementOperations(deps),
    ...agentApprovalOperations(deps),
    ...agentReadOperations(deps),
    ...agentQuoteOperations(deps),
    ...agentActionOperations(deps),
  ],
  jobs: agentJobs,
  sweeps: () => [deviceCodeSweep()],
  webhooks: agentWebhooks,
  personalData: agentPersonalData,
  states: { action: actionStates, code: codeStates },
} satisfies Feature;
