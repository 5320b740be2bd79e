// Pulled deliveries of two processes. Transactions commit in any order, and a process is killed and
// started again. A client that acknowledges each page receives every event once, in one order.
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { ENQUEUE } from '../../src/features/notifications/webhooks/index.ts';
import { databaseUrl, execute } from '../kit/app/database.ts';
import { runSeed } from '../kit/app/effects.ts';
import { createDataFolder, type DataFolder, type Running } from '../kit/crash/server.ts';
import { lengthOf } from '../kit/length.ts';

const RUNS = lengthOf(2, 20);
const GIVE_UP_MS = 15_000;
const name = `railhead_pulled_${process.pid}`;

let pool: pg.Pool;
let dataFolders: DataFolder[];
let servers: Running[];
let env: Record<string, string>;
let platform: string;
let endpoint: string;

const authorization = `Basic ${btoa('pulled:secret')}`;

/** Sends a request to one of the processes. */
async function call(processIndex: number, path: string, body?: unknown) {
  const server = servers[processIndex % servers.length] as Running;
  const reply = await fetch(`${server.credentials.baseUrl}${path}`, {
    headers: { authorization, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${text}`);
  return JSON.parse(text);
}

/** Repeats a failed request at the other process, as a client does. */
async function repeatUntilDone<T>(
  processIndex: number,
  work: (processIndex: number) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work(processIndex + attempt);
    } catch (error) {
      if (attempt === 40) throw error;
      await sleep(250);
    }
  }
}

beforeAll(async () => {
  const admin = (inject('testServer') as { url: string }).url;
  await execute(admin, `create database ${name}`);
  const url = databaseUrl(admin, name);
  pool = new pg.Pool({ connectionString: url, max: 24 });
  dataFolders = [createDataFolder('pulled-1'), createDataFolder('pulled-2')];
  env = {
    DATABASE_URL: url,
    RAILHEAD_MASTER_KEY: '07'.repeat(32),
    RAILHEAD_RATE_LIMIT: '0',
    RAILHEAD_CLIENT_ID: 'pulled',
    RAILHEAD_CLIENT_SECRET: 'secret',
    LOG_LEVEL: 'error',
  };
  servers = [];
  // The first process creates the platform.
  for (const dataFolder of dataFolders) servers.push(await dataFolder.start([], env));
  const { rows } = await pool.query('select id from platforms');
  platform = rows[0].id;
  endpoint = (await call(0, '/webhook-endpoints', { delivery: 'PULL' })).id;
}, 240_000);

afterAll(async () => {
  await pool?.end();
  await Promise.all((dataFolders ?? []).map((dataFolder) => dataFolder.remove()));
  const admin = (inject('testServer') as { url: string }).url;
  await execute(admin, `drop database if exists ${name} with (force)`);
}, 60_000);

/** Pulls and acknowledges pages until there are `count()` events and no further page. */
async function pullAll(limit: number, count: () => number): Promise<string[]> {
  const path = `/webhook-endpoints/${endpoint}`;
  const ids: string[] = [];
  let arrivedAt = performance.now();
  for (let round = 0; ; round++) {
    const page = await repeatUntilDone(round, (processIndex) =>
      call(processIndex, `${path}/deliveries?wait=1&limit=${limit}`),
    );
    const eventIds = page.data.map((delivery: { eventId: string }) => delivery.eventId);
    ids.push(...eventIds);
    if (eventIds.length) {
      const body = round % 2 ? { cursor: page.cursor } : { eventIds };
      await repeatUntilDone(round + 1, (processIndex) =>
        call(processIndex, `${path}/acknowledgments`, body),
      );
    }
    if (eventIds.length || count() === Number.POSITIVE_INFINITY) arrivedAt = performance.now();
    if (page.hasMore || eventIds.length) continue;
    if (ids.length >= count() || performance.now() - arrivedAt > GIVE_UP_MS) return ids;
  }
}

/** IDs of the events from a position, in the order in which they are followed. */
async function readStoredIds(position: string): Promise<string[]> {
  const text = `select id from events where position >= $1 and platform_id = $2
    order by position, id`;
  return (await pool.query(text, [position, platform])).rows.map((row) => row.id as string);
}

const readHorizon = async (): Promise<string> =>
  (await pool.query('select event_horizon() as position')).rows[0].position;

interface Commit {
  events: number;
  /** Age of the IDs when they are written. */
  ageMs: number;
  /** Time between the ID of the transaction and its events. */
  beforeMs: number;
  /** Time between the events and the end of the transaction. */
  openMs: number;
  isRolledBack: boolean;
}

const commits = fc.array(
  fc.record({
    events: fc.integer({ min: 1, max: 6 }),
    ageMs: fc.integer({ min: 0, max: 3_000 }),
    beforeMs: fc.integer({ min: 0, max: 300 }),
    openMs: fc.integer({ min: 0, max: 600 }),
    isRolledBack: fc.boolean(),
  }),
  { minLength: 20, maxLength: 60 },
);

const INSERT_SQL = `insert into events (id, platform_id, type, subject, data, created_at)
  select 'Webhook:' || uuidv7(make_interval(secs => -$2::float8 / 1000)), $1,
    'OUTGOING_PAYMENT.COMPLETED', 'Transaction:1', '{}', now()
  from generate_series(1, $3::int) returning id`;

/**
 * Writes events and deliveries in a separate transaction. Returns the number of committed events.
 */
async function write({ events, ageMs, beforeMs, openMs, isRolledBack }: Commit): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('select pg_current_xact_id()');
    await sleep(beforeMs);
    const { rows } = await client.query(INSERT_SQL, [platform, ageMs, events]);
    const repeatForRows = <V>(value: V) => rows.map(() => value);
    const ids = rows.map((row) => row.id as string);
    const types = repeatForRows('OUTGOING_PAYMENT.COMPLETED');
    await client.query(ENQUEUE.text, [
      ids,
      repeatForRows(platform),
      repeatForRows(new Date()),
      types,
    ]);
    await sleep(openMs);
    await client.query(isRolledBack ? 'rollback' : 'commit');
    return isRolledBack ? 0 : events;
  } finally {
    client.release();
  }
}

it('a client receives every committed event once, in any order of IDs and commits', async () => {
  await fc.assert(
    fc.asyncProperty(commits, fc.integer({ min: 1, max: 100 }), async (generatedCommits, limit) => {
      const from = await readHorizon();
      let count = Number.POSITIVE_INFINITY;
      const whenPulled = pullAll(limit, () => count);
      const writtenCounts = await Promise.all(generatedCommits.map(write));
      count = writtenCounts.reduce((sum, addedCount) => sum + addedCount, 0);
      const receivedIds = await whenPulled;
      expect(receivedIds).toEqual(await readStoredIds(from));
      expect(receivedIds).toHaveLength(count);
    }),
    { numRuns: RUNS, seed: Number(runSeed()), endOnFailure: true },
  );
}, 300_000);

it('a client receives every event of two processes, one of which is killed', async () => {
  const from = await readHorizon();
  let count = Number.POSITIVE_INFINITY;
  const whenPulled = pullAll(25, () => count);
  const customer = { customerType: 'INDIVIDUAL', fullName: 'Ada Li' };
  const accounts = await Promise.all(
    [0, 1, 2, 3].map(async (processIndex) => {
      const { id } = await call(processIndex, '/customers', customer);
      const query = `customerId=${id}&currency=USD`;
      return (await call(processIndex, `/customers/internal-accounts?${query}`)).data[0]
        .id as string;
    }),
  );
  let remainingCount = 300;
  const deposit = async (id: string, processIndex: number) => {
    const path = `/sandbox/internal-accounts/${id}/fund`;
    while (remainingCount-- > 0)
      await repeatUntilDone(processIndex, (server) => call(server, path, { amount: 100 }));
  };
  const deposits = Promise.all(accounts.map(deposit));
  await sleep(500);
  const [dataFolder] = dataFolders as [DataFolder];
  await dataFolder.kill((servers[0] as Running).child, 'node');
  servers[0] = await dataFolder.start([], env);
  await deposits;
  const storedIds = await readStoredIds(from);
  count = storedIds.length;
  const receivedIds = await whenPulled;
  // A page whose acknowledgment had no reply is not read again, because the acknowledgment is
  // repeated.
  expect(receivedIds).toEqual(storedIds);
  expect(storedIds.length).toBeGreaterThan(600);
  const { rows } = await pool.query('select count(*)::int as n from webhook_queue');
  expect(rows[0].n).toBe(0);
}, 300_000);
