// The interface of features to the database. Reads of one row by ID are batched (reader.ts), and
// other queries are sent to a pool. The committer performs the writes of change sets. Other writes,
// such as those of loops with a lease, are hand-written statements.
import {
  CONNECTION_LIMITS,
  type ConnectionLimits,
  RESPONSE_MARGIN_MS,
} from './connections/limits.ts';
import { CONFIRM } from './connections/replication.ts';
import type { ResultRow } from './decode.ts';
import { connectLane } from './lane.ts';
import {
  columnList,
  conditions,
  countSql,
  type Filter,
  type Page,
  type PageQuery,
  pageOf,
  pageSql,
  quoteName,
  type Sql,
} from './paging.ts';
import { createPool, type PoolStats } from './pool.ts';
import { createReader } from './reader.ts';
import type { RowOf, Table } from './table.ts';

export { equals, type Filter, type PageQuery } from './paging.ts';

export interface FindOptions<T extends Table> {
  orderBy?: keyof T['columns'] & string;
  descending?: boolean;
  /** Maximum number of rows. Defaults to 1,000. */
  limit?: number;
}

/**
 * Concurrent callers share values of a row, such as parsed JSON, so a row must never be mutated.
 */
export interface Database {
  /** Reads a row by ID, together with other rows that are requested in this tick. */
  read<T extends Table>(table: T, id: string): Promise<RowOf<T> | undefined>;
  /** Rows whose columns equal all these values. Null matches null. */
  find<T extends Table>(
    table: T,
    where: Partial<RowOf<T>>,
    options?: FindOptions<T>,
  ): Promise<RowOf<T>[]>;
  /**
   * A page of the matching rows, ordered by (created_at, id). An invalid cursor throws
   * INVALID_INPUT.
   */
  page<T extends Table>(table: T, query: PageQuery): Promise<Page<T>>;
  /**
   * Runs hand-written SQL. Rows have bigint for int8 and milliseconds for timestamptz. Times are passed as
   * Date.
   */
  query<R extends object = ResultRow>(text: string, values?: readonly unknown[]): Promise<R[]>;
  /**
   * Resolves when all rows that were read before are on the synchronous replica, if there is one. A
   * row may exist on the primary only, after a crash or a canceled commit.
   */
  confirm(): Promise<void>;
  /** Resolves if the database responds. */
  ping(): Promise<void>;
  /** Counts of the connections for reading and of their queries in flight. */
  pool(): PoolStats;
  close(): Promise<void>;
}

interface DatabaseOptions extends Partial<ConnectionLimits> {
  /** `postgres://…`. `host` as a query parameter may name the folder of a Unix socket. */
  url: string;
}

const MAX_ROWS = 1_000;

/** Limit of a `find` that needs every matching row. A customer has far fewer rows. */
export const UNPAGED = { limit: 100_000 } as const;

/** Every matching row, oldest first. For lists that an operator reads completely. */
export async function allRows<T extends Table>(
  { page }: Pick<Database, 'page'>,
  table: T,
  filters: readonly Filter[],
): Promise<RowOf<T>[]> {
  const allRows: RowOf<T>[] = [];
  let cursor: string | undefined;
  do {
    const result = await page(table, { filters, sort: 'asc', limit: MAX_ROWS, cursor });
    allRows.push(...result.rows);
    // A time with microseconds, which only hand-written SQL can insert, would repeat a page forever.
    if (result.nextCursor !== undefined && result.nextCursor === cursor) {
      throw new Error(`the rows of ${table.name} have times that a cursor cannot express`);
    }
    cursor = result.nextCursor;
  } while (cursor);
  return allRows;
}

function findSql<T extends Table>(table: T, where: object, options: FindOptions<T>): Sql {
  const { orderBy, descending = false, limit = MAX_ROWS } = options;
  const filters = Object.entries(where).map(
    ([column, value]): Filter => ({ column, op: '=', value }),
  );
  const values: unknown[] = [];
  const conditionText = conditions(table, filters, values);
  const orderSql = orderBy ? `order by ${quoteName(orderBy)} ${descending ? 'desc' : 'asc'}` : '';
  const text = `select ${columnList(table)} from ${quoteName(table.name)}
    where ${conditionText} ${orderSql} limit $${values.push(limit)}`;
  return { text, values };
}

/** Opens connections on demand. Connection errors are thrown by queries. */
export function openDatabase(options: DatabaseOptions): Database {
  const { url, poolSize = 8, ...limits } = { ...CONNECTION_LIMITS, ...options };
  const { statementTimeoutMs, maxAgeMs } = limits;
  const pool = createPool({ url, size: poolSize, ...limits });
  const asRepeatable = (sql: Sql) => ({ ...sql, prepared: true, repeatable: true });
  const run = (sql: Sql) => pool.run(asRepeatable(sql));
  const reader = createReader({
    connect: () => connectLane(url, { name: 'railhead reader', ...limits }),
    runSeparately: (statements) => pool.runSeparately(statements.map(asRepeatable)),
    timeoutMs: statementTimeoutMs + RESPONSE_MARGIN_MS,
    maxAgeMs,
  });
  return {
    read: (table, id) => reader.read(table, id) as Promise<never>,
    // The interface states the row type, which follows from the table. An arrow function cannot repeat it.
    find: async (table, where, findOptions = {}) =>
      (await run(findSql(table, where, findOptions))) as never,
    async page<T extends Table>(table: T, query: PageQuery) {
      const [rows, countRows] = await Promise.all([
        run(pageSql(table, query)),
        query.count === false ? [] : run(countSql(table, query)),
      ]);
      return pageOf<T>(query, rows as RowOf<T>[], countRows[0] as Parameters<typeof pageOf>[2]);
    },
    query: (text, values = []) =>
      pool.run({
        text,
        values: [...values],
        prepared: values.length > 0, // Several statements in one text cannot be prepared.
        repeatable: false,
      }) as Promise<never>,
    async confirm() {
      await run({ text: CONFIRM, values: [] });
    },
    async ping() {
      await run({ text: 'select 1', values: [] });
    },
    pool: pool.stats,
    async close() {
      await reader.close();
      await pool.close();
    },
  };
}
