// What the operations of agents are built with, and which agent asks.

import type { Connectors } from '../../connectors/ports/index.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Mode } from '../../kernel/mode.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import {
  type AgentPermission,
  against,
  outright,
  type Refusal,
  type Rule,
} from './policy/policy.ts';
import { type AgentRow, agents } from './store.ts';

export interface AgentParts {
  connectors(environment: Mode): Connectors;
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

/** FORBIDDEN; `details.rule` names what of the policy stands against it. */
export const forbidden = ({ rule, reason }: Refusal) => new Fault('FORBIDDEN', reason, { rule });

/** The refusal behind a fault that says so; undefined of any other. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof Fault) || error.code !== 'FORBIDDEN') return undefined;
  const rule = error.details?.rule as Rule | undefined;
  return rule && against(rule, error.message);
}

/** Throws FORBIDDEN unless the agent may do this. While it is paused it may only read. */
export function checkMay(
  agent: AgentRow,
  permission: AgentPermission | undefined,
  options: { reads?: boolean } = {},
): void {
  const no = outright(agent, permission, options);
  if (no) throw forbidden(no);
}
