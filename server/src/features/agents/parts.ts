// What the operations of agents are built with, and which agent asks.
import type { Connectors } from '../../connectors/ports.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Ctx, Environment } from '../../runtime/context.ts';
import { type AgentPermission, lacking, PAUSED } from './policy.ts';
import { type AgentRow, agents } from './store.ts';

export interface AgentParts {
  connectors(environment: Environment): Connectors;
  /** What links to pages of this server begin with. */
  origin(): string;
}

/** What amounts are converted with. */
export type RateParts = Pick<AgentParts, 'connectors'>;

export const noAgent = () => new Fault('UNAUTHORIZED', 'The access token is missing or not valid.');

/** The agent that asks. */
export async function ownAgent(ctx: Ctx): Promise<AgentRow> {
  const row = ctx.caller.agentId ? await ctx.read(agents, ctx.caller.agentId) : undefined;
  if (!row || row.deleted_at !== null) throw noAgent();
  return row;
}

export const forbidden = (reason: string) => new Fault('FORBIDDEN', reason);

/** The agent that asks, which may do this. Throws FORBIDDEN while it is paused, unless it only reads. */
export async function agentWith(
  ctx: Ctx,
  permission: AgentPermission | undefined,
  { reads = false }: { reads?: boolean } = {},
): Promise<AgentRow> {
  const agent = await ownAgent(ctx);
  if (agent.paused && !reads) throw forbidden(PAUSED);
  if (permission && !agent.policy.permissions.includes(permission)) {
    throw forbidden(lacking(permission));
  }
  return agent;
}
