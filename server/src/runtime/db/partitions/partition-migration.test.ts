// The migration converts the histories of an earlier version to the first partitions without a copy of
// their rows.
import { beforeAll, expect, it } from 'vitest';
import { earlierDatabase } from '../../../../test/kit/migrations/earlier-database.ts';
import { mondayOf, WEEK_MS } from './partitions.ts';

const DAY_MS = 86_400_000;
const database = earlierDatabase('partition_migration');
const MONDAY = mondayOf(Date.now());
/** Time of the latest row, 1.5 days before a Monday, so that the first partitions end one Monday later. */
const LATEST_MS = MONDAY + 5.5 * DAY_MS;
const FIRST_MS = LATEST_MS - 40 * DAY_MS;
const ROWS = 1_000;

const TABLES = [
  'events',
  'webhook_attempts',
  'api_requests',
  'api_request_bodies',
  'api_request_reads',
];

/** SQL of the ID for a number and for the time in the column `h`, which is hexadecimal. */
const idSql = (n: string) =>
  `'Webhook:' || left(h, 8) || '-' || right(h, 4) || '-7000-8000-' || lpad((${n})::text, 12, '0')`;
const STEP_MS = Math.floor((LATEST_MS - FIRST_MS) / (ROWS - 1));
const TIME = `(${FIRST_MS} + (n - 1) * ${STEP_MS})`;
const SERIES = `(select n, lpad(to_hex(${TIME}), 12, '0') as h, to_timestamp(${TIME} / 1000.0) as t
  from generate_series(1, ${ROWS}::bigint) n) s`;

const STORAGE = `select relname as name, pg_relation_filenode(oid) as file from pg_class
  where relname like any ($1) and relkind in ('r', 'i') order by 2`;

interface StorageFile {
  name: string;
  file: string;
}

/** Files of the rows and indexes of the tables. */
async function readFiles(): Promise<string[]> {
  const patterns = TABLES.map((name) => `${name}%`);
  const { rows } = await database.query<StorageFile>(STORAGE, [patterns]);
  return rows.map(({ file }) => String(file));
}

let filesBefore: string[];

beforeAll(async () => {
  await database.migrateUntil('0089');
  await database.query(`insert into events (id, platform_id, type, subject, data, created_at)
    select ${idSql('n')}, 'p', 'TEST', 's', '{}', t from ${SERIES}`);
  await database.query(`insert into webhook_attempts (platform_id, event_id, attempt, at, ms, result)
    select 'p', ${idSql('n')}, 1, t, 1, 'delivered' from ${SERIES}`);
  await database.query(`insert into api_requests (id, platform_id, created_at, operation_id, method,
      path, status, duration_us, caller_type, operation_hash)
    select n, 'p', t, 'o', 'POST', '/', 200, 1, 'TOKEN', 1 from ${SERIES}`);
  await database.query(`insert into api_request_bodies
      (id, platform_id, created_at, request_truncated, response_truncated)
    select n, 'p', t, false, false from ${SERIES}`);
  await database.query(`insert into api_request_reads (platform_id, first_at, last_at, last_id, shapes,
      entries, operation_hashes, token_hashes)
    select 'p', t, t, n, '[]', '', '{}', '{}' from ${SERIES}`);
  filesBefore = await readFiles();
  await database.migrateUntil();
});

it('the migration keeps all rows in the same files', async () => {
  const filesAfter = await readFiles();
  expect(filesBefore.length).toBeGreaterThan(15);
  expect(filesAfter).toEqual(expect.arrayContaining(filesBefore));
  for (const table of TABLES) {
    const { rows } = await database.query(
      `select tableoid::regclass::text as partition, count(*)::int as count from ${table} group by 1`,
    );
    expect(rows).toEqual([{ partition: `partitions.${table}_before`, count: ROWS }]);
  }
});

it('weekly partitions store later rows, and a duplicate ID is rejected', async () => {
  const insertSql = `insert into events (id, platform_id, type, subject, data, created_at)
    select ${idSql('n')}, 'p', 'TEST', 's', '{}', now()
    from (select 7::bigint as n, lpad(to_hex($1::bigint), 12, '0') as h) s
    returning tableoid::regclass::text as partition`;
  // The first Monday at least two days after the latest row.
  const bound = MONDAY + 2 * WEEK_MS;
  const beforeBound = await database.query<{ partition: string }>(insertSql, [bound - 1]);
  expect(beforeBound.rows).toEqual([{ partition: 'partitions.events_before' }]);
  const afterBound = await database.query<{ partition: string }>(insertSql, [bound]);
  const day = new Date(bound).toISOString().slice(0, 10).replaceAll('-', '');
  expect(afterBound.rows).toEqual([{ partition: `partitions.events_${day}` }]);
  await expect(database.query(insertSql, [bound - 1])).rejects.toMatchObject({ code: '23505' });
});

it('each table has the indexes of its first partition, and each event has a position', async () => {
  const definitions = `select replace(replace(pg_get_indexdef(i.indexrelid), 'partitions.', 'public.'),
      '_before ', ' ') as text
    from pg_index i where i.indrelid = $1::regclass`;
  const indexDefinitionsOf = async (table: string) => {
    const { rows } = await database.query<{ text: string }>(definitions, [table]);
    return rows
      .map(({ text }) => text.replace(/^.* ON (ONLY )?/, '').replace('_before', ''))
      .sort();
  };
  for (const table of TABLES) {
    expect(await indexDefinitionsOf(`partitions.${table}_before`)).toEqual(
      await indexDefinitionsOf(table),
    );
  }
  const { rows } = await database.query(
    `select id from events where position is null or position <= 0`,
  );
  expect(rows).toEqual([]);
});
