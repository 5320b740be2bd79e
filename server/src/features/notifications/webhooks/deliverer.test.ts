// Delivery of one outbox: requests, retry schedule and recorded attempts. The clock is fixed. The receivers
// are real HTTP servers.
import { createPublicKey, verify } from 'node:crypto';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attemptsOf, type Outbox, openOutbox } from '../../../../test/kit/http/outbox.ts';
import { type Receiver, startReceiver } from '../../../../test/kit/http/webhook-receiver.ts';
import { seededChance } from '../../../../test/sim/harness/chance.ts';
import { droppedEvents } from '../deliveries/store.ts';
import { requeueEvents } from './attempts-store.ts';
import { RETRY_DELAYS_MS } from './schedule.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let outbox: Outbox;
let receiver: Receiver;

beforeEach(async () => {
  outbox = await openOutbox();
  receiver = await startReceiver();
});
afterEach(async () => {
  await outbox.close();
  await receiver.close();
});

/** Inserts one platform with one event and returns the event's ID. */
async function createEvent(type?: string): Promise<string> {
  const platform = await outbox.platform(receiver.url);
  const [id] = await outbox.events(platform, [{ type }]);
  return id as string;
}

describe('delivery', () => {
  it('sends the envelope and signatures that verify with the public keys', async () => {
    const id = await createEvent();
    expect(await outbox.deliverer().runDue()).toBe(1);
    const [delivery] = receiver.arrivals;
    const { headers, body } = delivery as (typeof receiver.arrivals)[0];
    expect(JSON.parse(body)).toEqual({
      id,
      type: 'OUTGOING_PAYMENT.COMPLETED',
      timestamp: '2026-01-05T09:00:00.000Z',
      data: { id },
    });
    expect(headers['content-type']).toBe('application/json');
    expect(headers['webhook-id']).toBe(id);
    const publicKey = createPublicKey(outbox.keys.sandbox.publicKeyPem);
    const signature = Buffer.from(headers['x-service-signature'] as string, 'base64');
    expect(verify('sha256', Buffer.from(body), publicKey, signature)).toBe(true);
    const seconds = headers['webhook-timestamp'];
    expect(seconds).toBe(String(outbox.clock.now / 1_000));
    const standardKey = createPublicKey(outbox.keys.sandbox.standard.publicKeyPem);
    const [, text = ''] = (headers['webhook-signature'] as string).split('v1a,');
    const signedBytes = Buffer.from(`${id}.${seconds}.${body}`);
    expect(verify(null, signedBytes, standardKey, Buffer.from(text, 'base64'))).toBe(true);
  });

  it('omits the headers of Standard Webhooks if they are disabled for the platform', async () => {
    const platform = await outbox.platform(receiver.url);
    const disableSql = 'update platforms set standard_webhooks = false where id = $1';
    await outbox.db.query(disableSql, [platform]);
    await outbox.events(platform, [{}]);
    await outbox.deliverer().runDue();
    const { headers } = receiver.arrivals[0] as (typeof receiver.arrivals)[0];
    expect(Object.keys(headers).filter((name) => name.startsWith('webhook-'))).toEqual([]);
    expect(headers).toHaveProperty('x-service-signature');
  });

  it('restores data that is stored as a difference, unless the first event was erased', async () => {
    const platform = await outbox.platform(receiver.url);
    const [firstId, secondId, thirdId, fourthId] = await outbox.events(platform, [
      { data: '{"id":"t","status":"PENDING"}' },
      { data: '{"status":"COMPLETED"}' },
      { data: '' },
      { data: '{"status":"COMPLETED"}' },
    ]);
    const setBaseSql = 'update events set base_id = $2 where id = $1';
    await outbox.db.query(setBaseSql, [secondId, firstId]);
    await outbox.db.query(setBaseSql, [fourthId, thirdId]);
    await outbox.deliverer().runDue();
    const sentBodies = receiver.arrivals.map(({ id, body }) => [id, JSON.parse(body).data]);
    expect(new Map(sentBodies as [string, unknown][])).toEqual(
      new Map([
        [firstId, { id: 't', status: 'PENDING' }],
        [secondId, { id: 't', status: 'COMPLETED' }],
      ]),
    );
    expect(await outbox.state(fourthId as string)).toEqual({ due_at: null, attempts: 0 });
  });

  it('contains the committed balance', async () => {
    const platform = await outbox.platform(receiver.url);
    const amount = { amount: 0, currency: { code: 'USD' } };
    const data = JSON.stringify({ id: 'InternalAccount:1', balance: amount, totalBalance: amount });
    const type = 'INTERNAL_ACCOUNT.BALANCE_UPDATED';
    await outbox.events(platform, [{ type, data, balance: 700n, held: 200n }]);
    await outbox.deliverer().runDue();
    const sentData = JSON.parse(receiver.arrivals[0]?.body ?? '').data;
    expect([sentData.balance.amount, sentData.totalBalance.amount]).toEqual([500, 700]);
  });

  it('records one attempt', async () => {
    receiver.behave((response) => response.writeHead(201).end(`a\0${'ä'.repeat(2_000)}`));
    const id = await createEvent();
    await outbox.deliverer().runDue();
    const attempts = await attemptsOf(outbox.db, id);
    expect(attempts).toHaveLength(1);
    const { response, ...rest } = attempts[0] as (typeof attempts)[0];
    expect(rest).toMatchObject({
      endpoint: 0,
      head: null,
      event_id: id,
      attempt: 1,
      at: outbox.clock.now,
      status: 201,
      error: null,
      ms: 0,
      result: 'delivered',
    });
    expect(response).toBe(`a${'ä'.repeat(511)}`);
    expect(await outbox.state(id)).toEqual({ due_at: null, attempts: 1 });
    expect(outbox.counts).toEqual({ delivered: 1, retry: 0, dropped: 0, failed: 0 });
  });

  it.each([200, 202, 204, 299, 409])('succeeds for status %i', async (status) => {
    receiver.behave(status);
    const id = await createEvent();
    await outbox.deliverer().runDue();
    expect(await outbox.state(id)).toEqual({ due_at: null, attempts: 1 });
  });

  it.each([301, 302, 307, 400, 401, 404, 410, 429, 500, 503])(
    'is retried after status %i',
    async (status) => {
      receiver.behave((response) => response.writeHead(status, { location: '/other' }).end());
      const id = await createEvent();
      await outbox.deliverer().runDue();
      const { due_at } = await outbox.state(id);
      expect(Math.abs((due_at as number) - outbox.clock.now - 5_000)).toBeLessThanOrEqual(500);
      expect(receiver.arrivals).toHaveLength(1);
      expect((await attemptsOf(outbox.db, id))[0]).toMatchObject({ status, result: 'retry' });
    },
  );
});

