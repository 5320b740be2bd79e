// Reads more rows than fit into memory: a cursor on a separate connection, fetched in chunks as
// fast as the caller consumes them. All rows of one stream belong to one snapshot, independent of
// its duration and of concurrent writes.
import pg from 'pg';
import type { ResultRow } from './decode.ts';
import { isolatedTypes } from './pool.ts';

/** Rows of one statement and one snapshot, in chunks, for results that do not fit into memory. */
export type RowStream = <R extends object>(
  text: string,
  values?: readonly unknown[],
) => AsyncIterable<R[]>;

interface StreamOptions {
  url: string;
  /** A fetch that takes longer is canceled; the first one may sort the whole table. */
  statementTimeoutMs: number;
}

/** Rows in the memory of this process at once. */
const CHUNK_ROWS = 2_000;

const SETTINGS = (timeoutMs: number) =>
  [
    "set timezone = 'UTC'",
    "set datestyle = 'ISO'",
    `set statement_timeout = ${timeoutMs}`,
    // All rows are needed, so a plan optimized for the first row is wrong.
    'set cursor_tuple_fraction = 1',
    'begin isolation level repeatable read read only',
  ].join('; ');

/** The rows of one statement, in chunks; bigint for int8 and milliseconds for timestamptz. */
export async function* streamRows<R extends object = ResultRow>(
  { url, statementTimeoutMs }: StreamOptions,
  text: string,
  values: readonly unknown[] = [],
): AsyncGenerator<R[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'railhead-server export',
    connectionTimeoutMillis: 10_000,
    types: isolatedTypes,
  });
  client.on('error', () => undefined); // the query in flight fails with it
  await client.connect();
  try {
    await client.query(SETTINGS(statementTimeoutMs));
    await client.query({ text: `declare piece no scroll cursor for ${text}`, values: [...values] });
    for (;;) {
      const { rows } = await client.query<R>(`fetch ${CHUNK_ROWS} from piece`);
      if (rows.length > 0) yield rows;
      if (rows.length < CHUNK_ROWS) return;
    }
  } finally {
    await client.end();
  }
}
