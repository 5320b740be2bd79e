// Management of agents by the platform, and the connection of a program to its agent.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import type { FieldError } from '../../../kernel/fault.ts';
import { named, PageQuery, page, Timestamp, withDescription } from '../../../kernel/schema.ts';
import { Agent, AgentPolicy, AgentPolicyUpdateRequest, MANAGEMENT_TAG } from '../contract.ts';
import { completePolicyErrors, policyErrors } from '../policy/policy-rules.ts';

const name = Type.String({ minLength: 1, maxLength: 255, description: 'Display name.' });

const AgentCreateRequest = named(
  'AgentCreateRequest',
  Type.Object(
    {
      name,
      customerId: Type.String({ description: 'Customer on whose behalf the agent acts.' }),
      policy: AgentPolicy,
    },
    { description: 'Name, customer and policy of a new agent.' },
  ),
);

const redeemed = Type.Boolean({ description: 'Whether the code has been redeemed.' });

const AgentDeviceCode = named(
  'AgentDeviceCode',
  Type.Object(
    {
      code: Type.String({
        description: 'Device code, returned only once. Enter it in the program.',
      }),
      agentId: Type.String({ description: 'ID of the agent.' }),
      expiresAt: withDescription(Timestamp, 'Time at which the code expires.'),
      redeemed,
    },
    { description: 'Single-use code that connects a program to its agent.' },
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
        Type.Boolean({ description: 'true pauses the agent (read-only), false resumes it.' }),
      ),
    },
    { description: 'At least one field is required.' },
  ),
);

const AgentDeviceCodeStatusResponse = named(
  'AgentDeviceCodeStatusResponse',
  Type.Object({
    code: Type.String({ description: 'Device code in capital letters.' }),
    redeemed,
  }),
);

const AgentDeviceCodeRedeemResponse = named(
  'AgentDeviceCodeRedeemResponse',
  Type.Object(
    {
      agentId: Type.String({ description: 'ID of the agent.' }),
      agentName: Type.String({ description: 'Display name of the agent.' }),
      accessToken: Type.String({ description: 'Bearer token of the agent, returned only once.' }),
      policy: AgentPolicy,
    },
    { description: 'Access token and policy of the connected agent.' },
  ),
);

const time = (description: string) => Type.Optional(withDescription(Timestamp, description));
const params = Type.Object({ agentId: Type.String({ description: 'ID of the agent.' }) });
const codeParams = Type.Object({
  code: Type.String({ description: 'Device code, not case-sensitive.' }),
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
  description:
    'Creates an agent and its device code. The code is valid for 24 hours and can be redeemed ' +
    'once with `redeemAgentDeviceCode`.',
  permission: 'MANAGE',
  body: AgentCreateRequest,
  maxBody: POLICY_BODY,
  bodyRules: (body) => completePolicyErrors(partOf(body, 'policy'), 'policy.'),
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
  description: 'Lists the agents of the platform, newest first.',
  permission: 'VIEW',
  query: Type.Object({
    customerId: Type.Optional(Type.String({ description: 'Filter by the ID of the customer.' })),
    isPaused: Type.Optional(Type.Boolean({ description: 'Filter by paused state.' })),
    isConnected: Type.Optional(Type.Boolean({ description: 'Filter by connected state.' })),
    createdAfter: time('Created at or after this time.'),
    createdBefore: time('Created at or before this time.'),
    updatedAfter: time('Updated at or after this time.'),
    updatedBefore: time('Updated at or before this time.'),
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
  summary: 'Get an agent',
  description: 'Returns an agent with its policy and its usage.',
  permission: 'VIEW',
  params,
  replies: { 200: Agent },
  errors: [],
  notFound: 'NOT_FOUND',
});

const MISSING_FIELD: FieldError = {
  field: '',
  message: 'At least one of name and isPaused is required.',
};

export const updateAgent = operation({
  operationId: 'updateAgent',
  method: 'PATCH',
  path: '/agents/{agentId}',
  tag: MANAGEMENT_TAG,
  summary: 'Rename, pause or resume an agent',
  description: 'Renames, pauses or resumes an agent. A paused agent has read access only.',
  permission: 'MANAGE',
  params,
  body: AgentUpdateRequest,
  bodyRules: (body) =>
    partOf(body, 'name') === undefined && partOf(body, 'isPaused') === undefined
      ? [MISSING_FIELD]
      : [],
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
    'Revokes the access of the agent immediately and rejects its pending actions. A deleted ' +
    'agent cannot be restored.',
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
  summary: 'Update the policy of an agent',
  description:
    'Changes the policy of an agent. Absent fields are unchanged. Lists are replaced ' +
    'completely. Null removes a limit. The new policy also applies to pending actions when ' +
    'they are approved.',
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
  summary: 'Reissue a device code',
  description:
    'Creates a device code that is valid for 24 hours and replaces the previous code. Returns ' +
    'CONFLICT if the agent is connected. To connect a new program, delete the connected agent ' +
    'and create another.',
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
  summary: 'Get the status of a device code',
  description:
    'Returns whether the code was redeemed. A code can be read until 30 days after its expiry.',
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
  summary: 'Redeem a device code',
  description:
    'Returns the access token of the agent. The program calls this operation without ' +
    'credentials. Each code can be redeemed once, within 24 hours of its creation. At most ten ' +
    'requests per minute are accepted from one IP address.',
  auth: 'none',
  params: codeParams,
  replies: { 200: AgentDeviceCodeRedeemResponse },
  errors: [],
  notFound: 'NOT_FOUND',
  idempotency: 'none',
});
