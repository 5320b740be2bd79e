// How a platform manages its agents, and how a program becomes one.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import type { FieldError } from '../../../kernel/fault.ts';
import { described, named, PageQuery, page, Timestamp } from '../../../kernel/schema.ts';
import { Agent, AgentPolicy, AgentPolicyUpdateRequest, MANAGEMENT_TAG } from '../contract.ts';
import { policyErrors, wholePolicyErrors } from '../policy/policy-rules.ts';

const name = Type.String({ minLength: 1, maxLength: 255, description: 'What you call it.' });

const AgentCreateRequest = named(
  'AgentCreateRequest',
  Type.Object(
    {
      name,
      customerId: Type.String({ description: 'For whom it is to act.' }),
      policy: AgentPolicy,
    },
    { description: 'An agent to create.' },
  ),
);

const AgentDeviceCode = named(
  'AgentDeviceCode',
  Type.Object(
    {
      code: Type.String({ description: 'Shown here only. Give it to the program.' }),
      agentId: Type.String(),
      expiresAt: Timestamp,
      redeemed: Type.Boolean(),
    },
    { description: 'Connects a program to its agent, once.' },
  ),
);

const AgentCreateResponse = named(
  'AgentCreateResponse',
  Type.Object({ agent: Agent, deviceCode: AgentDeviceCode }),
);

const AgentUpdateRequest = named(
  'AgentUpdateRequest',
  Type.Object(
    {
      name: Type.Optional(name),
      isPaused: Type.Optional(
        Type.Boolean({ description: 'A paused agent may look and not act.' }),
      ),
    },
    { description: 'At least one of the two.' },
  ),
);

const AgentDeviceCodeStatusResponse = named(
  'AgentDeviceCodeStatusResponse',
  Type.Object({ code: Type.String(), redeemed: Type.Boolean() }),
);

const AgentDeviceCodeRedeemResponse = named(
  'AgentDeviceCodeRedeemResponse',
  Type.Object(
    {
      agentId: Type.String(),
      agentName: Type.String(),
      accessToken: Type.String({ description: 'Shown here only. Bearer token of the agent.' }),
      policy: AgentPolicy,
    },
    { description: 'What the program needs to act.' },
  ),
);

const time = (description: string) => Type.Optional(described(Timestamp, description));
const params = Type.Object({ agentId: Type.String({ description: 'Id of the agent.' }) });
const codeParams = Type.Object({
  code: Type.String({ description: 'Device code. Small letters do as well.' }),
});

const partOf = (body: unknown, field: string): unknown =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[field] : undefined;

const POLICY_BODY = {
  bytes: 524_288,
  reason: 'a policy lists up to 1,000 accounts with a rule for each',
} as const;

export const createAgent = operation({
  operationId: 'createAgent',
  method: 'POST',
  path: '/agents',
  tag: MANAGEMENT_TAG,
  summary: 'Create an agent',
  description: 'Its device code is good for 24 hours and for one redemption.',
  permission: 'MANAGE',
  body: AgentCreateRequest,
  maxBody: POLICY_BODY,
  bodyRules: (body) => wholePolicyErrors(partOf(body, 'policy'), 'policy.'),
  semanticValidation: true,
  replies: { 201: AgentCreateResponse },
  errors: ['CUSTOMER_NOT_FOUND', 'CUSTOMER_DELETED'],
  sealed: true,
});

export const listAgents = operation({
  operationId: 'listAgents',
  method: 'GET',
  path: '/agents',
  tag: MANAGEMENT_TAG,
  summary: 'List agents',
  description: 'Newest first.',
  permission: 'VIEW',
  query: Type.Object({
    customerId: Type.Optional(Type.String({ description: 'Only those of this customer.' })),
    isPaused: Type.Optional(Type.Boolean({ description: 'Only those that are, or are not.' })),
    isConnected: Type.Optional(Type.Boolean({ description: 'Only those that are, or are not.' })),
    createdAfter: time('Created at this moment or later.'),
    createdBefore: time('Created at this moment or earlier.'),
    updatedAfter: time('Changed at this moment or later.'),
    updatedBefore: time('Changed at this moment or earlier.'),
    ...PageQuery,
  }),
  replies: { 200: named('AgentListResponse', page(Agent)) },
  errors: [],
});

export const getAgentById = operation({
  operationId: 'getAgentById',
  method: 'GET',
  path: '/agents/{agentId}',
  tag: MANAGEMENT_TAG,
  summary: 'Show an agent',
  permission: 'VIEW',
  params,
  replies: { 200: Agent },
  errors: [],
  notFound: 'NOT_FOUND',
});

const NOTHING: FieldError = { field: '', message: 'One of name and isPaused is required.' };

export const updateAgent = operation({
  operationId: 'updateAgent',
  method: 'PATCH',
  path: '/agents/{agentId}',
  tag: MANAGEMENT_TAG,
  summary: 'Rename, pause or resume an agent',
  permission: 'MANAGE',
  params,
  body: AgentUpdateRequest,
  bodyRules: (body) =>
    partOf(body, 'name') === undefined && partOf(body, 'isPaused') === undefined ? [NOTHING] : [],
  replies: { 200: Agent },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const deleteAgent = operation({
  operationId: 'deleteAgent',
  method: 'DELETE',
  path: '/agents/{agentId}',
  tag: MANAGEMENT_TAG,
  summary: 'Delete an agent',
  description:
    'For good: its access ends at once, and what it still waits to be allowed is rejected.',
  permission: 'MANAGE',
  params,
  replies: { 204: null },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const updateAgentPolicy = operation({
  operationId: 'updateAgentPolicy',
  method: 'PATCH',
  path: '/agents/{agentId}/policy',
  tag: MANAGEMENT_TAG,
  summary: 'Change what an agent may do',
  description:
    'Fields that are left out stay as they are, lists are replaced whole, and null takes a limit away. ' +
    'It counts from now on, for what waits to be approved too.',
  permission: 'MANAGE',
  params,
  body: AgentPolicyUpdateRequest,
  maxBody: POLICY_BODY,
  bodyRules: (body) => policyErrors(body),
  semanticValidation: true,
  replies: { 200: Agent },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const regenerateAgentDeviceCode = operation({
  operationId: 'regenerateAgentDeviceCode',
  method: 'POST',
  path: '/agents/{agentId}/device-codes',
  tag: MANAGEMENT_TAG,
  summary: 'Issue another device code',
  description: 'The one before is of no use any more. Not for an agent that is connected.',
  permission: 'MANAGE',
  params,
  replies: { 201: AgentDeviceCode },
  errors: [],
  notFound: 'NOT_FOUND',
  sealed: true,
});

export const getAgentDeviceCodeStatus = operation({
  operationId: 'getAgentDeviceCodeStatus',
  method: 'GET',
  path: '/agents/device-codes/{code}/status',
  tag: MANAGEMENT_TAG,
  summary: 'Whether a device code was redeemed',
  permission: 'VIEW',
  params: codeParams,
  replies: { 200: AgentDeviceCodeStatusResponse },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const redeemAgentDeviceCode = operation({
  operationId: 'redeemAgentDeviceCode',
  method: 'POST',
  path: '/agents/device-codes/{code}/redeem',
  tag: MANAGEMENT_TAG,
  summary: 'Connect a program to its agent',
  description: 'Asked by the program itself, which has no credential yet. Once for each code.',
  auth: 'none',
  params: codeParams,
  replies: { 200: AgentDeviceCodeRedeemResponse },
  errors: [],
  notFound: 'NOT_FOUND',
  idempotency: 'none',
});
