// Deliveries of an endpoint without a URL: pulled with signatures, retained until they are acknowledged.
import { createHmac, createPublicKey, verify } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { waitUntilEventsVisible } from '../../../../test/kit/http/event-order.ts';

const app = testApp();
const DAY_MS = 86_400_000;

interface Delivery {
  id: string;
  eventId: string;
  eventType: string;
  headers: Record<string, string>;
  body: string;
}
interface Page {
  data: Delivery[];
  hasMore: boolean;
  cursor?: string;
}

let endpointId: string;
let secret: string;
let sentCount = 0;

const create = async (body: object = {}) =>
  ok(await app.call('POST', '/webhook-endpoints', { delivery: 'PULL', ...body }), 201);
const change = (body: object, id = endpointId) =>
  app.call('PATCH', `/webhook-endpoints/${id}`, body);
const requestPull = (query = '', id = endpointId) =>
  app.call('GET', `/webhook-endpoints/${id}/deliveries${query}`);
const pull = async (query = '', id = endpointId): Promise<Page> =>
  ok(await requestPull(query, id), 200);
const acknowledge = (body: object, id = endpointId) =>
  app.call('POST', `/webhook-endpoints/${id}/acknowledgments`, body);
const eventIdsOf = ({ data }: Page) => data.map((each) => each.eventId);
const findAttempts = (id: string) =>
  app.runtime.db.query<{ attempt: number; result: string; status: number | null }>(
    'select attempt, result, status from webhook_attempts where event_id = $1 and endpoint > 0',
    [id],
  );

let createdCount = 0;
/** Creates a customer, which emits two events. */
async function emitEvents(): Promise<string> {
  const body = {
    customerType: 'INDIVIDUAL',
    platformCustomerId: `pulled-${++createdCount}`,
    region: 'US',
    fullName: 'Ada Lovelace',
    birthDate: '1990-01-01',
    nationality: 'US',
    address: {
      line1: '1 Main St',
      city: 'Austin',
      state: 'TX',
      postalCode: '78701',
      country: 'US',
    },
  };
  const { id } = ok(await app.call('POST', '/customers', body), 201);
  await app.settle();
  await waitUntilEventsVisible(app);
  return id;
}

beforeEach(async () => {
  app.effects.http = async () => {
    sentCount++;
    return { status: 200, headers: {}, body: '' };
  };
  sentCount = 0;
  const createdEndpoint = await create();
  endpointId = createdEndpoint.id;
  secret = createdEndpoint.secret;
});
afterEach(async () => {
  await app.call('DELETE', `/webhook-endpoints/${endpointId}`);
  await app.settle();
});

describe('an endpoint whose deliveries are pulled', () => {
  it('has no URL and rejects a URL, which other endpoints require', async () => {
    const details = ok(await app.call('GET', `/webhook-endpoints/${endpointId}`), 200);
    expect(details).toMatchObject({ delivery: 'PULL', status: 'ENABLED' });
    expect(details).not.toHaveProperty('url');
    const rejectedChange = await change({ url: 'https://example.com/hook' });
    expect(rejectedChange).toMatchObject({ status: 400 });
    expect(rejectedChange.body.details.errors[0].field).toBe('url');
    for (const body of [{}, { delivery: 'PULL', url: 'https://example.com/hook' }]) {
      const reply = await app.call('POST', '/webhook-endpoints', body);
      expect(reply.status).toBe(400);
      expect(reply.body.details.errors[0].field).toBe('url');
    }
  });

  it('receives bodies and headers that verify', async () => {
    await emitEvents();
    const { data } = await pull();
    expect(data.length).toBeGreaterThan(0);
    const key = createPublicKey(app.keys.sandbox.publicKeyPem);
    for (const { headers, body, eventId, eventType } of data) {
      expect(JSON.parse(body)).toMatchObject({ id: eventId, type: eventType });
      const signature = Buffer.from(headers['X-Service-Signature'] ?? '', 'base64');
      expect(verify('sha256', Buffer.from(body), key, signature)).toBe(true);
      expect(headers['X-Service-Signature-Key-Id']).toBe(app.keys.sandbox.keyId);
      const text = `${eventId}.${headers['webhook-timestamp']}.${body}`;
      const hmac = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'));
      expect(headers['webhook-signature']).toBe(`v1,${hmac.update(text).digest('base64')}`);
    }
    ok(await change({ standardWebhooks: false }), 200);
    const [plainDelivery] = (await pull()).data;
    expect(
      Object.keys(plainDelivery?.headers ?? {}).filter((each) => each.startsWith('webhook-')),
    ).toEqual([]);
  });

  it('receives thin bodies if configured', async () => {
    ok(await change({ format: 'THIN' }), 200);
    const customerId = await emitEvents();
    const bodies = (await pull()).data.map(({ body }) => JSON.parse(body));
    expect(bodies.length).toBeGreaterThan(0);
    for (const { data } of bodies) expect(Object.keys(data)).toEqual(['id']);
    expect(bodies.some(({ data }) => data.id === customerId)).toBe(true);
  });

  it('receives no requests, remains enabled, and drops deliveries after seven days', async () => {
    await emitEvents();
    const idsBefore = eventIdsOf(await pull());
    await app.advance(6 * DAY_MS);
    expect(sentCount).toBe(0);
    const metrics = (await app.server.inject('/metrics')).body;
    expect(metrics).toContain('railhead_deliveries_pending 0\n');
    expect(ok(await app.call('GET', `/webhook-endpoints/${endpointId}`), 200)).toMatchObject({
      status: 'ENABLED',
    });
    expect(eventIdsOf(await pull())).toEqual(idsBefore);
    for (const id of idsBefore) expect(await findAttempts(id)).toEqual([]);
    await app.advance(2 * DAY_MS);
    expect(eventIdsOf(await pull())).toEqual([]);
    const [id = ''] = idsBefore;
    expect(await findAttempts(id)).toEqual([{ attempt: 1, result: 'dropped', status: null }]);
  });

  it('receives the types of its filter', async () => {
    const filter = { eventTypes: ['CUSTOMER.KYC_APPROVED'] };
    const { id } = await create(filter);
    await emitEvents();
    expect((await pull('', id)).data.map((each) => each.eventType)).toEqual([
      'CUSTOMER.KYC_APPROVED',
    ]);
    await app.call('DELETE', `/webhook-endpoints/${id}`);
  });

  it('returns no deliveries while paused, and all deliveries afterwards', async () => {
    ok(await change({ status: 'PAUSED' }), 200);
    await emitEvents();
    expect(await pull()).toEqual({ data: [], hasMore: false });
    const pendingPull = pull('?wait=20');
    await sleep(50);
    ok(await change({ status: 'ENABLED' }), 200);
    expect((await pendingPull).data.length).toBeGreaterThan(0);
  });
});

