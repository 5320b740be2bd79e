// The cost of finding jobs that are due on clocks depends only on the number of platforms with such jobs.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlanner } from '../../../test/kit/app/query-plans.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { dueOnClocks, dueOnClocksSql } from './clock-jobs.ts';

const PLATFORMS = 40;
/** Jobs of the first platform that wait for its frozen clock. */
const WAITING_JOBS = 100_000;
/** Maximum blocks per platform: a few pages of the index, and its clock. */
const MAX_BLOCKS = 12;
const NOW = Date.UTC(2026, 10, 1);

const app = testApp();
let client: pg.Client;

const insertJobs = (name: string, platform: string, count: number, dueAt: string) =>
  client.query(`insert into jobs (id, kind, platform_id, input, due_at, clock_due_at, state)
    select 'Job:${name}-' || n, 'payout.send', ${platform}, '{}', '9998-01-01', ${dueAt}, 'queued'
      from generate_series(1, ${count}) n`);

beforeAll(async () => {
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  const now = `to_timestamp(${NOW / 1_000})`;
  await client.query(`insert into sandbox_clocks (id, stands_at, frozen, created_at, updated_at)
    select 'Clock:' || n, ${now}, true, ${now}, ${now} from generate_series(1, ${PLATFORMS}) n`);
  await insertJobs('waiting', "'Clock:1'", WAITING_JOBS, `${now} + n * interval '1 s'`);
  await insertJobs('later', "'Clock:' || n", PLATFORMS, `${now} + interval '1 d'`);
  await insertJobs('due', "'Clock:7'", 3, `${now} - n * interval '1 s'`);
  await client.query('vacuum analyze jobs, sandbox_clocks');
  // The other tables are almost empty.
  await client.query('set enable_seqscan = off');
});

afterAll(() => client?.end());

describe('dueOnClocks', () => {
  it('finds the jobs that are due, in the order of their due times', async () => {
    const { due, after } = await dueOnClocks(app.runtime.db, NOW, '');
    expect(due.map(({ id }) => id)).toEqual(['Job:due-3', 'Job:due-2', 'Job:due-1']);
    expect(after).toBe('');
  });

  it('reads a few blocks for each platform, regardless of its waiting jobs', async () => {
    await createPlanner(client)(dueOnClocksSql(NOW, ''), PLATFORMS * MAX_BLOCKS);
  });
});
