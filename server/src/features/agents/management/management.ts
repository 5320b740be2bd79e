// Management of agents. Every change increments the version of the agent row. Agent operations
// require the version that they read, so a change takes effect when it is committed.

import type { Static } from '@sinclair/typebox';
import { Fault, invalid } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Filter } from '../../../runtime/db/database.ts';
import { timeFilters } from '../../../runtime/db/paging.ts';
import { type JobHandler, jobHandler } from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { customerOf, requireCustomer } from '../../customers/records/index.ts';
import { END_AGENTS } from '../../customers/registration/index.ts';
import { systemCaller } from '../../tenancy/platform/index.ts';
import { rejectPendingActions } from '../actions/approvals.ts';
import { recordAudit } from '../audit.ts';
import type { AgentDeps } from '../deps.ts';
import {
  accountErrors,
  completePolicyErrors,
  formerCurrenciesAfter,
  mergePolicy,
  storedPolicy,
} from '../policy/policy-rules.ts';
import { agentView, emptyUsage, presentAgent } from '../present.ts';
import { type AgentRow, agents } from '../store.ts';
import {
  issueDeviceCode,
  readCodeStatus,
  redeemDeviceCode,
  replaceDeviceCodes,
} from './device-codes.ts';
import {
  createAgent,
  deleteAgent,
  getAgentById,
  getAgentDeviceCodeStatus,
  listAgents,
  redeemAgentDeviceCode,
  regenerateAgentDeviceCode,
  updateAgent,
  updateAgentPolicy,
} from './management-contract.ts';

export interface ManagementDeps extends AgentDeps {
  /** Service name prefix of device codes. */
  serviceNamePrefix(): string;
}

/** An agent of the calling platform that was not deleted. Throws NOT_FOUND. */
async function agentOf(ctx: Ctx, id: string): Promise<AgentRow> {
  const row = isId(id, 'Agent') ? await ctx.read(agents, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId || row.deleted_at !== null) {
    throw new Fault('NOT_FOUND', 'Agent not found.');
  }
  return row;
}

