// PROCESSING replies: their number, and single execution of the work, even without a retry or after a
// rejection.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSecondProcess } from '../../../../test/kit/app/second-process.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { stampWith } from '../../../../test/kit/wallets/embedded-wallets.ts';
import {
  createMarksTable,
  insertMark,
  type SignedTestOperation,
  signedTestOperation,
} from '../../../../test/kit/wallets/signed-operation.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Worker } from '../../../runtime/jobs/jobs.ts';
import { createWorker } from '../../../runtime/jobs/jobs.ts';
import { createLog } from '../../../runtime/observability/log.ts';
import { createMetrics } from '../../../runtime/observability/metrics.ts';
import { platforms } from '../../tenancy/platform/store.ts';
import { walletAuthorizations } from '../store.ts';
import { simulateProcessing } from './processing.ts';
import { type Steps, settleJobs } from './signed.ts';

const PROCESSING = {
  status: 200,
  body: { status: 'PROCESSING', message: expect.any(String) },
};

const app = testApp();
beforeAll(async () => {
  await createMarksTable(app);
});

const setPolls = (polls: number, platform = app.platform) =>
  app.operate(async (ctx) => {
    const row = await ctx.read(platforms, platform.id);
    if (row) ctx.update(platforms, row, { wallet_polls: polls });
  }, platform);
beforeEach(async () => {
  // The operation is not registered with the server's own worker, which would postpone its jobs.
  await app.runtime.db.query("delete from jobs where kind = 'wallets.settle'", []);
  await setPolls(2);
});

/** A worker for the operation, which is not registered with the server's own worker. */
function workerFor({ operation }: SignedTestOperation, logLines: string[] = []): Worker {
  return createWorker({
    runtime: app.runtime,
    handlers: settleJobs([operation]),
    sweeps: [],
    log: createLog(app.effects, 'error', (line) => logLines.push(line)),
    metrics: createMetrics(),
  });
}

async function createOperation(steps: Partial<Steps<never>>) {
  const testOperation = await signedTestOperation(app, { steps: steps as object });
  const headers = await testOperation.signRequest(await testOperation.openSession());
  const send = () => testOperation.call({ headers });
  return { testOperation, headers, send };
}

const advanceClock = (ms: number) => app.effects.set(app.effects.now() + ms);
const countJobs = async (): Promise<number> => {
  const [row] = await app.runtime.db.query(
    "select count(*)::int as count from jobs where kind = 'wallets.settle'",
    [],
  );
  return row?.count as number;
};

describe.each(['background', 'onRetry'] as const)(
  'an operation with completion %s',
  (completion) => {
    it('returns PROCESSING as often as configured and then completes', async () => {
      const { testOperation, send, headers } = await createOperation({ completion });
      expect([await send(), await send()]).toEqual([PROCESSING, PROCESSING]);
      expect(await testOperation.countMarks()).toBe(0);
      expect(await send()).toMatchObject({ status: 201, body: { done: testOperation.resourceId } });
      expect(await testOperation.countMarks()).toBe(1);
      expect(await send()).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
      const filter = { account_id: testOperation.accountId };
      expect(await app.runtime.db.find(walletAuthorizations, filter)).toHaveLength(1);
      expect(await testOperation.readRequest(headers)).toMatchObject({
        status: 'DONE',
        polls: 0,
        reply: null,
      });
      await workerFor(testOperation).runDue();
      expect(await testOperation.countMarks()).toBe(1);
    });

    it('continues for the same request only', async () => {
      const { testOperation, send, headers } = await createOperation({ completion });
      await send();
      const keys = await testOperation.openSession();
      const otherStamp = await stampWith(keys.privateKey, 'anything');
      const rejectedReply = await testOperation.call({
        headers: { ...headers, 'service-wallet-signature': otherStamp },
      });
      expect(rejectedReply).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
      const body = { accountId: testOperation.accountId, note: 'another' };
      const mismatch = { status: 401, body: { code: 'WALLET_SIGNATURE_BODY_MISMATCH' } };
      expect(await testOperation.call({ headers, body })).toMatchObject(mismatch);
      expect(await testOperation.readRequest(headers)).toMatchObject({ polls: 1, wrong: 0 });
      expect(await send()).toEqual(PROCESSING);
      expect(await send()).toMatchObject({ status: 201 });
    });

    it('continues after the session and the request have expired', async () => {
      const testOperation = await signedTestOperation(app, { steps: { completion } });
      const keys = await testOperation.openSession();
      const headers = await testOperation.signRequest(keys);
      expect(await testOperation.call({ headers })).toEqual(PROCESSING);
      await keys.end();
      advanceClock(30 * 60_000);
      expect(await testOperation.call({ headers })).toEqual(PROCESSING);
      expect(await testOperation.call({ headers })).toMatchObject({ status: 201 });
      const expiredOperation = await createOperation({ completion });
      await expiredOperation.send();
      advanceClock(65 * 60_000);
      expect(await expiredOperation.send()).toMatchObject({ status: 401 });
    });

    it('executes once under concurrent requests', async () => {
      const { testOperation, headers } = await createOperation({ completion });
      const secondRuntime = openSecondProcess(app);
      const responses = await Promise.all(
        [0, 1, 2, 3, 4, 5].map((index) =>
          testOperation.call({ headers, runtime: index % 2 ? secondRuntime : app.runtime }),
        ),
      );
      expect(responses.map(({ status }) => status).toSorted()).toEqual([
        200, 200, 201, 401, 401, 401,
      ]);
      expect(await testOperation.countMarks()).toBe(1);
      await secondRuntime.close();
    });

    it('completes immediately in production with any setting', async () => {
      await setPolls(3, app.production);
      const testOperation = await signedTestOperation(app, {
        platform: app.production,
        steps: { completion },
      });
      const headers = await testOperation.signRequest(await testOperation.openSession());
      expect(await testOperation.call({ headers })).toMatchObject({ status: 201 });
    });

    it('returns the rejection each time', async () => {
      const perform = async () => {
        throw new Fault('CONFLICT', 'The operation is not possible.');
      };
      const { testOperation, send } = await createOperation({ completion, perform });
      expect([await send(), await send()]).toEqual([PROCESSING, PROCESSING]);
      for (const response of [await send(), await send()]) {
        expect(response).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
      }
      expect(await testOperation.countMarks()).toBe(0);
    });
  },
);

