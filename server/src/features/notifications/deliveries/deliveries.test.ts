// The list of deliveries, one delivery with its attempts, resending, and expiry.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { type Receiver, startReceiver } from '../../../../test/kit/http/webhook-receiver.ts';
import type { DeliveryDetailsView, DeliveryView } from './present.ts';

const app = testApp();
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
let firstReceiver: Receiver;
let secondReceiver: Receiver;
let endpointId: string;

interface Page {
  data: DeliveryView[];
  hasMore: boolean;
  nextCursor?: string;
}

const requestDeliveries = (query: Record<string, string>, platform = app.platform) =>
  app.call('GET', `/webhook-deliveries?${new URLSearchParams(query)}`, undefined, { platform });
const list = async (query: Record<string, string> = {}): Promise<Page> =>
  ok(await requestDeliveries(query), 200);
const get = async (id: string): Promise<DeliveryDetailsView> =>
  ok(await app.call('GET', `/webhook-deliveries/${id}`), 200);
const resend = (id: string) => app.call('POST', `/webhook-deliveries/${id}/resend`);
const changeEndpoint = async (body: object) =>
  ok(await app.call('PATCH', `/webhook-endpoints/${endpointId}`, body), 200);

async function listAll(query: Record<string, string>): Promise<DeliveryView[]> {
  const deliveries: DeliveryView[] = [];
  let page = await list(query);
  for (;;) {
    deliveries.push(...page.data);
    if (!page.hasMore) return deliveries;
    page = await list({ ...query, cursor: page.nextCursor as string });
  }
}

/** The deliveries of the events of a new customer. */
async function emitCustomerEvents() {
  const { id: resourceId } = await createCustomer(app);
  await app.settle();
  return { resourceId, deliveries: await listAll({ resourceId }) };
}

beforeAll(async () => {
  firstReceiver = await startReceiver();
  secondReceiver = await startReceiver();
  ok(await app.call('PATCH', '/config', { webhookEndpoint: firstReceiver.url }), 200);
  const body = { url: secondReceiver.url, eventTypes: ['CUSTOMER.KYC_APPROVED'] };
  endpointId = ok(await app.call('POST', '/webhook-endpoints', body), 201).id;
  await app.settle();
});

afterEach(async () => {
  await changeEndpoint({ status: 'ENABLED' });
  firstReceiver.behave(200);
  secondReceiver.behave(200);
  await app.advance(DAY_MS);
});

afterAll(async () => {
  await firstReceiver.close();
  await secondReceiver.close();
});

