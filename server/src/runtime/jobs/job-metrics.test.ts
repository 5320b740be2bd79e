// The values of the gauges of jobs, and the cost of a scrape as PostgreSQL reports it.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlanner } from '../../../test/kit/app/query-plans.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { DEAD, MAX_COUNTED, readQueues, WAITING, WAITING_OF_PLATFORMS } from './job-metrics.ts';

const app = testApp();
let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
});
afterAll(() => client?.end());

const ADD_SQL = `insert into jobs (id, kind, platform_id, input, due_at, state, failed_at)
  select 'Job:' || gen_random_uuid(), $1, 'p' || n % 50, '{}', $2, $3, $2
  from generate_series(1, $4) n`;

const addJobs = (kind: string, count: number, ageMs: number, state = 'queued') =>
  client.query(ADD_SQL, [kind, new Date(app.effects.now() - ageMs), state, count]);

async function readGauges(name: string): Promise<Record<string, number>> {
  const { body } = await app.server.inject({ url: '/metrics' });
  const matches = body.matchAll(new RegExp(`^railhead_jobs_${name}\\{kind="(.+)"\\} (.+)$`, 'gm'));
  return Object.fromEntries([...matches].map(([, kind = '', value]) => [kind, Number(value)]));
}

describe('job gauges', () => {
  it('show queued jobs, dead jobs and the age of the oldest due job by kind', async () => {
    await addJobs('a', 3, 7_000);
    await addJobs('a', 2, -60_000);
    await addJobs('b', 4, -60_000);
    await addJobs('c', 5, 1_000, 'dead');
    expect(await readGauges('queued')).toEqual({ a: 5, b: 4, c: 0 });
    expect(await readGauges('oldest_seconds')).toEqual({ a: 7, b: 0, c: 0 });
    expect(await readGauges('dead')).toEqual({ a: 0, b: 0, c: 5 });
    expect(await readGauges('running')).toEqual({});
  });

  it('are read at most once every few seconds and show kinds without jobs as zero', async () => {
    await client.query('delete from jobs');
    expect(await readGauges('queued')).toEqual({ a: 5, b: 4, c: 0 });
    app.effects.set(app.effects.now() + 5_000);
    expect(await readGauges('queued')).toEqual({ a: 0, b: 0, c: 0 });
  });

  it('cost the same for any number of waiting jobs', async () => {
    await addJobs('a', 300_000, 1_000);
    await addJobs('b', 30_000, 1_000, 'dead');
    await client.query('vacuum analyze jobs');
    app.effects.set(app.effects.now() + 5_000);
    expect(await readGauges('queued')).toMatchObject({ a: MAX_COUNTED });
    expect(await readGauges('dead')).toMatchObject({ b: MAX_COUNTED });
    const checkCost = createPlanner(client);
    await checkCost({ text: WAITING, values: [MAX_COUNTED, 1_000] }, 12_000);
    await checkCost({ text: DEAD, values: [MAX_COUNTED] }, 12_000);
    const platformIds = ['p1', 'p2'];
    await checkCost({ text: WAITING_OF_PLATFORMS, values: [MAX_COUNTED, platformIds] }, 12_000);
    const [firstQueue, secondQueue] = await readQueues(app.runtime, platformIds);
    expect([firstQueue, secondQueue]).toMatchObject([
      { kind: 'a', queued: MAX_COUNTED },
      { kind: 'b', queued: 0, dead: 1_200 },
    ]);
    expect(await readQueues(app.runtime, ['p3'])).toMatchObject([
      { kind: 'a', queued: 6_000, oldestMs: expect.any(Number) },
      { kind: 'b', dead: 600 },
    ]);
  }, 60_000);
});
