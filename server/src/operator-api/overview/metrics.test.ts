// Sums of payments: outcomes by bucket, groups, limits, and recounts.
import { afterEach, expect, it, vi } from 'vitest';
import {
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
} from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';

const app = testApp();
const client = operatorClient(app);
// The call fails if an earlier reply did not match its contract.
afterEach(async () => {
  ok(await app.call('GET', '/config'), 200);
});

const get = async (query = '', secret?: string) => {
  const options = secret === undefined ? {} : { secret };
  return ok(await client.call('GET', `/metrics/payments${query}`, options), 200);
};

async function pay(amount: number, suffix = '000') {
  const { person, account } = await createFundedCustomer(app);
  const payee = await createExternalAccount(app, person.id, 'USD', suffix);
  const body = quoteBody(account.id, payee.id, amount);
  const quote = ok(await app.call('POST', '/quotes', body), 201);
  ok(await app.call('POST', `/quotes/${quote.id}/execute`), 200);
  return quote.transactionId as string;
}

/**
 * The sums after all payments until now were counted. Transactions in other databases of the cluster
 * delay the count.
 */
async function readMetrics(query = '', secret?: string) {
  await app.advance(120_000);
  const startTime = app.effects.now();
  return vi.waitFor(
    async () => {
      await app.advance(6_000);
      const reply = await get(query, secret);
      expect(Date.parse(reply.completeUntil)).toBeGreaterThanOrEqual(startTime);
      return reply;
    },
    { timeout: 20_000, interval: 20 },
  );
}

interface Sums {
  type: string;
  payments: number;
  completed: number;
}

const outgoingSums = (data: readonly Sums[]) => data.find(({ type }) => type === 'OUTGOING');

it('the API counts payments by result in buckets of every length', async () => {
  const countBefore = outgoingSums((await readMetrics()).data)?.payments ?? 0;
  await pay(10_00);
  const id = await pay(25_00);
  const reply = await readMetrics('?bucket=day');
  expect(reply).toMatchObject({ bucket: 'day', completeUntil: expect.any(String) });
  expect(outgoingSums(reply.data)).toMatchObject({
    ...{ currency: 'USD', payments: countBefore + 2, failed: 0, returned: 0, successRate: 1 },
  });
  for (const bucket of ['hour', 'week', 'month']) {
    const { data } = await get(`?bucket=${bucket}`);
    const outgoingBuckets = data.filter(({ type }: Sums) => type === 'OUTGOING');
    expect(
      outgoingBuckets.reduce((totalCount: number, each: Sums) => totalCount + each.payments, 0),
    ).toBe(countBefore + 2);
  }
  const searchResult = ok(
    await client.call('POST', '/search', { body: { amount: 25_00, currency: 'USD' } }),
    200,
  );
  expect(searchResult.data).toMatchObject([{ kind: 'PAYMENT', id, matchedBy: 'AMOUNT' }]);
  const datedBody = { amount: 25_00, currency: 'USD', date: '2020-01-01' };
  expect(ok(await client.call('POST', '/search', { body: datedBody }), 200).data).toEqual([]);
});

it('the API finds payments by amount and day', async () => {
  const search = async (body: object, secret?: string) => {
    const options = secret === undefined ? { body } : { body, secret };
    const reply = ok(await client.call('POST', '/search', options), 200);
    return reply.data.map(({ id }: { id: string }) => id);
  };
  const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
  const firstPaymentId = await pay(77_77);
  const day = dayOf(app.effects.now());
  await app.advance(24 * 3_600_000);
  const secondPaymentId = await pay(77_77);
  await readMetrics();
  const amountFilter = { amount: 77_77, currency: 'USD' };
  expect(await search(amountFilter)).toEqual([secondPaymentId, firstPaymentId]);
  expect(await search({ ...amountFilter, date: day })).toEqual([firstPaymentId]);
  expect(await search({ ...amountFilter, date: dayOf(Date.parse(day) + 24 * 3_600_000) })).toEqual([
    secondPaymentId,
  ]);
  expect(await search({ ...amountFilter, date: dayOf(Date.parse(day) - 24 * 3_600_000) })).toEqual(
    [],
  );
  expect(await search({ ...amountFilter, currency: 'EUR', date: day })).toEqual([]);
  expect(await search({ ...amountFilter, amount: 77_78, date: day })).toEqual([]);
  // With a query, resources that match the query or the amount are found.
  expect(await search({ ...amountFilter, date: day, query: secondPaymentId })).toEqual([
    secondPaymentId,
    firstPaymentId,
  ]);
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  expect(await search({ ...amountFilter, date: day }, secret)).toEqual([]);
  const { status } = await client.call('POST', '/search', { body: { date: day } });
  expect(status).toBe(400);
});

