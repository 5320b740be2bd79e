// Every operation of agents, in the order of the document: what their platform does, then what they do.
import { agentActionOperations } from './actions/action-operations.ts';
import { agentApprovalOperations } from './actions/approvals.ts';
import { agentQuoteOperations } from './actions/quotes.ts';
import { agentManagementOperations, type ManagementParts } from './management/management.ts';
import { agentReadOperations } from './reads/reads.ts';

export const agentOperations = (parts: ManagementParts) => [
  ...agentManagementOperations(parts),
  ...agentApprovalOperations(parts),
  ...agentReadOperations(parts),
  ...agentQuoteOperations(parts),
  ...agentActionOperations(parts),
];
