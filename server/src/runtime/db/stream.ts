// Reading more rows than fit into memory: a cursor on a connection of its own, fetched piece by piece as
// fast as the reader takes them. Everything that one stream yields is of one moment, however long it takes
// and however much is written meanwhile.
import pg from 'pg';
import { isolatedTypes, type ResultRow } from './pool.ts';

/** Rows of one statement and one moment, in pieces, for answers that do not fit into memory. */
export type RowStream = <R extends object>(
  text: string,
  values?: readonly unknown[],
) => AsyncIterable<R[]>;

interface StreamOptions {
  url: string;
  /** A fetch that takes longer is cancelled; the first one may sort everything there is. */
  statementTimeoutMs: number;
}

/** Rows in the memory of this process at once. */
const PIECE = 2_000;

const SETTINGS = (timeoutMs: number) =>
  [
    "set timezone = 'UTC'",
    "set datestyle = 'ISO'",
    `set statement_timeout = ${timeoutMs}`,
    // All rows are wanted, so a plan that gives the first one soon is the wrong one.
    'set cursor_tuple_fraction = 1',
    'begin isolation level repeatable read read only',
  ].join('; ');

/** The rows of one statement, in pieces; bigint for int8 and milliseconds for timestamptz. */
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
  client.on('error', () => undefined); // the query under way fails with it
  await client.connect();
  try {
    await client.query(SETTINGS(statementTimeoutMs));
    await client.query({ text: `declare piece no scroll cursor for ${text}`, values: [...values] });
    for (;;) {
      const { rows } = await client.query<R>(`fetch ${PIECE} from piece`);
      if (rows.length > 0) yield rows;
      if (rows.length < PIECE) return;
    }
  } finally {
    await client.end();
  }
}
