// Replays: preview, progress, sent events, and repetition of a step.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import { eventIdSql } from '../../../../test/kit/app/query-plans.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { waitUntilEventsVisible } from '../../../../test/kit/http/event-order.ts';
import { type Receiver, startReceiver } from '../../../../test/kit/http/webhook-receiver.ts';
import { replayJobs } from './jobs.ts';
import { webhookReplays } from './store.ts';

const app = testApp();
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
let receiver: Receiver;
let endpointId: string;

const formatTime = (time: number) => new Date(time).toISOString();
const preview = (body: object) => app.call('POST', '/webhook-replays/preview', body);
const create = (body: object) => app.call('POST', '/webhook-replays', body);
const get = async (id: string) => ok(await app.call('GET', `/webhook-replays/${id}`), 200);
const list = async (query = '') => ok(await app.call('GET', `/webhook-replays?${query}`), 200);
const arrivalTypes = () => receiver.arrivals.map(({ type }) => type);

/** Creates `count` customers. Each emits an event. */
async function emitEvents(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await createCustomer(app);
  await app.settle();
  await waitUntilEventsVisible(app);
}

beforeAll(async () => {
  receiver = await startReceiver();
  const body = { url: receiver.url, eventTypes: ['CUSTOMER.KYC_APPROVED', 'TEST'] };
  endpointId = ok(await app.call('POST', '/webhook-endpoints', body), 201).id;
});

afterEach(async () => {
  receiver.behave(200);
  await app.advance(DAY_MS);
  receiver.arrivals.length = 0;
});

afterAll(() => receiver.close());

