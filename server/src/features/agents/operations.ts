// Every operation of agents, in the order of the document: what their platform does, then what they do.
import { agentActionOperations } from './action-operations.ts';
import { agentApprovalOperations } from './approvals.ts';
import { agentManagementOperations, type ManagementParts } from './management.ts';
import { agentQuoteOperations } from './quotes.ts';
import { agentReadOperations } from './reads.ts';

export const agentOperations = (parts: ManagementParts) => [
  ...agentManagementOperations(parts),
  ...agentApprovalOperations(parts),
  ...agentReadOperations(parts),
  ...agentQuoteOperations(parts),
  ...agentActionOperations(parts),
];
