// Limits of payment size, daily amount and hourly count. The limits in the ledger are exact under
// concurrent payments and reset with each period.
import { describe, expect, it } from 'vitest';
import { expectBalancedBooks } from '../../../../test/kit/app/books.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testAppForEach } from '../../../../test/kit/app/test-app.ts';
import { newId } from '../../../kernel/id.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { type PaymentLimit, type PlatformRow, systemCaller } from '../../tenancy/platform/index.ts';
import { platforms } from '../../tenancy/platform/store.ts';
import { checkPaymentSize, countPayment, reverseUsage } from './index.ts';

const DAY_MS = 86_400_000;

const app = testAppForEach();

const setPaymentLimits = (limits: PaymentLimit[], platform: TestPlatform = app.platform) =>
  app.operate(async (ctx) => {
    const row = (await ctx.read(platforms, platform.id)) as PlatformRow;
    ctx.update(platforms, row, { limits });
  }, platform);

const usd = (amount: bigint) => ({ currency: 'USD', amount });

interface Options {
  to?: string;
  payerId?: string | null;
  platform?: TestPlatform;
  runtime?: Runtime;
}

/** Counts a payment against the limits. Returns its ID, or the code of the fault. */
async function pay(amount: bigint, options: Options = {}): Promise<string> {
  const { to = 'EUR', payerId = null, platform = app.platform, runtime = app.runtime } = options;
  const transactionId = newId(app.effects, 'Transaction');
  const caller = systemCaller(platform.id, platform.environment);
  return operate(runtime, caller, async (ctx) => {
    const row = (await ctx.read(platforms, platform.id)) as PlatformRow;
    await countPayment(ctx, row, { to, sending: usd(amount), transactionId, payerId });
    return transactionId;
  }).catch((error: { code: string }) => error.code);
}

const PAYMENT = { to: 'EUR', transactionId: 't', payerId: 'c' };

const refund = (id: string) => app.operate((ctx) => reverseUsage(ctx, { id }));

const readLimitAccounts = () =>
  app.runtime.db.query(
    "select id, currency, balance, floor from ledger_accounts where id like 'velocity:%' order by id",
  );

const DAILY_LIMIT_CODE = 'DAILY_VOLUME_LIMIT_EXCEEDED';

describe('checkPaymentSize', () => {
  const platformWith = (limits: PaymentLimit[]) => ({ limits }) as PlatformRow;
  const checkSize = (limits: PaymentLimit[], sentAmount: bigint, to = 'EUR') =>
    checkPaymentSize(platformWith(limits), { to, sending: usd(sentAmount) });

  it('accepts a payment to which no limit applies', () => {
    checkSize([], 10n ** 15n);
    checkSize([{ currency: 'EUR', perPayment: 1 }], 100n);
    checkSize([{ currency: 'USD', to: 'MXN', perPayment: 1 }], 100n);
    checkSize([{ currency: 'USD', perDay: 1 }], 100n);
  });

  it('rejects more than the lowest applicable limit', () => {
    const limits = [
      { currency: 'USD', perPayment: 1_000_00 },
      { currency: 'USD', to: 'EUR', perPayment: 500_00 },
    ];
    checkSize(limits, 500_00n);
    expect(() => checkSize(limits, 500_01n)).toThrow(
      expect.objectContaining({
        code: 'TRANSACTION_SIZE_LIMIT_EXCEEDED',
        status: 400,
        message: 'The payment exceeds the maximum of 500.00 USD per payment.',
        details: { max: 500_00 },
      }),
    );
    checkSize(limits, 1_000_00n, 'MXN');
    expect(() => checkSize(limits, 1_000_01n, 'MXN')).toThrow('1,000.00 USD');
  });
});