describe('pullWebhookDeliveries', () => {
  it('returns the oldest deliveries first, repeatedly until they are acknowledged', async () => {
    for (let index = 0; index < 3; index++) await emitEvents();
    const allDeliveries = await pull('?limit=100');
    expect(allDeliveries.hasMore).toBe(false);
    const eventList = ok(await app.call('GET', '/events?after=beginning&limit=100'), 200);
    const orderedEventIds = eventList.data.map((each: { id: string }) => each.id);
    expect(eventIdsOf(allDeliveries)).toEqual(
      orderedEventIds.filter((id: string) => eventIdsOf(allDeliveries).includes(id)),
    );
    const firstPage = await pull('?limit=2');
    expect(firstPage).toMatchObject({ hasMore: true });
    expect(eventIdsOf(firstPage)).toEqual(eventIdsOf(allDeliveries).slice(0, 2));
    expect(eventIdsOf(await pull('?limit=2'))).toEqual(eventIdsOf(firstPage));
    const remainingPage = await pull(`?limit=100&after=${firstPage.cursor}`);
    expect(eventIdsOf(remainingPage)).toEqual(eventIdsOf(allDeliveries).slice(2));
    expect(eventIdsOf(await pull(`?after=${remainingPage.cursor}`))).toEqual([]);
  });

  it('returns a delivery to a waiting request', async () => {
    const startedAt = performance.now();
    const pendingPull = pull('?wait=20');
    await sleep(100);
    await emitEvents();
    expect((await pendingPull).data.length).toBeGreaterThan(0);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    await acknowledge({ cursor: (await pull('?limit=100')).cursor });
    expect(await pull('?wait=1')).toEqual({ data: [], hasMore: false });
  });

  it('rejects unknown parameters, and cursors of other endpoints', async () => {
    await emitEvents();
    const { cursor } = await pull();
    const otherEndpoint = await create();
    const invalidQueries: [string, string][] = [
      ['?x=1', 'x'],
      ['?limit=101', 'limit'],
      ['?wait=61', 'wait'],
      ['?after=abc', 'after'],
    ];
    for (const [query, field] of invalidQueries) {
      const reply = await requestPull(query);
      expect(reply.status).toBe(400);
      expect(reply.body.details.errors[0].field).toBe(field);
    }
    expect((await requestPull(`?after=${cursor}`, otherEndpoint.id)).status).toBe(400);
    expect((await acknowledge({ cursor }, otherEndpoint.id)).status).toBe(400);
    await app.call('DELETE', `/webhook-endpoints/${otherEndpoint.id}`);
  });

  it('omits an event whose data was erased', async () => {
    const customerId = await emitEvents();
    const pageBefore = await pull('?limit=100');
    await app.runtime.db.query('update customers set data_key = null where id = $1', [customerId]);
    const pageAfter = await pull('?limit=100');
    expect(pageAfter.data.length).toBeLessThan(pageBefore.data.length);
    expect(JSON.stringify(pageAfter)).not.toContain('Lovelace');
  });

  it('returns an acknowledged event that was sent again', async () => {
    await emitEvents();
    const page = await pull('?limit=100');
    ok(await acknowledge({ cursor: page.cursor }), 200);
    const [id = ''] = eventIdsOf(page);
    const pendingPull = pull('?wait=20');
    const resentReply = await app.call('POST', `/events/${id}/resend`, { endpointId });
    expect(resentReply.status).toBeLessThan(300);
    expect(page.data[0]).toMatchObject({ eventId: id, attempt: 1 });
    expect((await pendingPull).data).toMatchObject([{ eventId: id, attempt: 2 }]);
    ok(await acknowledge({ eventIds: [id] }), 200);
    expect((await findAttempts(id)).map((each) => each.attempt)).toEqual([1, 2]);
  });
});

