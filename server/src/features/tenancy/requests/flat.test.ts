// The cost of a list of requests does not depend on the number of rows, the position of the page or the
// filter. The tests check PostgreSQL's plans on half a million rows.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlanner } from '../../../../test/kit/app/query-plans.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { cursorOf, pageSql } from '../../../runtime/db/paging.ts';
import { stepSql } from '../../../runtime/db/steps.ts';
import { headsSql, ownSteps } from './all-platforms.ts';
import { OWNER } from './lookup.ts';
import { pageOfRequests } from './pages.ts';
import { type RequestSelection, requestFilters } from './present.ts';
import { apiRequests, hashOf } from './store.ts';

const app = testApp();
const ROWS = 500_000;
/** Maximum blocks for a page of twenty rows, with one descent of the index for each status. */
const MAX_PAGE_BLOCKS = 250;
/** Maximum blocks for a period of an hour, which has 135,000 entries in the index. */
const MAX_PERIOD_BLOCKS = 5_000;
const HOUR_MS = 3_600_000;

let client: pg.Client;
const TOKEN = 'Token:00000000-0000-7000-8000-000000000002';
const RARE_TOKEN = 'Token:00000000-0000-7000-8000-000000000001';
const RESOURCE = 'Quote:00000000-0000-7000-8000-000000000077';
const START = Date.UTC(2026, 0, 1);

beforeAll(async () => {
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  await client.query(`insert into api_requests (id, platform_id, created_at, operation_id, method, path,
      status, failed_status, error_code, duration_us, caller_type, token_id, token_name, replayed,
      resource_id, operation_hash, token_hash)
    select lpad(to_hex(${START} + n * 20), 12, '0') || '-7000-8000-' || lpad(n::text, 12, '0'),
      case when n % 4 = 0 then '${app.other.id}' else '${app.platform.id}' end,
      to_timestamp((${START} + n * 20) / 1000.0),
      case when n % 50000 = 1 then 'deleteTokenById' when n % 2 = 0 then 'getQuoteById'
        else 'createQuote' end,
      'GET', '/x', s.status, case when s.status >= 400 then s.status end,
      case when n % 50000 = 3 then 'CONFLICT' when s.status = 404 then 'NOT_FOUND' end,
      1000, 'TOKEN', case when n % 100000 = 5 then '${RARE_TOKEN}' else '${TOKEN}' end, 'Main',
      case when n % 50000 = 7 then true end,
      case when n % 50000 = 9 then '${RESOURCE}'
        else 'Quote:00000000-0000-7000-8000-' || lpad(n::text, 12, '0') end,
      case when n % 50000 = 1 then ${hashOf('deleteTokenById')}
        when n % 2 = 0 then ${hashOf('getQuoteById')} else ${hashOf('createQuote')} end,
      case when n % 100000 = 5 then ${hashOf(RARE_TOKEN)} else ${hashOf(TOKEN)} end
    from generate_series(1, ${ROWS}) n
      cross join lateral (select case when n % 50000 = 3 then 409 when n % 50000 = 11 then 503
        when n % 10 = 1 then 404 when n % 2 = 0 then 200 else 201 end as status) s`);
  await client.query('vacuum analyze api_requests');
}, 120_000);
afterAll(() => client.end());

const isoAt = (n: number) => new Date(START + n * 20).toISOString();
const middleCursor = cursorOf({ created_at: START + (ROWS / 2) * 20, id: '0' });

/** Filters that read a page of an index. */
const INDEXED_SELECTIONS: RequestSelection[] = [
  {},
  { status: 404 },
  { status: 409 },
  { status: 503 },
  { status: 418 },
  { statusClass: '4xx' },
  { statusClass: '5xx' },
  { errorCode: 'NOT_FOUND' },
  { errorCode: 'CONFLICT' },
  { errorCode: 'INVALID_INPUT' },
  { resourceId: RESOURCE },
  { replayed: true },
  { replayed: false },
  { createdAfter: isoAt(ROWS / 3), createdBefore: isoAt(ROWS / 2) },
  { statusClass: '4xx', createdBefore: isoAt(ROWS / 3) },
];
/** Filters that skip entries of an index and match few requests, with the number of matches. */
const RARE_SELECTIONS: [RequestSelection, number][] = [
  [{ operationId: 'deleteTokenById' }, 10],
  [{ operationId: 'listCards' }, 0],
  [{ tokenId: RARE_TOKEN }, 5],
  [{ tokenId: RARE_TOKEN, operationId: 'createQuote', status: 201 }, 5],
];
const PERIOD_SELECTIONS: RequestSelection[] = [
  ...RARE_SELECTIONS.map(([query]) => query),
  { operationId: 'getQuoteById' },
  { status: 200 },
  { statusClass: '2xx' },
  { tokenId: TOKEN },
];