describe('daily limit', () => {
  it('adds no transfer for a platform without a limit', async () => {
    await setPaymentLimits([{ currency: 'EUR', perDay: 1 }]);
    await app.operate(async (ctx) => {
      const platform = (await ctx.read(platforms, app.platform.id)) as PlatformRow;
      await countPayment(ctx, platform, { ...PAYMENT, sending: usd(100n) });
      expect(ctx.set.transfers).toEqual([]);
    });
    expect(await readLimitAccounts()).toEqual([]);
  });

  it('is exact to the cent and reports when the next day begins', async () => {
    await setPaymentLimits([{ currency: 'USD', perDay: 100_00 }]);
    expect(await pay(60_00n)).toMatch(/^Transaction:/);
    expect(await pay(40_01n)).toBe(DAILY_LIMIT_CODE);
    expect(await pay(40_00n)).toMatch(/^Transaction:/);
    const platform = (await app.runtime.db.read(platforms, app.platform.id)) as PlatformRow;
    const payment = { ...PAYMENT, sending: usd(1n) };
    // The clock starts at 09:00 UTC.
    await expect(app.operate((ctx) => countPayment(ctx, platform, payment))).rejects.toMatchObject({
      code: DAILY_LIMIT_CODE,
      status: 429,
      message: 'The payment exceeds the daily limit (UTC) of 100.00 USD. Retry on the next day.',
      details: { max: 100_00 },
      retryAfterS: 15 * 3_600,
    });
    const { id } = app.platform;
    expect(await readLimitAccounts()).toEqual([
      {
        id: `velocity:${id}:USD:2026-01-05`,
        currency: 'velocity.USD',
        balance: -100_00n,
        floor: -100_00n,
      },
      { id: 'velocity:sandbox:USD', currency: 'velocity.USD', balance: 100_00n, floor: null },
    ]);
    await expectBalancedBooks(app);
  });

  it('counts a corridor and the total separately', async () => {
    await setPaymentLimits([
      { currency: 'USD', perDay: 100_00 },
      { currency: 'USD', to: 'MXN', perDay: 30_00 },
    ]);
    expect(await pay(30_00n, { to: 'MXN' })).toMatch(/^Transaction:/);
    expect(await pay(1n, { to: 'MXN' })).toBe(DAILY_LIMIT_CODE);
    expect(await pay(70_00n)).toMatch(/^Transaction:/);
    expect(await pay(1n)).toBe(DAILY_LIMIT_CODE);
  });

  it('applies per platform', async () => {
    await setPaymentLimits([{ currency: 'USD', perDay: 100_00 }]);
    await setPaymentLimits([{ currency: 'USD', perDay: 100_00 }], app.production);
    await pay(100_00n);
    expect(await pay(1n)).toBe(DAILY_LIMIT_CODE);
    expect(await pay(100_00n, { platform: app.production })).toMatch(/^Transaction:/);
    expect(await pay(500_00n, { platform: app.other })).toMatch(/^Transaction:/);
  });

  it('resets at midnight UTC', async () => {
    await setPaymentLimits([{ currency: 'USD', perDay: 100_00 }]);
    await pay(100_00n);
    app.effects.set(app.effects.now() - (app.effects.now() % DAY_MS) + DAY_MS - 1);
    expect(await pay(1n)).toBe(DAILY_LIMIT_CODE);
    app.effects.set(app.effects.now() + 1);
    expect(await pay(100_00n)).toMatch(/^Transaction:/);
    expect(await pay(1n)).toBe(DAILY_LIMIT_CODE);
  });

  it('is released by a refund once, on the day of the payment', async () => {
    await setPaymentLimits([
      { currency: 'USD', perDay: 100_00 },
      { currency: 'USD', to: 'EUR', perDay: 100_00 },
    ]);
    const firstPayment = await pay(100_00n);
    await refund(firstPayment);
    await expect(refund(firstPayment)).rejects.toThrow('ledger_transfers_pkey');
    const secondPayment = await pay(100_00n);
    expect(secondPayment).toMatch(/^Transaction:/);
    app.effects.set(app.effects.now() + DAY_MS);
    await pay(100_00n);
    await refund(secondPayment);
    expect(await pay(1n)).toBe(DAILY_LIMIT_CODE);
    await refund('Transaction:without-usage');
    await expectBalancedBooks(app);
  });

  it('applies a change during the day', async () => {
    await setPaymentLimits([{ currency: 'USD', perDay: 100_00 }]);
    const firstPayment = await pay(60_00n);
    await setPaymentLimits([{ currency: 'USD', perDay: 200_00 }]);
    expect(await pay(140_00n)).toMatch(/^Transaction:/);
    expect(await pay(1n)).toBe(DAILY_LIMIT_CODE);
    await setPaymentLimits([{ currency: 'USD', perDay: 150_00 }]);
    expect(await pay(1n)).toBe(DAILY_LIMIT_CODE);
    // 200.00 were sent and 60.00 are refunded: 10.00 remain of 150.00.
    await refund(firstPayment);
    expect(await pay(10_01n)).toBe(DAILY_LIMIT_CODE);
    expect(await pay(10_00n)).toMatch(/^Transaction:/);
    await setPaymentLimits([]);
    expect(await pay(10_000_00n)).toMatch(/^Transaction:/);
    await expectBalancedBooks(app);
  });

  it('is exact under concurrent payments without a cached account', async () => {
    await setPaymentLimits([{ currency: 'USD', perDay: 100_00 }]);
    // Floors are cached per database handle. The second handle acts as another process.
    const otherRuntime: Runtime = { ...app.runtime, db: { ...app.runtime.db } };
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        pay(1_00n, { runtime: index % 2 ? otherRuntime : app.runtime }),
      ),
    );
    expect(results.filter((each) => each.startsWith('Transaction:'))).toHaveLength(100);
    expect(results.filter((each) => each === DAILY_LIMIT_CODE)).toHaveLength(100);
    await expectBalancedBooks(app);
  });
});