describe('createWebhookReplay', () => {
  it('sends only undelivered events, as counted by the preview', async () => {
    await emitEvents(1);
    const from = formatTime(app.effects.now() - HOUR_MS);
    receiver.behave(503);
    await emitEvents(3);
    await app.advance(HOUR_MS);
    receiver.behave(200);
    const body = { endpointId, from };
    const previewBody = ok(await preview(body), 200);
    expect(previewBody).toMatchObject({ count: 3, exceedsLimit: false });
    expect(previewBody.oldestEventAt <= previewBody.newestEventAt).toBe(true);
    receiver.arrivals.length = 0;
    await app.settle();
    expect([arrivalTypes(), (await list()).data]).toEqual([[], []]);
    const replay = ok(await create(body), 202);
    expect(replay).toMatchObject({ status: 'PROCESSING', scope: 'UNDELIVERED', total: 3, done: 0 });
    await app.settle();
    expect(arrivalTypes()).toEqual(Array(3).fill('CUSTOMER.KYC_APPROVED'));
    expect(await get(replay.id)).toMatchObject({
      status: 'COMPLETED',
      total: 3,
      done: 3,
      endpointId,
    });
    expect(ok(await preview(body), 200)).toEqual({ count: 0, exceedsLimit: false });
    const listPath = `/webhook-deliveries?endpointId=${endpointId}&createdAfter=${from}&status=`;
    expect(ok(await app.call('GET', `${listPath}DELIVERED`), 200).data).toHaveLength(4);
    expect(ok(await app.call('GET', `${listPath}FAILED`), 200).data).toEqual([]);
  });

  it('sends all events of the types of the endpoint, including events before its creation', async () => {
    const from = formatTime(app.effects.now());
    await emitEvents(2);
    const otherReceiver = await startReceiver();
    const laterEndpointId = ok(
      await app.call('POST', '/webhook-endpoints', { url: otherReceiver.url }),
      201,
    ).id;
    const body = {
      endpointId: laterEndpointId,
      from,
      to: formatTime(app.effects.now()),
      scope: 'ALL',
    };
    const { count } = ok(await preview(body), 200);
    expect(count).toBeGreaterThanOrEqual(2);
    expect(ok(await preview({ ...body, scope: 'UNDELIVERED' }), 200).count).toBe(0);
    const { id } = ok(await create(body), 202);
    await app.settle();
    expect(await get(id)).toMatchObject({ status: 'COMPLETED', total: count, done: count });
    expect(otherReceiver.arrivals).toHaveLength(count);
    const ids = otherReceiver.arrivals.map((each) => each.id);
    expect(
      ids.filter((each) => receiver.arrivals.some((delivery) => delivery.id === each)),
    ).toHaveLength(2);
    ok(await app.call('DELETE', `/webhook-endpoints/${laterEndpointId}`), 204);
    await otherReceiver.close();
  });

  it('runs in steps that can be repeated', async () => {
    const from = formatTime(app.effects.now());
    await emitEvents(2);
    receiver.arrivals.length = 0;
    const replay = ok(await create({ endpointId, from, scope: 'ALL' }), 202);
    const [row] = await app.runtime.db.find(webhookReplays, { id: replay.id });
    const input = { replayId: replay.id };
    const [handler] = replayJobs();
    // Simulates a worker that stopped before it recorded its step.
    await handler?.run(app.runtime, { id: 'Job:1', kind: 'webhooks.replay', input } as never);
    expect(await app.runtime.db.find(webhookReplays, { id: replay.id })).toEqual([row]);
    await app.settle();
    expect(await get(replay.id)).toMatchObject({ status: 'COMPLETED', done: 2 });
    expect(new Set(receiver.arrivals.map((each) => each.id)).size).toBe(2);
  });

  it('sends each of many events once, in several steps', async () => {
    const count = 1_100;
    const from = formatTime(app.effects.now());
    await app.runtime.db.query(
      `insert into events (id, platform_id, type, subject, data, created_at)
        select ${eventIdSql(app.effects.now(), 'n')}, $1, 'CUSTOMER.KYC_APPROVED', 'x', '{}', $2
        from generate_series(1, $3) n`,
      [app.platform.id, new Date(app.effects.now()), count],
    );
    await waitUntilEventsVisible(app);
    receiver.arrivals.length = 0;
    const { id, total } = ok(await create({ endpointId, from, scope: 'ALL' }), 202);
    expect(total).toBe(count);
    await app.settle();
    expect(await get(id)).toMatchObject({ status: 'COMPLETED', done: count });
    expect(receiver.arrivals).toHaveLength(count);
    expect(new Set(receiver.arrivals.map((each) => each.id)).size).toBe(count);
    const queueSql = 'select 1 from webhook_queue where platform_id = $1';
    expect(await app.runtime.db.query(queueSql, [app.platform.id])).toEqual([]);
  }, 60_000);

  it('fails if its endpoint is deleted', async () => {
    const from = formatTime(app.effects.now());
    await emitEvents(1);
    const extraEndpointId = ok(
      await app.call('POST', '/webhook-endpoints', { url: receiver.url }),
      201,
    ).id;
    const { id } = ok(await create({ endpointId: extraEndpointId, from, scope: 'ALL' }), 202);
    ok(await app.call('DELETE', `/webhook-endpoints/${extraEndpointId}`), 204);
    await app.settle();
    expect(await get(id)).toMatchObject({
      status: 'FAILED',
      done: 0,
      failureReason: 'The webhook endpoint was deleted.',
    });
  });

  it('uses the clock of the platform', async () => {
    const platform = app.other;
    const call = async (method: 'POST' | 'GET', path: string, body?: object) =>
      (await app.call(method, path, body, { platform })).body;
    const clockEndpoint = await call('POST', '/webhook-endpoints', { url: receiver.url });
    await call('POST', '/sandbox/clock', { advance: 'P40D' });
    const from = formatTime(app.effects.now() + 39 * DAY_MS);
    await createCustomer(app, { platform });
    await app.settle();
    await waitUntilEventsVisible(app);
    const body = { endpointId: clockEndpoint.id, from, scope: 'ALL' };
    expect((await call('POST', '/webhook-replays/preview', body)).count).toBeGreaterThan(0);
    const arrivalsBefore = receiver.arrivals.length;
    const { id, total } = await call('POST', '/webhook-replays', body);
    await app.settle();
    expect((await call('GET', `/webhook-replays/${id}`)).status).toBe('COMPLETED');
    expect(receiver.arrivals).toHaveLength(arrivalsBefore + total);
  });

  it('permits one replay per endpoint', async () => {
    const from = formatTime(app.effects.now() - HOUR_MS);
    const { id } = ok(await create({ endpointId, from }), 202);
    const reply = await create({ endpointId, from });
    expect([reply.status, reply.body.code]).toEqual([409, 'CONFLICT']);
    expect(reply.body.details.replayId).toBe(id);
    await app.settle();
    ok(await create({ endpointId, from }), 202);
    await app.settle();
  });

  it('permits one replay per endpoint under concurrent requests', async () => {
    const from = formatTime(app.effects.now() - HOUR_MS);
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => create({ endpointId, from })),
    );
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses).toEqual([202, 409, 409, 409, 409, 409]);
    const { id } = replies.find(({ status }) => status === 202)?.body ?? {};
    for (const { status, body } of replies) {
      if (status === 409) expect([body.code, body.details.replayId]).toEqual(['CONFLICT', id]);
    }
    await app.settle();
    expect((await get(id)).status).toBe('COMPLETED');
  });

  it('stops a replay without progress for an hour', async () => {
    const from = formatTime(app.effects.now() - HOUR_MS);
    const { id } = ok(await create({ endpointId, from }), 202);
    app.effects.set(app.effects.now() + HOUR_MS);
    const nextReplay = ok(await create({ endpointId, from }), 202);
    expect(await get(id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'The replay made no progress for an hour.',
    });
    await app.settle();
    expect((await get(id)).status).toBe('FAILED');
    expect((await get(nextReplay.id)).status).toBe('COMPLETED');
  });
});

