// Presents an agent as the API resource `Agent`.
import type { Static } from '@sinclair/typebox';
import { iso } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import { type Ctx, timestamps } from '../../runtime/operation/context.ts';
import type { Agent } from './contract.ts';
import type { RateDeps } from './deps.ts';
import type { AgentUsage } from './policy/policy.ts';
import { readAgentUsage } from './policy/usage.ts';
import type { AgentRow } from './store.ts';

type AgentView = Static<typeof Agent>;

/** Usage of a new agent. */
export function emptyUsage({ policy }: AgentRow): AgentUsage {
  const zero = { currency: policy.spendingLimits.currency, amount: 0n };
  return { count: 0n, day: zero, month: zero };
}

/** Days and months are UTC. The reset fields contain the next day and month. */
function usageOf({ count, day, month }: AgentUsage, now: number): AgentView['usage'] {
  const today = new Date(now);
  const [year, monthIndex, date] = [
    today.getUTCFullYear(),
    today.getUTCMonth(),
    today.getUTCDate(),
  ];
  return {
    dailyTransactionCount: Number(count),
    dailySpend: Number(day.amount),
    dailyResetDate: iso(Date.UTC(year, monthIndex, date + 1)).slice(0, 10),
    monthlySpend: Number(month.amount),
    monthlyResetMonth: iso(Date.UTC(year, monthIndex + 1, 1)).slice(0, 7),
  };
}

/** The resource `Agent` with this usage. */
export const agentView = (ctx: Ctx, row: AgentRow, usage: AgentUsage): AgentView => ({
  id: row.id,
  name: row.name,
  customerId: row.customer_id,
  isPaused: row.paused,
  isConnected: row.token_hash !== null,
  policy: row.policy,
  usage: usageOf(usage, ctx.now),
  ...timestamps(row),
});

/**
 * Usage for display. Usage in former limit currencies is omitted without an exchange rate, so that
 * an agent can be read and paused without a rate.
 */
async function readUsageForDisplay(ctx: Ctx, deps: RateDeps, row: AgentRow): Promise<AgentUsage> {
  try {
    return await readAgentUsage(ctx, deps, row);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'QUOTE_RATE_UNAVAILABLE') throw error;
    return readAgentUsage(ctx, deps, { ...row, former_currencies: [] });
  }
}

/** The resource `Agent`. */
export const presentAgent = async (ctx: Ctx, deps: RateDeps, row: AgentRow): Promise<AgentView> =>
  agentView(ctx, row, await readUsageForDisplay(ctx, deps, row));
