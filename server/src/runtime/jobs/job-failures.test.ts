// Failed attempts, hanging jobs, jobs that terminate their process, open circuits, and the stored error
// text.
import { Type } from '@sinclair/typebox';
import { afterEach, describe, expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { testEvent } from '../../features/tenancy/config/index.ts';
import { defineJob } from '../../kernel/contract/job.ts';
import { circuitOpen } from '../../kernel/net/circuit.ts';
import { createLog } from '../observability/log.ts';
import { createMetrics } from '../observability/metrics.ts';
import { backoffMs, errorText, MAX_ATTEMPTS, NOT_DUE } from './job-failures.ts';
import { createWorker, type JobHandler } from './jobs.ts';
import { jobs } from './jobs-table.ts';

const app = testApp();
const logLines: string[] = [];
const metrics = createMetrics();
afterEach(() => app.runtime.db.query('delete from jobs', []));

const workerWith = (...handlers: JobHandler[]) =>
  createWorker({
    runtime: app.runtime,
    handlers,
    sweeps: [],
    log: createLog(app.effects, 'error', (line) => logLines.push(line)),
    metrics,
  });

const caller = () => ({
  platformId: app.platform.id,
  environment: 'sandbox' as const,
  tokenId: null,
  permissions: [],
});

const failingHandler = (error: Error, overrides: Partial<JobHandler> = {}): JobHandler => ({
  kind: 'failing',
  run: () => Promise.reject(error),
  ...overrides,
});

async function stageJob(kind = 'failing'): Promise<string> {
  await app.operate(async (ctx) => ctx.later(defineJob(kind, Type.Object({})), {}));
  const [row] = await app.runtime.db.query<{ id: string }>('select id from jobs', []);
  return row?.id as string;
}

const readJob = async (id: string) => await app.runtime.db.read(jobs, id);
const advanceClock = (ms: number) => app.effects.set(app.effects.now() + ms);

describe('job', () => {
  it('stores the platform that staged it', async () => {
    expect(await readJob(await stageJob())).toMatchObject({
      platform_id: app.platform.id,
      state: 'queued',
      attempts: 0,
    });
  });

  it('waits after a failure and stores the error', async () => {
    const id = await stageJob();
    await workerWith(failingHandler(new Error('no connection'))).runDue();
    expect(await readJob(id)).toMatchObject({
      ...{ state: 'queued', attempts: 1, last_error: 'no connection' },
      ...{ failed_at: app.effects.now(), due_at: app.effects.now() + 2_000 },
    });
  });

  it('is dead after its last attempt and does not run again', async () => {
    const id = await stageJob();
    let runCount = 0;
    const worker = workerWith(
      failingHandler(new Error('never'), {
        run: () => {
          runCount++;
          return Promise.reject(new Error(`failure ${runCount}`));
        },
      }),
    );
    for (let index = 1; index <= MAX_ATTEMPTS; index++) {
      expect(await worker.runDue()).toBe(1);
      advanceClock(backoffMs(index));
    }
    expect(await readJob(id)).toMatchObject({
      ...{ state: 'dead', attempts: 20, last_error: 'failure 20', due_at: NOT_DUE },
    });
    advanceClock(100 * 365 * 86_400_000);
    expect([await worker.runDue(), runCount]).toEqual([0, 20]);
    expect(logLines.some((line) => line.includes('job is dead'))).toBe(true);
    expect(await metrics.text()).toContain('railhead_jobs_total{kind="failing",result="dead"} 1');
  });

  it('is dead after the maximum number of attempts of its kind', async () => {
    const id = await stageJob();
    await workerWith(failingHandler(new Error('x'), { maxAttempts: 1 })).runDue();
    expect(await readJob(id)).toMatchObject({ state: 'dead', attempts: 1 });
  });

  it('runs again with all attempts after a retry, with a single effect', async () => {
    const id = await stageJob();
    await workerWith(failingHandler(new Error('x'), { maxAttempts: 1 })).runDue();
    await app.operate(async (ctx) => {
      const row = await ctx.read(jobs, id);
      if (row) ctx.update(jobs, row, { state: 'queued', attempts: 0, due_at: ctx.now });
    });
    const run: JobHandler['run'] = async () => ({
      caller: caller(),
      stage: async (ctx) => ctx.emit(testEvent, 'retried', {}),
    });
    await workerWith({ kind: 'failing', maxAttempts: 1, run }).runDue();
    expect(await readJob(id)).toBeUndefined();
    expect((await app.events()).filter(({ subject }) => subject === 'retried')).toHaveLength(1);
  });

  it('frees its slot at its deadline without an effect of its late result', async () => {
    const id = await stageJob();
    let finish = () => {};
    const slowHandler: JobHandler = {
      kind: 'failing',
      deadlineMs: 50,
      run: () =>
        new Promise((resolve) => {
          finish = () =>
            resolve({ caller: caller(), stage: async (ctx) => ctx.emit(testEvent, 'late', {}) });
        }),
    };
    const worker = workerWith(slowHandler);
    expect(await worker.runDue()).toBe(1);
    expect([...worker.running()]).toEqual([]);
    finish();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await readJob(id)).toMatchObject({
      ...{ state: 'queued', last_error: 'no result within 50 ms' },
    });
    expect((await app.events()).some(({ subject }) => subject === 'late')).toBe(false);
  });

  it('is dead after its last attempt if each attempt terminates the process', async () => {
    const id = await stageJob();
    await app.runtime.db.query('update jobs set attempts = 20 where id = $1', [id]);
    let runCount = 0;
    const run = () => {
      runCount++;
      return Promise.reject(new Error('not reached'));
    };
    await workerWith({ kind: 'failing', run }).runDue();
    expect(runCount).toBe(0);
    expect(await readJob(id)).toMatchObject({
      ...{ state: 'dead', last_error: 'the process exited while the job was running' },
    });
  });

  it('uses no attempt while the circuit of its provider is open', async () => {
    const id = await stageJob();
    const retryAt = app.effects.now() + 30_000;
    const circuitError = new Error('not sent', { cause: circuitOpen('sms', retryAt) });
    const worker = workerWith(failingHandler(circuitError, { maxAttempts: 1 }));
    for (let round = 0; round < 3; round++) {
      expect(await worker.runDue()).toBe(1);
      const row = await readJob(id);
      expect(row).toMatchObject({ state: 'queued', attempts: 0, last_error: null });
      const delayMs = (row?.due_at ?? 0) - retryAt;
      expect(delayMs).toBeGreaterThanOrEqual(0);
      expect(delayMs).toBeLessThan(10_000);
      await app.runtime.db.query('update jobs set due_at = $1', [new Date(app.effects.now())]);
    }
  });
});

describe('errorText', () => {
  it('is one bounded line without secrets, addresses and numbers', () => {
    expect(errorText(new Error('refused\nby 1.2.3.4'))).toBe('refused');
    expect(errorText(new Error('no mail to ada@example.org'))).toBe('no mail to [redacted]');
    expect(errorText(new Error('no text to +15550100123'))).toBe('no text to [redacted]');
    expect(errorText(new Error('Bearer abc.def'))).toBe('[redacted]');
    expect(errorText(new Error('postgres://u:p@host/db'))).not.toContain('u:p');
    const id = 'Transaction:018f0000-0000-7000-8000-000000000001';
    expect(errorText(new Error(`${id} is gone`))).toBe(`${id} is gone`);
    expect(errorText(new Error('x'.repeat(1_000)))).toHaveLength(300);
    expect(errorText(new Error('a\u0000b'))).toBe('a b');
    expect(errorText({ code: 'ECONNREFUSED' })).toBe('ECONNREFUSED');
  });
});
