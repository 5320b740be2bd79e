// Lists over all platforms: order, filters, pages, and the items visible to an operator of one
// platform.
import { afterEach, expect, it, vi } from 'vitest';
import {
  createCustomer,
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

const get = async (path: string, secret?: string) =>
  ok(await client.call('GET', path, secret === undefined ? {} : { secret }), 200);

interface Item {
  id: string;
  platformId: string;
  createdAt: string;
}

/** All items of a list, in pages of two. */
async function readAll(path: string): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const separator = path.includes('?') ? '&' : '?';
    const page = await get(`${path}${separator}limit=2${cursor ? `&cursor=${cursor}` : ''}`);
    expect(page.data.length).toBeLessThanOrEqual(2);
    items.push(...page.data);
    cursor = page.nextCursor;
    expect(page.hasMore).toBe(cursor !== undefined);
  } while (cursor);
  return items;
}

/**
 * Executes a quote and waits for its events. An event is listed after all earlier database transactions
 * have ended.
 */
async function execute(quote: { id: string; transactionId: string }) {
  ok(await app.call('POST', `/quotes/${quote.id}/execute`), 200);
  await vi.waitFor(
    async () => {
      const { events } = await get(`/payments/${quote.transactionId}`);
      expect(events.length).toBeGreaterThan(1);
    },
    { timeout: 5_000 },
  );
}

const idsOf = (items: readonly Item[]) => items.map(({ id }) => id);
const PAGE = 'limit=100';

async function createQuote(amount: number) {
  const { person, account } = await createFundedCustomer(app);
  const payee = await createExternalAccount(app, person.id, 'USD');
  const quote = ok(await app.call('POST', '/quotes', quoteBody(account.id, payee.id, amount)), 201);
  return { person, quote };
}

it('the API lists customers of all platforms, newest first, in pages', async () => {
  const { id: firstCustomerId } = await createCustomer(app);
  const { id: secondCustomerId } = await createCustomer(app, { platform: app.other });
  const { id: thirdCustomerId } = await createCustomer(app);
  const items = await readAll('/customers');
  expect(idsOf(items).slice(0, 3)).toEqual([thirdCustomerId, secondCustomerId, firstCustomerId]);
  const platformCustomerIds = idsOf(await readAll(`/customers?platformId=${app.platform.id}`));
  expect(platformCustomerIds.slice(0, 2)).toEqual([thirdCustomerId, firstCustomerId]);
  expect(platformCustomerIds).not.toContain(secondCustomerId);
  expect(JSON.stringify(items)).not.toContain('fullName');

  ok(await app.call('DELETE', `/customers/${thirdCustomerId}`), 200);
  expect(idsOf((await get(`/customers?isDeleted=true&${PAGE}`)).data)).toContain(thirdCustomerId);
  expect(idsOf((await get(`/customers?isDeleted=false&${PAGE}`)).data)).not.toContain(
    thirdCustomerId,
  );
  const startTime = items[1]?.createdAt;
  const recentIds = idsOf((await get(`/customers?createdAfter=${startTime}&${PAGE}`)).data);
  expect(recentIds).toContain(secondCustomerId);
  expect(idsOf((await get(`/customers?mode=production&${PAGE}`)).data)).not.toContain(
    firstCustomerId,
  );
});

it('the API lists payments and quotes of all platforms', async () => {
  const { person, quote } = await createQuote(12_34);
  const payment = { id: quote.transactionId, platformId: app.platform.id, status: 'PENDING' };
  const quotes = await get(`/quotes?${PAGE}`);
  expect(quotes.data[0]).toMatchObject({
    ...{ id: quote.id, transactionId: quote.transactionId, transactionStatus: 'PENDING' },
    sendingAmount: { currency: 'USD' },
  });
  expect((await get(`/payments?${PAGE}`)).data[0]).toMatchObject(payment);
  for (const filter of [
    `platformId=${app.platform.id}`,
    `customerId=${person.id}`,
    `customerId=${person.id}&platformId=${app.platform.id}`,
    'type=OUTGOING&status=PENDING&currency=USD',
    'mode=sandbox',
  ]) {
    expect(idsOf((await get(`/payments?${filter}&${PAGE}`)).data), filter).toContain(payment.id);
  }
  for (const filter of [
    `platformId=${app.other.id}`,
    `customerId=${person.id}&platformId=${app.other.id}`,
    'type=CARD',
    'status=FAILED',
    'currency=JPY',
    'mode=production',
    'createdBefore=2020-01-01T00:00:00Z',
  ]) {
    const { data } = await get(`/payments?${filter}&${PAGE}`);
    expect(idsOf(data), filter).not.toContain(payment.id);
  }
  const firstPageIds = idsOf((await get(`/payments?${PAGE}`)).data);
  expect(idsOf(await readAll('/payments'))).toEqual(firstPageIds);
  expect(idsOf(await readAll('/payments?currency=USD'))).toEqual(firstPageIds);
  expect((await client.call('GET', '/payments?cursor=x')).body.code).toBe('INVALID_INPUT');
});

it('the API shows a payment with its history', async () => {
  const { quote } = await createQuote(20_00);
  await execute(quote);
  const payment = await get(`/payments/${quote.transactionId}`);
  expect(payment).toMatchObject({ id: quote.transactionId, quoteId: quote.id, type: 'OUTGOING' });
  expect(payment.postings.length).toBeGreaterThan(0);
  const types = payment.events.map(({ type }: { type: string }) => type);
  expect(types).toContain('OUTGOING_PAYMENT.PROCESSING');
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  const hiddenReply = await client.call('GET', `/payments/${quote.transactionId}`, { secret });
  expect(hiddenReply.status).toBe(404);
  expect((await client.call('GET', '/payments/Transaction:x')).status).toBe(404);
});

