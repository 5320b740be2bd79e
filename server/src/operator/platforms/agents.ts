// `agents list|show|pause|resume|audit`: what the operator sees of the programs that act for customers, how
// it stops one, and who did what. Nothing here is personal but the names that platforms give their agents.
import {
  type AgentRow,
  type AuditRow,
  agentAudit,
  agents,
  note,
  presentAgent,
} from '../../features/agents/index.ts';
import { callerOf } from '../../features/tenancy/platform/index.ts';
import { isId } from '../../kernel/id.ts';
import { iso } from '../../kernel/world.ts';
import { equals, type Filter } from '../../runtime/db/database.ts';
import { cursorOf } from '../../runtime/db/paging.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate } from '../../runtime/operation/operate.ts';
import { type Flags, type Given, usageError } from '../cli/flags.ts';
import { inline, LIMIT, limitIn } from '../cli/queue.ts';
import { record, table } from '../cli/table.ts';
import { notFound, type Output, type System, type Verb } from '../cli/verb.ts';
import { platformIn } from './platform.ts';

/** An agent, also one that was deleted: what it did stays. */
async function agentOf({ runtime }: System, id: string): Promise<AgentRow> {
  const row = isId(id, 'Agent') ? await runtime.db.read(agents, id) : undefined;
  if (!row) throw notFound('agent');
  return row;
}

const stateOf = (row: AgentRow) => {
  if (row.deleted_at !== null) return 'deleted';
  if (row.paused) return 'paused';
  return row.token_hash === null ? 'not connected' : 'active';
};

const lineOf = (row: AgentRow) => ({
  agentId: row.id,
  platformId: row.platform_id,
  customerId: row.customer_id,
  name: row.name,
  state: stateOf(row),
  createdAt: iso(row.created_at),
});

async function list(system: System, given: Given): Promise<Output> {
  const platform_id = await platformIn(system, given);
  const filters: Filter<typeof agents>[] = [
    ...equals({ platform_id, customer_id: given.text('customer') }),
    { column: 'deleted_at', op: 'isNull' },
  ];
  const after = given.text('after');
  const cursor = after === undefined ? undefined : cursorOf(await agentOf(system, after));
  const choice = { filters, sort: 'desc', limit: limitIn(given), cursor } as const;
  const { rows } = await system.runtime.db.page(agents, choice);
  const json = rows.map(lineOf);
  const heads = ['CREATED', 'AGENT', 'CUSTOMER', 'STATE', 'NAME'];
  const text = table(
    heads.map((head) => ({ head })),
    json.map((each) => [each.createdAt, each.agentId, each.customerId, each.state, each.name]),
  );
  return { json, text };
}

/** Does something as the server itself on the platform of an agent, with the agent as it is then. */
async function within<R>(
  system: System,
  given: Given,
  work: (ctx: Ctx, row: AgentRow) => Promise<R>,
): Promise<R> {
  const { id, platform_id } = await agentOf(system, given.needed('agent'));
  const caller = await callerOf(system.runtime.db, platform_id);
  return operate(system.runtime, caller, async (ctx) => work(ctx, await agentOf(system, id)));
}

const present = (system: System, ctx: Ctx, row: AgentRow) =>
  presentAgent(ctx, { connectors: system.connectorsOf }, row);

function shown(view: Awaited<ReturnType<typeof presentAgent>>, row: AgentRow): Output {
  const { policy, usage } = view;
  const json = { ...view, platformId: row.platform_id, state: stateOf(row) };
  const text = record([
    ['Agent', view.id],
    ['Name', view.name],
    ['Platform', row.platform_id],
    ['Customer', view.customerId],
    ['State', stateOf(row)],
    ['Created', view.createdAt],
    ['Permissions', policy.permissions.join(', ') || 'none'],
    ['Mode', policy.defaultExecutionMode],
    ['Limits', inline(policy.spendingLimits)],
    ['Accounts', inline(policy.accountRestrictions ?? {}) || 'all'],
    ['Threshold', inline(policy.approvalThresholds ?? {}) || 'none'],
    ['Usage', inline(usage)],
  ]);
  return { json, text };
}

const show = (system: System, given: Given): Promise<Output> =>
  within(system, given, async (ctx, row) => shown(await present(system, ctx, row), row));

const MOST_OF_A_REASON = 255;

