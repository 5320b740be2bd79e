// Selection of jobs to run, and the cost of a claim as PostgreSQL reports it.
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createExternalAccount, createFundedCustomer, ok } from '../../../test/kit/app/fixtures.ts';
import { type CheckPlan, createPlanner } from '../../../test/kit/app/query-plans.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { createClaim, HEAD, IN_LANES } from './job-claims.ts';
import { createJobSlots, type JobLimits, laneOf } from './job-slots.ts';

const app = testApp();
let client: pg.Client;
let checkCost: CheckPlan;
beforeAll(async () => {
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  checkCost = createPlanner(client);
});
afterAll(() => client?.end());
afterEach(() => client.query('delete from jobs'));

const shares: JobLimits = { slots: 64, perKind: 24, perPlatform: 32, perLane: 16 };

const ADD_SQL = `insert into jobs (id, kind, platform_id, input, due_at)
  select 'Job:' || gen_random_uuid(), $1, $2, '{}', $3::timestamptz + n * interval '1 microsecond'
  from generate_series(1, $4) n`;

/** Inserts due jobs, older jobs first. */
const addDueJobs = (kind: string, platform: string, count: number, ageMs = 1_000) =>
  client.query(ADD_SQL, [kind, platform, new Date(app.effects.now() - ageMs), count]);

function createClaimer(
  overrides: { isHandled?: (kind: string) => boolean; shares?: JobLimits } = {},
) {
  const slots = createJobSlots(overrides.shares ?? shares);
  const isHandled = overrides.isHandled ?? (() => true);
  const claim = createClaim({ db: app.runtime.db, slots, isHandled, leaseMs: 20_000 });
  const claimOnce = () => claim(app.effects.now());
  /** Repeats the claim until no job is found, like the worker. */
  const claimAll = async () => {
    const jobs = [];
    for (let hasMore = true; hasMore; ) {
      const claimedJobs = await claimOnce();
      jobs.push(...claimedJobs.jobs);
      hasMore = claimedJobs.hasMore;
    }
    return jobs;
  };
  return { slots, claim: claimOnce, claimAll };
}

function countsOf(jobs: readonly { kind: string; platform_id: string }[]) {
  const counts: Record<string, number> = {};
  for (const job of jobs) counts[laneOf(job)] = (counts[laneOf(job)] ?? 0) + 1;
  return counts;
}

