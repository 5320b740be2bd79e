// Properties of policy evaluation for arbitrary policies and sequences of payments.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AgentUsage,
  evaluatePlainAmounts as evaluate,
  type PlainRequest,
} from '../../../../test/kit/agents/agent-policy.ts';
import { AGENT_PERMISSIONS, EXECUTION_MODES, type Policy, type Rule } from './policy.ts';

const NO_USAGE: AgentUsage = { count: 0n, day: 0n, month: 0n };

const amount = fc.integer({ min: 0, max: 40 });
const optionalOf = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.option(arbitrary, { nil: undefined, freq: 2 });
const optionalOrNull = <T>(arbitrary: fc.Arbitrary<T>) =>
  optionalOf(fc.option(arbitrary, { nil: null, freq: 4 }));
const accountId = fc.constantFrom('one', 'two', 'three');
const mode = fc.constantFrom(...EXECUTION_MODES);

/** Omits undefined fields, as JSON does. */
const recordOf = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields).map((record) => JSON.parse(JSON.stringify(record)) as T);

const policies: fc.Arbitrary<Policy> = recordOf({
  permissions: fc.oneof(fc.constant([...AGENT_PERMISSIONS]), fc.subarray([...AGENT_PERMISSIONS])),
  defaultExecutionMode: mode,
  spendingLimits: recordOf({
    currency: fc.constant('USD'),
    perTransactionLimit: amount,
    dailyLimit: optionalOrNull(fc.integer({ min: 0, max: 90 })),
    dailyTransactionLimit: optionalOf(fc.integer({ min: 0, max: 6 })),
    monthlyLimit: optionalOrNull(fc.integer({ min: 0, max: 150 })),
  }),
  accountRestrictions: optionalOf(
    recordOf({
      allowedAccountIds: optionalOrNull(fc.subarray(['one', 'two', 'three'])),
      accountRules: optionalOf(
        fc.uniqueArray(
          recordOf({
            accountId,
            executionMode: optionalOf(mode),
            perTransactionLimit: optionalOrNull(amount),
          }),
          { selector: (rule) => rule.accountId, maxLength: 3 },
        ),
      ),
    }),
  ),
  approvalThresholds: optionalOf(
    recordOf({ currency: fc.constant('EUR'), amount: optionalOrNull(amount) }),
  ),
} as { [K in keyof Policy]: fc.Arbitrary<Policy[K]> });

const agents = fc.record({
  paused: fc.integer({ min: 0, max: 9 }).map((value) => value === 0),
  policy: policies,
});
const unitsUpTo = (max: number) => fc.bigInt({ min: 1n, max: BigInt(max) });
const payments: fc.Arbitrary<PlainRequest> = fc.record({
  type: fc.constantFrom('EXECUTE_QUOTE', 'TRANSFER_OUT', 'TRANSFER_IN'),
  accountId,
  amount: unitsUpTo(45),
  thresholdAmount: fc.option(unitsUpTo(45), { nil: null, freq: 6 }),
});
const usages = fc.record({
  count: fc.bigInt({ min: 0n, max: 7n }),
  day: fc.bigInt({ min: 0n, max: 95n }),
  month: fc.bigInt({ min: 0n, max: 155n }),
});

type Agent = { paused: boolean; policy: Policy };

const perTransactionLimitOf = (
  { policy: { accountRestrictions, spendingLimits } }: Agent,
  { accountId }: PlainRequest,
) => {
  const rulesOfAccount = (accountRestrictions?.accountRules ?? []).filter(
    (rule) => rule.accountId === accountId,
  );
  return rulesOfAccount[0]?.perTransactionLimit ?? spendingLimits.perTransactionLimit;
};

