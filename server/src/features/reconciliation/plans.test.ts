// Query plans of the reconciliation. The queries read ranges of indexes, so the cost of a day
// depends only on the lines of the day.
import pg from 'pg';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { type CheckPlan, createPlanner, idSql } from '../../../test/kit/app/query-plans.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { REPORTED_IN } from '../payments/manual/deposits.ts';
import { reportedResults } from '../payments/suspense/index.ts';
import { UNREPORTED } from '../providers/reported.ts';
import { UNREPORTED_SUM } from '../providers/usage.ts';
import { SQL } from './store.ts';

const ROW_COUNT = 60_000;
const app = testApp();
let client: pg.Client;
let checkPlan: CheckPlan;

beforeAll(async () => {
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  await client.query('begin');
  // 300 days of 200 lines. Every hundredth line has a difference.
  await client.query(`insert into provider_statement_lines
      (id, day_id, provider_id, line_id, direction, amount, fee, currency, kind, at, state,
       matched_key, created_at, version)
    select d.day || '/' || n || '@1', d.day, 'bank', n, 'out', 1, 0, 'EUR', 'transfer', now(), 'MATCHED',
      'T' || n || '#out', now(), 1
    from generate_series(1, ${ROW_COUNT}) n,
      lateral (select 'bank/EUR/' || (date '2026-01-01' + n / 200) as day) d`);
  await client.query(`insert into reconciliation_differences
      (id, key, day_id, provider_id, environment, currency, kind, status, amount, detail,
       subject, created_at, updated_at, version)
    select ${idSql('ReconciliationDifference', 'n')}, 'LINE/' || n,
      'bank/EUR/' || (date '2026-01-01' + n / 200),
      'bank', 'production', 'EUR', 'MISSING_AT_PROVIDER', case when n < 50 then 'OPEN' else 'DECIDED' end,
      1, '', 'T#out', now(), now(), 1
    from generate_series(1, ${ROW_COUNT}) n`);
  await client.query(`insert into provider_days
      (id, provider_id, environment, currency, day, status, statement_version, opening_posted,
       line_net, adjusted_net, created_at, updated_at, version)
    select p.name || '/EUR/' || (date '2026-01-01' + n), p.name, 'production', 'EUR',
      date '2026-01-01' + n, 'OPEN', 1, 0, 0, 0, timestamptz '2026-01-01' + n * interval '1 day', now(), 1
    from generate_series(1, 300) n, (select 'p' || generate_series(1, 60) as name) p`);
  await client.query(`insert into provider_transfers
      (id, platform_id, provider_id, route_id, reported_day, created_at, version)
    select 'T' || n, 'P', 'bank', null, case when n > 50 then '2026-01-01' end,
      timestamptz '2026-01-01' + n * interval '1 minute', 1
    from generate_series(1, ${ROW_COUNT}) n`);
  await client.query(`insert into deposits
      (id, platform_id, transaction_id, currency, amount, target, provider_id, created_at)
    select 'd' || n, 'P', 'T' || n, 'EUR', 1, 'a', 'bank', timestamptz '2026-01-01' + n * interval '1 minute'
    from generate_series(1, ${ROW_COUNT}) n`);
  await client.query(`insert into rail_results (id, transaction_id, kind, state, reference, created_at)
    select 'T' || n || '/payout/settled', 'T' || n, 'payout',
      case when n % 1000 = 0 then 'returned' else 'settled' end, 'REF-' || n,
      timestamptz '2026-01-01' + n * interval '1 minute'
    from generate_series(1, ${ROW_COUNT}) n`);
  await client.query(
    `analyze provider_statement_lines, reconciliation_differences, provider_days, provider_transfers,
      deposits, rail_results`,
  );
  checkPlan = createPlanner(client);
}, 120_000);

afterAll(async () => {
  await client.query('rollback');
  await client.end();
});

const DAY_ID = 'bank/EUR/2026-03-01';
const PERIOD = [new Date('2026-01-05'), new Date('2026-01-05T01:00:00Z')];
const keysOf = (prefix: string, suffix = '') =>
  Array.from({ length: 20 }, (_, n) => `${prefix}${n * 100 + 1}${suffix}`);

describe('queries of the reconciliation of a day', () => {
  it.each([
    ['lines of the day', SQL.lines, [DAY_ID, ''], 60],
    ['days of the provider', SQL.days, ['p1/EUR'], 320],
    ['lines by matched item', SQL.matched, [keysOf('T', '#out')], 200],
    ['differences by key', SQL.byKey, [keysOf('LINE/')], 200],
    ['open differences of the day', SQL.openOfDay, [DAY_ID], 60],
    ['unsettled differences', SQL.missing, ['bank', 'EUR'], 60],
    ['transfers without a statement', UNREPORTED, ['bank', new Date(0), ''], 60],
    ['the sum of transfers without a statement', UNREPORTED_SUM, ['bank', new Date(0), 'EUR'], 60],
    ['deposits of the period', REPORTED_IN, ['bank', 'EUR', ...PERIOD], 80],
    ['results by reference', reportedResults.statements.BY_REFERENCE, [keysOf('REF-')], 200],
    ['returns of the period', reportedResults.statements.RETURNED, PERIOD, 60],
  ])('read %s by an index', async (_name, text, values, max) => {
    await checkPlan({ text, values }, max);
  });
});