describe('claim', () => {
  it('limits a kind, a platform and a lane', async () => {
    await addDueJobs('sms', 'a', 40, 9_000);
    await addDueJobs('sms', 'b', 40, 8_000);
    await addDueJobs('mail', 'a', 40, 7_000);
    await addDueJobs('rail', 'a', 40, 6_000);
    await addDueJobs('rail', 'c', 40, 5_000);
    const { claimAll, slots } = createClaimer();
    expect(countsOf(await claimAll())).toEqual({
      ...{ 'sms a': 16, 'sms b': 8, 'mail a': 12, 'rail a': 4, 'rail c': 16 },
    });
    expect(slots.freeCount()).toBe(8);
  });

  it('finds another platform of the same kind after ten thousand due jobs', async () => {
    await addDueJobs('sms', 'a', 10_000, 60_000);
    await addDueJobs('sms', 'b', 5);
    await addDueJobs('rail', 'c', 5);
    const { claimAll } = createClaimer();
    expect(countsOf(await claimAll())).toEqual({ 'sms a': 16, 'sms b': 5, 'rail c': 5 });
  });

  it('reaches every lane in several claims if more lanes wait than one claim visits', async () => {
    await addDueJobs('sms', 'a', 1_000, 60_000);
    await client.query(
      `insert into jobs (id, kind, platform_id, input, due_at)
        select 'Job:' || gen_random_uuid(), 'later', 'p' || n, '{}', $1
        from generate_series(1, 600) n`,
      [new Date(app.effects.now() + 3_600_000)],
    );
    await addDueJobs('zebra', 'c', 1);
    const { claim } = createClaimer();
    const rounds = [await claim(), await claim(), await claim()];
    expect(rounds.map(({ jobs }) => countsOf(jobs)['zebra c'] ?? 0)).toEqual([0, 0, 1]);
    expect(rounds.map(({ hasMore }) => hasMore)).toEqual([true, true, true]);
  });

  it('claims again after jobs complete', async () => {
    await addDueJobs('sms', 'a', 40);
    const { claim, slots } = createClaimer();
    const { jobs } = await claim();
    expect([jobs.length, (await claim()).jobs.length]).toEqual([16, 0]);
    for (const job of jobs.slice(0, 3)) slots.release(job);
    expect((await claim()).jobs).toHaveLength(3);
  });

  it('ignores a kind without a handler and keeps its attempts', async () => {
    await addDueJobs('new', 'a', 300, 60_000);
    await addDueJobs('rail', 'b', 2);
    const { claim } = createClaimer({ isHandled: (kind) => kind === 'rail' });
    expect(countsOf((await claim()).jobs)).toEqual({ 'rail b': 2 });
    const { rows } = await client.query("select max(attempts) from jobs where kind = 'new'");
    expect(rows).toEqual([{ max: 0 }]);
  });

  it('assigns each job to one of several processes', async () => {
    await addDueJobs('rail', 'a', 40);
    const claimers = Array.from({ length: 4 }, () => createClaimer());
    const rounds = [];
    for (let round = 0; round < 3; round++) {
      rounds.push(...(await Promise.all(claimers.map(({ claim }) => claim()))));
    }
    const ids = rounds.flatMap(({ jobs }) => jobs.map(({ id }) => id));
    expect([ids.length, new Set(ids).size]).toEqual([40, 40]);
  });

  it('never claims a dead job', async () => {
    await addDueJobs('rail', 'a', 3);
    await client.query("update jobs set state = 'dead', due_at = '9999-01-01Z'");
    const { claim } = createClaimer();
    expect((await claim()).jobs).toEqual([]);
  });

  it('claims rows of a release without platforms and states', async () => {
    await client.query(
      "insert into jobs (id, kind, input, due_at) values ('Job:old', 'rail', '{}', $1)",
      [new Date(app.effects.now())],
    );
    const [job] = (await createClaimer().claim()).jobs;
    expect(job).toMatchObject({ platform_id: '', state: 'running', attempts: 1 });
  });

  it('costs the same for any number of due jobs', async () => {
    await addDueJobs('sms', 'a', 200_000, 60_000);
    for (const platform of ['b', 'c', 'd']) await addDueJobs('rail', platform, 1_000);
    await client.query('vacuum analyze jobs');
    const now = new Date(app.effects.now());
    await checkCost({ text: HEAD, values: [now, 64] }, 200);
    const fullLimits = [['sms'], [] as string[], [] as string[]];
    await checkCost({ text: IN_LANES, values: [now, '', '', 256, 4, ...fullLimits] }, 100);
  }, 60_000);
});

describe('migration 0032', () => {
  it('finds the platform of existing jobs', async () => {
    const { person, account } = await createFundedCustomer(app);
    const payee = await createExternalAccount(app, person.id, 'USD');
    const body = {
      source: { accountId: account.id },
      destination: { accountId: payee.id },
      amount: 1_00,
    };
    const { id } = ok(await app.call('POST', '/transfer-out', body), 201);
    await client.query('delete from jobs');
    const inputs = [
      { platformId: app.other.id },
      { platform: app.other.id },
      { transactionId: id },
      { accountId: payee.id },
      { transactionId: 'Transaction:unknown' },
    ];
    for (const [index, input] of inputs.entries()) {
      await client.query(
        "insert into jobs (id, kind, input, due_at) values ($1, 'old', $2, 'epoch')",
        [`Job:${index}`, input],
      );
    }
    const file = new URL('../../../migrations/0032_job_shares.sql', import.meta.url);
    const sql = readFileSync(file, 'utf8');
    const backfill = sql.slice(sql.indexOf('update jobs'), sql.indexOf('-- One lane'));
    await client.query(backfill);
    const { rows } = await client.query('select platform_id from jobs order by id');
    expect(rows.map((row) => row.platform_id)).toEqual([
      ...[app.other.id, app.other.id, app.platform.id, app.platform.id, ''],
    ]);
  });
});