/** An independent implementation of the rules, in order of evaluation. */
const RULES: [Rule, (agent: Agent, usage: AgentUsage, payment: PlainRequest) => boolean][] = [
  ['PAUSED', ({ paused }) => paused],
  [
    'PERMISSION',
    ({ policy: { permissions } }, _, { type }) =>
      !new Set<string>(permissions).has(
        type === 'EXECUTE_QUOTE' ? 'EXECUTE_QUOTES' : 'CREATE_TRANSFERS',
      ),
  ],
  [
    'ACCOUNT',
    ({ policy: { accountRestrictions } }, _, { accountId }) =>
      !(accountRestrictions?.allowedAccountIds ?? [accountId]).includes(accountId),
  ],
  [
    'PER_TRANSACTION_LIMIT',
    (agent, _, payment) => Number(payment.amount) > perTransactionLimitOf(agent, payment),
  ],
  [
    'DAILY_TRANSACTION_LIMIT',
    ({ policy: { spendingLimits } }, { count }) =>
      Number(count) >= (spendingLimits.dailyTransactionLimit ?? Infinity),
  ],
  [
    'DAILY_LIMIT',
    ({ policy: { spendingLimits } }, { day }, { amount }) =>
      Number(day) + Number(amount) > (spendingLimits.dailyLimit ?? Infinity),
  ],
  [
    'MONTHLY_LIMIT',
    ({ policy: { spendingLimits } }, { month }, { amount }) =>
      Number(month) + Number(amount) > (spendingLimits.monthlyLimit ?? Infinity),
  ],
  [
    'EXECUTION_MODE',
    ({ policy }, _, { accountId }) => {
      const rules = policy.accountRestrictions?.accountRules ?? [];
      const ownRule = rules.filter((rule) => rule.accountId === accountId)[0];
      return (ownRule?.executionMode ?? policy.defaultExecutionMode) === 'APPROVAL_REQUIRED';
    },
  ],
  [
    'APPROVAL_THRESHOLD',
    ({ policy: { approvalThresholds } }, _, { thresholdAmount }) =>
      Number(thresholdAmount ?? Infinity) > (approvalThresholds?.amount ?? Infinity) ||
      (thresholdAmount === null && typeof approvalThresholds?.amount === 'number'),
  ],
];

const APPROVAL_RULES: Rule[] = ['EXECUTION_MODE', 'APPROVAL_THRESHOLD'];
const RUN_OPTIONS = { numRuns: 3_000 };

const lowerOf = (limit: number | null | undefined, newLimit: number) =>
  typeof limit === 'number' ? Math.min(limit, newLimit) : newLimit;

/** Changes that make a policy stricter. `to` is a new limit or selects an element. */
const STRICTER_CHANGES: ((policy: Policy, to: number) => Partial<Policy>)[] = [
  ({ permissions }, to) => ({ permissions: permissions.filter((_, index) => index !== to % 5) }),
  () => ({ defaultExecutionMode: 'APPROVAL_REQUIRED' }),
  ...(['perTransactionLimit', 'dailyLimit', 'monthlyLimit', 'dailyTransactionLimit'] as const).map(
    (name) =>
      ({ spendingLimits }: Policy, to: number) => ({
        spendingLimits: { ...spendingLimits, [name]: lowerOf(spendingLimits[name], to) },
      }),
  ),
  ({ accountRestrictions: restrictions }, to) => {
    const ids = restrictions?.allowedAccountIds ?? ['one', 'two', 'three'];
    const allowedAccountIds = ids.filter((_, index) => index !== to % 3);
    return { accountRestrictions: { ...restrictions, allowedAccountIds } };
  },
  ({ accountRestrictions: restrictions }, to) => {
    const accountRules = restrictions?.accountRules?.map(
      ({ perTransactionLimit: limit, ...rule }) => ({
        ...rule,
        perTransactionLimit: typeof limit === 'number' ? lowerOf(limit, to) : null,
        ...(to % 2 ? { executionMode: 'APPROVAL_REQUIRED' as const } : {}),
      }),
    );
    return { accountRestrictions: { ...restrictions, accountRules: accountRules ?? [] } };
  },
  ({ approvalThresholds }, to) => ({
    approvalThresholds: { currency: 'EUR', amount: lowerOf(approvalThresholds?.amount, to) },
  }),
];
const RANK = { REJECTED: 0, APPROVAL_REQUIRED: 1, AUTO: 2 };

