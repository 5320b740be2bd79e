// What an agent asks for that moves money, and its platform's word on it.
import { Type } from '@sinclair/typebox';
import { defineEvent, type WebhookContract } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import { described, named, oneOf, PageQuery, Timestamp } from '../../../kernel/schema.ts';
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

/** How the policy decides, as every one of them tells it. */
const DECIDES =
  'What the policy lets through is carried out at once (APPROVED); what it wants to be asked about waits ' +
  'for the platform (PENDING_APPROVAL); what is against it, a limit too, is refused with 403.';

export const agentExecuteQuote = operation({
  ...asAgent,
  operationId: 'agentExecuteQuote',
  method: 'POST',
  path: '/agents/me/quotes/{quoteId}/execute',
  summary: 'Execute a quote that you made',
  description:
    `${DECIDES} A quote whose source is an embedded wallet is sent with the stamp of its ` +
    '`payloadToSign`; it may be approved after the session has ended, and never after the quote ' +
    'has expired. ' +
    'Needs EXECUTE_QUOTES in the policy.',
  permission: 'TRANSACT',
  signedRetry: true,
  params: Type.Object({ quoteId: Type.String() }),
  replies: { 200: AgentAction },
  errors: [...executeQuote.errors, 'FORBIDDEN'],
  notFound: 'QUOTE_NOT_FOUND',
  money: true,
});

export const agentCreateTransferOut = operation({
  ...asAgent,
  operationId: 'agentCreateTransferOut',
  method: 'POST',
  path: '/agents/me/transfer-out',
  summary: 'Pay out in the same currency',
  description: `From an account of your customer. ${DECIDES} Needs CREATE_TRANSFERS in the policy.`,
  permission: 'TRANSACT',
  body: createTransferOut.body,
  bodyRules: createTransferOut.bodyRules,
  replies: { 201: AgentAction },
  errors: [...createTransferOut.errors, 'FORBIDDEN'],
  money: true,
});

export const agentCreateTransferIn = operation({
  ...asAgent,
  operationId: 'agentCreateTransferIn',
  method: 'POST',
  path: '/agents/me/transfer-in',
  summary: 'Take in money in the same currency',
  description:
    'From an external account of your customer that can be pulled from. ' +
    `${DECIDES} Needs CREATE_TRANSFERS in the policy.`,
  permission: 'TRANSACT',
  body: createTransferIn.body,
  bodyRules: createTransferIn.bodyRules,
  replies: { 201: AgentAction },
  errors: [...createTransferIn.errors, 'FORBIDDEN', 'CONFLICT'],
  money: true,
});

export const agentListActions = operation({
  ...asAgent,
  operationId: 'agentListActions',
  method: 'GET',
  path: '/agents/me/actions',
  summary: 'List what you asked for',
  description: 'Newest first.',
  permission: 'VIEW',
  query: Type.Object({
    limit: PageQuery.limit,
    cursor: PageQuery.cursor,
    status: Type.Optional(AgentActionStatus),
  }),
  replies: { 200: AgentActionListResponse },
  errors: [],
});

export const agentGetAction = operation({
  ...asAgent,
  operationId: 'agentGetAction',
  method: 'GET',
  path: '/agents/me/actions/{actionId}',
  summary: 'Get something you asked for',
  description: 'Tells what became of it.',
  permission: 'VIEW',
  params: Type.Object({ actionId: Type.String() }),
  replies: { 200: AgentAction },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const listAgentApprovals = operation({
  operationId: 'listAgentApprovals',
  method: 'GET',
  path: '/agents/approvals',
  tag: MANAGEMENT_TAG,
  summary: 'List what waits for you',
  description: 'Actions of agents in PENDING_APPROVAL, newest first unless asked otherwise.',
  permission: 'VIEW',
  query: Type.Object({
    limit: PageQuery.limit,
    cursor: PageQuery.cursor,
    agentId: Type.Optional(Type.String()),
    customerId: Type.Optional(Type.String()),
    startDate: Type.Optional(described(Timestamp, 'Asked for at this moment or later.')),
    endDate: Type.Optional(described(Timestamp, 'Asked for at this moment or earlier.')),
    sortOrder: Type.Optional(oneOf(['asc', 'desc'], { default: 'desc' })),
  }),
  replies: { 200: AgentActionListResponse },
  errors: [],
});

const decision = {
  method: 'POST',
  tag: MANAGEMENT_TAG,
  permission: 'TRANSACT',
  params: Type.Object({ agentId: Type.String(), actionId: Type.String() }),
  replies: { 200: AgentAction },
  notFound: 'NOT_FOUND',
} as const;

export const approveAgentAction = operation({
  ...decision,
  operationId: 'approveAgentAction',
  path: '/agents/{agentId}/actions/{actionId}/approve',
  summary: 'Approve an action of an agent',
  description:
    'It is judged once more, by the policy and by what was spent meanwhile, and carried out. What is no ' +
    'longer possible, because the quote has expired or money is short, ends FAILED.',
  errors: [
    'VELOCITY_LIMIT_EXCEEDED',
    'SCA_SESSION_REQUIRED',
    'BANK_ACCOUNT_VALIDATION_PENDING',
    'ACCOUNT_LOCKED',
    'DAILY_VOLUME_LIMIT_EXCEEDED',
  ],
});

export const rejectAgentAction = operation({
  ...decision,
  operationId: 'rejectAgentAction',
  errors: [],
  path: '/agents/{agentId}/actions/{actionId}/reject',
  summary: 'Reject an action of an agent',
  body: named(
    'AgentActionRejectRequest',
    Type.Object({
      reason: Type.Optional(Type.String({ maxLength: 255, description: 'Shown to the agent.' })),
    }),
  ),
  bodyOptional: true,
});

export const agentActionPending = defineEvent('AGENT_ACTION.PENDING_APPROVAL', AgentAction);

export const agentWebhooks: readonly WebhookContract[] = [
  {
    name: 'agent-action',
    summary: 'An agent waits for your word',
    description:
      'Sent when an action needs approval. What becomes of it is told by the events of its payment.',
    events: [agentActionPending],
  },
];
