// Spending of agents as velocity limits (balances/velocity-limits). Each agent has one limit for
// each currency and day or month, and one limit for the number of payments per day. The limits are
// exact for concurrent payments in all processes. A failed payment restores its amount and still
// counts as a payment.

import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import {
  add,
  type CurrencyCode,
  convert,
  type Money,
  subtract,
  sum,
} from '../../../kernel/money.ts';
import { velocityLimitOf } from '../../../ledger/chart.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  countUsage,
  openVelocityLimits,
  usedOf,
  type VelocityLimit,
} from '../../balances/velocity-limits/index.ts';
import { midRate } from '../../payees/discovery/index.ts';
import { forbidden, type RateDeps } from '../deps.ts';
import { type AgentRow, agents } from '../store.ts';
import { type AgentUsage, rejection, usageLimitReasons } from './policy.ts';

/** The day or month (UTC) of a moment. */
const PERIOD_KEYS = {
  day: (now: Time) => iso(now).slice(0, 10),
  month: (now: Time) => iso(now).slice(0, 7),
};
type Period = keyof typeof PERIOD_KEYS;

/** Converts at the current rate, rounded up. Throws QUOTE_RATE_UNAVAILABLE without a rate. */
export async function convertRoundedUp(
  ctx: Ctx,
  deps: RateDeps,
  money: Money,
  to: CurrencyCode,
): Promise<Money> {
  const { rates } = deps.connectors(ctx.caller.environment);
  const { currency: sourceCurrency } = money;
  const rate = await midRate(rates, sourceCurrency, to);
  if (!rate)
    throw new Fault(
      'QUOTE_RATE_UNAVAILABLE',
      `No exchange rate from ${sourceCurrency} to ${to} is available. Repeat the request later.`,
    );
  return convert(money, rate, 'ceil');
}

const limitKeyOf = ({ id }: AgentRow, currency: string, periodKey: string) => ({
  limitId: velocityLimitOf.spending(id, currency, periodKey),
  unit: currency,
});

/** Former currencies of the limits in a period. */
function formerCurrenciesIn({ policy, former_currencies }: AgentRow, periodKey: string): string[] {
  const usedInPeriod = former_currencies.filter(
    ({ until }) => until.slice(0, periodKey.length) >= periodKey,
  );
  const currencies = new Set(usedInPeriod.map((each) => each.currency));
  currencies.delete(policy.spendingLimits.currency);
  return [...currencies];
}

/** Spending of a period in former currencies, converted to the current currency. */
async function readSpentInFormerCurrencies(
  ctx: Ctx,
  deps: RateDeps,
  agent: AgentRow,
  periodKey: string,
): Promise<Money> {
  const { currency } = agent.policy.spendingLimits;
  const amounts = await Promise.all(
    formerCurrenciesIn(agent, periodKey).map(async (formerCurrency) => {
      const amount = await usedOf(ctx, limitKeyOf(agent, formerCurrency, periodKey));
      if (amount <= 0n) return { currency, amount: 0n };
      return convertRoundedUp(ctx, deps, { currency: formerCurrency, amount }, currency);
    }),
  );
  return sum(currency, amounts);
}

async function readSpentIn(
  ctx: Ctx,
  deps: RateDeps,
  agent: AgentRow,
  period: Period,
): Promise<Money> {
  const { currency } = agent.policy.spendingLimits;
  const periodKey = PERIOD_KEYS[period](ctx.now);
  const [amount, formerSpending] = await Promise.all([
    usedOf(ctx, limitKeyOf(agent, currency, periodKey)),
    readSpentInFormerCurrencies(ctx, deps, agent, periodKey),
  ]);
  return add({ currency, amount }, formerSpending);
}

const bigintOrNull = (limit: number | null | undefined) =>
  typeof limit === 'number' ? BigInt(limit) : null;

const paymentCountLimit = ({ id, policy }: AgentRow, now: Time): VelocityLimit => ({
  limitId: velocityLimitOf.payments(id, PERIOD_KEYS.day(now)),
  unit: 'count',
  limit: bigintOrNull(policy.spendingLimits.dailyTransactionLimit),
});

/** Usage of the agent in the currency of its limits. */
export async function readAgentUsage(
  ctx: Ctx,
  deps: RateDeps,
  agent: AgentRow,
): Promise<AgentUsage> {
  const [count, day, month] = await Promise.all([
    usedOf(ctx, paymentCountLimit(agent, ctx.now)),
    readSpentIn(ctx, deps, agent, 'day'),
    readSpentIn(ctx, deps, agent, 'month'),
  ]);
  return { count, day, month };
}

/** The velocity limit of a period, reduced by spending in former currencies. */
async function amountLimitIn(
  ctx: Ctx,
  deps: RateDeps,
  agent: AgentRow,
  period: Period,
): Promise<VelocityLimit> {
  const { currency, dailyLimit, monthlyLimit } = agent.policy.spendingLimits;
  const periodKey = PERIOD_KEYS[period](ctx.now);
  const limitKey = limitKeyOf(agent, currency, periodKey);
  const limit = bigintOrNull(period === 'day' ? dailyLimit : monthlyLimit);
  if (limit === null) return { ...limitKey, limit };
  const formerSpending = await readSpentInFormerCurrencies(ctx, deps, agent, periodKey);
  const remainingMoney = subtract({ currency, amount: limit }, formerSpending);
  return {
    ...limitKey,
    limit: remainingMoney.amount,
    isPerPayment: formerCurrenciesIn(agent, periodKey).length > 0,
  };
}

/**
 * Stages the usage of a payment: its amount for day and month, in the currency of the limits, and
 * its count. Call it after `evaluate` with the same agent row and before funds are posted. The
 * change set requires the agent row, so a concurrent policy change retries the operation. A limit
 * that is used up at commit also retries the operation. A refund restores the amount and keeps the
 * count.
 */
export async function countSpending(
  ctx: Ctx,
  deps: RateDeps,
  agent: AgentRow,
  { transactionId, amount: money }: { transactionId: string; amount: Money },
): Promise<void> {
  const limits = agent.policy.spendingLimits;
  const { amount } = money;
  const [day, month] = await Promise.all([
    amountLimitIn(ctx, deps, agent, 'day'),
    amountLimitIn(ctx, deps, agent, 'month'),
  ]);
  const count = paymentCountLimit(agent, ctx.now);
  ctx.require(agents, agent);
  await openVelocityLimits(ctx, [count, day, month], { ...agent, table: agents });
  const usageBaseOf = (rule: keyof typeof usageLimitReasons) => ({
    transactionId,
    insufficientFundsFault: () => forbidden(rejection(rule, usageLimitReasons[rule](limits))),
    retryOnInsufficientFunds: true,
  });
  const [countUsageBase, dayUsageBase, monthUsageBase] = [
    usageBaseOf('DAILY_TRANSACTION_LIMIT'),
    usageBaseOf('DAILY_LIMIT'),
    usageBaseOf('MONTHLY_LIMIT'),
  ];
  countUsage(ctx, count, { ...countUsageBase, name: 'agent', amount: 1n, reversible: false });
  countUsage(ctx, day, { ...dayUsageBase, name: 'agent.day', amount, reversible: true });
  countUsage(ctx, month, { ...monthUsageBase, name: 'agent.month', amount, reversible: true });
}
