// Actions of agents that post funds, and their approval by the platform.
import { Type } from '@sinclair/typebox';
import { defineEvent, type WebhookContract } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import { named, oneOf, PageQuery, Timestamp, withDescription } from '../../../kernel/schema.ts';
import { executeQuote } from '../../payments/quotes/index.ts';
import { createTransferIn, createTransferOut } from '../../payments/transfers/index.ts';
import {
  AgentAction,
  AgentActionListResponse,
  AgentActionStatus,
  MANAGEMENT_TAG,
  OPERATIONS_TAG,
} from '../contract.ts';

const asAgent = { tag: OPERATIONS_TAG, auth: 'agent' } as const;

/** Outcomes of the policy, stated in the description of each operation. */
const POLICY_OUTCOMES =
  'If the policy allows the action, it is executed immediately (APPROVED). If the policy ' +
  'requires approval, the action is PENDING_APPROVAL until the platform decides. If the action ' +
  'violates the policy or one of its limits, the reply is 403. At most 500 actions of an agent ' +
  'can be PENDING_APPROVAL. A further action that requires approval returns CONFLICT.';

export const agentExecuteQuote = operation({
  ...asAgent,
  operationId: 'agentExecuteQuote',
  method: 'POST',
  path: '/agents/me/quotes/{quoteId}/execute',
  summary: 'Execute a quote',
  description:
    `${POLICY_OUTCOMES} For a quote with an embedded wallet as its source, send the signature ` +
    'of its `payloadToSign`. Approval is possible until the quote expires, even if the session ' +
    'has expired. Requires EXECUTE_QUOTES in the policy.',
  permission: 'TRANSACT',
  signedRetry: true,
  params: Type.Object({ quoteId: Type.String({ description: 'ID of the quote.' }) }),
  replies: { 200: AgentAction },
  errors: [...executeQuote.errors, 'QUOTE_RATE_UNAVAILABLE', 'FORBIDDEN'],
  notFound: 'QUOTE_NOT_FOUND',
  money: true,
});

export const agentCreateTransferOut = operation({
  ...asAgent,
  operationId: 'agentCreateTransferOut',
  method: 'POST',
  path: '/agents/me/transfer-out',
  summary: 'Create a transfer out',
  description:
    'Transfers funds from an internal account of the customer to an external account in the same ' +
    `currency. ${POLICY_OUTCOMES} Requires CREATE_TRANSFERS in the policy.`,
  permission: 'TRANSACT',
  body: createTransferOut.body,
  bodyRules: createTransferOut.bodyRules,
  replies: { 201: AgentAction },
  errors: [...createTransferOut.errors, 'QUOTE_RATE_UNAVAILABLE', 'FORBIDDEN'],
  money: true,
});

export const agentCreateTransferIn = operation({
  ...asAgent,
  operationId: 'agentCreateTransferIn',
  method: 'POST',
  path: '/agents/me/transfer-in',
  summary: 'Create a transfer in',
  description:
    'Debits an external account of the customer that supports debits, in the same currency. ' +
    `${POLICY_OUTCOMES} Requires CREATE_TRANSFERS in the policy.`,
  permission: 'TRANSACT',
  body: createTransferIn.body,
  bodyRules: createTransferIn.bodyRules,
  replies: { 201: AgentAction },
  errors: [...createTransferIn.errors, 'QUOTE_RATE_UNAVAILABLE', 'FORBIDDEN', 'CONFLICT'],
  money: true,
});

export const agentListActions = operation({
  ...asAgent,
  operationId: 'agentListActions',
  method: 'GET',
  path: '/agents/me/actions',
  summary: 'List own actions',
  description: 'Lists the actions of the calling agent, newest first.',
  permission: 'VIEW',
  query: Type.Object({
    limit: PageQuery.limit,
    cursor: PageQuery.cursor,
    status: Type.Optional(
      withDescription(AgentActionStatus, 'Return only actions with this status.'),
    ),
  }),
  replies: { 200: AgentActionListResponse },
  errors: [],
});