it('the API counts a late return in the bucket of the payment', async () => {
  const sumsOf = async (day: string) => {
    const { data } = await readMetrics(`?from=${day}T00:00:00Z&type=OUTGOING`);
    const bucket = data.find(({ start }: { start: string }) => start.startsWith(day));
    return bucket ?? { payments: 0, returned: 0, returnedAmount: '0', completed: 0 };
  };
  const day = new Date(app.effects.now()).toISOString().slice(0, 10);
  const sumsBefore = await sumsOf(day);
  await pay(31_00, '008');
  expect(await sumsOf(day)).toMatchObject({
    ...{ payments: sumsBefore.payments + 1, completed: sumsBefore.completed + 1 },
    returned: sumsBefore.returned,
  });
  await app.advance(49 * 3_600_000);
  const sumsAfter = await sumsOf(day);
  expect(sumsAfter).toMatchObject({
    ...{ payments: sumsBefore.payments + 1, completed: sumsBefore.completed },
    ...{
      returned: sumsBefore.returned + 1,
      returnedAmount: String(Number(sumsBefore.returnedAmount) + 31_00),
    },
  });
  expect(sumsAfter.returnRate).toBeGreaterThan(0);
});

it('the API returns exact amounts above 2^53', async () => {
  const amount = 2n ** 53n + 1n;
  await app.runtime.db.query(
    `insert into payment_metrics (platform_id, grain, bucket, type, currency, rail, payments, completed,
       failed, returned, amount, completed_amount, returned_amount)
     values ($1, 'day', '2001-02-03', 'OUTGOING', 'JPY', 'A', 1, 1, 0, 0, $2, $2, 0),
       ($1, 'day', '2001-02-03', 'OUTGOING', 'JPY', 'B', 1, 0, 0, 1, $3, 0, $3)`,
    [app.platform.id, amount, 2n ** 62n],
  );
  const { data } = await get('?currency=JPY&from=2001-02-01T00:00:00Z&until=2001-02-05T00:00:00Z');
  expect(data).toMatchObject([
    {
      amount: String(amount + 2n ** 62n),
      ...{ completedAmount: String(amount), returnedAmount: String(2n ** 62n) },
    },
  ]);
  await app.runtime.db.query('delete from payment_metrics where currency = $1', ['JPY']);
});

it('the API groups and filters the metrics', async () => {
  await pay(11_00);
  const { data } = await readMetrics('?groupBy=rail,platform&type=OUTGOING');
  expect(data[0]).toMatchObject({ platformId: app.platform.id, rail: expect.anything() });
  expect((await get(`?platformId=${app.other.id}&type=OUTGOING`)).data).toEqual([]);
  expect((await get('?mode=production')).data).toEqual([]);
  expect((await get('?currency=JPY')).data).toEqual([]);
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  expect(outgoingSums((await get('', secret)).data)).toBeUndefined();
  const longPeriod = '?bucket=hour&from=2020-01-01T00:00:00Z';
  expect((await client.call('GET', `/metrics/payments${longPeriod}`)).status).toBe(400);
});

it('the API recounts the payments of a platform', async () => {
  const { data } = await readMetrics();
  const path = `/platforms/${app.platform.id}/payment-metrics/recount`;
  ok(await client.call('POST', path, { body: { reason: 'Check' } }), 200);
  expect((await readMetrics()).data).toEqual(data);
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  expect((await client.call('POST', path, { secret })).status).toBe(404);
});

it('the API counts no payments of a sandbox platform from before its reset', async () => {
  await pay(12_00);
  expect(outgoingSums((await readMetrics()).data)).toBeDefined();
  ok(await app.call('POST', '/sandbox/reset'), 200);
  expect(outgoingSums((await readMetrics()).data)).toBeUndefined();
  await pay(13_00);
  expect(outgoingSums((await readMetrics()).data)).toMatchObject({ payments: 1 });
});
