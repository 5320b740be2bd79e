// Delivery under adverse conditions: unavailable receivers and databases, several processes,
// crashes, and backlogs.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { execute, type TestServer } from '../../../../test/kit/app/database.ts';
import {
  attemptsOf,
  type Outbox,
  openOutbox,
  silentLog,
} from '../../../../test/kit/http/outbox.ts';
import { type Receiver, startReceiver } from '../../../../test/kit/http/webhook-receiver.ts';
import { LEASE_MS } from './reader.ts';
import { createRecorder } from './recorder.ts';
import { dueEvents, type Outcome } from './store.ts';

let outbox: Outbox;
const receivers: Receiver[] = [];

async function startReceiverWith(...behavior: Parameters<typeof startReceiver>): Promise<Receiver> {
  const receiver = await startReceiver(...behavior);
  receivers.push(receiver);
  return receiver;
}

beforeEach(async () => {
  outbox = await openOutbox();
});
afterEach(async () => {
  for (const each of receivers) each.behave(200);
  await Promise.all([
    outbox.close(),
    sleep(50).then(() => Promise.all(receivers.splice(0).map((each) => each.close()))),
  ]);
});

const emptyObjects = (count: number) => Array.from({ length: count }, () => ({}));
const ignoreRequest = () => undefined;
const idsOf = (receiver: Receiver) => receiver.arrivals.map((each) => each.id);

/** Polls on the real clock until the condition is met. */
async function waitUntil(isMet: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isMet())) await sleep(10);
}

describe('unavailable receiver', () => {
  it('delays no other platform, and is limited to one request at a time', async () => {
    const unavailableReceiver = await startReceiverWith(ignoreRequest);
    const healthyReceiver = await startReceiverWith();
    const unavailablePlatform = await outbox.platform(unavailableReceiver.url);
    const healthyPlatform = await outbox.platform(healthyReceiver.url);
    await outbox.events(unavailablePlatform, emptyObjects(500));
    const deliverer = outbox.deliverer({ answerTimeoutMs: 400 });
    deliverer.start();
    await unavailableReceiver.has(2);
    const ids = await outbox.events(healthyPlatform, emptyObjects(300));
    deliverer.wake();
    await healthyReceiver.has(300);
    // At most one round of requests to the unavailable receiver can be completed at this point.
    expect(unavailableReceiver.arrivals.length).toBeLessThanOrEqual(8);
    expect(idsOf(healthyReceiver).sort()).toEqual(ids);
    await unavailableReceiver.has(6);
    const arrivalsBefore = unavailableReceiver.arrivals.length;
    await sleep(1_000);
    expect(unavailableReceiver.arrivals.length - arrivalsBefore).toBeLessThanOrEqual(3);
  });

  it('does not block a healthy receiver, even if a hundred receivers are unavailable', async () => {
    const unavailableReceiver = await startReceiverWith(ignoreRequest);
    const healthyReceiver = await startReceiverWith();
    for (let i = 0; i < 100; i++) {
      await outbox.events(
        await outbox.platform(`${unavailableReceiver.url}/${i}`),
        emptyObjects(20),
      );
    }
    const ids = await outbox.events(await outbox.platform(healthyReceiver.url), emptyObjects(500));
    const deliverer = outbox.deliverer({ answerTimeoutMs: 5_000 });
    deliverer.start();
    await healthyReceiver.has(500);
    expect(idsOf(healthyReceiver).sort()).toEqual(ids);
    expect(unavailableReceiver.arrivals.length).toBeLessThanOrEqual(200);
  });

  it('receives its events after it recovers', async () => {
    const receiver = await startReceiverWith(503);
    const ids = await outbox.events(await outbox.platform(receiver.url), emptyObjects(50));
    const deliverer = outbox.deliverer();
    expect(await deliverer.runDue()).toBe(50);
    receiver.behave(200);
    outbox.clock.now += 5_500;
    expect(await deliverer.runDue()).toBe(50);
    expect(await outbox.countUndelivered()).toBe(0);
    expect(idsOf(receiver).slice(50).sort()).toEqual(ids);
  });
});