describe('listWebhookReplays', () => {
  it('filters by endpoint and status', async () => {
    const { data } = await list('limit=2');
    expect(data).toHaveLength(2);
    expect((await list(`endpointId=${endpointId}&status=FAILED`)).data).toHaveLength(1);
    expect((await list('status=FAILED')).data).toHaveLength(2);
    const { status, body } = await app.call('GET', '/webhook-replays?color=red');
    expect([status, body.details.errors[0].field]).toEqual([400, 'color']);
  });
});

describe('getWebhookReplayById', () => {
  it('returns 404 to other platforms, like createWebhookReplay', async () => {
    const { data } = await list('limit=1');
    const otherPlatformResponse = await app.call(
      'GET',
      `/webhook-replays/${data[0].id}`,
      undefined,
      {
        platform: app.other,
      },
    );
    expect([otherPlatformResponse.status, otherPlatformResponse.body.code]).toEqual([
      404,
      'NOT_FOUND',
    ]);
    const range = { endpointId, from: formatTime(app.effects.now()) };
    const reply = await app.call('POST', '/webhook-replays', range, { platform: app.production });
    expect([reply.status, reply.body.code]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('previewWebhookReplay', () => {
  it.each([
    [{ from: '2026-01-01' }, 'from'],
    [{ from: '2026-01-01T00:00:00Z', to: '2025-12-01T00:00:00Z' }, 'to'],
    [{ from: '2025-12-01T00:00:00Z', to: '2026-01-05T00:00:00Z' }, 'from'],
    [{ from: '2126-01-01T00:00:00Z' }, 'from'],
    [{ from: '2026-01-01T00:00:00Z', scope: 'SOME' }, 'scope'],
    [{}, 'from'],
  ])('rejects %j, like createWebhookReplay', async (range, field) => {
    for (const reply of [
      await create({ endpointId, ...range }),
      await preview({ endpointId, ...range }),
    ]) {
      expect([reply.status, reply.body.details.errors[0].field]).toEqual([400, field]);
    }
  });
});

describe('a replay', () => {
  it('is deleted after 30 days', async () => {
    await app.advance(31 * DAY_MS);
    expect((await list()).data).toEqual([]);
  });
});
