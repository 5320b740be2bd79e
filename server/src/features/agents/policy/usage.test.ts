// Usage of agents in the ledger: per day and month, across changes of policy and currency, and
// after refunds.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  idOf,
  isPaid,
  type PaymentResult,
  spendingFixture,
} from '../../../../test/kit/agents/agent-spending.ts';
import {
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { readCurrent } from '../../payments/payouts/payout-jobs.ts';
import { startPayment } from '../../payments/quotes/index.ts';
import { asOutgoing } from '../../payments/transactions/rows.ts';
import { convertRoundedUp, countSpending } from './usage.ts';

const DAY_MS = 86_400_000;

const app = testApp();
let fixture: ReturnType<typeof spendingFixture>;
beforeAll(() => {
  fixture = spendingFixture(app);
});

const setClockToMidnight = () =>
  app.effects.set(app.effects.now() - (app.effects.now() % DAY_MS) + DAY_MS);

describe('usage', () => {
  it('is restored after a failed payment', async () => {
    const id = await fixture.createAgentWithLimits({
      dailyLimit: 250_00,
      dailyTransactionLimit: 3,
      monthlyLimit: 250_00,
    });
    const { person, account } = await createFundedCustomer(app);
    const [validAccount, invalidAccount] = [
      await createExternalAccount(app, person.id, 'USD', '000'),
      await createExternalAccount(app, person.id, 'USD', '002'),
    ];
    const payQuoteTo = async (payeeAccountId: string) => {
      const quote = ok(
        await app.call('POST', '/quotes', quoteBody(account.id, payeeAccountId, 100_00)),
        201,
      );
      const payment = await fixture.pay(id, 100_00n, {
        start: async (ctx) => {
          const row = await readCurrent(ctx, quote.transactionId, asOutgoing);
          await startPayment(ctx, row);
          return row.id;
        },
      });
      await app.settle();
      const { status } = ok(await app.call('GET', `/transactions/${quote.transactionId}`), 200);
      return isPaid(payment) ? status : payment;
    };
    expect(await payQuoteTo(invalidAccount.id)).toBe('FAILED');
    expect(await fixture.readUsage(id)).toEqual({ count: 1n, day: 0n, month: 0n });
    expect(await payQuoteTo(validAccount.id)).toBe('COMPLETED');
    expect(await payQuoteTo(invalidAccount.id)).toBe('FAILED');
    expect(await fixture.readUsage(id)).toEqual({ count: 3n, day: 100_00n, month: 100_00n });
    expect(await payQuoteTo(validAccount.id)).toBe('dailyTransactionLimit');
  });

  it('is counted per day, per month and as a payment', async () => {
    const id = await fixture.createAgentWithLimits({
      dailyLimit: 100_00,
      dailyTransactionLimit: 9,
      monthlyLimit: 500_00,
    });
    expect(await fixture.readUsage(id)).toEqual({ count: 0n, day: 0n, month: 0n });
    await fixture.pay(id, 60_00n);
    await fixture.pay(id, 15_00n);
    expect(await fixture.readUsage(id)).toEqual({ count: 2n, day: 75_00n, month: 75_00n });
    expect(await fixture.accountsOf(id)).toEqual([
      {
        id: `velocity:${id}:USD:2026-01`,
        currency: 'velocity.USD',
        balance: -75_00n,
        floor: -500_00n,
      },
      {
        id: `velocity:${id}:USD:2026-01-05`,
        currency: 'velocity.USD',
        balance: -75_00n,
        floor: -100_00n,
      },
      {
        id: `velocity:${id}:count:2026-01-05`,
        currency: 'velocity.count',
        balance: -2n,
        floor: -9n,
      },
    ]);
    expect(await fixture.pay(id, 25_01n)).toBe('dailyLimit');
    expect(isPaid(await fixture.pay(id, 25_00n))).toBe(true);
  });

  it('is counted without limits, and applies to a later limit', async () => {
    const id = await fixture.createAgentWithLimits({ dailyLimit: null });
    await fixture.pay(id, 80_00n);
    expect((await fixture.accountsOf(id)).map((each) => each.floor)).toEqual([null, null, null]);
    await fixture.changeLimits(id, { dailyLimit: 100_00 });
    expect(await fixture.pay(id, 20_01n)).toBe('dailyLimit');
    expect(isPaid(await fixture.pay(id, 20_00n))).toBe(true);
    await fixture.changeLimits(id, { dailyLimit: null, monthlyLimit: 100_00 });
    expect(await fixture.pay(id, 1n)).toBe('monthlyLimit');
    await fixture.changeLimits(id, { monthlyLimit: null });
    expect(isPaid(await fixture.pay(id, 10_000_00n))).toBe(true);
    expect((await fixture.accountsOf(id)).map((each) => each.floor)).toEqual([null, null, null]);
  });

  it('is separate for each agent', async () => {
    const [firstAgent, secondAgent] = [
      await fixture.createAgentWithLimits({ dailyLimit: 10_00 }),
      await fixture.createAgentWithLimits({ dailyLimit: 10_00 }),
    ];
    await fixture.pay(firstAgent, 10_00n);
    expect(await fixture.pay(firstAgent, 1n)).toBe('dailyLimit');
    expect(isPaid(await fixture.pay(secondAgent, 10_00n))).toBe(true);
  });

  it('resets at midnight and on the first of the month, in UTC', async () => {
    const limits = { dailyLimit: 100_00, dailyTransactionLimit: 2, monthlyLimit: 150_00 };
    app.effects.set(Date.UTC(2026, 0, 30, 23, 59, 59, 999));
    const id = await fixture.createAgentWithLimits(limits);
    await fixture.pay(id, 50_00n);
    await fixture.pay(id, 50_00n);
    expect(await fixture.pay(id, 1n)).toBe('dailyTransactionLimit');
    setClockToMidnight();
    expect(await fixture.readUsage(id)).toEqual({ count: 0n, day: 0n, month: 100_00n });
    await fixture.pay(id, 50_00n);
    expect(await fixture.pay(id, 1n)).toBe('monthlyLimit');
    app.effects.set(Date.UTC(2026, 1, 1) - 1);
    expect(await fixture.pay(id, 1n)).toBe('monthlyLimit');
    app.effects.set(Date.UTC(2026, 1, 1));
    expect(await fixture.readUsage(id)).toEqual({ count: 0n, day: 0n, month: 0n });
    expect(isPaid(await fixture.pay(id, 100_00n))).toBe(true);
    expect(await fixture.pay(id, 1n)).toBe('dailyLimit');
  });

  it('is restored once by a refund, in its original day and month, without the count', async () => {
    app.effects.set(Date.UTC(2026, 2, 31, 12));
    const id = await fixture.createAgentWithLimits({
      dailyLimit: 100_00,
      dailyTransactionLimit: 2,
      monthlyLimit: 100_00,
    });
    const firstResult = await fixture.pay(id, 100_00n);
    await fixture.returnFunds(firstResult);
    await expect(fixture.returnFunds(firstResult)).rejects.toThrow('ledger_transfers_pkey');
    expect(await fixture.readUsage(id)).toEqual({ count: 1n, day: 0n, month: 0n });
    const otherResult = await fixture.pay(id, 100_00n);
    expect(isPaid(otherResult)).toBe(true);
    setClockToMidnight();
    await fixture.pay(id, 100_00n);
    await fixture.returnFunds(otherResult);
    expect(await fixture.readUsage(id)).toEqual({ count: 1n, day: 100_00n, month: 100_00n });
    expect(await fixture.pay(id, 1n)).toBe('dailyLimit');
    const steps = await app.runtime.db.query(
      'select step, amount from ledger_transfers where transaction_id = $1 order by step',
      [idOf(otherResult)],
    );
    expect(steps).toEqual([
      { step: 'count.agent', amount: 1n },
      { step: 'refund.velocity.agent.day', amount: 100_00n },
      { step: 'refund.velocity.agent.month', amount: 100_00n },
      { step: 'velocity.agent.day', amount: 100_00n },
      { step: 'velocity.agent.month', amount: 100_00n },
    ]);
  });

  it('is evaluated again if the limit is exceeded at commit', async () => {
    const id = await fixture.createAgentWithLimits({ dailyLimit: 100_00 });
    const agent = await fixture.rowOf(id);
    const competingResults: PaymentResult[] = [];
    await app.operate(async (ctx) => {
      if (competingResults.length) await fixture.returnFunds(competingResults[0] as PaymentResult);
      else competingResults.push(await fixture.pay(id, 60_00n));
      const amount = { currency: 'USD', amount: 50_00n };
      const payment = { transactionId: 'Transaction:decided-twice', amount };
      await countSpending(ctx, fixture.deps, agent, payment);
    });
    expect(competingResults.map(isPaid)).toEqual([true]);
    expect(await fixture.readUsage(id)).toEqual({ count: 2n, day: 50_00n, month: 50_00n });
  });

  it('is subject to changed limits', async () => {
    const id = await fixture.createAgentWithLimits({ dailyLimit: 100_00 });
    const firstResult = await fixture.pay(id, 60_00n);
    await fixture.changeLimits(id, { dailyLimit: 200_00 });
    expect(isPaid(await fixture.pay(id, 140_00n))).toBe(true);
    await fixture.changeLimits(id, { dailyLimit: 150_00 });
    expect(await fixture.pay(id, 1n)).toBe('dailyLimit');
    await fixture.returnFunds(firstResult);
    // 200.00 less the refunded 60.00 are spent, so 10.00 of 150.00 remain.
    const concurrentResults = await fixture.payConcurrently(id, Array(20).fill(1_00n), [
      app.runtime,
    ]);
    expect(concurrentResults.filter(isPaid)).toHaveLength(10);
  });

  it('is rejected with the limits of an outdated policy', async () => {
    const id = await fixture.createAgentWithLimits({ dailyLimit: 100_00 });
    const staleRow = await fixture.rowOf(id);
    await fixture.changeLimits(id, { dailyLimit: 20_00 });
    expect(isPaid(await fixture.pay(id, 5_00n))).toBe(true);
    const outdatedCount = app.operate((ctx) =>
      countSpending(ctx, fixture.deps, staleRow, {
        transactionId: 'Transaction:late',
        amount: { currency: 'USD', amount: 50_00n },
      }),
    );
    await expect(outdatedCount).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    const dayAccount = (await fixture.accountsOf(id)).find((each) =>
      String(each.id).includes(':USD:2026-04-01'),
    );
    expect(dayAccount).toMatchObject({ balance: -5_00n, floor: -20_00n });
  });
});

describe('limits in another currency', () => {
  const convert = (amount: bigint, from: string, to: string) =>
    app.operate(async (ctx) => {
      const convertedAmount = await convertRoundedUp(
        ctx,
        fixture.deps,
        { currency: from, amount },
        to,
      );
      expect(convertedAmount.currency).toBe(to);
      return convertedAmount.amount;
    });

  it('convert an amount at the current rate, rounded up', async () => {
    expect(await convert(101n, 'USD', 'USD')).toBe(101n);
    fixture.rates['USD EUR'] = { num: 9n, den: 10n };
    expect(await convert(100n, 'USD', 'EUR')).toBe(90n);
    expect(await convert(101n, 'USD', 'EUR')).toBe(91n);
    fixture.rates['USD BTC'] = { num: 1n, den: 1_000_000n };
    expect(await convert(1n, 'USD', 'BTC')).toBe(1n);
    await expect(convert(1n, 'EUR', 'USD')).rejects.toMatchObject({
      code: 'QUOTE_RATE_UNAVAILABLE',
      message: 'No exchange rate from EUR to USD is available. Repeat the request later.',
    });
  });

  it('count every payment in their currency', async () => {
    const id = await fixture.createAgentWithLimits({ dailyLimit: 100_00 });
    fixture.rates['EUR USD'] = { num: 11n, den: 10n };
    await fixture.pay(id, 50_00n, { currency: 'EUR' });
    expect(await fixture.readUsage(id)).toEqual({ count: 1n, day: 55_00n, month: 55_00n });
    expect(await fixture.pay(id, 40_91n, { currency: 'EUR' })).toBe('dailyLimit');
    expect(isPaid(await fixture.pay(id, 40_90n, { currency: 'EUR' }))).toBe(true);
    expect(isPaid(await fixture.pay(id, 1n, { currency: 'USD' }))).toBe(true);
    expect(await fixture.readUsage(id)).toEqual({ count: 3n, day: 100_00n, month: 100_00n });
  });

  it('include spending before the change of currency', async () => {
    app.effects.set(Date.UTC(2026, 5, 10, 9));
    const id = await fixture.createAgentWithLimits({ dailyLimit: 100_00, monthlyLimit: 1_000_00 });
    fixture.rates['USD EUR'] = { num: 9n, den: 10n };
    const firstResult = await fixture.pay(id, 60_00n);
    await fixture.pay(id, 1n);
    await fixture.changeLimits(id, { currency: 'EUR' });
    expect(await fixture.readUsage(id)).toEqual({ count: 2n, day: 54_01n, month: 54_01n });
    expect(await fixture.pay(id, 46_00n)).toBe('dailyLimit');
    expect(isPaid(await fixture.pay(id, 20_00n))).toBe(true);
    const floors = (await fixture.accountsOf(id)).map(({ id: name, floor }) => [
      String(name).replace(`${id}:`, ''),
      floor,
    ]);
    expect(floors).toEqual([
      ['velocity:EUR:2026-06', -945_99n],
      ['velocity:EUR:2026-06-10', -45_99n],
      ['velocity:USD:2026-06', -1_000_00n],
      ['velocity:USD:2026-06-10', -100_00n],
      ['velocity:count:2026-06-10', null],
    ]);
    // A changed rate changes the converted usage.
    fixture.rates['USD EUR'] = { num: 5n, den: 10n };
    expect(await fixture.readUsage(id)).toEqual({ count: 3n, day: 50_01n, month: 50_01n });
    expect(isPaid(await fixture.pay(id, 45_00n))).toBe(true);
    expect(await fixture.pay(id, 5_00n)).toBe('dailyLimit');
    // Refunded amounts no longer count.
    await fixture.returnFunds(firstResult);
    expect(await fixture.readUsage(id)).toEqual({ count: 4n, day: 65_01n, month: 65_01n });
    expect(await fixture.pay(id, 35_00n)).toBe('dailyLimit');
    expect(isPaid(await fixture.pay(id, 34_99n))).toBe(true);
  });

  it('count spending in former currencies per day and per month', async () => {
    app.effects.set(Date.UTC(2026, 6, 30, 9));
    const id = await fixture.createAgentWithLimits({ dailyLimit: 100_00, monthlyLimit: 150_00 });
    fixture.rates['USD EUR'] = { num: 1n, den: 1n };
    await fixture.pay(id, 70_00n);
    await fixture.changeLimits(id, { currency: 'EUR' });
    setClockToMidnight();
    expect(await fixture.readUsage(id)).toEqual({ count: 0n, day: 0n, month: 70_00n });
    expect(await fixture.pay(id, 80_01n)).toBe('monthlyLimit');
    expect(isPaid(await fixture.pay(id, 50_00n))).toBe(true);
    setClockToMidnight();
    expect(await fixture.readUsage(id)).toEqual({ count: 0n, day: 0n, month: 0n });
    expect(isPaid(await fixture.pay(id, 100_00n))).toBe(true);
  });

  it('count each payment once after the original currency is restored', async () => {
    const id = await fixture.createAgentWithLimits({ dailyLimit: 100_00 });
    fixture.rates['USD EUR'] = { num: 1n, den: 2n };
    fixture.rates['EUR USD'] = { num: 2n, den: 1n };
    await fixture.pay(id, 40_00n);
    await fixture.changeLimits(id, { currency: 'EUR' });
    await fixture.pay(id, 10_00n);
    await fixture.changeLimits(id, { currency: 'USD' });
    expect(await fixture.readUsage(id)).toEqual({ count: 2n, day: 60_00n, month: 60_00n });
    await fixture.changeLimits(id, { currency: 'EUR' });
    expect(await fixture.readUsage(id)).toEqual({ count: 2n, day: 30_00n, month: 30_00n });
    expect(await fixture.pay(id, 70_01n)).toBe('dailyLimit');
    expect(isPaid(await fixture.pay(id, 70_00n))).toBe(true);
  });

  it('reject all payments if usage exceeds them or no rate is available', async () => {
    const id = await fixture.createAgentWithLimits({ dailyLimit: 100_00 });
    await fixture.pay(id, 90_00n);
    fixture.rates['USD EUR'] = { num: 2n, den: 1n };
    await fixture.changeLimits(id, { currency: 'EUR' });
    expect(await fixture.pay(id, 1n)).toBe('dailyLimit');
    const agent = await fixture.rowOf(id);
    const forcedCount = app.operate((ctx) =>
      countSpending(ctx, fixture.deps, agent, {
        transactionId: 'Transaction:forced',
        amount: { currency: 'EUR', amount: 1n },
      }),
    );
    await expect(forcedCount).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'Payments of the agent per day (UTC) may not exceed 100.00 EUR (dailyLimit).',
    });
    delete fixture.rates['USD EUR'];
    expect(await fixture.pay(id, 1n)).toBe(
      'No exchange rate from USD to EUR is available. Repeat the request later.',
    );
  });
});
