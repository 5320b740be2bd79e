// Agents that act for customers: their policies and spending, pausing, and their audit log.
import { type Static, Type } from '@sinclair/typebox';
import {
  AGENT_STATES,
  Agent,
  pauseAgentByOperator,
  readAgentDetails,
  searchAgentAudit,
  searchAgents,
} from '../../features/agents/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { invalidField } from '../../kernel/fault.ts';
import { named, nullable, oneOf, PageQuery, page, text, time } from '../../kernel/schema.ts';
import { type OperatorCall, operatorHandle } from '../handle.ts';
import { listInput, PlatformFilter } from '../schemas.ts';

const TAG = 'Agents';

export const AgentState = oneOf(AGENT_STATES, {
  description:
    'State of the agent. `paused`: read-only. `not connected`: the device code has not been redeemed.',
});
const Summary = named(
  'OperatorAgentSummary',
  Type.Object(
    {
      agentId: text('ID of the agent.'),
      platformId: text('Platform of the agent.'),
      customerId: text('Customer on whose behalf the agent acts.'),
      name: text('Display name.'),
      state: AgentState,
      createdAt: time('Time at which the agent was created.'),
    },
    { description: 'An agent, without its policy.' },
  ),
);
const Details = named(
  'OperatorAgent',
  Type.Object(
    { ...Agent.properties, platformId: text('Platform of the agent.'), state: AgentState },
    { description: 'An agent with its policy and spending.' },
  ),
);
const params = Type.Object({ agentId: text('ID of the agent.') });
const customerFilter = Type.Optional(text('Return only items of this customer.'));

const list = operation({
  operationId: 'searchAgents',
  method: 'GET',
  path: '/agents',
  tag: TAG,
  summary: 'List agents',
  description: 'Returns the agents that are not deleted, newest first.',
  auth: 'operator',
  operatorPermission: 'agents.read',
  commands: ['agents list'],
  query: Type.Object({ customerId: customerFilter, ...PlatformFilter, ...PageQuery }),
  replies: {
    200: named(
      'OperatorAgentPage',
      page(Summary, { description: 'A page of agents that are not deleted, newest first.' }),
    ),
  },
  errors: [],
});

const show = operation({
  operationId: 'getAgentDetails',
  method: 'GET',
  path: '/agents/{agentId}',
  tag: TAG,
  summary: 'Get an agent',
  description: 'Returns an agent, its policy and its spending.',
  auth: 'operator',
  operatorPermission: 'agents.read',
  commands: ['agents show'],
  params,
  replies: { 200: Details },
  errors: [],
  notFound: 'NOT_FOUND',
});

const Body = Type.Object({
  reason: text('Reason, stored in the audit log of the agent. Must not contain personal data.', {
    minLength: 1,
    maxLength: 255,
  }),
});
const PAUSE = {
  method: 'POST',
  tag: TAG,
  auth: 'operator',
  operatorPermission: 'agents.manage',
  params,
  body: Body,
  replies: { 200: Details },
  errors: [],
  notFound: 'NOT_FOUND',
} as const;

const pause = operation({
  ...PAUSE,
  operationId: 'pauseAgent',
  path: '/agents/{agentId}/pause',
  summary: 'Pause an agent',
  description: 'Pauses an agent. A paused agent is read-only.',
  commands: ['agents pause'],
});

const resume = operation({
  ...PAUSE,
  operationId: 'resumeAgent',
  path: '/agents/{agentId}/resume',
  summary: 'Resume a paused agent',
  description: 'Resumes an agent that was paused.',
  commands: ['agents resume'],
});

const AuditEntry = named(
  'OperatorAgentAuditEntry',
  Type.Object(
    {
      lineId: text('ID of the entry.'),
      at: time('Time of the entry.'),
      what: text('Event that the entry records, such as `ACTION_EXECUTED`.'),
      actor: text('Agent, API token or operator that acted.'),
      agentId: text('ID of the agent.'),
      actionId: nullable(
        text('Action of the agent, or null if the entry does not concern an action.'),
      ),
      customerId: text('Customer on whose behalf the agent acts.'),
      platformId: text('Platform of the agent.'),
      details: Type.Record(Type.String(), Type.Unknown(), {
        description: 'Values of the change, by name.',
      }),
    },
    { description: 'An entry of the audit log of agents.' },
  ),
);

const audit = operation({
  operationId: 'listAgentAuditEntries',
  method: 'GET',
  path: '/agent-audit-entries',
  tag: TAG,
  summary: 'List the audit log of agents',
  description:
    'Returns the audit entries that match every filter, newest first. One of `agentId`, ' +
    '`customerId` and `platformId` is required.',
  auth: 'operator',
  operatorPermission: 'agents.read',
  commands: ['agents audit'],
  query: Type.Object({
    agentId: Type.Optional(text('Return only entries of this agent.')),
    customerId: customerFilter,
    createdAfter: Type.Optional(time('Return only entries at or after this time.')),
    ...PlatformFilter,
    ...PageQuery,
  }),
  replies: {
    200: named(
      'OperatorAgentAuditPage',
      page(AuditEntry, { description: 'A page of audit entries of agents, newest first.' }),
    ),
  },
  errors: [],
});

const depsOf = ({ installation }: OperatorCall) => ({ connectors: installation.connectorsOf });

interface PauseInput {
  params: Static<typeof params>;
  body: Static<typeof Body>;
}

const setPaused =
  (isPaused: boolean) =>
  async (call: OperatorCall, { params: { agentId }, body: { reason } }: PauseInput) => {
    const { runtime } = call.installation;
    const agent = await pauseAgentByOperator(runtime, depsOf(call), {
      agentId,
      paused: isPaused,
      reason,
    });
    return { status: 200 as const, body: agent };
  };

export const agentOperations = [
  operatorHandle(list, async ({ installation }, { query }) => ({
    status: 200,
    body: await searchAgents(installation.runtime, listInput(query)),
  })),
  operatorHandle(show, async (call, { params: { agentId } }) => ({
    status: 200,
    body: await readAgentDetails(call.installation.runtime, depsOf(call), agentId),
  })),
  operatorHandle(pause, setPaused(true)),
  operatorHandle(resume, setPaused(false)),
  operatorHandle(audit, async ({ installation }, { query: { createdAfter, ...query } }) => {
    const { agentId, customerId, platformId } = query;
    if ([agentId, customerId, platformId].every((each) => each === undefined)) {
      throw invalidField('platformId', 'is required without agentId and customerId');
    }
    const startTime = createdAfter === undefined ? undefined : Date.parse(createdAfter);
    const input = { ...listInput(query), since: startTime };
    return { status: 200, body: await searchAgentAudit(installation.runtime, input) };
  }),
];