it('the API lists events, shows an event, and records the access', async () => {
  const { person, quote } = await createQuote(30_00);
  await execute(quote);
  const { data } = await get(`/events?${PAGE}`);
  const ids: string[] = idsOf(data);
  expect(ids).toEqual(ids.toSorted().reverse());
  const listPath = `/events?platformId=${app.platform.id}`;
  const events: (Item & { resourceId: string })[] = (
    await get(`${listPath}&resourceId=${quote.transactionId}&${PAGE}`)
  ).data;
  expect(events.length).toBeGreaterThan(1);
  expect(events.every((each) => each.resourceId === quote.transactionId)).toBe(true);
  expect(idsOf(await readAll(listPath)).slice(0, 5)).toEqual(
    ids.filter((id) => data.find((each: Item) => each.id === id)).slice(0, 5),
  );
  const customerEventIds = idsOf((await get(`${listPath}&customerId=${person.id}&${PAGE}`)).data);
  expect(customerEventIds).toContain(events[0]?.id);
  const typedPage = await get(`/events?type=OUTGOING_PAYMENT.PROCESSING&${PAGE}`);
  expect(idsOf(typedPage.data).length).toBeGreaterThan(0);
  const resourcePath = `/events?resourceId=${quote.transactionId}`;
  expect((await get(`${resourcePath}&${PAGE}`)).data).toEqual(events);
  expect(idsOf(await readAll(resourcePath))).toEqual(idsOf(events));
  expect(idsOf((await get(`/events?customerId=${person.id}&${PAGE}`)).data)).toEqual(
    customerEventIds,
  );
  expect((await client.call('GET', '/events?resourceId=Other:x')).status).toBe(400);

  const event = await get(`/events/${events[0]?.id}`);
  expect(event).toMatchObject({
    resourceId: quote.transactionId,
    data: { id: quote.transactionId },
  });
  expect((await client.recordsOf('getEventOfPlatform'))[0]).toMatchObject({ subject: event.id });
  expect((await client.call('GET', '/events/Webhook:x')).status).toBe(404);
});

it('the API lists payments from and to an account, newest first', async () => {
  const { person, account } = await createFundedCustomer(app);
  const payee = await createExternalAccount(app, person.id, 'USD');
  for (const amount of [5_00, 6_00, 7_00]) {
    ok(await app.call('POST', '/quotes', quoteBody(account.id, payee.id, amount)), 201);
  }
  await createQuote(8_00);
  const path = `/payments?accountId=${account.id}`;
  const { data } = await get(`${path}&${PAGE}`);
  const types = new Set(data.map((each: { type: string }) => each.type));
  expect(types).toEqual(new Set(['OUTGOING', 'INCOMING']));
  for (const row of data) {
    expect([row.sourceAccountId, row.destinationAccountId]).toContain(account.id);
  }
  expect(idsOf(await readAll(path))).toEqual(idsOf(data));
  const customerPaymentIds = idsOf(await readAll(`/payments?customerId=${person.id}`));
  expect(idsOf(data)).toEqual(customerPaymentIds);
  const times = data.map((each: Item) => each.createdAt);
  expect(times).toEqual(times.toSorted().reverse());
  expect((await get(`${path}&platformId=${app.other.id}`)).data).toEqual([]);
  const unknownId = 'InternalAccount:00000000-0000-7000-8000-000000000000';
  expect((await get(`/payments?accountId=${unknownId}`)).data).toEqual([]);
});

it('the API lists the deliveries of all platforms', async () => {
  for (const platform of [app.platform, app.other]) {
    for (const host of ['one', 'two']) {
      const body = { url: `https://${host}.example.com/hooks` };
      ok(await app.call('POST', '/webhook-endpoints', body, { platform }), 201);
    }
  }
  await createCustomer(app);
  await createCustomer(app, { platform: app.other });
  await createCustomer(app);
  const deliveries = await readAll('/webhook-deliveries');
  expect(idsOf(deliveries)).toEqual(idsOf((await get(`/webhook-deliveries?${PAGE}`)).data));
  expect(new Set(idsOf(deliveries)).size).toBe(deliveries.length);
  for (const { id } of [app.platform, app.other]) {
    const platformDeliveryIds = idsOf(await readAll(`/platforms/${id}/webhook-deliveries`));
    expect(platformDeliveryIds.length).toBeGreaterThan(1);
    expect(idsOf(await readAll(`/webhook-deliveries?platformId=${id}`))).toEqual(
      platformDeliveryIds,
    );
    expect(idsOf(deliveries.filter((each) => each.platformId === id))).toEqual(platformDeliveryIds);
  }
});

it('the API lists the deliveries of a platform', async () => {
  const path = (id: string) => `/platforms/${id}/webhook-deliveries`;
  expect((await get(`${path(app.platform.id)}?${PAGE}`)).hasMore).toBe(false);
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  expect((await client.call('GET', path(app.platform.id), { secret })).status).toBe(404);
  expect((await client.call('GET', path('PlatformConfig:x'))).status).toBe(404);
});

it('the API hides other platforms from an operator of one platform', async () => {
  await createQuote(5_00);
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  for (const path of [
    '/customers',
    '/payments',
    '/quotes',
    '/events',
    '/requests',
    '/webhook-deliveries',
  ]) {
    const { data } = await get(path, secret);
    expect(new Set(data.map((each: Item) => each.platformId)).has(app.platform.id)).toBe(false);
    const foreignPath = `${path}?platformId=${app.platform.id}`;
    expect((await client.call('GET', foreignPath, { secret })).status).toBe(404);
  }
});
