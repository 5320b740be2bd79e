// The cost of a page of events does not depend on the number of events, because each statement
// reads a range of the index. RAILHEAD_PLANNED_EVENTS sets the number of events.
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type CheckPlan,
  createPlanner,
  idSql,
  uuid,
} from '../../../../test/kit/app/query-plans.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { HEADS } from './heads.ts';
import { BOUNDARY, countSql, type EventFilter, LOWEST_POSITION, rangeSql } from './store.ts';
import { readSteps } from './walk.ts';

const EVENT_COUNT = Number(process.env.RAILHEAD_PLANNED_EVENTS ?? 100_000);
/** Number of events of one transaction. */
const EVENTS_PER_POSITION = 7;
const HIGHEST_POSITION = BigInt(Math.ceil(EVENT_COUNT / EVENTS_PER_POSITION));
const MIDDLE_POSITION = HIGHEST_POSITION / 2n;
/** Maximum blocks of a page of twenty events, including one block for each event. */
const MAX_PAGE_BLOCKS = 150;

const app = testApp();
let client: pg.Client;
let checkPlan: CheckPlan;
let filter: EventFilter;

const TYPES = `(array['OUTGOING_PAYMENT.PENDING', 'OUTGOING_PAYMENT.COMPLETED',
  'INTERNAL_ACCOUNT.BALANCE_UPDATED'])[1 + n % 3]`;

beforeAll(async () => {
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  filter = { platformId: app.platform.id };
  await client.query(`insert into events
      (id, platform_id, type, subject, data, created_at, position, customer_key)
    select ${idSql('Webhook', 'n')},
      case when n % 1000 = 0 then '${app.other.id}' else '${app.platform.id}' end,
      case when n % 20000 = 1 then 'CARD.STATE_CHANGE' else ${TYPES} end,
      ${idSql('Transaction', 'n / 3')}, '{}', to_timestamp(1790000000 + n), n / ${EVENTS_PER_POSITION},
      n % 32768
    from generate_series(1, ${EVENT_COUNT}) n`);
  await client.query('vacuum analyze events');
  // The planner prefers sequential scans, because the other tables are almost empty.
  await client.query('set enable_seqscan = off');
  checkPlan = createPlanner(client);
}, 120_000);

afterAll(() => client?.end());

it.each(['asc', 'desc'] as const)(
  'rangeSql reads the range of a page in order %s',
  async (order) => {
    const range = { order, low: LOWEST_POSITION, high: HIGHEST_POSITION, limit: 21 };
    for (const platformId of [app.platform.id, app.other.id, 'none']) {
      for (const position of [LOWEST_POSITION, MIDDLE_POSITION, HIGHEST_POSITION]) {
        const from = { position, id: '' };
        await checkPlan(rangeSql({ platformId }, { ...range, from }), MAX_PAGE_BLOCKS);
        const boundedFilter = {
          platformId,
          createdAfter: 1_790_000_000_000,
          createdBefore: 1_990_000_000_000,
        };
        await checkPlan(rangeSql(boundedFilter, { ...range, from }), MAX_PAGE_BLOCKS);
      }
    }
  },
);

it('countSql reads the range of the index', async () => {
  const query = { ...filter, createdAfter: 1_790_000_000_000, createdBefore: 1_990_000_000_000 };
  const range = { low: MIDDLE_POSITION, high: MIDDLE_POSITION + 10n };
  await checkPlan(countSql(query, range, 100), MAX_PAGE_BLOCKS);
  await checkPlan(
    countSql({ ...query, types: ['CARD.STATE_CHANGE'] }, range, 100),
    MAX_PAGE_BLOCKS,
  );
  await checkPlan(
    countSql(query, { low: LOWEST_POSITION, high: HIGHEST_POSITION }, 50),
    MAX_PAGE_BLOCKS,
  );
});

it('BOUNDARY finds a time by binary search', async () => {
  for (const platformId of [app.platform.id, app.other.id, 'none']) {
    const time = new Date(1_790_000_000_000 + EVENT_COUNT * 500);
    await checkPlan(
      { text: BOUNDARY, values: [platformId, HIGHEST_POSITION, time] },
      MAX_PAGE_BLOCKS,
    );
  }
});

it.each<[string, Partial<EventFilter>]>([
  ['types', { types: ['CARD.STATE_CHANGE'] }],
  ['a resource', { resourceId: `Transaction:${uuid(77)}` }],
  ['a customer', { customerKey: 77 }],
  ['all fields', { types: ['CARD.STATE_CHANGE'], resourceId: 'x', customerKey: 77 }],
])('rangeSql reads entries of the index for a filter by %s', async (_, filters) => {
  const from = { position: MIDDLE_POSITION, id: '' };
  const range = {
    order: 'asc' as const,
    low: MIDDLE_POSITION,
    high: MIDDLE_POSITION + 1_000n,
    from,
    limit: 21,
  };
  await checkPlan(rangeSql({ ...filter, ...filters }, range), MAX_PAGE_BLOCKS);
});

it.each(['asc', 'desc'] as const)(
  'readSteps finds all events that a filter matches in order %s',
  async (order) => {
    const start = order === 'asc' ? LOWEST_POSITION : HIGHEST_POSITION;
    const range = { order, low: LOWEST_POSITION, high: HIGHEST_POSITION, limit: 100 };
    const ids: string[] = [];
    let from = { position: start, id: '' };
    for (;;) {
      const page = await readSteps(
        app.runtime.db,
        { ...filter, types: ['CARD.STATE_CHANGE'] },
        { ...range, from },
      );
      ids.push(...page.rows.map((row) => row.id));
      if (!page.hasMore) break;
      from = page.end;
    }
    expect(ids).toHaveLength(Math.ceil(EVENT_COUNT / 20_000));
  },
);

it('HEADS reads the events of all platforms after a position', async () => {
  for (const position of [MIDDLE_POSITION, HIGHEST_POSITION]) {
    const platformIds = [app.platform.id, app.other.id, app.unregulated.id, app.production.id];
    await checkPlan(
      { text: HEADS, values: [platformIds, position, '', HIGHEST_POSITION, 21] },
      2 * MAX_PAGE_BLOCKS,
    );
  }
});
