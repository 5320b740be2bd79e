// Operator functions for agents of all platforms: search, details, pause, resume and audit. The
// only personal data shown are the names of agents.

import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { equals, type Filter } from '../../../runtime/db/database.ts';
import { cursorOf, type PageInput } from '../../../runtime/db/paging.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import { recordAudit } from '../audit.ts';
import type { RateDeps } from '../deps.ts';
import { presentAgent } from '../present.ts';
import { type AgentRow, type AuditRow, agentAudit, agents } from '../store.ts';

/** Finds an agent. Deleted agents are included, because their audit remains. Throws NOT_FOUND. */
export async function agentById({ read }: Pick<Ctx, 'read'>, id: string): Promise<AgentRow> {
  const row = isId(id, 'Agent') ? await read(agents, id) : undefined;
  if (!row) throw new Fault('NOT_FOUND', 'Agent not found.');
  return row;
}

/** States of agents for operators. */
export const AGENT_STATES = ['active', 'paused', 'not connected', 'deleted'] as const;

const stateOf = (row: AgentRow): (typeof AGENT_STATES)[number] => {
  if (row.deleted_at !== null) return 'deleted';
  if (row.paused) return 'paused';
  return row.token_hash === null ? 'not connected' : 'active';
};

const summaryOf = (row: AgentRow) => ({
  agentId: row.id,
  platformId: row.platform_id,
  customerId: row.customer_id,
  name: row.name,
  state: stateOf(row),
  createdAt: iso(row.created_at),
});

interface SearchInput extends PageInput {
  platformId?: string | undefined;
  customerId?: string | undefined;
  /** Last ID of the previous page. Alternative to `cursor`. */
  after?: string | undefined;
}

/**
 * A page of agents by platform or customer, newest first, without deleted agents. Throws NOT_FOUND
 * if `after` is unknown.
 */
export async function searchAgents(
  { db }: Runtime,
  { platformId, customerId, after, cursor: pageCursor, limit }: SearchInput,
) {
  const filters: Filter<typeof agents>[] = [
    ...equals({ platform_id: platformId, customer_id: customerId }),
    { column: 'deleted_at', op: 'isNull' },
  ];
  const cursor = after === undefined ? pageCursor : cursorOf(await agentById(db, after));
  const { rows, ...rest } = await db.page(agents, { filters, sort: 'desc', limit, cursor });
  return { data: rows.map(summaryOf), ...rest };
}

const detailsOf = async (ctx: Ctx, deps: RateDeps, row: AgentRow) => ({
  ...(await presentAgent(ctx, deps, row)),
  platformId: row.platform_id,
  state: stateOf(row),
});

export type AgentDetails = Awaited<ReturnType<typeof detailsOf>>;

/** Runs `work` as system caller of the platform of an agent, with the current agent row. */
async function operateOnAgent<R>(
  runtime: Runtime,
  agentId: string,
  work: (ctx: Ctx, row: AgentRow) => Promise<R>,
): Promise<R> {
  const { id, platform_id } = await agentById(runtime.db, agentId);
  const caller = await callerOf(runtime.db, platform_id);
  return operate(runtime, caller, async (ctx) => work(ctx, await agentById(ctx, id)));
}

/** An agent with its policy and usage. Throws NOT_FOUND. */
export const readAgentDetails = (
  runtime: Runtime,
  deps: RateDeps,
  agentId: string,
): Promise<AgentDetails> =>
  operateOnAgent(runtime, agentId, (ctx, row) => detailsOf(ctx, deps, row));

interface PauseInput {
  agentId: string;
  paused: boolean;
  /** Stored in the audit. Must not contain personal data. */
  reason: string;
}

/** Pauses or resumes an agent. Throws NOT_FOUND. */
export const pauseAgentByOperator = (
  runtime: Runtime,
  deps: RateDeps,
  { agentId, paused, reason }: PauseInput,
): Promise<AgentDetails> =>
  operateOnAgent(runtime, agentId, async (ctx, row) => {
    if (row.deleted_at !== null) throw new Fault('NOT_FOUND', 'Agent not found.');
    recordAudit(ctx, row, 'CHANGED', { paused, reason });
    return detailsOf(ctx, deps, ctx.update(agents, row, { paused, updated_at: ctx.now }));
  });

async function auditEntryById({ read }: Pick<Ctx, 'read'>, id: string): Promise<AuditRow> {
  const row = isId(id, 'AgentAudit') ? await read(agentAudit, id) : undefined;
  if (!row) throw new Fault('NOT_FOUND', 'Audit entry not found.');
  return row;
}

const presentAuditEntry = (row: AuditRow) => ({
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

interface AuditInput extends SearchInput {
  agentId?: string | undefined;
  /** Earliest time. */
  since?: number | undefined;
}

/** A page of audit entries, newest first. Throws NOT_FOUND if `after` is unknown. */
export async function searchAgentAudit(
  { db }: Runtime,
  { platformId, customerId, agentId, since, after, cursor: pageCursor, limit }: AuditInput,
) {
  const filters: Filter<typeof agentAudit>[] = equals({
    platform_id: platformId,
    customer_id: customerId,
    agent_id: agentId,
  });
  if (since !== undefined) filters.push({ column: 'created_at', op: '>=', value: since });
  const cursor = after === undefined ? pageCursor : cursorOf(await auditEntryById(db, after));
  const { rows, ...rest } = await db.page(agentAudit, { filters, sort: 'desc', limit, cursor });
  return { data: rows.map(presentAuditEntry), ...rest };
}