describe('evaluate, for any policy', () => {
  it('decides by the first violated rule', () => {
    fc.assert(
      fc.property(agents, usages, payments, (agent, usage, payment) => {
        const verdict = evaluate(agent, usage, payment);
        const firstRule = RULES.find(([, violates]) => violates(agent, usage, payment))?.[0];
        if (firstRule === undefined) expect(verdict).toEqual({ decision: 'AUTO' });
        else {
          const decision = APPROVAL_RULES.includes(firstRule) ? 'APPROVAL_REQUIRED' : 'REJECTED';
          expect(verdict).toMatchObject({ decision, rule: firstRule });
        }
      }),
      RUN_OPTIONS,
    );
  });

  it('stays within the limits in any sequence of payments and policy changes', () => {
    const step = fc.oneof(
      { weight: 8, arbitrary: payments.map((payment) => ({ payment })) },
      { weight: 2, arbitrary: agents.map((agent) => ({ agent })) },
      { weight: 1, arbitrary: fc.constantFrom('day', 'month').map((period) => ({ next: period })) },
    );
    fc.assert(
      fc.property(agents, fc.array(step, { maxLength: 40 }), (initialAgent, steps) => {
        let agent = initialAgent;
        let usage = { ...NO_USAGE };
        for (const each of steps) {
          if ('agent' in each) agent = each.agent;
          else if ('next' in each) {
            usage = { ...NO_USAGE, month: each.next === 'day' ? usage.month : 0n };
          } else if (evaluate(agent, usage, each.payment).decision !== 'REJECTED') {
            const { amount: total } = each.payment;
            usage = { count: usage.count + 1n, day: usage.day + total, month: usage.month + total };
            const limits = agent.policy.spendingLimits;
            expect(Number(total)).toBeLessThanOrEqual(perTransactionLimitOf(agent, each.payment));
            expect(Number(usage.count)).toBeLessThanOrEqual(
              limits.dailyTransactionLimit ?? Infinity,
            );
            expect(Number(usage.day)).toBeLessThanOrEqual(limits.dailyLimit ?? Infinity);
            expect(Number(usage.month)).toBeLessThanOrEqual(limits.monthlyLimit ?? Infinity);
          }
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('requires approval above the threshold', () => {
    fc.assert(
      fc.property(agents, payments, (agent, payment) => {
        if (evaluate(agent, NO_USAGE, payment).decision !== 'AUTO') return;
        const threshold = agent.policy.approvalThresholds?.amount;
        if (typeof threshold !== 'number') return;
        expect(payment.thresholdAmount).not.toBeNull();
        expect(Number(payment.thresholdAmount)).toBeLessThanOrEqual(threshold);
      }),
      RUN_OPTIONS,
    );
  });

  it('is never more permissive after the policy becomes stricter', () => {
    const changes = fc.array(fc.tuple(fc.constantFrom(...STRICTER_CHANGES), amount), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(agents, usages, payments, changes, (agent, usage, payment, changeList) => {
        let { policy } = agent;
        for (const [change, to] of changeList) policy = { ...policy, ...change(policy, to) };
        const rankBefore = RANK[evaluate(agent, usage, payment).decision];
        for (const stricterAgent of [
          { ...agent, policy },
          { ...agent, paused: true },
        ]) {
          expect(RANK[evaluate(stricterAgent, usage, payment).decision]).toBeLessThanOrEqual(
            rankBefore,
          );
        }
      }),
      RUN_OPTIONS,
    );
  });

  it('is never more permissive at a higher usage or amount', () => {
    fc.assert(
      fc.property(agents, usages, payments, usages, (agent, usage, payment, additionalUsage) => {
        const higherUsage = {
          count: usage.count + additionalUsage.count,
          day: usage.day + additionalUsage.day,
          month: usage.month + additionalUsage.month,
        };
        const largerPayment = { ...payment, amount: payment.amount + additionalUsage.day };
        const rankBefore = RANK[evaluate(agent, usage, payment).decision];
        expect(RANK[evaluate(agent, higherUsage, payment).decision]).toBeLessThanOrEqual(
          rankBefore,
        );
        expect(RANK[evaluate(agent, usage, largerPayment).decision]).toBeLessThanOrEqual(
          rankBefore,
        );
      }),
      RUN_OPTIONS,
    );
  });

  it('leaves its input unchanged', () => {
    fc.assert(
      fc.property(agents, usages, payments, (agent, usage, payment) => {
        const copyBefore = structuredClone({ agent, usage, payment });
        const verdict = evaluate(agent, usage, payment);
        expect({ agent, usage, payment }).toEqual(copyBefore);
        expect(evaluate(agent, usage, payment)).toEqual(verdict);
      }),
      { numRuns: 300 },
    );
  });
});