describe('crash', () => {
  it('between response and record leads to a second delivery after the lease expires', async () => {
    const receiver = await startReceiverWith();
    const [id] = await outbox.events(await outbox.platform(receiver.url), [{}]);
    const db = outbox.anotherDatabase();
    receiver.behave((response) => {
      // All later writes of this process fail.
      void db.close().then(() => response.end('received'));
    });
    const crashedDeliverer = outbox.deliverer({ db });
    await expect(crashedDeliverer.runDue()).rejects.toThrow();
    receiver.behave(200);
    const nextDeliverer = outbox.deliverer();
    expect(await nextDeliverer.runDue()).toBe(0);
    outbox.clock.now += LEASE_MS;
    expect(await nextDeliverer.runDue()).toBe(1);
    const [firstArrival, secondArrival] = receiver.arrivals;
    expect(secondArrival?.body).toBe(firstArrival?.body);
    expect(secondArrival?.id).toBe(id);
    expect(await outbox.state(id as string)).toEqual({ due_at: null, attempts: 1 });
  });
});

describe('two processes on one database', () => {
  it('send each event only once', async () => {
    const receiver = await startReceiverWith(
      (response) => void setTimeout(() => response.end(), 3),
    );
    const platforms = await Promise.all(emptyObjects(100).map(() => outbox.platform(receiver.url)));
    for (const platform of platforms) await outbox.events(platform, emptyObjects(15));
    // A small buffer prevents one process from leasing every platform first.
    const limits = { buffered: 60 };
    const deliverers = [outbox.db, outbox.anotherDatabase()].map((db) =>
      outbox.deliverer({ db, limits }),
    );
    const [firstCount, secondCount] = await Promise.all(deliverers.map((each) => each.runDue()));
    expect(Math.min(firstCount as number, secondCount as number)).toBeGreaterThan(100);
    expect((firstCount as number) + (secondCount as number)).toBe(1_500);
    expect(new Set(idsOf(receiver)).size).toBe(1_500);
    expect(receiver.arrivals).toHaveLength(1_500);
  });

  it('respect a renewed lease while a request takes longer than a lease', async () => {
    let respond = ignoreRequest;
    const receiver = await startReceiverWith((response) => {
      respond = () => void response.end();
    });
    const [id] = await outbox.events(await outbox.platform(receiver.url), [{}]);
    const slowDeliverer = outbox.deliverer();
    slowDeliverer.start();
    await receiver.has(1);
    const otherDeliverer = outbox.deliverer({ db: outbox.anotherDatabase() });
    const readLeaseEnd = async () => {
      const [row] = await outbox.db.query<{ until: number }>('select until from webhook_lanes');
      return row?.until ?? 0;
    };
    for (let elapsedMs = 0; elapsedMs < 3 * LEASE_MS; elapsedMs += 0.6 * LEASE_MS) {
      outbox.clock.now += 0.6 * LEASE_MS;
      await waitUntil(async () => (await readLeaseEnd()) === outbox.clock.now + LEASE_MS);
      expect(await otherDeliverer.runDue()).toBe(0);
    }
    respond();
    await waitUntil(async () => (await outbox.countUndelivered()) === 0);
    expect(receiver.arrivals).toHaveLength(1);
    expect((await outbox.state(id as string)).attempts).toBe(1);
  });
});

describe('stop', () => {
  it('finishes requests in flight and releases its leases', async () => {
    const receiver = await startReceiverWith();
    const platform = await outbox.platform(receiver.url);
    const start = outbox.clock.now;
    const firstDeliverer = outbox.deliverer();
    await outbox.events(platform, emptyObjects(50));
    await firstDeliverer.runDue();
    const ids = await outbox.events(platform, emptyObjects(200));
    receiver.behave((response) => void setTimeout(() => response.end(), 50));
    firstDeliverer.start();
    await receiver.has(58);
    await firstDeliverer.stop();
    const sentCount = receiver.arrivals.length;
    expect(sentCount).toBeLessThan(250);
    expect(await outbox.countUndelivered()).toBe(250 - sentCount);
    expect(await outbox.state(ids.at(-1) as string)).toEqual({ due_at: start, attempts: 0 });
    receiver.behave(200);
    expect(await outbox.deliverer().runDue()).toBe(250 - sentCount);
    expect(new Set(idsOf(receiver)).size).toBe(250);
    expect(receiver.arrivals).toHaveLength(250);
  });
});

describe('wake', () => {
  it('delivers without waiting for the next poll', async () => {
    const receiver = await startReceiverWith();
    const platform = await outbox.platform(receiver.url);
    const deliverer = outbox.deliverer();
    deliverer.start();
    let shortestMs = Number.POSITIVE_INFINITY;
    for (let i = 1; i <= 3; i++) {
      await sleep(120);
      await outbox.events(platform, [{}]);
      const startedAt = performance.now();
      deliverer.wake();
      await receiver.has(i);
      shortestMs = Math.min(shortestMs, performance.now() - startedAt);
    }
    expect(shortestMs).toBeLessThan(300);
  });
});