describe('listWebhookDeliveries', () => {
  it('returns one delivery for each event and endpoint, with its last attempt', async () => {
    secondReceiver.behave(503);
    const { resourceId, deliveries } = await emitCustomerEvents();
    expect(deliveries.map((each) => [each.endpointId === endpointId, each.status])).toEqual([
      [true, 'PENDING'],
      [false, 'DELIVERED'],
    ]);
    const [pendingDelivery, completedDelivery] = deliveries;
    expect(pendingDelivery).toMatchObject({
      eventType: 'CUSTOMER.KYC_APPROVED',
      resourceId,
      attemptCount: 1,
      lastAttempt: { number: 1, result: 'RETRY', responseStatus: 503 },
    });
    expect(pendingDelivery?.eventId).toBe(completedDelivery?.eventId);
    const remainingMs = Date.parse(pendingDelivery?.nextAttemptAt ?? '') - app.effects.now();
    expect(remainingMs).toBeGreaterThan(4_000);
    expect(remainingMs).toBeLessThan(6_000);
    expect(completedDelivery).not.toHaveProperty('nextAttemptAt');
    await changeEndpoint({ status: 'PAUSED' });
    const [delivery] = await listAll({ resourceId, endpointId });
    expect(delivery).toMatchObject({ status: 'PENDING' });
    expect(delivery).not.toHaveProperty('nextAttemptAt');
  });

  it('filters by endpoint, event, type, resource, status and time', async () => {
    const from = new Date(app.effects.now()).toISOString();
    firstReceiver.behave(503);
    const { resourceId, deliveries } = await emitCustomerEvents();
    const eventId = deliveries[0]?.eventId as string;
    const listIds = async (query: Record<string, string>) =>
      (await listAll({ ...query, createdAfter: from })).map((each) => each.id);
    const [deliveredId, pendingId] = deliveries.map((each) => each.id);
    expect(await listIds({})).toEqual([deliveredId, pendingId]);
    expect(await listIds({ eventId })).toEqual([deliveredId, pendingId]);
    expect(await listIds({ endpointId })).toEqual([deliveredId]);
    expect(await listIds({ status: 'PENDING' })).toEqual([pendingId]);
    expect(await listIds({ status: 'DELIVERED', resourceId })).toEqual([deliveredId]);
    expect(await listIds({ status: 'FAILED' })).toEqual([]);
    const eventType = 'CUSTOMER.KYC_APPROVED,TEST';
    expect(await listIds({ eventType })).toEqual([deliveredId, pendingId]);
    expect(await listIds({ eventType: 'TEST' })).toEqual([]);
    expect(await listIds({ endpointId: 'WebhookEndpoint:none' })).toEqual([]);
    const createdBefore = new Date(app.effects.now() - 1).toISOString();
    expect((await listAll({ createdBefore })).map((each) => each.id)).not.toContain(pendingId);
    await app.advance(8 * DAY_MS);
    expect(await listIds({ status: 'FAILED' })).toEqual([pendingId]);
    expect((await get(pendingId as string)).attempts.at(-1)?.result).toBe('FAILED');
  });

  it('returns pages in both orders, with each delivery once', async () => {
    for (let index = 0; index < 4; index++) await emitCustomerEvents();
    const descendingIds = (await listAll({ limit: '100' })).map((each) => each.id);
    expect(descendingIds.length).toBeGreaterThan(8);
    expect(new Set(descendingIds).size).toBe(descendingIds.length);
    for (const limit of ['1', '3']) {
      expect((await listAll({ limit })).map((each) => each.id)).toEqual(descendingIds);
      const ascendingIds = (await listAll({ limit, sortOrder: 'asc' })).map((each) => each.id);
      expect(ascendingIds).toEqual(descendingIds.toReversed());
    }
  });

  it('returns deliveries of a deleted endpoint', async () => {
    const extraEndpoint = ok(
      await app.call('POST', '/webhook-endpoints', { url: secondReceiver.url }),
      201,
    );
    secondReceiver.behave(500);
    const { resourceId } = await emitCustomerEvents();
    ok(await app.call('DELETE', `/webhook-endpoints/${extraEndpoint.id}`), 204);
    await app.advance(MINUTE_MS);
    const [delivery] = await listAll({ resourceId, endpointId: extraEndpoint.id });
    // The retry is discarded, so the first attempt was the last.
    expect(delivery).toMatchObject({ status: 'FAILED', lastAttempt: { result: 'FAILED' } });
    expect(await listAll({ resourceId, endpointId: extraEndpoint.id, status: 'FAILED' })).toEqual([
      delivery,
    ]);
    expect(await resend(delivery?.id as string)).toMatchObject({ status: 409 });
  });

  it.each([
    [{ status: 'UNKNOWN' }, 'status'],
    [{ color: 'red' }, 'color'],
    [{ eventType: 'NONE' }, 'eventType.0'],
    [{ cursor: 'nonsense' }, 'cursor'],
    [{ limit: '101' }, 'limit'],
    [{ limit: '0' }, 'limit'],
    [{ createdAfter: 'yesterday' }, 'createdAfter'],
    [
      { createdAfter: '2026-02-01T00:00:00Z', createdBefore: '2026-01-01T00:00:00Z' },
      'createdBefore',
    ],
  ])('rejects %j', async (query, field) => {
    const { status, body } = await requestDeliveries(query);
    expect([status, body.code, body.details.errors[0].field]).toEqual([
      400,
      'INVALID_INPUT',
      field,
    ]);
  });
});

