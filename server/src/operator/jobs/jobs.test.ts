// Jobs as shown to the operator: filters, fields, retries of one job and of all jobs of a kind, and
// recorded cancellations.
import { readFileSync } from 'node:fs';
import { Type } from '@sinclair/typebox';
import { afterEach, describe, expect, it } from 'vitest';
import { commandRunner } from '../../../test/kit/app/production.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { PENDING_EFFECTS } from '../../features/jobs/kinds.ts';
import { defineJob } from '../../kernel/contract/job.ts';
import { createWorker, type JobHandler } from '../../runtime/jobs/jobs.ts';
import { createLog } from '../../runtime/observability/log.ts';
import { createMetrics } from '../../runtime/observability/metrics.ts';

const app = testApp();
afterEach(() => app.runtime.db.query('delete from jobs', []));

const run = (...argv: string[]) => commandRunner(app)(argv);

// biome-ignore lint/suspicious/noExplicitAny: replies of every shape, checked by assertions.
async function runJson(...argv: string[]): Promise<any> {
  const { code, out, err } = await run(...argv, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
}

const TRANSACTION_ID = 'Transaction:018f0000-0000-7000-8000-000000000001';
const input = {
  transactionId: TRANSACTION_ID,
  receiverInfo: { name: 'Ada Lovelace' },
  code: 'secret-code',
};

const workerWith = (...handlers: JobHandler[]) =>
  createWorker({
    runtime: app.runtime,
    handlers,
    sweeps: [],
    log: createLog(app.effects, 'error', () => undefined),
    metrics: createMetrics(),
  });

const failingHandler = (kind: string, maxAttempts: number): JobHandler => ({
  kind,
  maxAttempts,
  run: () => Promise.reject(new Error('the bank is closed')),
});

const stageJobs = (kind: string, count = 1, platform = app.platform) =>
  app.operate(async (ctx) => {
    for (let index = 0; index < count; index++) ctx.later(defineJob(kind, Type.Object({})), input);
  }, platform);

async function createDeadJobs(kind: string, count = 1): Promise<string[]> {
  await stageJobs(kind, count);
  const worker = workerWith(failingHandler(kind, 1));
  while ((await worker.runDue()) > 0);
  const rows = await runJson('jobs', 'list', '--state', 'dead', '--kind', kind, '--limit', '1000');
  return rows.map(({ jobId }: { jobId: string }) => jobId);
}

const kindsOf = (rows: { kind: string }[]) => rows.map(({ kind }) => kind).sort();

describe('the jobs verbs', () => {
  it('list by state, kind and platform, up to the limit', async () => {
    await createDeadJobs('payout.send', 2);
    await stageJobs('payout.check');
    await stageJobs('messages.send', 1, app.other);
    expect(kindsOf(await runJson('jobs', 'list'))).toEqual([
      ...['messages.send', 'payout.check', 'payout.send', 'payout.send'],
    ]);
    expect(kindsOf(await runJson('jobs', 'list', '--state', 'queued'))).toEqual([
      ...['messages.send', 'payout.check'],
    ]);
    expect(kindsOf(await runJson('jobs', 'list', '--kind', 'payout.send'))).toHaveLength(2);
    expect(await runJson('jobs', 'list', '--state', 'running')).toEqual([]);
    const otherPlatformJobs = await runJson('jobs', 'list', '--platform', app.other.id);
    expect(kindsOf(otherPlatformJobs)).toEqual(['messages.send']);
    expect(await runJson('jobs', 'list', '--limit', '1')).toHaveLength(1);
    const { out } = await run('jobs', 'list', '--state', 'dead');
    expect(out).toContain('the bank is closed');
  });

  it('list a running job, and reject its cancellation and its retry', async () => {
    await stageJobs('payout.send');
    await app.runtime.db.query("update jobs set state = 'running', due_at = $1", [
      new Date(app.effects.now() + 20_000),
    ]);
    expect(kindsOf(await runJson('jobs', 'list', '--state', 'running'))).toEqual(['payout.send']);
    expect(await runJson('jobs', 'list', '--state', 'queued')).toEqual([]);
    const [{ jobId }] = await runJson('jobs', 'list');
    const rejectedResult = await run('jobs', 'cancel', jobId, '--reason', 'x');
    expect([rejectedResult.code, rejectedResult.err]).toEqual([
      1,
      expect.stringContaining('The job is running.'),
    ]);
    const retryResult = await run('jobs', 'retry', jobId);
    expect([retryResult.code, retryResult.err]).toEqual([
      1,
      'The job is running. Only failed jobs can be retried.\n',
    ]);
  });

  it('show only the IDs of an input', async () => {
    const [id = ''] = await createDeadJobs('incoming.collect');
    const job = await runJson('jobs', 'show', id);
    expect(job).toEqual({
      jobId: id,
      kind: 'incoming.collect',
      state: 'dead',
      platformId: app.platform.id,
      dueAt: null,
      attempts: 1,
      lastError: 'the bank is closed',
      failedAt: new Date(app.effects.now()).toISOString(),
      about: { transactionId: TRANSACTION_ID },
      undone: PENDING_EFFECTS['incoming.collect'],
    });
    const { out } = await run('jobs', 'show', id);
    expect(out).toContain(PENDING_EFFECTS['incoming.collect']);
    expect(out + JSON.stringify(await runJson('jobs', 'list'))).not.toMatch(/Ada|secret-code/);
    expect((await run('jobs', 'show', 'Job:018f0000-0000-7000-8000-00000000000f')).code).toBe(1);
  });

  it('reset the attempts of a retried job, and make it due now', async () => {
    const [id = ''] = await createDeadJobs('payout.send');
    expect(await runJson('jobs', 'retry', id)).toMatchObject({ state: 'queued', attempts: 0 });
    expect(await workerWith(failingHandler('payout.send', 2)).runDue()).toBe(1);
    const retriedJob = await runJson('jobs', 'show', id);
    expect(retriedJob).toMatchObject({ state: 'queued', attempts: 1 });
    // A job that waits after a failure can be retried immediately.
    expect(await runJson('jobs', 'retry', id)).toMatchObject({
      dueAt: new Date(app.effects.now()).toISOString(),
    });
  });

  it('reject the retry of a job that has not failed', async () => {
    await stageJobs('incoming.review-expiry');
    const [{ jobId }] = await runJson('jobs', 'list');
    const { code, err } = await run('jobs', 'retry', jobId);
    expect([code, err]).toEqual([1, 'The job is queued. Only failed jobs can be retried.\n']);
  });

  it('retry all dead jobs of a kind, regardless of their number', async () => {
    await createDeadJobs('payout.send', 450);
    await createDeadJobs('payout.check', 2);
    expect(await runJson('jobs', 'retry', '--kind', 'payout.send', '--state', 'dead')).toEqual({
      kind: 'payout.send',
      retried: 450,
    });
    expect(kindsOf(await runJson('jobs', 'list', '--state', 'dead'))).toHaveLength(2);
    expect((await run('jobs', 'retry', '--kind', 'payout.send')).code).toBe(2);
    expect((await run('jobs', 'retry')).code).toBe(2);
  }, 30_000);

  it('remove a canceled job, and keep the reason and the error', async () => {
    const [id = ''] = await createDeadJobs('payout.send');
    expect((await run('jobs', 'cancel', id)).code).toBe(2);
    const { out } = await run('jobs', 'cancel', id, '--reason', 'Settled manually');
    expect(out).toContain(PENDING_EFFECTS['payout.send']);
    expect(await runJson('jobs', 'list')).toEqual([]);
    const storedJob = {
      ...{ jobId: id, state: 'cancelled', reason: 'Settled manually' },
      ...{ lastError: 'the bank is closed', about: { transactionId: TRANSACTION_ID } },
    };
    expect(await runJson('jobs', 'show', id)).toMatchObject(storedJob);
    expect(await runJson('jobs', 'list', '--state', 'cancelled')).toMatchObject([storedJob]);
    expect(
      JSON.stringify(await app.runtime.db.query('select * from job_cancellations')),
    ).not.toMatch(/Ada|secret-code/);
    expect((await run('jobs', 'retry', id)).code).toBe(1);
  });
});

describe('job kinds', () => {
  it('have a pending effect in the code, and their attempts in docs/jobs.md', () => {
    const { maxAttempts } = app.worker;
    expect(Object.keys(PENDING_EFFECTS).sort()).toEqual([...maxAttempts.keys()].sort());
    const page = readFileSync(new URL('../../../../docs/jobs.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `([a-z.-]+)` +\| +(\d+) \| (.+?) +\|$/gm)];
    expect(rows.map(([, kind, attempts, effect]) => [kind, Number(attempts), effect])).toEqual(
      Object.entries(PENDING_EFFECTS).map(([kind, effect]) => [
        kind,
        maxAttempts.get(kind),
        effect,
      ]),
    );
  });
});