describe('server under load', () => {
  it('delivers at a low rate until the load decreases', async () => {
    const receiver = await startReceiverWith();
    await outbox.events(await outbox.platform(receiver.url), emptyObjects(1_000));
    let waitingCommits = 1;
    const deliverer = outbox.deliverer({ isUnderLoad: () => waitingCommits > 0 });
    const startedAt = performance.now();
    deliverer.start();
    await sleep(400);
    const maximum = 8 * (1 + (performance.now() - startedAt) / 10);
    expect(receiver.arrivals.length).toBeGreaterThan(8);
    expect(receiver.arrivals.length).toBeLessThanOrEqual(maximum);
    waitingCommits = 0;
    await receiver.has(1_000);
    expect(new Set(idsOf(receiver)).size).toBe(1_000);
  });
});

describe('unavailable database', () => {
  it('preserves every result without a second delivery', async () => {
    const { url, template } = inject('testServer') as TestServer;
    const [row] = await outbox.db.query<{ name: string }>('select current_database() as name');
    const name = row?.name ?? template;
    const receiver = await startReceiverWith();
    const ids = await outbox.events(await outbox.platform(receiver.url), emptyObjects(20));
    let unavailablePeriod: Promise<void> | undefined;
    receiver.behave((response) => {
      unavailablePeriod ??= execute(
        url,
        `alter database ${name} with allow_connections false`,
      ).then(() =>
        execute(
          url,
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
        ),
      );
      void unavailablePeriod.then(() => response.end());
    });
    const deliverer = outbox.deliverer();
    deliverer.start();
    await receiver.has(2);
    await unavailablePeriod;
    await sleep(300);
    await execute(url, `alter database ${name} with allow_connections true`);
    receiver.behave(200);
    await waitUntil(async () => (await outbox.countUndelivered().catch(() => 1)) === 0);
    expect(idsOf(receiver).sort()).toEqual(ids);
    for (const id of ids) expect(await attemptsOf(outbox.db, id)).toHaveLength(1);
  });
});

describe('invalid result', () => {
  it('is discarded, and the other results are recorded', async () => {
    const platform = await outbox.platform('https://hooks.example.com');
    const ids = await outbox.events(platform, emptyObjects(5));
    const { now } = outbox.clock;
    const request = { platformId: platform, endpoint: 0, take: 5, after: null };
    const events = await dueEvents(outbox.db, now, [request], []);
    expect(events.map((event) => event.id)).toEqual(ids);
    const recordedIds: string[] = [];
    const recorder = createRecorder({
      db: outbox.db,
      log: silentLog,
      recorded: (event) => recordedIds.push(event.id),
    });
    for (const [index, event] of events.entries()) {
      const outcome: Outcome = {
        platform_id: platform,
        endpoint: 0,
        event_id: event.id,
        attempt: 1,
        at: now,
        status: 200,
        error: null,
        ms: index === 2 ? 2 ** 40 : 1,
        head: null,
        response: '',
        result: 'delivered',
        next: null,
      };
      recorder.add(event, outcome);
    }
    await recorder.flush();
    expect(recordedIds).toEqual(ids);
    const storedAttempts = await Promise.all(ids.map((id) => attemptsOf(outbox.db, id)));
    expect(storedAttempts.map((each) => each.length)).toEqual([1, 1, 0, 1, 1]);
  });
});

describe('backlog', () => {
  it('of ten thousand events is delivered, each event once', async () => {
    const receiver = await startReceiverWith();
    const platforms = await Promise.all([1, 2, 3, 4].map(() => outbox.platform(receiver.url)));
    for (const platform of platforms) await outbox.events(platform, emptyObjects(2_500));
    const deliverer = outbox.deliverer();
    const startedAt = performance.now();
    expect(await deliverer.runDue()).toBe(10_000);
    const deliveriesPerSecond = Math.round(10_000_000 / (performance.now() - startedAt));
    console.log(`${deliveriesPerSecond} deliveries a second, receiver in the same process`);
    expect(new Set(idsOf(receiver)).size).toBe(10_000);
    expect(receiver.arrivals).toHaveLength(10_000);
    expect(await outbox.countUndelivered()).toBe(0);
  }, 60_000);
});