describe('hourly limit', () => {
  const HOURLY_LIMIT_CODE = 'VELOCITY_LIMIT_EXCEEDED';
  const HOUR_MS = 3_600_000;

  const setHourlyPayments = (hourly_payments: number | null) =>
    app.operate(async (ctx) => {
      const row = (await ctx.read(platforms, app.platform.id)) as PlatformRow;
      ctx.update(platforms, row, { hourly_payments });
    });
  const payAs = (payerId: string | null, amount = 1n) => pay(amount, { payerId });

  it('counts the payments of each customer and reports when it resets', async () => {
    await setHourlyPayments(2);
    expect(await payAs('c')).toMatch(/^Transaction:/);
    expect(await payAs('c', 10_000_00n)).toMatch(/^Transaction:/);
    expect(await payAs('c')).toBe(HOURLY_LIMIT_CODE);
    expect(await payAs('d')).toMatch(/^Transaction:/);
    app.effects.set(app.effects.now() + 60_000);
    const platform = (await app.runtime.db.read(platforms, app.platform.id)) as PlatformRow;
    const payment = { ...PAYMENT, sending: usd(1n) };
    await expect(app.operate((ctx) => countPayment(ctx, platform, payment))).rejects.toMatchObject({
      code: HOURLY_LIMIT_CODE,
      status: 403,
      message:
        'The customer has started 2 payments in this hour, which is the maximum. Retry later.',
      details: { max: 2 },
      retryAfterS: 59 * 60,
    });
    expect(await readLimitAccounts()).toEqual([
      { id: 'velocity:c:hour:2026-01-05T09', currency: 'velocity.count', balance: -2n, floor: -2n },
      { id: 'velocity:d:hour:2026-01-05T09', currency: 'velocity.count', balance: -1n, floor: -2n },
      { id: 'velocity:sandbox:count', currency: 'velocity.count', balance: 3n, floor: null },
    ]);
    await expectBalancedBooks(app);
  });

  it('applies only to payments of customers', async () => {
    await setHourlyPayments(1);
    expect(await payAs(null)).toMatch(/^Transaction:/);
    expect(await payAs(null)).toMatch(/^Transaction:/);
    expect(await readLimitAccounts()).toEqual([]);
  });

  it('resets every hour and includes refunded payments', async () => {
    await setHourlyPayments(1);
    await refund(await payAs('c'));
    app.effects.set(app.effects.now() + HOUR_MS - 1);
    expect(await payAs('c')).toBe(HOURLY_LIMIT_CODE);
    app.effects.set(app.effects.now() + 1);
    expect(await payAs('c')).toMatch(/^Transaction:/);
    expect(await payAs('c')).toBe(HOURLY_LIMIT_CODE);
    await setHourlyPayments(null);
    expect(await payAs('c')).toMatch(/^Transaction:/);
  });

  it('is exact under concurrent payments of one customer', async () => {
    await setHourlyPayments(10);
    const results = await Promise.all(Array.from({ length: 60 }, () => payAs('c')));
    expect(results.filter((each) => each.startsWith('Transaction:'))).toHaveLength(10);
    expect(results.filter((each) => each === HOURLY_LIMIT_CODE)).toHaveLength(50);
    await expectBalancedBooks(app);
  });
});