describe('getWebhookDeliveryById', () => {
  it('shows each attempt with the masked response', async () => {
    secondReceiver.behave((response) => {
      response
        .writeHead(500, { 'x-api-key': 'secret', 'x-request-id': 'r-1', 'retry-after': '60' })
        .end('{"error": "try later", "token": "t-1"}');
    });
    const { deliveries } = await emitCustomerEvents();
    const id = deliveries[0]?.id as string;
    await app.advance(10_000);
    const { attempts, ...view } = await get(id);
    expect(view).toMatchObject({ status: 'PENDING', attemptCount: 2, endpointId });
    expect(attempts.map((each) => [each.number, each.result, each.responseStatus])).toEqual([
      [1, 'RETRY', 500],
      [2, 'RETRY', 500],
    ]);
    expect(attempts[0]?.responseHeaders).toMatchObject({
      'x-api-key': '***',
      'x-request-id': 'r-1',
      'retry-after': '60',
    });
    expect(attempts[0]?.responseBody).toBe('{"error":"try later","token":"[masked]"}');
  });

  it('returns 404 to other platforms and for unknown or malformed IDs', async () => {
    const { deliveries } = await emitCustomerEvents();
    const { id } = deliveries[0] as DeliveryView;
    const [, endpointPart] = id.split('-');
    const unknownId = id.replace(/[0-9a-f]{4}$/, '0000');
    for (const requestedId of [
      id,
      'WebhookDelivery:x',
      unknownId,
      `WebhookDelivery:7-${endpointPart}`,
    ]) {
      const platform = requestedId === id ? app.other : app.platform;
      for (const [method, pathSuffix] of [
        ['GET', ''],
        ['POST', '/resend'],
      ] as const) {
        const reply = await app.call(
          method,
          `/webhook-deliveries/${requestedId}${pathSuffix}`,
          undefined,
          {
            platform,
          },
        );
        expect([reply.status, reply.body.code], requestedId).toEqual([404, 'NOT_FOUND']);
      }
    }
    const otherPlatformResponse = await app.call(
      'POST',
      `/events/${deliveries[0]?.eventId}/resend`,
      undefined,
      {
        platform: app.other,
      },
    );
    expect([otherPlatformResponse.status, otherPlatformResponse.body.code]).toEqual([
      404,
      'NOT_FOUND',
    ]);
  });
});

describe('resendWebhookDelivery', () => {
  it('sends the event once more, with the same body', async () => {
    const { deliveries } = await emitCustomerEvents();
    const { id, eventId } = deliveries[0] as DeliveryView;
    const reply = ok(await resend(id), 202);
    expect(reply).toMatchObject({ id, status: 'PENDING', attemptCount: 1 });
    expect(reply.nextAttemptAt).toBe(new Date(app.effects.now()).toISOString());
    await app.settle();
    const bodies = secondReceiver.arrivals
      .filter((each) => each.id === eventId)
      .map((each) => each.body);
    expect(bodies).toHaveLength(2);
    expect(new Set(bodies).size).toBe(1);
    expect(await get(id)).toMatchObject({ status: 'DELIVERED', attemptCount: 2 });
    expect(firstReceiver.arrivals.filter((each) => each.id === eventId)).toHaveLength(1);
  });

  it('makes a failed delivery pending', async () => {
    firstReceiver.behave(500);
    const { deliveries } = await emitCustomerEvents();
    const { id } = deliveries[1] as DeliveryView;
    await app.advance(8 * DAY_MS);
    expect((await get(id)).status).toBe('FAILED');
    ok(await resend(id), 202);
    expect((await get(id)).status).toBe('PENDING');
    await app.settle();
    // The retry period of a week has ended.
    expect((await get(id)).status).toBe('FAILED');
    expect((await get(id)).attempts.filter((each) => each.result === 'FAILED')).toHaveLength(1);
  });
});

describe('resendEvent', () => {
  it('sends to all endpoints that receive its type, or to one endpoint', async () => {
    const { deliveries } = await emitCustomerEvents();
    const eventId = deliveries[0]?.eventId;
    const path = `/events/${eventId}/resend`;
    const { deliveryIds } = ok(await app.call('POST', path), 202);
    expect([...deliveryIds].sort()).toEqual(deliveries.map((each) => each.id).sort());
    await app.settle();
    const extraEndpoint = ok(
      await app.call('POST', '/webhook-endpoints', {
        url: secondReceiver.url,
        eventTypes: ['TEST'],
      }),
      201,
    );
    const resentDelivery = ok(await app.call('POST', path, { endpointId: extraEndpoint.id }), 202);
    expect(resentDelivery.deliveryIds).toHaveLength(1);
    await app.settle();
    const delivery = await get(resentDelivery.deliveryIds[0]);
    expect(delivery).toMatchObject({ endpointId: extraEndpoint.id, status: 'DELIVERED', eventId });
    ok(await app.call('DELETE', `/webhook-endpoints/${extraEndpoint.id}`), 204);
    expect(await app.call('POST', path, { endpointId: extraEndpoint.id })).toMatchObject({
      status: 404,
    });
  });

  it('requires an endpoint that receives the type', async () => {
    await createCustomer(app, { platform: app.other });
    const sql = 'select id from events where platform_id = $1';
    const [event] = await app.runtime.db.query<{ id: string }>(sql, [app.other.id]);
    const reply = await app.call('POST', `/events/${event?.id}/resend`, undefined, {
      platform: app.other,
    });
    expect([reply.status, reply.body.code]).toEqual([409, 'CONFLICT']);
  });
});

