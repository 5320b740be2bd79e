// The cost of a page of deliveries does not depend on the number of deliveries, because each
// statement reads a range of an index. RAILHEAD_PLANNED_DELIVERIES sets the number of events.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CheckPlan,
  createPlanner,
  idSql,
  uuid,
} from '../../../../test/kit/app/query-plans.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { allCandidatesSql, MAX_QUEUES, pageOfAllDeliveries, QUEUES } from './all-platforms.ts';
import { keyOf, pageOfDeliveries } from './list.ts';
import type { DeliveryKey } from './position.ts';
import {
  candidatesSql,
  countUndelivered,
  type DeliveryFilter,
  type DeliveryStatus,
  detailsSql,
} from './store.ts';

const EVENT_COUNT = Number(process.env.RAILHEAD_PLANNED_DELIVERIES ?? 30_000);
/** Maximum blocks of a step of twenty deliveries of two endpoints. */
const MAX_STEP_BLOCKS = 400;

const app = testApp();
let client: pg.Client;
let checkPlan: CheckPlan;
let filter: DeliveryFilter;
const middleKey: DeliveryKey = { eventId: `Webhook:${uuid(EVENT_COUNT / 2)}`, endpoint: 0 };

beforeAll(async () => {
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  filter = { platformId: app.platform.id, endpoints: [0, 1] };
  const platform = `case when n % 1000 = 0 then '${app.other.id}' else '${app.platform.id}' end`;
  await client.query(`insert into events (id, platform_id, type, subject, data, created_at)
    select ${idSql('Webhook', 'n')}, ${platform},
      case when n % 20000 = 1 then 'CARD.STATE_CHANGE' else 'INTERNAL_ACCOUNT.BALANCE_UPDATED' end,
      ${idSql('Transaction', 'n / 3')}, '{}', to_timestamp(1790000000 + n)
    from generate_series(1, ${EVENT_COUNT}) n`);
  // Every tenth delivery of the configured endpoint failed. Every third delivery of the other
  // endpoint is pending.
  await client.query(`insert into webhook_attempts
      (platform_id, endpoint, event_id, attempt, at, status, ms, result)
    select ${platform}, e, ${idSql('Webhook', 'n')}, a, to_timestamp(1790000000 + n), 500, 5,
      case when n % 10 = 0 and e = 0 then case when a = 2 then 'dropped' else 'retry' end
        when a = 1 then 'retry' else 'delivered' end
    from generate_series(1, ${EVENT_COUNT}) n, generate_series(0, 1) e, generate_series(1, 2) a
    where not (e = 1 and n % 3 = 0)`);
  await client.query(`insert into webhook_queue (platform_id, endpoint, event_id, due_at)
    select ${platform}, 1, ${idSql('Webhook', 'n')}, to_timestamp(1990000000 + n)
    from generate_series(1, ${EVENT_COUNT}) n where n % 3 = 0`);
  await client.query('vacuum analyze events, webhook_attempts, webhook_queue');
  await client.query(`insert into webhook_endpoints (id, platform_id, number, status, status_changed_at,
      standard_webhooks, format, keys, created_at, updated_at, version)
    select 'WebhookEndpoint:' || row_number() over (), id, 1, 'ENABLED', now(), false, 'FULL', '[]',
      now(), now(), 1 from platforms`);
  // The planner prefers sequential scans, because the other tables are almost empty.
  await client.query('set enable_seqscan = off');
  checkPlan = createPlanner(client);
}, 120_000);

afterAll(() => client?.end());

const STATUSES: (DeliveryStatus | undefined)[] = [undefined, 'PENDING', 'DELIVERED', 'FAILED'];

