// Fixture for the usage of agents. Each payment is evaluated and counted in one operation, in any
// process, at configured rates. No funds are posted unless a start function is passed.
import type { AgentDeps } from '../../../src/features/agents/deps.ts';
import { evaluate, type Policy } from '../../../src/features/agents/policy/policy.ts';
import {
  convertRoundedUp,
  countSpending,
  readAgentUsage,
} from '../../../src/features/agents/policy/usage.ts';
import { type AgentRow, agents } from '../../../src/features/agents/store.ts';
import { reverseUsage } from '../../../src/features/balances/velocity-limits/index.ts';
import { systemCaller } from '../../../src/features/tenancy/platform/index.ts';
import { iso } from '../../../src/kernel/effects.ts';
import { newId } from '../../../src/kernel/id.ts';
import type { Rate } from '../../../src/kernel/money.ts';
import type { Ctx } from '../../../src/runtime/operation/context.ts';
import { operate, type Runtime } from '../../../src/runtime/operation/operate.ts';
import type { TestApp } from '../app/harness.ts';

type Limits = Policy['spendingLimits'];

/** Result of a payment: its ID and the required version of the agent, or the violated rule. */
export type PaymentResult = { id: string; version: number } | string;

export const isPaid = (paymentResult: PaymentResult): boolean => typeof paymentResult !== 'string';
export const idOf = (paymentResult: PaymentResult): string => (paymentResult as { id: string }).id;

interface PaymentOptions {
  /** Currency of the amount. Defaults to the currency of the limits. */
  currency?: string;
  runtime?: Runtime;
  /** Starts the payment and returns its ID. */
  start?: (ctx: Ctx) => Promise<string>;
}

export function spendingFixture(app: TestApp) {
  /** Rates between minor units, by `USD EUR`. */
  const rates: Record<string, Rate> = {};
  const deps: Pick<AgentDeps, 'connectors'> = {
    connectors: () => ({
      rates: {
        rate: async (from, to) => {
          const rate = rates[`${from} ${to}`];
          return rate && { rate, at: app.effects.now() };
        },
      },
    }),
  };
  const caller = systemCaller(app.platform.id, 'sandbox');

  const rowOf = async (id: string) => (await app.runtime.db.read(agents, id)) as AgentRow;

  /** Creates an agent with these limits and returns its ID. */
  const createAgentWithLimits = (limits: Partial<Limits> = {}): Promise<string> =>
    app.operate(async (ctx) => {
      const { id } = ctx.insert(agents, {
        id: ctx.id('Agent'),
        platform_id: app.platform.id,
        customer_id: 'Customer:any',
        name: 'Shopper',
        paused: false,
        policy: {
          permissions: ['CREATE_TRANSFERS'],
          defaultExecutionMode: 'AUTO',
          spendingLimits: { currency: 'USD', perTransactionLimit: 1_000_000_00, ...limits },
        },
        former_currencies: [],
        created_at: ctx.now,
        updated_at: ctx.now,
      });
      return id;
    });

  /** Changes the limits of an agent, including their currency, and whether the agent is paused. */
  const changeLimits = (id: string, limits: Partial<Limits>, { paused = false } = {}) =>
    app.operate(async (ctx) => {
      const row = (await ctx.read(agents, id)) as AgentRow;
      const { spendingLimits: previousLimits } = row.policy;
      const updatedLimits = { ...previousLimits, ...limits };
      const formerCurrency = { currency: previousLimits.currency, until: iso(ctx.now) };
      return ctx.update(agents, row, {
        paused,
        policy: { ...row.policy, spendingLimits: updatedLimits },
        former_currencies: [
          ...row.former_currencies,
          ...(updatedLimits.currency === previousLimits.currency ? [] : [formerCurrency]),
        ],
        updated_at: ctx.now,
      });
    });

  async function pay(
    agentId: string,
    amount: bigint,
    { currency, runtime = app.runtime, start }: PaymentOptions = {},
  ): Promise<PaymentResult> {
    const work = async (ctx: Ctx) => {
      const agent = (await ctx.read(agents, agentId)) as AgentRow;
      const { currency: limitCurrency } = agent.policy.spendingLimits;
      const convertedAmount = await convertRoundedUp(
        ctx,
        deps,
        { currency: currency ?? limitCurrency, amount },
        limitCurrency,
      );
      const request = { accountId: 'one', amount: convertedAmount, thresholdAmount: null };
      const spentAmounts = await readAgentUsage(ctx, deps, agent);
      const evaluation = evaluate(agent, spentAmounts, { type: 'TRANSFER_OUT', ...request });
      if (evaluation.decision === 'REJECTED') throw new Error(evaluation.reason);
      const id = start ? await start(ctx) : newId(app.effects, 'Transaction');
      await countSpending(ctx, deps, agent, { transactionId: id, amount: convertedAmount });
      return { id, version: agent.version };
    };
    const ruleOf = (error: Error) => /\((\w+)\)\.$/.exec(error.message)?.[1] ?? error.message;
    return operate(runtime, caller, work).catch(ruleOf);
  }

  return {
    deps,
    rates,
    rowOf,
    createAgentWithLimits,
    changeLimits,
    pay,
    /** Concurrent payments of these amounts, distributed over the runtimes. */
    payConcurrently: (id: string, amounts: readonly bigint[], runtimes: readonly Runtime[]) =>
      Promise.all(
        amounts.map((amount, index) =>
          pay(id, amount, { runtime: runtimes[index % runtimes.length] as Runtime }),
        ),
      ),
    returnFunds: (paymentResult: PaymentResult) =>
      app.operate((ctx) => reverseUsage(ctx, { id: idOf(paymentResult) })),
    /** Usage of an agent, in minor units of the currency of its limits. */
    readUsage: (id: string) =>
      app.operate(async (ctx) => {
        const { count, day, month } = await readAgentUsage(ctx, deps, await rowOf(id));
        return { count, day: day.amount, month: month.amount };
      }),
    /** Ledger accounts of the usage of an agent. */
    accountsOf: (id: string) =>
      app.runtime.db.query(
        'select id, currency, balance, floor from ledger_accounts where id like $1 order by id',
        [`velocity:${id}:%`],
      ),
  };
}