/** Stops an agent, or lets it act again; either is written down with the reason. */
const turn = (paused: boolean) => (system: System, given: Given) => {
  const reason = given.needed('reason');
  if (reason.length > MOST_OF_A_REASON) {
    throw usageError(`--reason must have at most ${MOST_OF_A_REASON} characters`);
  }
  return within(system, given, async (ctx, row) => {
    if (row.deleted_at !== null) throw notFound('agent');
    note(ctx, row, 'CHANGED', { paused, reason });
    const changed = ctx.update(agents, row, { paused, updated_at: ctx.now });
    return shown(await present(system, ctx, changed), changed);
  });
};

async function auditIn({ runtime }: System, id: string): Promise<AuditRow> {
  const row = isId(id, 'AgentAudit') ? await runtime.db.read(agentAudit, id) : undefined;
  if (!row) throw notFound('line of the audit');
  return row;
}

const auditView = (row: AuditRow) => ({
  lineId: row.id,
  at: iso(row.created_at),
  what: row.what,
  actor: row.actor,
  agentId: row.agent_id,
  actionId: row.action_id,
  customerId: row.customer_id,
  platformId: row.platform_id,
  details: row.details,
});

function sinceIn(given: Given): number | undefined {
  const text = given.text('since');
  const time = text === undefined ? undefined : Date.parse(text);
  if (Number.isNaN(time)) throw usageError('--since takes a day or a time, such as 2026-01-31');
  return time;
}

async function audit(system: System, given: Given): Promise<Output> {
  const platform_id = await platformIn(system, given);
  const since = sinceIn(given);
  const wanted = {
    platform_id,
    customer_id: given.text('customer'),
    agent_id: given.text('agent'),
  };
  const filters: Filter<typeof agentAudit>[] = equals(wanted);
  if (filters.length === 0) throw usageError('--agent, --customer or --platform is needed');
  if (since !== undefined) filters.push({ column: 'created_at', op: '>=', value: since });
  const after = given.text('after');
  const cursor = after === undefined ? undefined : cursorOf(await auditIn(system, after));
  const choice = { filters, sort: 'desc', limit: limitIn(given), cursor } as const;
  const { rows } = await system.runtime.db.page(agentAudit, choice);
  const json = rows.map(auditView);
  const heads = ['AT', 'WHAT', 'BY', 'AGENT', 'ACTION', 'DETAILS'];
  const text = table(
    heads.map((head) => ({ head })),
    json.map((each) => [
      each.at,
      each.what,
      each.actor,
      each.agentId,
      each.actionId ?? '-',
      inline(each.details) || '-',
    ]),
  );
  return { json, text };
}

const AGENT: Flags = { agent: { value: 'AGENT', required: true, help: 'Id of the agent' } };
const REASON: Flags = {
  reason: { value: 'TEXT', required: true, help: 'Why; kept in the audit, nothing personal' },
};
const OF_SOME: Flags = {
  platform: { value: 'PLATFORM', help: 'Of one platform (all)' },
  customer: { value: 'CUSTOMER', help: 'Of one customer (all)' },
};

export const agentVerbs: readonly Verb[] = [
  {
    noun: 'agents',
    verb: 'list',
    summary: 'List agents that were not deleted, latest first',
    flags: {
      ...OF_SOME,
      ...LIMIT,
      after: { value: 'AGENT', help: 'Go on behind this agent, the last of a list before' },
    },
    run: list,
  },
  {
    noun: 'agents',
    verb: 'show',
    summary: 'Show an agent, its policy and what it has spent',
    flags: AGENT,
    bare: 'agent',
    run: show,
  },
  {
    noun: 'agents',
    verb: 'pause',
    summary: 'Stop an agent: it may look and not act',
    flags: { ...AGENT, ...REASON },
    bare: 'agent',
    run: turn(true),
  },
  {
    noun: 'agents',
    verb: 'resume',
    summary: 'Let a paused agent act again',
    flags: { ...AGENT, ...REASON },
    bare: 'agent',
    run: turn(false),
  },
  {
    noun: 'agents',
    verb: 'audit',
    summary: 'List who did what with agents, latest first',
    flags: {
      agent: { value: 'AGENT', help: 'Of one agent; one of the three is needed' },
      platform: { value: 'PLATFORM', help: 'Of all agents of one platform' },
      customer: { value: 'CUSTOMER', help: 'Of all agents of one customer' },
      since: { value: 'TIME', help: 'From this day or moment on (all)' },
      ...LIMIT,
      after: { value: 'LINE', help: 'Go on behind this line, the last of a list before (--json)' },
    },
    run: audit,
  },
];