describe('a paused endpoint', () => {
  it('fails deliveries that it retained for seven days, with the reason', async () => {
    const otherReceiver = await startReceiver();
    const { id: pausedEndpointId } = ok(
      await app.call('POST', '/webhook-endpoints', { url: otherReceiver.url }),
      201,
    );
    ok(
      await app.call('PATCH', `/webhook-endpoints/${pausedEndpointId}`, { status: 'PAUSED' }),
      200,
    );
    const { resourceId } = await emitCustomerEvents();
    await app.advance(8 * DAY_MS);
    const [failedDelivery] = await listAll({
      resourceId,
      endpointId: pausedEndpointId,
      status: 'FAILED',
    });
    expect(failedDelivery).toMatchObject({
      attemptCount: 1,
      lastAttempt: { result: 'FAILED', error: 'EXPIRED: the endpoint was paused for seven days' },
    });
    ok(
      await app.call('PATCH', `/webhook-endpoints/${pausedEndpointId}`, { status: 'ENABLED' }),
      200,
    );
    ok(await resend(failedDelivery?.id as string), 202);
    await app.settle();
    expect((await get(failedDelivery?.id as string)).status).toBe('DELIVERED');
    ok(await app.call('DELETE', `/webhook-endpoints/${pausedEndpointId}`), 204);
    await otherReceiver.close();
  });
});

describe('a delivery', () => {
  it('fails when the data of its event is erased', async () => {
    firstReceiver.behave(503);
    const { resourceId, deliveries } = await emitCustomerEvents();
    const { id } = deliveries[1] as DeliveryView;
    const eraseSql = 'update customers set data_key = null where id = $1';
    await app.runtime.db.query(eraseSql, [resourceId]);
    await app.advance(10_000);
    expect(await get(id)).toMatchObject({ status: 'FAILED', attemptCount: 1 });
    expect((await listAll({ resourceId, status: 'FAILED' })).map((each) => each.id)).toEqual([id]);
    const reply = await resend(id);
    expect([reply.status, reply.body.code]).toEqual([409, 'CONFLICT']);
  });

  it('keeps the row of its deleted endpoint until the delivery is deleted', async () => {
    const { id } = ok(
      await app.call('POST', '/webhook-endpoints', { url: secondReceiver.url }),
      201,
    );
    const { resourceId } = await emitCustomerEvents();
    ok(await app.call('DELETE', `/webhook-endpoints/${id}`), 204);
    const findEndpointRows = async () =>
      app.runtime.db.query('select 1 from webhook_endpoints where id = $1', [id]);
    await app.advance(29 * DAY_MS);
    expect(await listAll({ resourceId, endpointId: id })).not.toEqual([]);
    expect(await findEndpointRows()).toHaveLength(1);
    // The last event of the week must also be older than the retention period.
    await app.advance(9 * DAY_MS);
    await app.advance(DAY_MS);
    expect([await listAll({ endpointId: id }), await findEndpointRows()]).toEqual([[], []]);
  });

  it('is deleted with its attempts after 30 days, in groups of one week', async () => {
    const { resourceId, deliveries } = await emitCustomerEvents();
    const countSql = `select count(*)::int as n from webhook_attempts where event_id = $1`;
    const countAttempts = async () =>
      (await app.runtime.db.query<{ n: number }>(countSql, [deliveries[0]?.eventId]))[0]?.n;
    await app.advance(29 * DAY_MS);
    expect([await countAttempts(), (await listAll({ resourceId })).length]).toEqual([2, 2]);
    await app.advance(9 * DAY_MS);
    expect([await countAttempts(), await listAll({ resourceId })]).toEqual([0, []]);
  });
});

describe('a platform with its own clock', () => {
  it('uses the times of its clock, even for sending events again', async () => {
    ok(await app.call('POST', '/sandbox/clock', { advance: 'P3D' }), 200);
    const { deliveries } = await emitCustomerEvents();
    const { id } = deliveries[0] as DeliveryView;
    ok(await resend(id), 202);
    await app.settle();
    expect(await get(id)).toMatchObject({ status: 'DELIVERED', attemptCount: 2 });
    const createdAfter = new Date(app.effects.now() + 2 * DAY_MS).toISOString();
    expect((await listAll({ createdAfter })).map((each) => each.id)).toContain(id);
  });
});
