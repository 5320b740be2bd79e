// Velocity limits of a platform per day and of its customers per hour. Every operation that starts
// a payment counts the payment, and a refund releases the daily usage.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { platforms } from '../../tenancy/platform/store.ts';

const app = testApp();
beforeAll(async () => {
  await setLimits({ hourly_payments: null, limits: [{ currency: 'USD', perDay: 250_00 }] });
});
beforeEach(() => app.advance(24 * 3_600_000));

type Limits = Pick<PlatformRow, 'hourly_payments' | 'limits'>;

/** Sets the limits of the platform and returns the previous limits. */
const setLimits = (limits: Limits): Promise<Limits> =>
  app.operate(async (ctx) => {
    const row = await ctx.read(platforms, app.platform.id);
    if (!row) throw new Error('The platform was not found.');
    ctx.update(platforms, row, limits);
    return { hourly_payments: row.hourly_payments, limits: row.limits };
  });

const DAILY_LIMIT_EXCEEDED = [429, 'DAILY_VOLUME_LIMIT_EXCEEDED'];

async function createPayer(suffix = '000') {
  const { person, account } = await createFundedCustomer(app);
  const target = await createExternalAccount(app, person.id, 'USD', suffix);
  const requestQuote = (overrides: object = {}) =>
    app.call('POST', '/quotes', quoteBody(account.id, target.id, 100_00, overrides));
  const pay = async () => {
    const { id } = ok(await requestQuote(), 201);
    const { status, body } = await app.call('POST', `/quotes/${id}/execute`);
    return [status, body.code];
  };
  return { person, account, target, requestQuote, pay };
}

describe('velocity limits', () => {
  it('reject every operation that would exceed the daily limit', async () => {
    const { account, target, requestQuote, pay } = await createPayer();
    expect(await pay()).toEqual([200, undefined]);
    expect(await pay()).toEqual([200, undefined]);
    expect(await pay()).toEqual(DAILY_LIMIT_EXCEEDED);
    const { status, body, headers } = await requestQuote({ immediatelyExecute: true });
    expect([status, body.code]).toEqual(DAILY_LIMIT_EXCEEDED);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    const transferBody = {
      source: { accountId: account.id },
      destination: { accountId: target.id },
      amount: 100_00,
    };
    const transferResponse = await app.call('POST', '/transfer-out', transferBody);
    expect([transferResponse.status, transferResponse.body.code]).toEqual(DAILY_LIMIT_EXCEEDED);
    await app.advance(24 * 3_600_000);
    expect(await pay()).toEqual([200, undefined]);
  });

  it('release the daily usage of a refunded payment', async () => {
    const { pay } = await createPayer('002');
    for (let round = 0; round < 5; round++) {
      expect(await pay()).toEqual([200, undefined]);
      await app.settle();
    }
  });

  it('release the daily usage of a failed debit', async () => {
    const { person, target } = await createPayer();
    const source = await createExternalAccount(app, person.id, 'USD', '003');
    for (let round = 0; round < 4; round++) {
      const quote = ok(
        await app.call('POST', '/quotes', quoteBody(source.id, target.id, 100_00)),
        201,
      );
      ok(await app.call('POST', `/quotes/${quote.id}/execute`), 200);
      await app.settle();
    }
  });

  it('reject only customers who reached the hourly limit', async () => {
    const HOURLY_LIMIT_EXCEEDED = [403, 'VELOCITY_LIMIT_EXCEEDED'];
    const previousLimits = await setLimits({ hourly_payments: 1, limits: [] });
    const { account, target, pay, requestQuote } = await createPayer();
    expect(await pay()).toEqual([200, undefined]);
    expect(await pay()).toEqual(HOURLY_LIMIT_EXCEEDED);
    const { status, body } = await requestQuote({ immediatelyExecute: true });
    expect([status, body.code]).toEqual(HOURLY_LIMIT_EXCEEDED);
    const accounts = { source: { accountId: account.id }, destination: { accountId: target.id } };
    const headers = { 'Idempotency-Key': 'hourly-limit' };
    const send = () =>
      app.call('POST', '/transfer-out', { ...accounts, amount: 1_00 }, { headers });
    const transferResponse = await send();
    expect([transferResponse.status, transferResponse.body.code]).toEqual(HOURLY_LIMIT_EXCEEDED);
    expect(await (await createPayer()).pay()).toEqual([200, undefined]);
    await app.advance(3_600_000);
    expect((await send()).status).toBe(201);
    expect(await pay()).toEqual(HOURLY_LIMIT_EXCEEDED);
    await setLimits(previousLimits);
  });

  /** Sends the funds of a realtime quote and returns its transaction. */
  async function payInQuote({ person, target }: Awaited<ReturnType<typeof createPayer>>) {
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'USD', customerId: person.id };
    const body = { ...quoteBody('', target.id, 100_00), source };
    const quote = ok(await app.call('POST', '/quotes', body), 201);
    const fundingBody = { quoteId: quote.id, currencyCode: 'USD' };
    ok(await app.call('POST', '/sandbox/send', fundingBody), 200);
    await app.settle();
    return ok(await app.call('GET', `/transactions/${quote.transactionId}`), 200);
  }
  const REFUNDED_PAYMENT = {
    status: 'FAILED',
    failureReason: 'LIMIT_EXCEEDED',
    refund: { status: 'COMPLETED' },
  };

  it('return realtime funds above the daily limit', async () => {
    const payer = await createPayer();
    await payer.pay();
    await payer.pay();
    expect(await payInQuote(payer)).toMatchObject(REFUNDED_PAYMENT);
  });

  it('return realtime funds above the hourly limit', async () => {
    const payer = await createPayer();
    const previousLimits = await setLimits({ hourly_payments: 1, limits: [] });
    expect(await payInQuote(payer)).toMatchObject({ status: 'COMPLETED' });
    expect(await payInQuote(payer)).toMatchObject(REFUNDED_PAYMENT);
    await setLimits(previousLimits);
  });
});
