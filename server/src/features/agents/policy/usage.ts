// What an agent spends, as velocity limits (balances/velocity-limits): one for each agent, currency and day
// or month, and one for the number of a day's payments. They hold exactly for concurrent payments in all
// processes, and a failed payment no longer counts.
import { Fault } from '../../../kernel/fault.ts';
import {
  add,
  type CurrencyCode,
  convert,
  type Money,
  subtract,
  sum,
} from '../../../kernel/money.ts';
import { iso, type Time } from '../../../kernel/world.ts';
import { velocityLimitOf } from '../../../ledger/chart.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  countToward,
  openVelocityLimits,
  usedOf,
  type VelocityLimit,
} from '../../balances/velocity-limits/index.ts';
import { midRate } from '../../payees/discovery/index.ts';
import { forbidden, type RateParts } from '../parts.ts';
import { type AgentRow, agents } from '../store.ts';
import { against, overUsage, type Spent } from './policy.ts';

/** The day or month (UTC) of a moment. */
const PERIOD = {
  day: (now: Time) => iso(now).slice(0, 10),
  month: (now: Time) => iso(now).slice(0, 7),
};
type Period = keyof typeof PERIOD;

/** Money at the rate of the moment, rounded up; QUOTE_RATE_UNAVAILABLE where there is none. */
export async function convertedUp(
  ctx: Ctx,
  parts: RateParts,
  money: Money,
  to: CurrencyCode,
): Promise<Money> {
  const { rates } = parts.connectors(ctx.caller.environment);
  const { currency: from } = money;
  const rate = await midRate(rates, from, to);
  if (!rate) throw new Fault('QUOTE_RATE_UNAVAILABLE', `There is no rate from ${from} to ${to}.`);
  return convert(money, rate, 'ceil');
}

const amountsOf = ({ id }: AgentRow, currency: string, during: string) => ({
  of: velocityLimitOf.spending(id, currency, during),
  unit: currency,
});

/** Currencies that the limits were in earlier in a period. */
function formerIn({ policy, former_currencies }: AgentRow, during: string): string[] {
  const inIt = former_currencies.filter(({ until }) => until.slice(0, during.length) >= during);
  const currencies = new Set(inIt.map((each) => each.currency));
  currencies.delete(policy.spendingLimits.currency);
  return [...currencies];
}

/** What was spent in a period while the limits were in other currencies, in their currency of today. */
async function spentFormerly(
  ctx: Ctx,
  parts: RateParts,
  agent: AgentRow,
  during: string,
): Promise<Money> {
  const { currency } = agent.policy.spendingLimits;
  const amounts = await Promise.all(
    formerIn(agent, during).map(async (former) => {
      const amount = await usedOf(ctx, amountsOf(agent, former, during));
      if (amount <= 0n) return { currency, amount: 0n };
      return convertedUp(ctx, parts, { currency: former, amount }, currency);
    }),
  );
  return sum(currency, amounts);
}

async function spentIn(
  ctx: Ctx,
  parts: RateParts,
  agent: AgentRow,
  period: Period,
): Promise<Money> {
  const { currency } = agent.policy.spendingLimits;
  const during = PERIOD[period](ctx.now);
  const [amount, formerly] = await Promise.all([
    usedOf(ctx, amountsOf(agent, currency, during)),
    spentFormerly(ctx, parts, agent, during),
  ]);
  return add({ currency, amount }, formerly);
}

const limited = (limit: number | null | undefined) =>
  typeof limit === 'number' ? BigInt(limit) : null;

const countOf = ({ id, policy }: AgentRow, now: Time): VelocityLimit => ({
  of: velocityLimitOf.payments(id, PERIOD.day(now)),
  unit: 'count',
  limit: limited(policy.spendingLimits.dailyTransactionLimit),
});

/** What the agent has spent by now, in the currency of its limits. */
export async function spentBy(ctx: Ctx, parts: RateParts, agent: AgentRow): Promise<Spent> {
  const [count, day, month] = await Promise.all([
    usedOf(ctx, countOf(agent, ctx.now)),
    spentIn(ctx, parts, agent, 'day'),
    spentIn(ctx, parts, agent, 'month'),
  ]);
  return { count, day, month };
}

/** What may be spent of the limits' currency in a period: the limit, less what was spent in others. */
async function amountIn(
  ctx: Ctx,
  parts: RateParts,
  agent: AgentRow,
  period: Period,
): Promise<VelocityLimit> {
  const { currency, dailyLimit, monthlyLimit } = agent.policy.spendingLimits;
  const during = PERIOD[period](ctx.now);
  const amounts = amountsOf(agent, currency, during);
  const limit = limited(period === 'day' ? dailyLimit : monthlyLimit);
  if (limit === null) return { ...amounts, limit };
  const formerly = await spentFormerly(ctx, parts, agent, during);
  const left = subtract({ currency, amount: limit }, formerly);
  return { ...amounts, limit: left.amount, shifting: formerIn(agent, during).length > 0 };
}

/**
 * Stages that a payment which starts is counted: its amount, in the limits' currency, toward day and month,
 * and itself. Call it with the agent that `evaluate` was asked about and after that, and before the money is
 * moved. The change set leans on the agent's row, so that no change of its policy comes between; where the
 * commit finds no room left the operation decides once more. The amount comes back with a refund, the count
 * does not.
 */
export async function countSpending(
  ctx: Ctx,
  parts: RateParts,
  agent: AgentRow,
  { transactionId, amount: money }: { transactionId: string; amount: Money },
): Promise<void> {
  const limits = agent.policy.spendingLimits;
  const { amount } = money;
  const [day, month] = await Promise.all([
    amountIn(ctx, parts, agent, 'day'),
    amountIn(ctx, parts, agent, 'month'),
  ]);
  const count = countOf(agent, ctx.now);
  ctx.require(agents, agent);
  await openVelocityLimits(ctx, [count, day, month], { ...agent, table: agents });
  const common = (rule: keyof typeof overUsage) => ({
    transactionId,
    short: () => forbidden(against(rule, overUsage[rule](limits))),
    again: true,
  });
  const [one, ofDay, ofMonth] = [
    common('DAILY_TRANSACTION_LIMIT'),
    common('DAILY_LIMIT'),
    common('MONTHLY_LIMIT'),
  ];
  countToward(ctx, count, { ...one, name: 'agent', amount: 1n, comesBack: false });
  countToward(ctx, day, { ...ofDay, name: 'agent.day', amount, comesBack: true });
  countToward(ctx, month, { ...ofMonth, name: 'agent.month', amount, comesBack: true });
}
