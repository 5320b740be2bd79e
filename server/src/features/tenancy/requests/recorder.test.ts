// The recorder with a database that is slow, unavailable or rejects rows: delays of requests, use of memory,
// and the count of dropped records.
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import type { Effects } from '../../../kernel/effects.ts';
import { newId, uuid7 } from '../../../kernel/id.ts';
import { connectLane } from '../../../runtime/db/lane.ts';
import { createLog } from '../../../runtime/observability/log.ts';
import type { CompletedRequest } from '../../../runtime/observability/request-record.ts';
import { createRequestRecorder } from './recorder.ts';

const app = testApp();
let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
});
afterAll(() => client.end());

const silentLog = createLog({ now: Date.now } as Effects, 'silent', () => undefined);

function completedRequest(platformId: string, tokenName = 'Main'): CompletedRequest {
  const { contract } = app.operations.find(
    (each) => each.contract.operationId === 'createToken',
  ) as (typeof app.operations)[number];
  const requestId = uuid7(app.effects);
  const record = {
    ...{ requestId, platformId, tokenName, operationId: 'createToken', method: 'POST' },
    ...{ createdAt: app.effects.now(), path: '/tokens', status: 201, ms: 1.5 },
    ...{ callerType: 'TOKEN' as const, tokenId: newId(app.effects, 'Token'), isReplayed: false },
    ...{ errorCode: undefined, agentId: undefined, address: undefined },
    ...{ idempotencyKeyHash: undefined, resourceId: undefined },
  };
  const caller = { platformId, environment: 'sandbox', tokenId: null, permissions: [] } as const;
  return { record, contract, caller, params: {}, query: {}, body: { name: 'x' }, reply: {} };
}

const createRecorder = (overrides: Partial<Parameters<typeof createRequestRecorder>[0]> = {}) =>
  createRequestRecorder({
    connect: () => connectLane(app.databaseUrl),
    now: app.effects.now,
    log: silentLog,
    ...overrides,
  });

async function countRows(platformId: string): Promise<number> {
  const { rows } = await client.query(
    'select count(*)::int as count from api_requests where platform_id = $1',
    [platformId],
  );
  return rows[0].count as number;
}

it('the recorder writes the records of each period, and the remaining records when it closes', async () => {
  const recorder = createRecorder();
  for (let index = 0; index < 1_234; index++) recorder.add(completedRequest('p-1'));
  await expect.poll(() => countRows('p-1'), { timeout: 3_000 }).toBe(1_234);
  recorder.add(completedRequest('p-1'));
  await recorder.close();
  expect(await countRows('p-1')).toBe(1_235);
  expect(recorder.dropped()).toBe(0);
});

it('the recorder drops and counts records beyond the maximum without a database', async () => {
  let isReachable = false;
  const recorder = createRecorder({
    maxBuffered: 100,
    connect: () =>
      isReachable ? connectLane(app.databaseUrl) : Promise.reject(new Error('unreachable')),
  });
  const startedAt = performance.now();
  for (let index = 0; index < 150; index++) recorder.add(completedRequest('p-2'));
  expect(performance.now() - startedAt).toBeLessThan(500);
  expect([recorder.waiting(), recorder.dropped()]).toEqual([100, 50]);
  isReachable = true;
  await expect.poll(() => countRows('p-2'), { timeout: 10_000 }).toBe(100);
  await recorder.close();
});

it('the recorder writes a batch once although its first connection was terminated', async () => {
  const recorder = createRecorder({
    connect: () => connectLane(app.databaseUrl, { name: 'terminated' }),
  });
  recorder.add(completedRequest('p-3'));
  await recorder.flush();
  // The table is locked, so the next batch waits. Then its connection is terminated.
  await client.query('begin; lock table api_requests in share mode');
  for (let index = 0; index < 10; index++) recorder.add(completedRequest('p-3'));
  const pendingFlush = recorder.flush();
  await new Promise((resolve) => setTimeout(resolve, 300));
  await client.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'terminated'",
  );
  await client.query('commit');
  await pendingFlush;
  await expect.poll(() => countRows('p-3'), { timeout: 10_000 }).toBe(11);
  await recorder.close();
  expect(recorder.dropped()).toBe(0);
});

it('the recorder drops rows that the database rejects, and continues', async () => {
  const recorder = createRecorder();
  recorder.add(completedRequest('p-4', 'a\0b'));
  await recorder.flush();
  recorder.add(completedRequest('p-4'));
  await recorder.close();
  expect([await countRows('p-4'), recorder.dropped()]).toEqual([1, 1]);
});
