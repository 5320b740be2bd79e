// Snapshot, chunks and early end of streams of rows.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, execute, type TestDatabase } from '../../../test/kit/app/database.ts';
import { streamRows } from './stream.ts';

let database: TestDatabase;
const ROWS = 5_000;

beforeAll(async () => {
  database = await createTestDatabase();
  await execute(
    database.url,
    `create table numbers (n bigint, at timestamptz);
     insert into numbers select i, '2026-01-05T09:00:00Z' from generate_series(1, ${ROWS}) i`,
  );
});
afterAll(() => database.drop());

const openStream = <R extends object>(text: string, values: unknown[] = []) =>
  streamRows<R>({ url: database.url, statementTimeoutMs: 10_000 }, text, values);

describe('streamRows', () => {
  it('yields all rows of one snapshot in chunks, as bigint and milliseconds', async () => {
    const receivedRows: { n: bigint; at: number }[] = [];
    let chunkCount = 0;
    for await (const rows of openStream<{ n: bigint; at: number }>(
      'select n, at from numbers where n <> $1 order by n',
      [7n],
    )) {
      // Rows that are written during the read are not visible.
      if (chunkCount++ === 0)
        await execute(database.url, 'insert into numbers values (99999, null)');
      expect(rows.length).toBeLessThanOrEqual(2_000);
      receivedRows.push(...rows);
    }
    expect(chunkCount).toBe(3);
    expect(receivedRows).toHaveLength(ROWS - 1);
    expect(receivedRows[0]).toEqual({ n: 1n, at: Date.UTC(2026, 0, 5, 9) });
    expect(receivedRows.at(-1)?.n).toBe(BigInt(ROWS));
  });

  it('closes its connection if the caller stops early and if the statement fails', async () => {
    for await (const _ of openStream('select n from numbers')) break;
    await expect(async () => {
      for await (const _ of openStream('select nothing from nowhere')) break;
    }).rejects.toThrow('nowhere');
    for await (const [row] of openStream<{ connections: bigint }>(
      `select count(*) as connections from pg_stat_activity
       where application_name = 'railhead-server export' and datname = current_database()
         and pid <> pg_backend_pid()`,
    )) {
      expect(row?.connections).toBe(0n);
    }
  });
});