it.each(INDEXED_SELECTIONS)('%j reads a range of an index', async (query) => {
  const check = createPlanner(client);
  // Prepared statements are planned without their values after a few runs.
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`set plan_cache_mode = ${mode}`);
    for (const sort of ['asc', 'desc'] as const) {
      for (const cursor of [undefined, middleCursor]) {
        const filters = requestFilters(app.platform.id, query);
        await check(pageSql(apiRequests, { filters, sort, limit: 20, cursor }), MAX_PAGE_BLOCKS);
      }
    }
  }
});

it.each(PERIOD_SELECTIONS)('%j reads entries of the index of a period', async (query) => {
  const check = createPlanner(client);
  const from = START + 2 * HOUR_MS - HOUR_MS / 2;
  const filters = [
    ...requestFilters(app.platform.id, query),
    { column: 'created_at' as const, op: '>=' as const, value: from },
    { column: 'created_at' as const, op: '<=' as const, value: from + HOUR_MS },
  ];
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`set plan_cache_mode = ${mode}`);
    for (const sort of ['asc', 'desc'] as const) {
      await check(pageSql(apiRequests, { filters, sort, limit: 20 }), MAX_PERIOD_BLOCKS);
    }
  }
});

it.each(RARE_SELECTIONS)('%j finds all matches, in order', async (query, count) => {
  const { db } = app.runtime;
  for (const sort of ['asc', 'desc'] as const) {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const options = { sort, limit: 1_000, cursor, now: START + ROWS * 20 };
      const page = await pageOfRequests(db, app.platform.id, query, options);
      ids.push(...page.rows.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor);
    const sortedIds = [...new Set(ids)].sort();
    expect(ids).toEqual(sort === 'asc' ? sortedIds : sortedIds.reverse());
    expect(ids).toHaveLength(count);
  }
});

it.each<RequestSelection>([
  {},
  { createdAfter: isoAt(ROWS / 3), createdBefore: isoAt(ROWS / 2) },
  { resourceId: RESOURCE },
  { statusClass: '4xx' },
  { operationId: 'listCards' },
  { tokenId: RARE_TOKEN },
])('%j over all platforms reads a range of an index for a step', async (query) => {
  const check = createPlanner(client);
  const steps = { ...ownSteps(query), limit: 20 };
  const isFiltered = steps.filters.length > 0;
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`set plan_cache_mode = ${mode}`);
    for (const after of [undefined, { created_at: START + (ROWS / 2) * 20, id: '0' }]) {
      const length = isFiltered ? 45 : 21;
      await check(
        stepSql(apiRequests, steps, { resource: '', after, length, limit: 21 }),
        MAX_PAGE_BLOCKS,
      );
    }
  }
});

it('platformOfRequest reads the index by time', async () => {
  const check = createPlanner(client);
  await check({ text: OWNER, values: [new Date(START + 20_000), 'none'] }, 10);
});

describe('successful reads of all platforms', () => {
  const PLATFORMS = 2_000;
  const BATCHES = 100;
  const END = START + BATCHES * 250;

  beforeAll(async () => {
    // A row for each platform and quarter of a second, with requests of the second before.
    await client.query(`insert into api_request_reads
        (platform_id, first_at, last_at, last_id, shapes, entries, operation_hashes, token_hashes)
      select 'PlatformConfig:' || p, to_timestamp((${START} + b * 250 - 1000) / 1000.0),
        to_timestamp((${START} + b * 250) / 1000.0), p || '-' || b, '[]', '\\x',
        array[${hashOf('getQuoteById')}], array[${hashOf(TOKEN)}]
      from generate_series(1, ${BATCHES}) b, generate_series(1, ${PLATFORMS}) p`);
    await client.query('vacuum analyze api_request_reads');
  }, 120_000);

  it.each([
    [undefined, undefined],
    ['listCards', undefined],
    [undefined, RARE_TOKEN],
  ])(
    'read a range of an index for a step of the operation %s and the token %s',
    async (operationId, tokenId) => {
      const check = createPlanner(client);
      const head = { platform_id: '', last_id: '1', matches: true };
      const middleTime = (START + END) / 2;
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        await client.query(`set plan_cache_mode = ${mode}`);
        for (const [until, after] of [
          [Date.UTC(9999, 0), undefined],
          [Date.UTC(9999, 0), { ...head, last_at: middleTime }],
          // The rows of ten seconds may have requests before the position. Only their entries of
          // the index are read.
          [middleTime, undefined],
        ] as const) {
          const step = { from: 0, until, operationId, tokenId, after, length: 10 };
          await check(headsSql(step), MAX_PAGE_BLOCKS + (40 * PLATFORMS * 40) / 8_192);
        }
      }
    },
  );
});
