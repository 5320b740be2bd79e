// Limits of agents under concurrency, in one and in two processes. Exactly the payments within the
// limit succeed, also during policy changes and refunds.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  isPaid,
  type PaymentResult,
  spendingFixture,
} from '../../../../test/kit/agents/agent-spending.ts';
import { openSecondProcess } from '../../../../test/kit/app/second-process.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';

const app = testApp();
let secondRuntime: ReturnType<typeof openSecondProcess>;
beforeAll(() => {
  secondRuntime = openSecondProcess(app);
});
let fixture: ReturnType<typeof spendingFixture>;
beforeAll(() => {
  fixture = spendingFixture(app);
});
afterAll(() => secondRuntime.close());

const repeatAmount = (count: number, amount: bigint): bigint[] => Array(count).fill(amount);
const rejectionsIn = (results: PaymentResult[]) =>
  new Set(results.filter((payment) => !isPaid(payment)));

describe.each([
  ['one process', (): Runtime[] => [app.runtime]],
  ['two processes', (): Runtime[] => [app.runtime, secondRuntime]],
])('the policy of an agent in %s', (_, runtimes) => {
  it.each([
    ['dailyLimit', { dailyLimit: 100_50 }],
    ['monthlyLimit', { monthlyLimit: 100_50 }],
    ['dailyTransactionLimit', { dailyTransactionLimit: 100 }],
  ])('accepts exactly the payments within %s', async (rule, limits) => {
    const id = await fixture.createAgentWithLimits(limits);
    const results = await fixture.payConcurrently(id, repeatAmount(200, 1_00n), runtimes());
    expect(results.filter(isPaid)).toHaveLength(100);
    expect(rejectionsIn(results)).toEqual(new Set([rule]));
    expect(await fixture.readUsage(id)).toEqual({ count: 100n, day: 100_00n, month: 100_00n });
  });

  it('rejects only amounts that exceed the limit', async () => {
    const id = await fixture.createAgentWithLimits({ dailyLimit: 500_00 });
    const amounts = repeatAmount(200, 0n).map((_, index) => BigInt(1 + ((index * 37) % 90)) * 10n);
    const results = await fixture.payConcurrently(id, amounts, runtimes());
    const { day } = await fixture.readUsage(id);
    expect(day).toBe(
      amounts.reduce(
        (sum, amount, index) => (isPaid(results[index] as PaymentResult) ? sum + amount : sum),
        0n,
      ),
    );
    const rejectedAmounts = amounts.filter((_, index) => !isPaid(results[index] as PaymentResult));
    expect(rejectedAmounts.length).toBeGreaterThan(0);
    for (const amount of rejectedAmounts) expect(day + amount).toBeGreaterThan(500_00n);
  });

  it('applies a lowered limit from the commit of the change', async () => {
    const id = await fixture.createAgentWithLimits({ dailyLimit: 150_00 });
    const paymentsInProgress = fixture.payConcurrently(id, repeatAmount(200, 1_00n), runtimes());
    const limitChange = fixture.changeLimits(id, { dailyLimit: 40_00 });
    const [results] = await Promise.all([paymentsInProgress, limitChange]);
    const paidBeforeChange = results.filter(
      (payment) => isPaid(payment) && (payment as { version: number }).version === 1,
    );
    const max = Math.max(paidBeforeChange.length, 40);
    expect(results.filter(isPaid)).toHaveLength(max);
    expect(rejectionsIn(results)).toEqual(new Set(['dailyLimit']));
    expect((await fixture.readUsage(id)).count).toBe(BigInt(max));
  });

  it('rejects payments of an agent that was paused during the request', async () => {
    const id = await fixture.createAgentWithLimits({ dailyLimit: 1_000_00 });
    const paymentsInProgress = fixture.payConcurrently(id, repeatAmount(200, 1_00n), runtimes());
    await fixture.changeLimits(id, {}, { paused: true });
    const { count } = await fixture.readUsage(id);
    const results = await paymentsInProgress;
    expect(results.filter(isPaid)).toHaveLength(Number(count));
    expect(await fixture.pay(id, 1n)).toBe('The agent is paused.');
    expect((await fixture.readUsage(id)).count).toBe(count);
  });

  it('restores refunded amounts exactly', async () => {
    const id = await fixture.createAgentWithLimits({ dailyLimit: 100_00 });
    const firstPayments = await fixture.payConcurrently(id, repeatAmount(20, 5_00n), runtimes());
    expect(firstPayments.filter(isPaid)).toHaveLength(20);
    const [nextResults] = await Promise.all([
      fixture.payConcurrently(id, repeatAmount(200, 1_00n), runtimes()),
      ...firstPayments.slice(0, 10).map((payment) => fixture.returnFunds(payment)),
    ]);
    const { day } = await fixture.readUsage(id);
    expect(day).toBe(50_00n + BigInt(nextResults.filter(isPaid).length) * 1_00n);
    expect(day).toBeLessThanOrEqual(100_00n);
    await fixture.payConcurrently(id, repeatAmount(200, 1_00n), runtimes());
    expect((await fixture.readUsage(id)).day).toBe(100_00n);
  });

  it('applies the remaining limit after a change of currency', async () => {
    const id = await fixture.createAgentWithLimits({ dailyLimit: 100_00 });
    fixture.rates['USD EUR'] = { num: 1n, den: 2n };
    await fixture.pay(id, 60_00n);
    await fixture.changeLimits(id, { currency: 'EUR' });
    const results = await fixture.payConcurrently(id, repeatAmount(200, 1_00n), runtimes());
    expect(results.filter(isPaid)).toHaveLength(70);
    expect(rejectionsIn(results)).toEqual(new Set(['dailyLimit']));
  });
});
