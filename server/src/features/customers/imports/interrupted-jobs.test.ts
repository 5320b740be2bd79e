// Jobs of an import that are repeated, interrupted or run concurrently. Every row is registered
// exactly once, and requests are not delayed.
import { beforeAll, describe, expect, it } from 'vitest';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  csvFile,
  type ImportHarness,
  importHarness,
  progress,
} from '../../../../test/kit/customers/imports.ts';
import { connectorRegistry } from '../../../connectors/registry.ts';
import { bodyErrors } from '../../../kernel/contract/validate.ts';
import { uuid7 } from '../../../kernel/id.ts';
import { createWorker, type JobHandler } from '../../../runtime/jobs/jobs.ts';
import { createLog } from '../../../runtime/observability/log.ts';
import { createMetrics } from '../../../runtime/observability/metrics.ts';
import { importJobs } from './jobs.ts';
import { customerIdOf } from './rows.ts';

const app = testApp();
let harness: ImportHarness;

beforeAll(async () => {
  harness = await importHarness(app);
});

describe('the import job', () => {
  const createHandler = (overrides: Partial<Parameters<typeof importJobs>[0]> = {}): JobHandler =>
    importJobs({
      connectors: connectorRegistry(app.effects),
      openWallets: async () => undefined,
      files: app.files,
      bodyErrors,
      isUnderLoad: () => false,
      countWrite: () => undefined,
      ...overrides,
    })[0] as JobHandler;

  const jobOf = async (id: string) => {
    const sql = "select id from jobs where kind = 'imports.slice' and input->>'importId' = $1";
    const [row] = await app.runtime.db.query(sql, [id]);
    return {
      id: row?.id as string,
      kind: 'imports.slice',
      platform_id: app.platform.id,
      input: { importId: id },
      due_at: 0,
      clock_due_at: null,
      attempts: 1,
      state: 'running' as const,
      last_error: null,
      failed_at: null,
      version: 1,
    };
  };

  it('registers each row once if a worker crashes before the result is staged', async () => {
    const id = await harness.startImport(
      csvFile(...Array.from({ length: 40 }, (_, index) => harness.personRow(`d-${index}`))),
    );
    const unstagedResult = await createHandler().run(app.runtime, await jobOf(id));
    expect(unstagedResult).toBeDefined(); // The result is never staged.
    expect(await harness.readImport(id)).toMatchObject({
      status: 'PENDING',
      progress: progress(40, 0, 0),
    });
    expect(await harness.findByPlatformId('d-39')).toHaveLength(1);
    await app.settle();
    expect(await harness.readImport(id)).toMatchObject({
      status: 'COMPLETED',
      progress: progress(40, 40, 0),
    });
    const [firstCustomer] = await harness.findByPlatformId('d-0');
    expect(firstCustomer.id).toBe(customerIdOf(id, 1));
    expect(await harness.eventsOf(id)).toHaveLength(1);
    expect(await harness.eventsOf(firstCustomer.id)).toHaveLength(1);
  });

  it('parses at most 16 rows before it yields to requests', async () => {
    const id = await harness.startImport(
      csvFile(...Array.from({ length: 100 }, (_, index) => harness.personRow(`p-${index}`))),
    );
    let [rowCount, maxRowCount, isDone] = [0, 0, false];
    const resetRowCount = () => {
      rowCount = 0;
      if (!isDone) setImmediate(resetRowCount);
    };
    resetRowCount();
    const countedBodyErrors: typeof bodyErrors = (...values) => {
      rowCount += 1;
      maxRowCount = Math.max(maxRowCount, rowCount);
      return bodyErrors(...values);
    };
    await createHandler({ bodyErrors: countedBodyErrors }).run(app.runtime, await jobOf(id));
    isDone = true;
    expect(maxRowCount).toBe(16);
    await app.settle();
    expect(await harness.readImport(id)).toMatchObject({ progress: progress(100, 100, 0) });
  });

  it('resumes after a database outage', async () => {
    const id = await harness.startImport(
      csvFile(...Array.from({ length: 30 }, (_, index) => harness.personRow(`b-${index}`))),
    );
    let remainingCommitCount = 11;
    const failingRuntime = {
      ...app.runtime,
      committer: {
        commit: (set: Parameters<typeof app.runtime.committer.commit>[0]) =>
          remainingCommitCount-- > 0
            ? app.runtime.committer.commit(set)
            : Promise.reject(new Error('no database')),
      },
    };
    await expect(createHandler().run(failingRuntime, await jobOf(id))).rejects.toThrow(
      'no database',
    );
    expect((await harness.readImport(id)).progress).toEqual(progress(30, 0, 0));
    await app.settle();
    expect(await harness.readImport(id)).toMatchObject({
      status: 'COMPLETED',
      progress: progress(30, 30, 0),
    });
  });

  it('reports INTERNAL_ERROR for a row that fails repeatedly', async () => {
    const id = await harness.startImport(
      csvFile(harness.personRow('i-1'), harness.personRow('i-2')),
    );
    const job = { ...(await jobOf(id)), attempts: 10 };
    let isFirstCommit = true;
    const failingRuntime = {
      ...app.runtime,
      committer: {
        commit(set: Parameters<typeof app.runtime.committer.commit>[0]) {
          if (!isFirstCommit) return app.runtime.committer.commit(set);
          isFirstCommit = false;
          return Promise.reject(new Error('broken'));
        },
      },
    };
    const { stage } = await createHandler().run(failingRuntime, job);
    await app.operate(stage);
    const body = await harness.readImport(id);
    expect(body.progress).toEqual(progress(2, 1, 1));
    expect(body.errors[0].code).toBe('INTERNAL_ERROR');
    expect(JSON.stringify(body)).not.toContain('broken');
    await app.settle();
    expect(await harness.eventsOf(id)).toHaveLength(1);
  });

  it('fails after the last read attempt if the file is unreadable', async () => {
    const id = await harness.startImport(
      csvFile(...['g-1', 'g-2', 'g-3'].map((each) => harness.personRow(each))),
    );
    const failingHandler = createHandler({
      files: {
        // biome-ignore lint/correctness/useYield: the generator throws before the first chunk.
        async *read() {
          throw new Error('no such object');
        },
      },
    });
    const job = await jobOf(id);
    await expect(failingHandler.run(app.runtime, { ...job, attempts: 29 })).rejects.toThrow(
      'no such object',
    );
    expect((await harness.readImport(id)).status).toBe('PENDING');
    const { stage } = await failingHandler.run(app.runtime, { ...job, attempts: 30 });
    await app.operate(stage);
    const body = await harness.readImport(id);
    expect(body).toMatchObject({ status: 'FAILED', progress: progress(3, 0, 0) });
    const message = 'The file could not be read from row 1 on. Upload the remaining rows again.';
    expect(body.errors).toMatchObject([{ correlationId: 'file', code: 'INTERNAL_ERROR', message }]);
    expect(await harness.countRows("files where state <> 'GONE'")).toBe(0);
    await app.settle();
    expect(await harness.eventsOf(id)).toMatchObject([{ type: 'BULK_UPLOAD.FAILED', data: body }]);
    expect(await harness.findByPlatformId('g-1')).toEqual([]);
  });

  it('registers each row once with two workers on the same slice', async () => {
    const id = await harness.startImport(
      csvFile(...Array.from({ length: 60 }, (_, index) => harness.personRow(`t-${index}`))),
    );
    const job = await jobOf(id);
    const results = await Promise.all([
      createHandler().run(app.runtime, job),
      createHandler().run(app.runtime, job),
    ]);
    await Promise.all(results.map(({ stage }) => app.operate(stage)));
    await app.settle();
    expect(await harness.readImport(id)).toMatchObject({
      status: 'COMPLETED',
      progress: progress(60, 60, 0),
    });
    expect(await harness.eventsOf(id)).toHaveLength(1);
    expect(await harness.countRows("customers where platform_customer_id like 't-%'")).toBe(60);
  });

  it('completes two imports with two workers', async () => {
    const rows = Array.from({ length: 300 }, (_, index) => harness.personRow(`u-${index}`));
    const ids = [
      await harness.startImport(csvFile(...rows.slice(0, 150))),
      await harness.startImport(csvFile(...rows.slice(150))),
    ];
    const { runtime } = app;
    const log = createLog(app.effects, 'error', () => undefined);
    const options = {
      runtime,
      handlers: [createHandler()],
      sweeps: [],
      log,
      metrics: createMetrics(),
    };
    const workers = [createWorker(options), createWorker(options)];
    await Promise.all(workers.map((each) => each.runDue()));
    await app.settle();
    for (const id of ids)
      expect((await harness.readImport(id)).progress).toEqual(progress(150, 150, 0));
    expect(await harness.countRows("customers where platform_customer_id like 'u-%'")).toBe(300);
  });

  it('reduces its concurrency under load and stops at the time limit', async () => {
    const id = await harness.startImport(
      csvFile(...Array.from({ length: 40 }, (_, index) => harness.personRow(`h-${index}`))),
    );
    let maxRunningCount = 0;
    let runningCount = 0;
    let startedCount = 0;
    const observedRuntime = {
      ...app.runtime,
      committer: {
        async commit(set: Parameters<typeof app.runtime.committer.commit>[0]) {
          maxRunningCount = Math.max(maxRunningCount, ++runningCount);
          if (++startedCount === 20) app.effects.set(app.effects.now() + 5_000);
          const outcome = await app.runtime.committer.commit(set);
          runningCount--;
          return outcome;
        },
      },
    };
    const { stage } = await createHandler({ isUnderLoad: () => true }).run(
      observedRuntime,
      await jobOf(id),
    );
    expect(maxRunningCount).toBeGreaterThan(0);
    expect(maxRunningCount).toBeLessThanOrEqual(8);
    await app.operate(stage);
    const { processed, successful } = (await harness.readImport(id)).progress;
    expect(processed).toBe(successful);
    expect(processed).toBeGreaterThanOrEqual(20);
    expect(processed).toBeLessThan(40);
    await app.settle();
    expect((await harness.readImport(id)).progress).toEqual(progress(40, 40, 0));
  });

  it('postpones imports above the limit of concurrent slices', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 6; index++)
      ids.push(await harness.startImport(csvFile(harness.personRow(`m-${index}`))));
    await app.worker.runDue();
    const statuses = await Promise.all(
      ids.map(async (id) => (await harness.readImport(id)).status),
    );
    expect(statuses.filter((status) => status === 'PENDING')).toHaveLength(2);
    await app.advance(1_000);
    for (const id of ids) expect((await harness.readImport(id)).status).toBe('COMPLETED');
  });

  it('reports every commit of a row', async () => {
    const rows = [
      harness.personRow('w-1'),
      harness.personRow('w-1'),
      harness.personRow('w-3', { country: '??' }),
    ];
    const id = await harness.startImport(csvFile(...rows));
    let writtenCount = 0;
    const count = () => {
      writtenCount++;
    };
    const { stage } = await createHandler({ countWrite: count }).run(app.runtime, await jobOf(id));
    expect(writtenCount).toBe(2); // The invalid row has no change set.
    await app.operate(stage);
    expect((await harness.readImport(id)).progress).toEqual(progress(3, 1, 2));
  });

  it('generates IDs in the order of the rows', () => {
    const id = `BulkCustomerImportJob:${uuid7(app.effects)}`;
    const ids = Array.from({ length: 50_000 }, (_, index) => customerIdOf(id, index + 1));
    expect(new Set(ids).size).toBe(50_000);
    const sampledIds = ids.filter((_, index) => index % 16 === 15);
    expect(sampledIds).toEqual([...sampledIds].sort());
    for (const each of ids.slice(0, 100)) {
      expect(each).toMatch(
        /^Customer:[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
    }
  });
});