describe('failed request', () => {
  async function errorOf(id: string): Promise<string | null | undefined> {
    await outbox.deliverer({ answerTimeoutMs: 200 }).runDue();
    const [attempt] = await attemptsOf(outbox.db, id);
    expect(attempt).toMatchObject({ status: null, result: 'retry', response: null });
    expect((await outbox.state(id)).attempts).toBe(1);
    return attempt?.error;
  }

  it('is retried after a timeout', async () => {
    receiver.behave(() => undefined);
    expect(await errorOf(await createEvent())).toContain('ETIMEDOUT');
  });

  it('is retried after an incomplete response', async () => {
    receiver.behave((response) => {
      response.writeHead(200);
      const dripTimer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(dripTimer));
    });
    expect(await errorOf(await createEvent())).toContain('ETIMEDOUT');
  });

  it('is retried after a connection reset', async () => {
    receiver.behave((response) => response.socket?.resetAndDestroy());
    expect(await errorOf(await createEvent())).toContain('ECONNRESET');
  });

  it('is retried after a refused connection', async () => {
    const server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    const platform = await outbox.platform(`http://127.0.0.1:${port}/`);
    const [id] = await outbox.events(platform, [{}]);
    expect(await errorOf(id as string)).toContain('ECONNREFUSED');
  });

  it('is retried for a forbidden address, without a connection', async () => {
    const platform = await outbox.platform(receiver.url.replace('http:', 'https:'), 'production');
    const [id] = await outbox.events(platform, [{}]);
    expect(await errorOf(id as string)).toContain('EADDRREFUSED');
    expect(receiver.arrivals).toHaveLength(0);
  });
});