describe('an operation with background completion', () => {
  it('completes after five seconds without a retry and returns its result once', async () => {
    const { testOperation, send, headers } = await createOperation({ completion: 'background' });
    const logLines: string[] = [];
    const worker = workerFor(testOperation, logLines);
    await send();
    advanceClock(4_999);
    await worker.runDue();
    expect(await testOperation.countMarks()).toBe(0);
    advanceClock(1);
    await worker.runDue();
    expect([logLines, await testOperation.countMarks(), await countJobs()]).toEqual([[], 1, 0]);
    const row = await testOperation.readRequest(headers);
    expect(row.status).toBe('SETTLED');
    expect(row.reply).not.toContain(testOperation.resourceId);
    expect(await send()).toEqual(PROCESSING);
    expect(await send()).toMatchObject({ status: 201, body: { done: testOperation.resourceId } });
    expect(await send()).toMatchObject({ status: 401 });
    expect(await testOperation.countMarks()).toBe(1);
    expect(await testOperation.readRequest(headers)).toMatchObject({ status: 'DONE', reply: null });
  });

  it('is executed once by a job and concurrent retries', async () => {
    const requestedOperation = await createOperation({ completion: 'background' });
    await requestedOperation.send();
    advanceClock(5_000);
    const [worker, send] = [workerFor(requestedOperation.testOperation), requestedOperation.send];
    await Promise.all([worker.runDue(), send(), send(), send()]);
    expect([await requestedOperation.testOperation.countMarks(), await countJobs()]).toEqual([
      1, 0,
    ]);
  });

  it('returns a rejection on the next retry and runs once', async () => {
    let isRejected = true;
    const { testOperation, send, headers } = await createOperation({
      completion: 'background',
      async perform(ctx: Parameters<typeof insertMark>[0]) {
        insertMark(ctx, testOperation.resourceId);
        if (isRejected) throw new Fault('CONFLICT', 'The operation is not possible.');
        return { status: 201, body: {} };
      },
    } as never);
    const logLines: string[] = [];
    await send();
    advanceClock(5_000);
    await workerFor(testOperation, logLines).runDue();
    expect([await testOperation.countMarks(), await countJobs(), logLines]).toEqual([0, 0, []]);
    expect((await testOperation.readRequest(headers)).status).toBe('PROCESSING');
    expect(await send()).toEqual(PROCESSING);
    expect(await send()).toMatchObject({ status: 409 });
    isRejected = false;
    expect(await send()).toMatchObject({ status: 201 });
    expect(await testOperation.countMarks()).toBe(1);
  });

  it('is retried after transient errors', async () => {
    let attempts = 0;
    const { testOperation, send } = await createOperation({
      completion: 'background',
      async perform(ctx: Parameters<typeof insertMark>[0]) {
        if (++attempts === 1)
          throw new Fault('SERVICE_UNAVAILABLE', 'The provider does not respond. Retry later.');
        insertMark(ctx, testOperation.resourceId);
        return { status: 201, body: {} };
      },
    } as never);
    const worker = workerFor(testOperation);
    await send();
    advanceClock(5_000);
    await worker.runDue();
    expect([await testOperation.countMarks(), await countJobs()]).toEqual([0, 1]);
    advanceClock(60_000);
    await worker.runDue();
    expect([await testOperation.countMarks(), await countJobs()]).toEqual([1, 0]);
  });
});

describe('an operation whose result is fetched by a retry', () => {
  it('never completes without a retry', async () => {
    const { testOperation, send } = await createOperation({ completion: 'onRetry' });
    await send();
    expect(await countJobs()).toBe(0);
    advanceClock(60_000);
    await workerFor(testOperation).runDue();
    expect(await testOperation.countMarks()).toBe(0);
    await send();
    expect(await send()).toMatchObject({ status: 201 });
  });
});

describe('requests without a signature', () => {
  const simulate = (id: string, platform = app.platform) =>
    app.operate((ctx) => simulateProcessing(ctx, { connectors: app.connectorsOf }, id), platform);

  it('return PROCESSING as often as configured, then complete and restart the count', async () => {
    const processingFlags = [];
    for (let index = 0; index < 6; index++)
      processingFlags.push((await simulate('A')) !== undefined);
    expect(processingFlags).toEqual([true, true, false, true, true, false]);
    expect(await simulate('B')).toEqual(PROCESSING);
  });

  it('complete immediately without the setting and in production', async () => {
    await setPolls(0);
    expect(await simulate('C')).toBeUndefined();
    await setPolls(3, app.production);
    expect(await simulate('C', app.production)).toBeUndefined();
  });

  it('complete immediately if the setting was lowered', async () => {
    await simulate('D');
    await simulate('D');
    await setPolls(1);
    expect(await simulate('D')).toBeUndefined();
    expect(await simulate('D')).toEqual(PROCESSING);
  });
});