describe('acknowledgeWebhookDeliveries', () => {
  it('removes deliveries up to a position', async () => {
    await emitEvents();
    const firstPage = await pull('?limit=1');
    await emitEvents();
    const allDeliveries = await pull('?limit=100');
    const body = { cursor: firstPage.cursor };
    expect(ok(await acknowledge(body), 200)).toEqual({ acknowledged: 1, hasMore: false });
    expect(ok(await acknowledge(body), 200)).toEqual({ acknowledged: 0, hasMore: false });
    expect(eventIdsOf(await pull('?limit=100'))).toEqual(eventIdsOf(allDeliveries).slice(1));
    const firstDelivery = ok(
      await app.call('GET', `/webhook-deliveries/${firstPage.data[0]?.id}`),
      200,
    );
    expect(firstDelivery).toMatchObject({ status: 'DELIVERED', eventId: eventIdsOf(firstPage)[0] });
    const secondDelivery = ok(
      await app.call('GET', `/webhook-deliveries/${allDeliveries.data[1]?.id}`),
      200,
    );
    expect(secondDelivery).toMatchObject({ status: 'PENDING', attemptCount: 0 });
    expect(secondDelivery).not.toHaveProperty('nextAttemptAt');
    expect(await findAttempts(eventIdsOf(firstPage)[0] ?? '')).toEqual([
      { attempt: 1, result: 'delivered', status: null },
    ]);
  });

  it('removes individual deliveries, and ignores IDs without a pending delivery', async () => {
    await emitEvents();
    await emitEvents();
    const allEventIds = eventIdsOf(await pull('?limit=100'));
    const [firstEventId, secondEventId] = allEventIds;
    const eventIds = [secondEventId, 'Webhook:1', secondEventId];
    expect(ok(await acknowledge({ eventIds }), 200)).toEqual({ acknowledged: 1, hasMore: false });
    expect(eventIdsOf(await pull('?limit=100'))).toEqual(
      allEventIds.filter((id) => id !== secondEventId),
    );
    expect(firstEventId).toBe(allEventIds[0]);
  });

  it('requires either a cursor or IDs', async () => {
    for (const body of [{}, { cursor: 'x', eventIds: ['x'] }, { eventIds: [] }, { cursor: 'x' }]) {
      expect((await acknowledge(body)).status).toBe(400);
    }
  });

  it('rejects a cursor beyond the deliveries that were read', async () => {
    const [endpointNumber, eventId] = ['1', 'Webhook:1'];
    const forgedCursor = Buffer.from(`${endpointNumber} ${2n ** 62n} ${eventId}`).toString(
      'base64url',
    );
    expect((await acknowledge({ cursor: forgedCursor })).status).toBe(400);
  });
});

describe('permissions', () => {
  it('include VIEW for pulls and MANAGE for acknowledgments', async () => {
    const path = `/webhook-endpoints/${endpointId}`;
    const asViewer = { platform: await app.tokenWith(['VIEW']) };
    expect((await app.call('GET', `${path}/deliveries`, undefined, asViewer)).status).toBe(200);
    const body = { eventIds: ['x'] };
    expect((await app.call('POST', `${path}/acknowledgments`, body, asViewer)).status).toBe(403);
    const asManager = { platform: await app.tokenWith(['MANAGE']) };
    expect((await app.call('GET', `${path}/deliveries`, undefined, asManager)).status).toBe(403);
    expect((await app.call('POST', `${path}/acknowledgments`, body, asManager)).status).toBe(200);
  });

  it('exclude endpoints of other platforms and endpoints with a URL', async () => {
    await emitEvents();
    const path = `/webhook-endpoints/${endpointId}`;
    const asOtherPlatform = { platform: app.other };
    const eventIds = eventIdsOf(await pull());
    expect((await app.call('GET', `${path}/deliveries`, undefined, asOtherPlatform)).status).toBe(
      404,
    );
    const otherReply = await app.call(
      'POST',
      `${path}/acknowledgments`,
      { eventIds },
      asOtherPlatform,
    );
    expect(otherReply.status).toBe(404);
    expect(eventIdsOf(await pull())).toEqual(eventIds);
    const body = { url: 'https://example.com/hook' };
    const { id } = ok(await app.call('POST', '/webhook-endpoints', body), 201);
    expect((await requestPull('', id)).status).toBe(409);
    expect((await acknowledge({ eventIds }, id)).status).toBe(409);
    await app.call('DELETE', `/webhook-endpoints/${id}`);
    expect((await requestPull('', 'x')).status).toBe(404);
  });
});