describe('retry schedule', () => {
  it('is exact to the millisecond and sends the same bytes until a week has passed', async () => {
    receiver.behave(500);
    const id = await createEvent();
    const start = outbox.clock.now;
    const deliverer = outbox.deliverer();
    const delays: number[] = [];
    for (;;) {
      expect(await deliverer.runDue()).toBe(1);
      const { due_at } = await outbox.state(id);
      if (due_at === null) break;
      delays.push(due_at - outbox.clock.now);
      outbox.clock.now = due_at - 1;
      expect(await deliverer.runDue()).toBe(0);
      outbox.clock.now = due_at;
    }
    const expectedDelays = delays.map((_, index) => RETRY_DELAYS_MS[Math.min(index, 5)] as number);
    for (const [index, delay] of delays.entries()) {
      expect(Math.abs(delay / (expectedDelays[index] as number) - 1)).toBeLessThanOrEqual(0.1);
    }
    expect(new Set(delays.slice(5).map((delay) => delay % 1_000)).size).toBeGreaterThan(3);
    expect(outbox.clock.now - start).toBeGreaterThan(6 * DAY_MS);
    expect(outbox.clock.now - start).toBeLessThanOrEqual(7 * DAY_MS);
    expect(new Set(receiver.arrivals.map((each) => each.body)).size).toBe(1);
    expect(new Set(receiver.arrivals.map((each) => each.headers['webhook-timestamp'])).size).toBe(
      delays.length + 1,
    );
    const attempts = await attemptsOf(outbox.db, id);
    expect(attempts.map((each) => each.attempt)).toEqual(
      delays.map((_, index) => index + 1).concat(delays.length + 1),
    );
    expect(attempts.at(-1)?.result).toBe('dropped');
    expect(outbox.counts).toEqual({ delivered: 0, retry: delays.length, dropped: 1, failed: 0 });
    expect((await droppedEvents(outbox.db, 10)).map((each) => each.id)).toEqual([id]);
  });

  it('allows the operator to resend a dropped event', async () => {
    receiver.behave(500);
    const id = await createEvent();
    const deliverer = outbox.deliverer();
    await deliverer.runDue();
    outbox.clock.now += 8 * DAY_MS;
    await deliverer.runDue();
    expect(await outbox.state(id)).toEqual({ due_at: null, attempts: 2 });
    receiver.behave(200);
    expect(await requeueEvents(outbox.db, ['Webhook:none'], outbox.clock.now, [0])).toEqual([]);
    expect(await requeueEvents(outbox.db, [id], outbox.clock.now, [0])).toEqual([
      { eventId: id, endpoint: 0 },
    ]);
    expect(await deliverer.runDue()).toBe(1);
    expect(await outbox.state(id)).toEqual({ due_at: null, attempts: 3 });
    expect(await droppedEvents(outbox.db, 10)).toEqual([]);
    expect(new Set(receiver.arrivals.map((each) => each.body)).size).toBe(1);
  });

  it('does not apply to test events', async () => {
    receiver.behave(500);
    const id = await createEvent('TEST');
    await outbox.deliverer().runDue();
    expect(await outbox.state(id)).toEqual({ due_at: null, attempts: 1 });
    expect(JSON.parse(receiver.arrivals[0]?.body ?? '')).toMatchObject({
      test: true,
      data: {},
    });
  });

  it('uses the endpoint that is configured at the time of the attempt', async () => {
    receiver.behave(500);
    const platform = await outbox.platform(receiver.url);
    await outbox.events(platform, [{}]);
    const deliverer = outbox.deliverer();
    await deliverer.runDue();
    const secondReceiver = await startReceiver();
    await outbox.setEndpoint(platform, secondReceiver.url);
    outbox.clock.now += 6_000;
    await deliverer.runDue();
    expect(secondReceiver.arrivals.map((each) => each.body)).toEqual([receiver.arrivals[0]?.body]);
    await secondReceiver.close();
  });
});

describe('queue', () => {
  it('discards events of a platform without an endpoint, and delivers later events', async () => {
    const platform = await outbox.platform(null);
    const ids = await outbox.events(
      platform,
      Array.from({ length: 6_000 }, () => ({})),
    );
    const deliverer = outbox.deliverer();
    expect(await deliverer.runDue()).toBe(0);
    expect(await outbox.state(ids[0] as string)).toEqual({ due_at: null, attempts: 0 });
    expect(await outbox.countUndelivered()).toBe(0);
    await outbox.setEndpoint(platform, receiver.url);
    const [id] = await outbox.events(platform, [{}]);
    await deliverer.runDue();
    expect(receiver.arrivals.map((each) => each.id)).toEqual([id]);
  });

  it('sends the events of one resource in order', async () => {
    const platform = await outbox.platform(receiver.url);
    const names = ['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'REFUND_PENDING'];
    const payments = Array.from({ length: 40 }, (_, index) => `Transaction:${index}`);
    await outbox.events(
      platform,
      names.flatMap((name) =>
        payments.map((subject) => ({ type: `OUTGOING_PAYMENT.${name}`, subject })),
      ),
    );
    // Random response times, so that the order does not depend on them.
    const random = seededChance('answers');
    receiver.behave((response) => void setTimeout(() => response.end(), random.integerBelow(10)));
    await outbox.deliverer().runDue();
    expect(receiver.arrivals).toHaveLength(200);
    for (const subject of payments) {
      const paymentArrivals = receiver.arrivals.filter(
        (each) => JSON.parse(each.body).data.id === subject,
      );
      expect(paymentArrivals.map((each) => each.type.split('.')[1])).toEqual(names);
    }
  });

  it('has at most eight requests in flight to one platform', async () => {
    const platform = await outbox.platform(receiver.url);
    await outbox.events(
      platform,
      Array.from({ length: 300 }, () => ({})),
    );
    receiver.behave((response) => void setTimeout(() => response.end(), 5));
    expect(await outbox.deliverer().runDue()).toBe(300);
    expect(receiver.maxConcurrent).toBe(8);
  });

  it('reaches every platform when one poll cannot read all platforms', async () => {
    const platforms = await Promise.all(
      Array.from({ length: 1_100 }, () => outbox.platform(receiver.url)),
    );
    for (const platform of platforms) await outbox.events(platform, [{}]);
    const deliverer = outbox.deliverer();
    expect(await deliverer.runDue()).toBe(1_100);
    expect(await deliverer.runDue()).toBe(0);
    expect(new Set(receiver.arrivals.map((each) => each.id)).size).toBe(1_100);
  });
});
