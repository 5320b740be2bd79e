// Several processes follow the same queue of events while transactions commit in any order. Late
// transactions have early IDs, early transactions have late IDs, and some are rolled back. Exactly
// the committed events are delivered, each once.
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { databaseUrl, execute } from '../kit/app/database.ts';
import { runSeed } from '../kit/app/effects.ts';
import { createDataFolder, type DataFolder } from '../kit/crash/server.ts';
import { type Receiver, startReceiver } from '../kit/http/webhook-receiver.ts';
import { lengthOf } from '../kit/length.ts';

const PROCESSES = 3;
const RUNS = lengthOf(4, 20);
const DELIVERY_MS = 30_000;
const name = `railhead_following_${process.pid}`;

let pool: pg.Pool;
let dataFolders: DataFolder[];
let receiver: Receiver;
let platform: string;

beforeAll(async () => {
  const admin = (inject('testServer') as { url: string }).url;
  await execute(admin, `create database ${name}`);
  const url = databaseUrl(admin, name);
  pool = new pg.Pool({ connectionString: url, max: 24 });
  dataFolders = Array.from({ length: PROCESSES }, (_, index) =>
    createDataFolder(`follower-${index}`),
  );
  receiver = await startReceiver();
  const env = { DATABASE_URL: url, RAILHEAD_MASTER_KEY: '07'.repeat(32), LOG_LEVEL: 'error' };
  // The first process creates the platform. All processes deliver.
  for (const dataFolder of dataFolders) await dataFolder.start(['--roles', 'api,deliver'], env);
  const { rows } = await pool.query('update platforms set webhook_endpoint = $1 returning id', [
    receiver.url,
  ]);
  platform = rows[0].id;
}, 180_000);

afterAll(async () => {
  await pool?.end();
  await Promise.all((dataFolders ?? []).map((folder) => folder.remove()));
  await receiver?.close();
  const admin = (inject('testServer') as { url: string }).url;
  await execute(admin, `drop database if exists ${name} with (force)`);
}, 60_000);

interface Commit {
  events: number;
  /** Age of IDs and due times when they are written. */
  ageMs: number;
  /** Time for which the transaction remains open afterwards. */
  openMs: number;
  isRolledBack: boolean;
}

const commits = fc.array(
  fc.record({
    events: fc.integer({ min: 1, max: 6 }),
    ageMs: fc.integer({ min: 0, max: 3_000 }),
    openMs: fc.integer({ min: 0, max: 600 }),
    isRolledBack: fc.boolean(),
  }),
  { minLength: 20, maxLength: 60 },
);

// Inserts the event and its queue entry in one transaction, like the committer.
const INSERT_SQL = `with new_events as (
    select 'Webhook:' || uuidv7(make_interval(secs => -$2::float8 / 1000)) as id,
      date_trunc('milliseconds', now() - make_interval(secs => $2::float8 / 1000)) as created_at
    from generate_series(1, $3::int)
  ), new_entries as (
    insert into webhook_queue (event_id, platform_id, due_at)
       select id, $1, created_at from new_events
  )
  insert into events (id, platform_id, type, subject, data, created_at)
  select id, $1, 'OUTGOING_PAYMENT.COMPLETED', 'Transaction:' || id, '{}', created_at from new_events
  returning id`;

/** Writes events in a separate transaction. Returns their IDs if it commits. */
async function write({ events, ageMs, openMs, isRolledBack }: Commit): Promise<string[]> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query(INSERT_SQL, [platform, ageMs, events]);
    await sleep(openMs);
    await client.query(isRolledBack ? 'rollback' : 'commit');
    return isRolledBack ? [] : rows.map((row) => row.id);
  } finally {
    client.release();
  }
}

it('processes deliver every committed event once, in any order of IDs and commits', async () => {
  await fc.assert(
    fc.asyncProperty(commits, async (generatedCommits) => {
      const countBefore = receiver.arrivals.length;
      const writtenIds = (await Promise.all(generatedCommits.map(write))).flat();
      const receivedIds = () => receiver.arrivals.slice(countBefore).map(({ id }) => id);
      await vi.waitUntil(
        async () => {
          const { rows } = await pool.query('select count(*)::int as remaining from webhook_queue');
          return rows[0].remaining === 0 && receivedIds().length >= writtenIds.length;
        },
        { timeout: DELIVERY_MS, interval: 50 },
      );
      expect(receivedIds().sort()).toEqual(writtenIds.sort());
    }),
    { numRuns: RUNS, seed: Number(runSeed()), endOnFailure: true },
  );
}, 300_000);
