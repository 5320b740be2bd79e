// Reads more rows than fit into memory, with a cursor on a separate connection. Chunks are fetched at the
// speed of the caller. All rows of one stream belong to one snapshot, independent of its duration and of
// concurrent writes.
import { connectDatabase } from './connections/connect.ts';
import type { ResultRow } from './decode.ts';
import { isolatedTypes } from './pool.ts';

/** Rows of one statement and one snapshot, in chunks, for results that do not fit into memory. */
export type RowStream = <R extends object>(
  text: string,
  values?: readonly unknown[],
) => AsyncIterable<R[]>;

interface StreamOptions {
  url: string;
  /** Maximum duration of a fetch, which is then canceled. The first fetch may sort the complete table. */
  statementTimeoutMs: number;
}

/** Maximum rows of a stream in the memory of this process. */
const CHUNK_ROWS = 2_000;

// All rows are needed, so a plan optimized for the first row is wrong.
const settingsOf = (timeoutMs: number) => [
  "timezone = 'UTC'",
  "datestyle = 'ISO'",
  `statement_timeout = ${timeoutMs}`,
  'cursor_tuple_fraction = 1',
];

/** The rows of one statement, in chunks. Bigint for int8 and milliseconds for timestamptz. */
export async function* streamRows<R extends object = ResultRow>(
  { url, statementTimeoutMs }: StreamOptions,
  text: string,
  values: readonly unknown[] = [],
): AsyncGenerator<R[]> {
  const client = await connectDatabase(url, {
    name: 'railhead-server export',
    settings: settingsOf(statementTimeoutMs),
    types: isolatedTypes,
  });
  try {
    await client.query('begin isolation level repeatable read read only');
    await client.query({
      text: `declare chunk_cursor no scroll cursor for ${text}`,
      values: [...values],
    });
    for (;;) {
      const { rows } = await client.query<R>(`fetch ${CHUNK_ROWS} from chunk_cursor`);
      if (rows.length > 0) yield rows;
      if (rows.length < CHUNK_ROWS) return;
    }
  } finally {
    await client.end();
  }
}
