// The query of a window of postings reads only the table blocks of its period. Its cost is
// therefore independent of the number of postings.
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { idSql } from '../../../test/kit/app/query-plans.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { WINDOW } from './account-postings.ts';

const POSTING_COUNT = 200_000;
const START_SECONDS = 1_790_000_000;
const ACCOUNT = 'system:production:losses:USD';
/** Blocks of two BRIN ranges (256) and of the index. */
const MAX_BLOCKS = 300;

const app = testApp();
let client: pg.Client;

beforeAll(async () => {
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  await client.query('begin');
  await client.query(`insert into ledger_transfers
      (transaction_id, step, phase, debit, credit, currency, amount, created_at)
    select ${idSql('Transaction', 'n')}, 'test', 'void', 'a', 'b', 'USD', 1,
      to_timestamp(${START_SECONDS} + n)
    from generate_series(1, ${POSTING_COUNT}) n`);
  await client.query('analyze ledger_transfers');
  await client.query(`select brin_summarize_new_values('ledger_transfers_age')`);
}, 120_000);

afterAll(async () => {
  await client.query('rollback');
  await client.end();
});

it.each([1_000, POSTING_COUNT / 2, POSTING_COUNT])(
  'a window reads only the blocks of its period, which ends %i seconds after the first posting',
  async (seconds) => {
    const until = new Date((START_SECONDS + seconds) * 1_000);
    const from = new Date(until.getTime() - 300_000);
    const values = [ACCOUNT, from, until, 100_001, '~', '~', 21];
    const explainSql = `explain (analyze, buffers, format json) ${WINDOW}`;
    const { rows } = await client.query(explainSql, values);
    const { Plan: plan } = rows[0]['QUERY PLAN'][0];
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(MAX_BLOCKS);
  },
);
