// A replay of thousands of events continues after a kill of the server and its database. Every
// event arrives at least once, and only the events in progress may arrive twice.
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { eventIdSql } from '../kit/app/query-plans.ts';
import { callOrThrow } from '../kit/crash/load.ts';
import { createDataFolder, type DataFolder, type Running } from '../kit/crash/server.ts';
import { type Receiver, startReceiver } from '../kit/http/webhook-receiver.ts';

const EVENTS = 3_000;
/** Events that are due or in progress at one time, and may be sent again after a kill. */
const MAX_REPEATED_EVENTS = 1_500;
const ENV = { RAILHEAD_RATE_LIMIT: '0', LOG_LEVEL: 'error' };
const FLAGS = ['--processes', '2'];
const WAIT = { timeout: 90_000, interval: 50 };

let dataFolder: DataFolder;
let server: Running;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  dataFolder = createDataFolder('replay');
  server = await dataFolder.start(FLAGS, ENV);
}, 120_000);

afterAll(async () => {
  await dataFolder?.remove();
  await receiver?.close();
}, 60_000);

async function insertEvents(): Promise<void> {
  const createdAt = Date.now() - 3_600_000;
  const client = new pg.Client({ connectionString: await dataFolder.database() });
  await client.connect();
  try {
    await client.query(`insert into events (id, platform_id, type, subject, data, created_at)
      select ${eventIdSql(createdAt, 'n')}, p.id, 'CUSTOMER.KYC_APPROVED', 'Customer:' || n, '{}',
        to_timestamp(${createdAt} / 1000.0)
      from (select id from platforms order by id limit 1) p, generate_series(1, ${EVENTS}) n`);
  } finally {
    await client.end();
  }
}

it('a replay of thousands of events delivers every event after a kill', async () => {
  const call = (method: string, path: string, body?: object) =>
    callOrThrow(server, method, path, body);
  await insertEvents();
  const { id: endpointId } = await call('POST', '/webhook-endpoints', { url: receiver.url });
  const from = new Date(Date.now() - 2 * 3_600_000).toISOString();
  const body = { endpointId, from, scope: 'ALL' };
  await vi.waitUntil(
    async () => (await call('POST', '/webhook-replays/preview', body)).count >= EVENTS,
    WAIT,
  );
  const { id, total } = await call('POST', '/webhook-replays', body);
  expect(total).toBeGreaterThanOrEqual(EVENTS);
  await vi.waitUntil(() => receiver.arrivals.length > 700, WAIT);
  const replayBefore = await call('GET', `/webhook-replays/${id}`);
  expect(replayBefore.status).toBe('PROCESSING');
  await dataFolder.kill(server.child, 'both');
  server = await dataFolder.start(FLAGS, ENV);
  const readReplay = () => call('GET', `/webhook-replays/${id}`);
  await vi.waitUntil(async () => (await readReplay()).status === 'COMPLETED', WAIT);
  const countArrivedEvents = () => new Set(receiver.arrivals.map((arrival) => arrival.id)).size;
  await vi.waitUntil(() => countArrivedEvents() >= total, WAIT);
  expect(await readReplay()).toMatchObject({ total, done: total });
  const { data } = await call('GET', `/webhook-deliveries?endpointId=${endpointId}&status=FAILED`);
  expect(data).toEqual([]);
  expect(receiver.arrivals.length).toBeLessThanOrEqual(total + MAX_REPEATED_EVENTS);
}, 240_000);
