// Dependencies of the agent operations, the calling agent and its permission checks.

import type { Connectors } from '../../connectors/ports/index.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Mode } from '../../kernel/mode.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import {
  type AgentPermission,
  generalRejection,
  type Rejection,
  type Rule,
  rejection,
} from './policy/policy.ts';
import { type AgentRow, agents } from './store.ts';

export interface AgentDeps {
  connectors(environment: Mode): Connectors;
  /** Base URL of links to pages of this server. */
  origin(): string;
}

/** Source of exchange rates for limits. */
export type RateDeps = Pick<AgentDeps, 'connectors'>;

export const invalidToken = () =>
  new Fault('UNAUTHORIZED', 'The access token is missing or not valid.');

/** The calling agent. Throws UNAUTHORIZED if it was deleted. */
export async function readOwnAgent(ctx: Ctx): Promise<AgentRow> {
  const row = ctx.caller.agentId ? await ctx.read(agents, ctx.caller.agentId) : undefined;
  if (!row || row.deleted_at !== null) throw invalidToken();
  return row;
}

/** FORBIDDEN. `details.rule` is the rule of the policy that rejected the request. */
export const forbidden = ({ rule, reason }: Rejection) => new Fault('FORBIDDEN', reason, { rule });

/** The policy rejection in a fault, or undefined for any other fault. */
export function rejectionOf(error: unknown): Rejection | undefined {
  if (!(error instanceof Fault) || error.code !== 'FORBIDDEN') return undefined;
  const rule = error.details?.rule as Rule | undefined;
  return rule && rejection(rule, error.message);
}

/** Throws FORBIDDEN unless the policy grants the permission. A paused agent may only read. */
export function checkAllowed(
  agent: AgentRow,
  permission: AgentPermission | undefined,
  options: { reads?: boolean } = {},
): void {
  const rejection = generalRejection(agent, permission, options);
  if (rejection) throw forbidden(rejection);
}