async function create(ctx: Ctx, body: Static<(typeof createAgent)['body']>): Promise<AgentRow> {
  const customer = await customerOf(ctx, body.customerId, { rejectDeleted: true });
  const errors = await accountErrors(ctx, customer.id, body.policy, 'policy.');
  if (errors.length) throw invalid(errors);
  requireCustomer(ctx, customer);
  const row = ctx.insert(agents, {
    id: ctx.id('Agent'),
    platform_id: customer.platform_id,
    customer_id: customer.id,
    name: body.name,
    paused: false,
    policy: storedPolicy(body.policy),
    former_currencies: [],
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  recordAudit(ctx, row, 'CREATED', { policy: row.policy });
  return row;
}

function update(ctx: Ctx, row: AgentRow, body: Static<(typeof updateAgent)['body']>): AgentRow {
  const { name = row.name, isPaused = row.paused } = body;
  recordAudit(ctx, row, 'CHANGED', { paused: isPaused, renamed: name !== row.name });
  return ctx.update(agents, row, { name, paused: isPaused, updated_at: ctx.now });
}

async function changePolicy(
  ctx: Ctx,
  row: AgentRow,
  body: Static<(typeof updateAgentPolicy)['body']>,
): Promise<AgentRow> {
  const policy = mergePolicy(row.policy, body);
  const errors = [
    ...completePolicyErrors(policy),
    ...(await accountErrors(ctx, row.customer_id, body)),
  ];
  if (errors.length) throw invalid(errors);
  const oldCurrency = row.policy.spendingLimits.currency;
  const newCurrency = policy.spendingLimits.currency;
  recordAudit(ctx, row, 'POLICY_CHANGED', { policy });
  return ctx.update(agents, row, {
    policy,
    former_currencies: formerCurrenciesAfter(row.former_currencies, {
      from: oldCurrency,
      to: newCurrency,
      now: ctx.now,
    }),
    updated_at: ctx.now,
  });
}

async function remove(ctx: Ctx, row: AgentRow, reason = 'The agent was deleted.'): Promise<void> {
  await replaceDeviceCodes(ctx, row);
  await rejectPendingActions(ctx, row, reason);
  ctx.update(agents, row, { deleted_at: ctx.now, token_hash: null, updated_at: ctx.now });
  recordAudit(ctx, row, 'DELETED', { reason });
}

async function reissueDeviceCode(ctx: Ctx, row: AgentRow, prefix: string) {
  if (row.token_hash !== null) {
    const reason = 'The agent is connected. Delete it and create another to connect a new program.';
    throw new Fault('CONFLICT', reason);
  }
  ctx.require(agents, row);
  await replaceDeviceCodes(ctx, row);
  return issueDeviceCode(ctx, row, prefix);
}

function filtersOf(
  query: Static<(typeof listAgents)['query']>,
  platformId: string,
): Filter<typeof agents>[] {
  const { customerId, isPaused, isConnected } = query;
  const filters: Filter<typeof agents>[] = [
    { column: 'platform_id', op: '=', value: platformId },
    { column: 'deleted_at', op: 'isNull' },
  ];
  if (customerId !== undefined) filters.push({ column: 'customer_id', op: '=', value: customerId });
  if (isPaused !== undefined) filters.push({ column: 'paused', op: '=', value: isPaused });
  if (isConnected === false) filters.push({ column: 'token_hash', op: 'isNull' });
  // `>= ''` matches every hash and excludes null.
  if (isConnected) filters.push({ column: 'token_hash', op: '>=', value: '' });
  return [...filters, ...timeFilters(query)];
}

const codeOperations = ({ serviceNamePrefix }: ManagementDeps) => [
  handle(regenerateAgentDeviceCode, async (ctx, { params }) => ({
    status: 201,
    body: await reissueDeviceCode(ctx, await agentOf(ctx, params.agentId), serviceNamePrefix()),
  })),
  handle(getAgentDeviceCodeStatus, async (ctx, { params }) => ({
    status: 200,
    body: await readCodeStatus(ctx, params.code),
  })),
  handle(redeemAgentDeviceCode, async (ctx, { params }) => {
    const outcome = await redeemDeviceCode(ctx, params.code);
    if ('rejected' in outcome) return outcome;
    const { agent, accessToken } = outcome;
    const { id: agentId, name: agentName, policy } = agent;
    return { status: 200, body: { agentId, agentName, accessToken, policy } };
  }),
];

/** Operations of the platform on its agents, and the redemption of device codes. */
export const agentManagementOperations = (deps: ManagementDeps) => [
  handle(createAgent, async (ctx, { body }) => {
    const row = await create(ctx, body);
    const deviceCode = issueDeviceCode(ctx, row, deps.serviceNamePrefix());
    return { status: 201, body: { agent: agentView(ctx, row, emptyUsage(row)), deviceCode } };
  }),
  handle(listAgents, async (ctx, { query }) => {
    const { limit = 20, cursor } = query;
    const filters = filtersOf(query, ctx.caller.platformId);
    const { rows, ...rest } = await ctx.db.page(agents, { filters, sort: 'desc', limit, cursor });
    const data = await Promise.all(rows.map((row) => presentAgent(ctx, deps, row)));
    return { status: 200, body: { data, ...rest } };
  }),
  handle(getAgentById, async (ctx, { params }) => ({
    status: 200,
    body: await presentAgent(ctx, deps, await agentOf(ctx, params.agentId)),
  })),
  handle(updateAgent, async (ctx, { params, body }) => {
    const row = update(ctx, await agentOf(ctx, params.agentId), body);
    return { status: 200, body: await presentAgent(ctx, deps, row) };
  }),
  handle(updateAgentPolicy, async (ctx, { params, body }) => {
    const row = await changePolicy(ctx, await agentOf(ctx, params.agentId), body);
    return { status: 200, body: await presentAgent(ctx, deps, row) };
  }),
  handle(deleteAgent, async (ctx, { params }) => {
    await remove(ctx, await agentOf(ctx, params.agentId));
    return { status: 204, body: undefined };
  }),
  ...codeOperations(deps),
];

const NOT_DELETED: Filter<typeof agents> = { column: 'deleted_at', op: 'isNull' };

/**
 * Deletes one agent of a deleted customer and rejects its pending actions. Returns whether more
 * agents remain. A change set contains one agent, because an agent may have hundreds of pending
 * actions.
 */
export async function deleteNextAgent(ctx: Ctx, customerId: string): Promise<boolean> {
  const filters = [{ column: 'customer_id', op: '=', value: customerId } as const, NOT_DELETED];
  const { rows, hasMore } = await ctx.db.page(agents, { filters, sort: 'asc', limit: 1 });
  for (const row of rows) await remove(ctx, row, 'The customer was deleted.');
  return hasMore;
}

/**
 * Job that deletes the agents of a deleted customer. Their tokens were revoked with the customer.
 */
export const agentJobs = (): JobHandler[] => [
  jobHandler(END_AGENTS, {
    run: async (_runtime, { input }) => {
      const { platformId, environment, customerId, tokenId } = input;
      return {
        caller: { ...systemCaller(platformId, environment), tokenId },
        async stage(ctx) {
          if (await deleteNextAgent(ctx, customerId)) ctx.later(END_AGENTS, input);
        },
      };
    },
  }),
];
