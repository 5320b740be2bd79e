// The clock of a sandbox platform, on a server whose loops do not run. The requests that change the clock
// execute all work.
import { describe, expect, it } from 'vitest';
import {
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import type { CallOptions, TestPlatform } from '../../../../test/kit/app/harness.ts';
import { openForFile, testApp } from '../../../../test/kit/app/test-app.ts';
import { startReceiver } from '../../../../test/kit/http/webhook-receiver.ts';
import { stepClock } from '../../../runtime/clocks/clock-changes.ts';

const app = testApp();
const receiver = openForFile(startReceiver);

const SECOND = 1_000;
const DAY = 24 * 3_600_000;

const change = (body: object, platform: CallOptions['platform'] = app.platform) =>
  app.call('POST', '/sandbox/clock', body, { platform });
const getClock = async (platform: CallOptions['platform'] = app.platform) =>
  ok(await app.call('GET', '/sandbox/clock', undefined, { platform }), 200);
const timeOf = async (platform?: CallOptions['platform']) =>
  Date.parse((await getClock(platform)).currentTime);

/** A platform with a customer who has 1000.00 USD. */
async function createPayingPlatform(name: string) {
  const platform = await app.newPlatform(name);
  const { person, account } = await createFundedCustomer(app, 1_000_00, { platform });
  return { platform, person, account };
}

type PayingPlatform = Awaited<ReturnType<typeof createPayingPlatform>>;

/** Pays 100.00 USD to an account with this suffix. Returns the transaction ID. */
async function pay({ platform, person, account }: PayingPlatform, suffix: string) {
  const payee = await createExternalAccount(app, person.id, 'EUR', suffix, { platform });
  const quote = ok(
    await app.call('POST', '/quotes', quoteBody(account.id, payee.id, 100_00), { platform }),
    201,
  );
  const headers = { 'idempotency-key': quote.id };
  ok(await app.call('POST', `/quotes/${quote.id}/execute`, undefined, { platform, headers }), 200);
  return quote.transactionId as string;
}

const getTransaction = async (platform: TestPlatform, id: string) =>
  ok(await app.call('GET', `/transactions/${id}`, undefined, { platform }), 200);

describe('getSandboxClock', () => {
  it('shows real time until the clock is changed', async () => {
    const platform = await app.newPlatform('Unchanged');
    expect(await getClock(platform)).toEqual({
      currentTime: new Date(app.effects.now()).toJSON(),
      frozen: false,
    });
  });

  it('is not available in production', async () => {
    const reply = await app.call('GET', '/sandbox/clock', undefined, { platform: app.production });
    expect(reply.status).toBe(403);
  });

  it('accepts a token with VIEW, and updateSandboxClock rejects this token', async () => {
    const viewer = await app.tokenWith(['VIEW']);
    ok(await app.call('GET', '/sandbox/clock', undefined, { platform: viewer }), 200);
    const { status, body } = await change({ freeze: true }, viewer);
    expect([status, body.code]).toEqual([403, 'FORBIDDEN']);
  });
});

describe('updateSandboxClock', () => {
  it('is rejected if the clock was reset during the change', async () => {
    const now = app.effects.now();
    const unknownClock = { id: 'PlatformConfig:none', holder: 'none' };
    const step = stepClock(app.runtime.db, unknownClock, { at: now, target: now, realTime: now });
    await expect(step).rejects.toMatchObject({ code: 'CONFLICT', status: 409 });
  });

  it('returns a payment after two days without waiting', async () => {
    const payingPlatform = await createPayingPlatform('Returned');
    const id = await pay(payingPlatform, '008');
    const startedMs = performance.now();
    ok(await change({ advance: 'PT1M' }, payingPlatform.platform), 200);
    expect((await getTransaction(payingPlatform.platform, id)).status).toBe('COMPLETED');
    const start = await timeOf(payingPlatform.platform);
    const { currentTime, processed } = ok(
      await change({ advance: 'P3D' }, payingPlatform.platform),
      200,
    );
    expect(performance.now() - startedMs).toBeLessThan(15_000);
    expect(processed).toBeGreaterThan(0);
    expect(Date.parse(currentTime) - start).toBe(3 * DAY);
    const transactionAfter = await getTransaction(payingPlatform.platform, id);
    expect(transactionAfter).toMatchObject({ status: 'FAILED', failureReason: 'PAYOUT_RETURNED' });
    expect(
      Math.floor(
        (Date.parse(transactionAfter.updatedAt) - Date.parse(transactionAfter.settledAt)) / DAY,
      ),
    ).toBe(2);
    expect(
      (await readBalances(app, payingPlatform.account.id, { platform: payingPlatform.platform }))
        .balance,
    ).toBe(1_000_00);
  });

  it('leaves the clock of another platform unchanged', async () => {
    const [firstPayingPlatform, secondPayingPlatform] = [
      await createPayingPlatform('One'),
      await createPayingPlatform('Two'),
    ];
    const id = await pay(secondPayingPlatform, '003');
    ok(await change({ advance: 'P2Y' }, firstPayingPlatform.platform), 200);
    expect(await timeOf(secondPayingPlatform.platform)).toBe(app.effects.now());
    expect((await getTransaction(secondPayingPlatform.platform, id)).status).toBe('PROCESSING');
    const createdCustomer = ok(
      await app.call(
        'POST',
        '/customers',
        {
          customerType: 'INDIVIDUAL',
          platformCustomerId: 'later',
          fullName: 'Ada Lovelace',
        },
        { platform: firstPayingPlatform.platform },
      ),
      201,
    );
    expect(createdCustomer.createdAt).toBe(
      (await getClock(firstPayingPlatform.platform)).currentTime,
    );
  });

  it('prevents work from becoming due while frozen', async () => {
    const payingPlatform = await createPayingPlatform('Frozen');
    ok(await change({ freeze: true }, payingPlatform.platform), 200);
    const id = await pay(payingPlatform, '003');
    app.effects.set(app.effects.now() + DAY);
    await app.settle();
    expect((await getTransaction(payingPlatform.platform, id)).status).toBe('PROCESSING');
    ok(await change({ advance: 'PT6M' }, payingPlatform.platform), 200);
    const { status, settledAt } = await getTransaction(payingPlatform.platform, id);
    expect(status).toBe('COMPLETED');
    expect(settledAt).toBe((await getClock(payingPlatform.platform)).currentTime);
    // The clock continues from the new time.
    ok(await change({ freeze: false }, payingPlatform.platform), 200);
    const timeBefore = await timeOf(payingPlatform.platform);
    app.effects.set(app.effects.now() + SECOND);
    expect(await timeOf(payingPlatform.platform)).toBe(timeBefore + SECOND);
  });

  it('executes due work on a clock that runs ahead of real time', async () => {
    const payingPlatform = await createPayingPlatform('Ahead');
    ok(await change({ advance: 'P1D' }, payingPlatform.platform), 200);
    const id = await pay(payingPlatform, '003');
    await app.settle();
    expect((await getTransaction(payingPlatform.platform, id)).status).toBe('PROCESSING');
    app.effects.set(app.effects.now() + 6 * 60 * SECOND);
    await app.settle();
    expect((await getTransaction(payingPlatform.platform, id)).status).toBe('COMPLETED');
  });

  it('expires quotes, including those created before the first change', async () => {
    const payingPlatform = await createPayingPlatform('Quotes');
    const payee = await createExternalAccount(app, payingPlatform.person.id, 'EUR', '000', {
      platform: payingPlatform.platform,
    });
    const createQuote = async () =>
      ok(
        await app.call('POST', '/quotes', quoteBody(payingPlatform.account.id, payee.id, 100_00), {
          platform: payingPlatform.platform,
        }),
        201,
      );
    const [firstQuote] = [await createQuote()];
    ok(await change({ freeze: true }, payingPlatform.platform), 200);
    const secondQuote = await createQuote();
    ok(await change({ advance: 'P1D' }, payingPlatform.platform), 200);
    for (const { transactionId } of [firstQuote, secondQuote]) {
      expect(await getTransaction(payingPlatform.platform, transactionId)).toMatchObject({
        status: 'EXPIRED',
      });
    }
  });

  it('delivers and retries webhooks at the times of the clock', async () => {
    const payingPlatform = await createPayingPlatform('Retries');
    ok(
      await app.call(
        'PATCH',
        '/config',
        { webhookEndpoint: receiver.url },
        { platform: payingPlatform.platform },
      ),
      200,
    );
    ok(await change({ freeze: true }, payingPlatform.platform), 200);
    receiver.behave(500);
    receiver.arrivals.length = 0;
    const id = await pay(payingPlatform, '000');
    ok(await change({ advance: 'PT1H' }, payingPlatform.platform), 200);
    const attempts = receiver.arrivals.filter((each) => each.type === 'OUTGOING_PAYMENT.COMPLETED');
    // Immediately, after 5 seconds, 5 minutes and 30 minutes.
    expect(attempts).toHaveLength(4);
    const timestamps = attempts.map(({ headers }) => Number(headers['webhook-timestamp']) * SECOND);
    expect(timestamps.every((each) => each <= app.effects.now())).toBe(true);
    receiver.behave(200);
    ok(await change({ advance: 'P1D' }, payingPlatform.platform), 200);
    const allAttempts = receiver.arrivals.filter(
      (each) => each.type === 'OUTGOING_PAYMENT.COMPLETED',
    );
    expect(allAttempts).toHaveLength(5);
    expect((await getTransaction(payingPlatform.platform, id)).status).toBe('COMPLETED');
  });

  it('completes within nine seconds if an endpoint does not respond', async () => {
    const payingPlatform = await createPayingPlatform('Silent');
    const silentReceiver = await startReceiver(() => undefined);
    ok(
      await app.call(
        'PATCH',
        '/config',
        { webhookEndpoint: silentReceiver.url },
        { platform: payingPlatform.platform },
      ),
      200,
    );
    const id = await pay(payingPlatform, '003');
    const startedMs = performance.now();
    ok(await change({ advance: 'P1D' }, payingPlatform.platform), 200);
    expect(performance.now() - startedMs).toBeLessThan(9_000);
    expect((await getTransaction(payingPlatform.platform, id)).status).toBe('COMPLETED');
    await silentReceiver.close();
  });

  it('rejects a concurrent change', async () => {
    const payingPlatform = await createPayingPlatform('Twice');
    for (let index = 0; index < 5; index++) await pay(payingPlatform, '003');
    const replies = await Promise.all([
      change({ advance: 'P1D' }, payingPlatform.platform),
      change({ advance: 'P1D' }, payingPlatform.platform),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await timeOf(payingPlatform.platform)).toBe(app.effects.now() + DAY);
  });

  it('changes the clock once for one idempotency key', async () => {
    const platform = await app.newPlatform('Key');
    const headers = { 'idempotency-key': 'once' };
    const firstResponse = await app.call(
      'POST',
      '/sandbox/clock',
      { advance: 'P1D' },
      { platform, headers },
    );
    const secondResponse = await app.call(
      'POST',
      '/sandbox/clock',
      { advance: 'P1D' },
      { platform, headers },
    );
    expect(secondResponse.body).toEqual(firstResponse.body);
    expect(await timeOf(platform)).toBe(app.effects.now() + DAY);
  });

  it('accepts an instant as target', async () => {
    const platform = await app.newPlatform('Instant');
    const to = '2027-03-01T12:00:00.000Z';
    expect(ok(await change({ to, freeze: true }, platform), 200)).toMatchObject({
      currentTime: to,
      frozen: true,
    });
    app.effects.set(app.effects.now() + SECOND);
    expect(await getClock(platform)).toEqual({ currentTime: to, frozen: true });
  });

  it.each([
    [{}, ['']],
    [{ advance: 'two days', to: 'tomorrow', freeze: 'yes' }, ['advance', 'freeze', 'to']],
    [{ advance: 'P1D', to: '2027-03-01T12:00:00Z' }, ['to']],
    [{ advance: 'P2Y1D' }, ['advance']],
    [{ to: '2020-01-01T00:00:00Z' }, ['to']],
    [{ to: '2090-01-01T00:00:00Z' }, ['to']],
  ])('reports every invalid field of %j', async (body, fields) => {
    const { status, body: reply } = await change(body);
    expect([status, reply.code]).toEqual([400, 'INVALID_INPUT']);
    const fieldNames = reply.details.errors.map((each: { field: string }) => each.field);
    expect([...new Set(fieldNames)].sort()).toEqual(fields);
    expect(await timeOf()).toBe(app.effects.now());
  });

  it('emits the same events for the same calls', async () => {
    const runScenario = async (name: string) => {
      const payingPlatform = await createPayingPlatform(name);
      ok(await change({ to: '2027-05-01T00:00:00Z', freeze: true }, payingPlatform.platform), 200);
      for (const suffix of ['003', '008', '004', '000']) await pay(payingPlatform, suffix);
      ok(await change({ advance: 'PT6M' }, payingPlatform.platform), 200);
      ok(await change({ advance: 'P3D' }, payingPlatform.platform), 200);
      const events = (await app.events()).filter(
        (each) => each.platformId === payingPlatform.platform.id,
      );
      return events.map(({ type, data }) => [type, data.status, data.updatedAt, data.settledAt]);
    };
    const [firstEvents, secondEvents] = [await runScenario('First'), await runScenario('Second')];
    const eventsFrom2027 = (allEvents: unknown[][]) =>
      allEvents.filter(([, , time]) => String(time) >= '2027');
    expect(eventsFrom2027(firstEvents).length).toBeGreaterThan(8);
    expect(eventsFrom2027(secondEvents)).toEqual(eventsFrom2027(firstEvents));
  });
});
