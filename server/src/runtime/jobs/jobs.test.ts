// The worker against a real database. A slow job delays no other job, and a failing job is retried. A
// job has its effect once with any number of workers.
import { Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { testEvent } from '../../features/tenancy/config/index.ts';
import { defineJob } from '../../kernel/contract/job.ts';
import { createLog } from '../observability/log.ts';
import { createMetrics } from '../observability/metrics.ts';
import { createWorker, type JobHandler } from './jobs.ts';

const app = testApp();
const errorLines: string[] = [];

const caller = () => ({
  platformId: app.platform.id,
  environment: 'sandbox' as const,
  tokenId: null,
  permissions: [],
});

const workerWith = (handlers: JobHandler[]) =>
  createWorker({
    runtime: app.runtime,
    handlers,
    sweeps: [],
    log: createLog(app.effects, 'error', (line) => errorLines.push(line)),
    metrics: createMetrics(),
  });

const emittingHandler = (name: string): JobHandler => ({
  kind: name,
  run: async () => ({
    caller: caller(),
    stage: async (ctx) => ctx.emit(testEvent, `did:${name}`, {}),
  }),
});

const scheduleJobs = (kind: string, times = 1) =>
  app.operate(async (ctx) => {
    for (let index = 0; index < times; index++) ctx.later(defineJob(kind, Type.Object({})), {});
  });

const countRuns = async (name: string) =>
  (await app.events()).filter((each) => each.subject === `did:${name}`).length;

const waitUntil = async (condition: () => Promise<boolean>) => {
  for (let attempts = 0; attempts < 500 && !(await condition()); attempts++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

describe('worker', () => {
  it('runs other jobs during a slow job', async () => {
    let finish: () => void = () => undefined;
    const slowHandler: JobHandler = {
      kind: 'slow',
      run: () =>
        new Promise((resolve) => {
          finish = () => resolve({ caller: caller(), stage: async () => undefined });
        }),
    };
    const worker = workerWith([slowHandler, emittingHandler('quick')]);
    await scheduleJobs('slow');
    worker.start();
    await waitUntil(
      async () =>
        (await app.runtime.db.query('select 1 from jobs where attempts > 0', [])).length > 0,
    );
    await scheduleJobs('quick', 3);
    worker.wake();
    await waitUntil(async () => (await countRuns('quick')) === 3);
    expect(await countRuns('quick')).toBe(3);
    finish();
    await worker.stop();
    expect(await app.runtime.db.query('select id from jobs', [])).toEqual([]);
  });

  it('retries a failing job later and logs the failure', async () => {
    let runCount = 0;
    const failingTwiceHandler: JobHandler = {
      kind: 'flaky',
      run: async (runtime, job) => {
        runCount += 1;
        if (runCount < 3) throw new Error('not yet');
        return emittingHandler('flaky').run(runtime, job);
      },
    };
    const worker = workerWith([failingTwiceHandler]);
    await scheduleJobs('flaky');
    expect(await worker.runDue()).toBe(1);
    expect(await worker.runDue()).toBe(0);
    app.effects.set(app.effects.now() + 2_000);
    expect(await worker.runDue()).toBe(1);
    app.effects.set(app.effects.now() + 4_000);
    expect(await worker.runDue()).toBe(1);
    expect([runCount, await countRuns('flaky')]).toEqual([3, 1]);
    // The second failure of the same second is only counted.
    expect(errorLines.filter((line) => line.includes('not yet'))).toHaveLength(1);
  });

  it('runs jobs of the kind of an earlier release', async () => {
    const worker = workerWith([emittingHandler('cards.funding-debit')]);
    await scheduleJobs('cards.pull');
    await scheduleJobs('cards.funding-debit');
    expect(await worker.runDue()).toBe(2);
    expect(await countRuns('cards.funding-debit')).toBe(2);
    expect(worker.kinds).toEqual(['cards.funding-debit', 'cards.pull']);
  });

  it('assigns a job to one of many workers', async () => {
    const workers = Array.from({ length: 4 }, () => workerWith([emittingHandler('shared')]));
    await scheduleJobs('shared', 40);
    while (
      (await Promise.all(workers.map((worker) => worker.runDue()))).some((count) => count > 0)
    );
    expect(await countRuns('shared')).toBe(40);
  });

  it('applies once the result of a job whose lease expired', async () => {
    const releases: (() => void)[] = [];
    const hangingHandler: JobHandler = {
      kind: 'stuck',
      run: async (runtime, job) => {
        await new Promise<void>((resolve) => releases.push(resolve));
        return emittingHandler('stuck').run(runtime, job);
      },
    };
    const [firstWorker, secondWorker] = [
      workerWith([hangingHandler]),
      workerWith([hangingHandler]),
    ];
    await scheduleJobs('stuck');
    const firstRun = firstWorker.runDue();
    await waitUntil(async () => releases.length === 1);
    app.effects.set(app.effects.now() + 60_000);
    const secondRun = secondWorker.runDue();
    await waitUntil(async () => releases.length === 2);
    for (const release of releases) release();
    await Promise.all([firstRun, secondRun]);
    expect(await countRuns('stuck')).toBe(1);
  });

  it('renews the lease of a long job, so that it runs once and waits after a failure', async () => {
    const rejectFunctions: ((error: Error) => void)[] = [];
    const slowHandler: JobHandler = {
      kind: 'long',
      run: () => new Promise((_, reject) => rejectFunctions.push(reject)),
    };
    const worker = workerWith([slowHandler]);
    const readDueInMs = async () => {
      const [row] = await app.runtime.db.query("select due_at from jobs where kind = 'long'", []);
      return Number(row?.due_at) - app.effects.now();
    };
    await scheduleJobs('long');
    worker.start();
    await waitUntil(async () => rejectFunctions.length === 1);
    for (let step = 0; step < 3; step++) {
      app.effects.set(app.effects.now() + 15_000);
      await waitUntil(async () => (await readDueInMs()) === 20_000);
    }
    expect(rejectFunctions).toHaveLength(1);
    rejectFunctions[0]?.(new Error('too slow'));
    await worker.stop();
    expect(await readDueInMs()).toBe(2_000);
    await app.runtime.db.query('delete from jobs', []);
  });
});