describe.each(['asc', 'desc'] as const)('a page in order %s', (order) => {
  it.each(STATUSES)('of status %s reads a range of an index', async (status) => {
    for (const platformId of [app.platform.id, app.other.id, 'none']) {
      for (const after of [undefined, middleKey]) {
        const query = { ...filter, platformId, status };
        const step = { order, after, limit: 21 };
        await checkPlan(candidatesSql(query, step), MAX_STEP_BLOCKS);
        const boundedFilter = { from: 'Webhook:0', before: 'Webhook:9' };
        await checkPlan(candidatesSql({ ...query, ...boundedFilter }, step), MAX_STEP_BLOCKS);
      }
    }
  });

  it('reads its deliveries by their keys', async () => {
    const { platformId } = filter;
    const keys = Array.from({ length: 21 }, (_, n) => ({
      platformId,
      eventId: `Webhook:${uuid(n * 3)}`,
      endpoint: n % 2,
    }));
    await checkPlan(detailsSql({}, keys, { order, limit: 21 }), MAX_STEP_BLOCKS);
    const types = ['CARD.STATE_CHANGE'];
    await checkPlan(detailsSql({ types }, keys, { order, limit: 21 }), MAX_STEP_BLOCKS);
  });

  it.each<[string, Partial<DeliveryFilter>, number]>([
    ['a type', { types: ['CARD.STATE_CHANGE'] }, 2 * Math.ceil(EVENT_COUNT / 20_000)],
    ['a resource', { resourceId: `Transaction:${uuid(77)}` }, 6],
    ['a status and a type', { status: 'FAILED', types: ['TEST'] }, 0],
  ])('finds each delivery that matches a filter by %s once', async (_, filters, count) => {
    const ids = new Set<string>();
    let after: DeliveryKey | undefined;
    do {
      const step = { order, after, limit: 2 };
      const page = await pageOfDeliveries(app.runtime.db, { ...filter, ...filters }, step);
      for (const row of page.rows) {
        const key = JSON.stringify(keyOf(row));
        expect(ids).not.toContain(key);
        ids.add(key);
      }
      after = page.end;
    } while (after);
    expect(ids.size).toBe(count);
  });
});

describe('a page over all platforms', () => {
  const readAllPages = async (status: DeliveryStatus | undefined, limit: number) => {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const query = { limit, ...(status ? { status } : {}), ...(cursor ? { cursor } : {}) };
      const page = await pageOfAllDeliveries(app.runtime, query);
      expect(page.data.every((each) => !status || each.status === status)).toBe(true);
      ids.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor);
    return ids;
  };

  it.each(STATUSES)('of status %s reads a range of an index', async (status) => {
    for (const after of [undefined, middleKey]) {
      for (const bounds of [{}, { from: 'Webhook:0', before: 'Webhook:9' }]) {
        const step = { after, limit: 21 };
        const queues =
          status === 'PENDING' ? [{ platformId: app.platform.id, endpoint: 1 }] : undefined;
        await checkPlan(allCandidatesSql({ status, ...bounds }, step, queues), MAX_STEP_BLOCKS);
      }
    }
  });

  it('finds the endpoints with pending deliveries in one step for each endpoint', async () => {
    await checkPlan({ text: QUEUES, values: [] }, MAX_STEP_BLOCKS);
  });

  it('finds every delivery once', async () => {
    const allDeliveries = await readAllPages(undefined, 1_000);
    expect(new Set(allDeliveries).size).toBe(allDeliveries.length);
    // One delivery of each event to each of the two endpoints.
    expect(allDeliveries.length).toBe(2 * EVENT_COUNT);
    const failedDeliveries = await readAllPages('FAILED', 700);
    expect(failedDeliveries).toHaveLength(EVENT_COUNT / 10);
    expect(await readAllPages('PENDING', 999)).toHaveLength(EVENT_COUNT / 3);
  });

  it('reads events if too many endpoints have pending deliveries', async () => {
    const insertSql = `insert into webhook_queue (platform_id, endpoint, event_id, due_at)
      select 'PlatformConfig:' || p, 0, $1, now() from generate_series(1, ${MAX_QUEUES + 1}) p`;
    await client.query(insertSql, [`Webhook:${uuid(EVENT_COUNT + 1)}`]);
    await checkPlan({ text: QUEUES, values: [] }, 6 * MAX_QUEUES);
    const page = await pageOfAllDeliveries(app.runtime, { status: 'PENDING', limit: 50 });
    expect(page.data).toHaveLength(50);
    await client.query(
      "delete from webhook_queue where platform_id like 'PlatformConfig:_%' and endpoint = 0",
    );
  });
});

it('countUndelivered counts to one above the maximum and returns the bound of a smaller range', async () => {
  const range = {
    platformId: app.platform.id,
    endpoint: 1,
    from: 'Webhook:0',
    before: 'Webhook:9',
    createdAfter: 1_790_000_000_000,
    createdBefore: 1_990_000_000_000,
  };
  const undeliveredTotal = await countUndelivered(app.runtime.db, range, 50);
  expect(undeliveredTotal.count).toBe(51);
  const createdBefore = undeliveredTotal.newest as number;
  expect(await countUndelivered(app.runtime.db, { ...range, createdBefore }, 50)).toEqual({
    ...undeliveredTotal,
    count: 50,
  });
  const total = await countUndelivered(app.runtime.db, { ...range, endpoint: 0 }, EVENT_COUNT);
  expect(total.count).toBe(Math.floor(EVENT_COUNT / 10) - Math.floor(EVENT_COUNT / 1000));
});