export const agentGetAction = operation({
  ...asAgent,
  operationId: 'agentGetAction',
  method: 'GET',
  path: '/agents/me/actions/{actionId}',
  summary: 'Get an action of the agent',
  description: 'Returns an action of the calling agent with its status.',
  permission: 'VIEW',
  params: Type.Object({ actionId: Type.String({ description: 'ID of the action.' }) }),
  replies: { 200: AgentAction },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const listAgentApprovals = operation({
  operationId: 'listAgentApprovals',
  method: 'GET',
  path: '/agents/approvals',
  tag: MANAGEMENT_TAG,
  summary: 'List pending approvals',
  description: 'Lists the actions of agents in PENDING_APPROVAL, newest first by default.',
  permission: 'VIEW',
  query: Type.Object({
    limit: PageQuery.limit,
    cursor: PageQuery.cursor,
    agentId: Type.Optional(Type.String({ description: 'Return only actions of this agent.' })),
    customerId: Type.Optional(
      Type.String({ description: 'Return only actions of agents of this customer.' }),
    ),
    startDate: Type.Optional(withDescription(Timestamp, 'Created at or after this time.')),
    endDate: Type.Optional(withDescription(Timestamp, 'Created at or before this time.')),
    sortOrder: Type.Optional(
      oneOf(['asc', 'desc'], { default: 'desc', description: 'Order by time of creation.' }),
    ),
  }),
  replies: { 200: AgentActionListResponse },
  errors: [],
});

const decisionParams = {
  method: 'POST',
  tag: MANAGEMENT_TAG,
  permission: 'TRANSACT',
  params: Type.Object({
    agentId: Type.String({ description: 'ID of the agent.' }),
    actionId: Type.String({ description: 'ID of the action.' }),
  }),
  replies: { 200: AgentAction },
  notFound: 'NOT_FOUND',
} as const;

export const approveAgentAction = operation({
  ...decisionParams,
  operationId: 'approveAgentAction',
  path: '/agents/{agentId}/actions/{actionId}/approve',
  summary: 'Approve an agent action',
  description:
    'Evaluates the action again with the policy and the current usage, then executes it. The ' +
    'action becomes FAILED if its quote has expired, if funds are insufficient, or if the policy ' +
    'rejects it.',
  errors: [
    'QUOTE_RATE_UNAVAILABLE',
    'VELOCITY_LIMIT_EXCEEDED',
    'SCA_SESSION_REQUIRED',
    'BANK_ACCOUNT_VALIDATION_PENDING',
    'ACCOUNT_LOCKED',
    'DAILY_VOLUME_LIMIT_EXCEEDED',
  ],
});

export const rejectAgentAction = operation({
  ...decisionParams,
  operationId: 'rejectAgentAction',
  errors: [],
  path: '/agents/{agentId}/actions/{actionId}/reject',
  summary: 'Reject an agent action',
  description:
    'Sets the action to REJECTED. The payment of a transfer becomes FAILED. A quote remains ' +
    'executable until it expires. No funds are posted.',
  body: named(
    'AgentActionRejectRequest',
    Type.Object({
      reason: Type.Optional(
        Type.String({
          maxLength: 255,
          description: 'Reason for the rejection, shown to the agent.',
        }),
      ),
    }),
  ),
  bodyOptional: true,
});

export const agentActionPending = defineEvent('AGENT_ACTION.PENDING_APPROVAL', AgentAction);

export const agentWebhooks: readonly WebhookContract[] = [
  {
    name: 'agent-action',
    summary: 'An agent action needs approval',
    description:
      'Sent when an action needs approval. The payment emits events when it starts or fails. No ' +
      'event is sent if an action of a quote is rejected or fails.',
    events: [agentActionPending],
  },
];
