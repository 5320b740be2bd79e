// Reads that share rows are listed, filtered and found like requests with separate rows, for any writing
// process.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runSeed } from '../../../../test/kit/app/effects.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import type { Effects } from '../../../kernel/effects.ts';
import { connectLane } from '../../../runtime/db/lane.ts';
import { createLog } from '../../../runtime/observability/log.ts';
import type { CompletedRequest } from '../../../runtime/observability/request-record.ts';
import { platformOfRequest, readRequest } from './lookup.ts';
import { pageOfRequests } from './pages.ts';
import type { RequestSelection } from './present.ts';
import { createRequestRecorder } from './recorder.ts';

const app = testApp();
const START = Date.UTC(2026, 0, 1);
const TOKENS = ['Token:1', 'Token:2'];
const OPERATIONS = ['getPlatformConfig', 'listCustomers', 'createToken'];
const silentLog = createLog({ now: Date.now } as Effects, 'silent', () => undefined);

let sequence = 0;
/** An ID that contains its time, like an `X-Request-Id`. */
function idAt(time: number): string {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${String(++sequence).padStart(12, '0')}`;
}

interface RequestSpec {
  operation: number;
  token: number;
  /** Milliseconds after the start. */
  atMs: number;
  status: number;
  process: number;
}

function requestOf(
  { operation, token, atMs, status }: RequestSpec,
  platformId: string,
  start = START,
) {
  const operationId = OPERATIONS[operation] as string;
  const testedOperation = app.operations.find((each) => each.contract.operationId === operationId);
  const { contract } = testedOperation as NonNullable<typeof testedOperation>;
  const createdAt = start + atMs;
  const record = {
    ...{ requestId: idAt(createdAt), createdAt, platformId, operationId, status, ms: 1.5 },
    ...{ method: contract.method, path: contract.path, callerType: 'TOKEN' as const },
    ...{ tokenId: TOKENS[token], tokenName: 'Main', address: '127.0.0.1', isReplayed: false },
    ...{ errorCode: status < 400 ? undefined : 'NOT_FOUND', agentId: undefined },
    ...{ idempotencyKeyHash: undefined, resourceId: undefined },
  };
  const caller = { platformId, environment: 'production', tokenId: null, permissions: [] } as const;
  const request: CompletedRequest = {
    ...{ record, contract, caller, params: {}, query: {}, body: undefined, reply: {} },
  };
  return request;
}

const requestArbitrary = fc.record({
  operation: fc.nat(2),
  token: fc.nat(1),
  atMs: fc.oneof(fc.nat(60_000), fc.nat(3)),
  status: fc.constantFrom(200, 200, 200, 404),
  process: fc.nat(1),
});

const SELECTIONS: RequestSelection[] = [
  {},
  { operationId: 'listCustomers' },
  { tokenId: TOKENS[1] },
  { status: 200 },
  { status: 404 },
  { statusClass: '2xx' },
  { statusClass: '4xx' },
  { replayed: false },
  { replayed: true },
  { errorCode: 'NOT_FOUND' },
  { createdAfter: new Date(START + 2).toISOString() },
  { createdBefore: new Date(START + 20_000).toISOString(), operationId: 'getPlatformConfig' },
];

function matches({ record }: CompletedRequest, query: RequestSelection): boolean {
  const { operationId, tokenId, status, statusClass, errorCode, replayed } = query;
  const { createdAfter, createdBefore } = query;
  return (
    (operationId === undefined || record.operationId === operationId) &&
    (tokenId === undefined || record.tokenId === tokenId) &&
    (status === undefined || record.status === status) &&
    (statusClass === undefined || `${Math.floor(record.status / 100)}xx` === statusClass) &&
    (errorCode === undefined || record.errorCode === errorCode) &&
    (replayed === undefined || record.isReplayed === replayed) &&
    (createdAfter === undefined || record.createdAt >= Date.parse(createdAfter)) &&
    (createdBefore === undefined || record.createdAt <= Date.parse(createdBefore))
  );
}

async function listIds(platformId: string, selection: RequestSelection, sort: 'asc' | 'desc') {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const options = { sort, limit: 7, cursor, now: START + 120_000 };
    const page = await pageOfRequests(app.runtime.db, platformId, selection, options);
    ids.push(...page.rows.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor);
  return ids;
}

it('reads are listed in order, once, with every filter', async () => {
  let run = 0;
  const checkRequests = async (specs: RequestSpec[]) => {
    const platformId = `Platform:${++run}`;
    const requests = specs.map((each) => requestOf(each, platformId));
    const recorders = [0, 1].map(() =>
      createRequestRecorder({
        connect: () => connectLane(app.databaseUrl),
        now: app.effects.now,
        log: silentLog,
      }),
    );
    for (const [index, { process }] of specs.entries()) {
      recorders[process]?.add(requests[index] as CompletedRequest);
      if (index % 20 === 19) await Promise.all(recorders.map((each) => each.flush()));
    }
    for (const each of recorders) await each.close();
    for (const selection of SELECTIONS) {
      const expectedIds = requests
        .filter((each) => matches(each, selection))
        .map(({ record }) => record.requestId)
        .sort();
      expect(await listIds(platformId, selection, 'asc')).toEqual(expectedIds);
      expect(await listIds(platformId, selection, 'desc')).toEqual(expectedIds.reverse());
    }
    for (const { record } of requests) {
      const request = await readRequest(app.runtime.db, platformId, record.requestId);
      expect(request?.row).toMatchObject({
        ...{ id: record.requestId, created_at: record.createdAt, path: record.path },
        ...{ operation_id: record.operationId, status: record.status, duration_us: 1_500 },
        ...{ token_id: record.tokenId, token_name: 'Main', address: '127.0.0.1' },
      });
    }
  };
  const sizes = { minLength: 1, maxLength: 120 };
  await fc.assert(fc.asyncProperty(fc.array(requestArbitrary, sizes), checkRequests), {
    numRuns: 12,
    seed: Number(runSeed()),
    endOnFailure: true,
  });
}, 120_000);

it('reads share a row, and the ID of a read identifies its platform', async () => {
  const platformId = app.platform.id;
  const start = app.effects.now();
  const recorder = createRequestRecorder({
    connect: () => connectLane(app.databaseUrl),
    now: app.effects.now,
    log: silentLog,
  });
  const requests = Array.from({ length: 400 }, (_, index) =>
    requestOf(
      { operation: index % 2, token: 0, atMs: index, status: 200, process: 0 },
      platformId,
      start,
    ),
  );
  for (const each of requests) recorder.add(each);
  await recorder.close();
  const rows = await app.runtime.db.query(
    'select 1 from api_request_reads where platform_id = $1 and last_at = $2',
    [platformId, new Date(start + 399)],
  );
  expect(rows).toHaveLength(1);
  for (const { record } of requests.slice(0, 3)) {
    expect(await platformOfRequest(app.runtime.db, record.requestId)).toBe(platformId);
  }
  expect(await platformOfRequest(app.runtime.db, idAt(start))).toBeUndefined();
});

it('reads fill rows of at most 500 entries', async () => {
  const platformId = 'Platform:rows';
  const recorder = createRequestRecorder({
    connect: () => connectLane(app.databaseUrl),
    now: app.effects.now,
    log: silentLog,
  });
  for (let index = 0; index < 1_100; index++) {
    recorder.add(
      requestOf({ operation: 0, token: 0, atMs: index, status: 200, process: 0 }, platformId),
    );
  }
  await recorder.close();
  const rows = await app.runtime.db.query(
    'select length(entries) / 22 as count from api_request_reads where platform_id = $1 order by 1',
    [platformId],
  );
  expect(rows).toEqual([{ count: 100 }, { count: 500 }, { count: 500 }]);
  expect(await listIds(platformId, {}, 'asc')).toHaveLength(1_100);
});
