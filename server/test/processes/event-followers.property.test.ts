// Clients follow the events of four processes while transactions commit in any order. Each client
// receives every event once, in one order. RAILHEAD_FOLLOWED_EVENTS sets the number of events of
// the second test.
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { databaseUrl, execute } from '../kit/app/database.ts';
import { runSeed } from '../kit/app/effects.ts';
import { createDataFolder, type DataFolder, type Running } from '../kit/crash/server.ts';
import { lengthOf } from '../kit/length.ts';

const PROCESSES = 4;
const RUNS = lengthOf(3, 20);
const GIVE_UP_MS = 15_000;
const EVENTS = Number(process.env.RAILHEAD_FOLLOWED_EVENTS ?? lengthOf(2_500, 100_000));
const name = `railhead_followers_${process.pid}`;

let pool: pg.Pool;
let dataFolders: DataFolder[];
let servers: Running[];
let platform: string;

beforeAll(async () => {
  const admin = (inject('testServer') as { url: string }).url;
  await execute(admin, `create database ${name}`);
  const url = databaseUrl(admin, name);
  pool = new pg.Pool({ connectionString: url, max: 24 });
  dataFolders = Array.from({ length: PROCESSES }, (_, index) =>
    createDataFolder(`events-${index}`),
  );
  const env = {
    DATABASE_URL: url,
    RAILHEAD_MASTER_KEY: '07'.repeat(32),
    RAILHEAD_RATE_LIMIT: '0',
    RAILHEAD_CLIENT_ID: 'followers',
    RAILHEAD_CLIENT_SECRET: 'secret',
    LOG_LEVEL: 'error',
  };
  servers = [];
  // The first process creates the platform.
  for (const dataFolder of dataFolders)
    servers.push(await dataFolder.start(['--roles', 'api'], env));
  const { rows } = await pool.query('select id from platforms');
  platform = rows[0].id;
}, 240_000);

afterAll(async () => {
  await pool?.end();
  await Promise.all((dataFolders ?? []).map((dataFolder) => dataFolder.remove()));
  const admin = (inject('testServer') as { url: string }).url;
  await execute(admin, `drop database if exists ${name} with (force)`);
}, 60_000);

const authorization = `Basic ${btoa('followers:secret')}`;

/** Sends a request to one of the processes. */
async function call(processIndex: number, path: string, body?: unknown) {
  const { baseUrl } = servers[processIndex % PROCESSES]!.credentials;
  const reply = await fetch(`${baseUrl}${path}`, {
    headers: { authorization, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${text}`);
  return JSON.parse(text);
}

/** Repeats a failed request with the same cursor, as a client does. */
async function repeatUntilDone<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === 20) throw error;
      await sleep(250);
    }
  }
}

const readNewestCursor = async () => (await call(0, '/events?limit=1')).after as string;

/** Reads until there are `count()` events and no further page, each request at the next process. */
async function follow(from: string, limit: number, count: () => number): Promise<string[]> {
  const ids: string[] = [];
  let after = from;
  let arrivedAt = performance.now();
  for (let index = limit; ; index++) {
    const path = `/events?after=${after}&wait=1&limit=${limit}`;
    const page = await repeatUntilDone(() => call(index, path));
    ids.push(...page.data.map((event: { id: string }) => event.id));
    after = page.after;
    if (page.data.length > 0 || count() === Number.POSITIVE_INFINITY) arrivedAt = performance.now();
    if (page.hasMore || page.data.length > 0) continue;
    // A follower that misses an event must not wait permanently.
    if (ids.length >= count() || performance.now() - arrivedAt > GIVE_UP_MS) return ids;
  }
}

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

/** Writes events in a separate transaction. Returns their IDs if it commits. */
async function write({ events, ageMs, beforeMs, openMs, isRolledBack }: Commit) {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('select pg_current_xact_id()');
    await sleep(beforeMs);
    const { rows } = await client.query(INSERT_SQL, [platform, ageMs, events]);
    await sleep(openMs);
    await client.query(isRolledBack ? 'rollback' : 'commit');
    return isRolledBack ? [] : rows.map((row) => row.id as string);
  } finally {
    client.release();
  }
}

it('a follower receives every committed event once, in any order of IDs and commits', async () => {
  await fc.assert(
    fc.asyncProperty(commits, async (generatedCommits) => {
      const from = await readNewestCursor();
      let count = Number.POSITIVE_INFINITY;
      const whenFollowed = Promise.all(
        [1, 3, 100].map((limit) => follow(from, limit, () => count)),
      );
      const writtenIds = (await Promise.all(generatedCommits.map(write))).flat();
      count = writtenIds.length;
      const receivedIds = await whenFollowed;
      const [firstFollower] = receivedIds;
      for (const eventIds of receivedIds) expect(eventIds).toEqual(firstFollower);
      expect([...firstFollower!].sort()).toEqual(writtenIds.sort());
    }),
    { numRuns: RUNS, seed: Number(runSeed()), endOnFailure: true },
  );
}, 300_000);

/** Creates a customer. Returns an account for which deposits can be simulated. */
async function createAccount(processIndex: number): Promise<string> {
  const { id } = await call(processIndex, '/customers', {
    customerType: 'INDIVIDUAL',
    fullName: 'Ada Li',
  });
  const { data } = await call(
    processIndex,
    `/customers/internal-accounts?customerId=${id}&currency=USD`,
  );
  return data[0].id;
}

it(`a follower receives ${EVENTS} events of four processes exactly once`, async () => {
  const from = await readNewestCursor();
  const readStoredEventIds = async () => {
    const text = 'select id from events where position >= $1 order by position, id';
    return (await pool.query(text, [position])).rows.map((row) => row.id as string);
  };
  const { rows } = await pool.query('select event_horizon() as position');
  const { position } = rows[0];
  let count = Number.POSITIVE_INFINITY;
  const startedAt = performance.now();
  const whenFollowed = Promise.all([7, 50, 100].map((limit) => follow(from, limit, () => count)));
  const accounts = await Promise.all(
    Array.from({ length: 32 }, (_, index) => createAccount(index)),
  );
  let remainingCount = EVENTS / 2;
  const deposit = async (id: string, processIndex: number) => {
    // A deposit emits two events.
    const path = `/sandbox/internal-accounts/${id}/fund`;
    while (remainingCount-- > 0)
      await repeatUntilDone(() => call(processIndex, path, { amount: 100 }));
  };
  await Promise.all(accounts.map(deposit));
  const writtenAt = performance.now();
  const expectedIds = await readStoredEventIds();
  count = expectedIds.length;
  const receivedIds = await whenFollowed;
  for (const eventIds of receivedIds) expect(eventIds).toEqual(expectedIds);
  expect(expectedIds.length).toBeGreaterThanOrEqual(EVENTS);
  const seconds = (ms: number) => (ms / 1_000).toFixed(1);
  const delaySeconds = seconds(performance.now() - writtenAt);
  process.stderr.write(
    `${count} events in ${seconds(writtenAt - startedAt)} s, followed ${delaySeconds} s later\n`,
  );
}, 1_800_000);
