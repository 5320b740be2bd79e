// Removes the rows of a sandbox platform in one transaction, except rows that features retain. Transfers
// are removed with both sides, so that the books of the other platforms still balance. A table with a
// `platform_id` needs no rule, so a new feature is included automatically.
import type pg from 'pg';
import { hasCanceledWait } from '../db/connections/replication.ts';
import type { Database } from '../db/database.ts';
import { type Statement, statement } from '../db/statement.ts';
import {
  ERASE_ACCOUNTS,
  ERASE_TRANSFERS,
  LOCK_ACCOUNTS,
  REVERSE_BALANCES,
} from './ledger-statements.ts';

/** Rules of a feature for the reset of its tables. In a condition `t` is the table. */
export interface ResetRules {
  /** Tables that are configuration, with the condition for the rows that are retained. */
  retained?: Readonly<Record<string, string>>;
  /** Tables with rows that are retained, and a column of these rows that becomes null. */
  clears?: Readonly<Record<string, string>>;
  /** Tables without a `platform_id`, with the condition for the rows of the platforms `$1`. */
  belongs?: Readonly<Record<string, string>>;
}

/** Number of removed rows by table. */
export type RemovedCounts = Record<string, number>;

interface ResetOptions {
  /** Opens a connection (`connectLane`). */
  connect(): Promise<pg.Client>;
  db: Pick<Database, 'query'>;
  rules: readonly ResetRules[];
}

const MAX_ATTEMPTS = 5;
const DEADLOCK = '40P01';

const TABLES = `select c.table_name as name,
    bool_or(c.column_name = 'platform_id') as owned, bool_or(c.column_name = 'id') as identified
  from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
  where t.table_schema = current_schema() and t.table_type = 'BASE TABLE'
  group by c.table_name order by c.table_name collate "C"`;

interface TableInfo {
  name: string;
  owned: boolean;
  identified: boolean;
}

/** Permits one reset of a platform at a time, and the removal of immutable rows. */
const ALLOW_DELETES = statement(
  `select pg_advisory_xact_lock(hashtextextended('reset ' || unnest($1::text[]), 0)),
    set_config('railhead.sandbox_reset', 'on', true)`,
  ['text'],
);

/** Statements that remove the rows of all tables, first of tables without a `platform_id`. */
function removalStatements(tables: readonly TableInfo[], rules: readonly ResetRules[]) {
  const retainedConditions = Object.assign({}, ...rules.map((each) => each.retained)) as Record<
    string,
    string
  >;
  const conditions = Object.assign({}, ...rules.map((each) => each.belongs)) as Record<
    string,
    string
  >;
  const statements: { name: string; statement: Statement }[] = [];
  for (const { name, owned, identified } of tables) {
    const ownership = conditions[name] ?? (owned ? 't.platform_id = any($1::text[])' : undefined);
    if (ownership === undefined) continue;
    const exception = retainedConditions[name] ? `and not (${retainedConditions[name]})` : '';
    const returnedColumn = identified ? 't.id' : "''";
    const text = `delete from "${name}" t where ${ownership} ${exception} returning ${returnedColumn}`;
    const deletion = { name, statement: statement(text, ['text']) };
    if (name in conditions) statements.unshift(deletion);
    else statements.push(deletion);
  }
  return statements;
}

/** Statements that clear columns of the rows that are retained. */
const clearingStatements = (rules: readonly ResetRules[]): Statement[] =>
  rules
    .flatMap(({ clears = {} }) => Object.entries(clears))
    .map(([name, column]) =>
      statement(
        `update "${name}" set "${column}" = null
          where platform_id = any($1::text[]) and "${column}" is not null`,
        ['text'],
      ),
    );

/** Removes all rows within the open transaction of `client`. */
async function remove(
  client: pg.Client,
  platformId: string,
  tables: ReturnType<typeof removalStatements>,
  clearStatements: readonly Statement[],
): Promise<RemovedCounts> {
  const rowsOf = async ({ text }: Statement, ...columns: unknown[][]) =>
    (await client.query<string[]>({ text, values: columns, rowMode: 'array' })).rows;
  const removedCounts: RemovedCounts = {};
  const ids = new Set<string>();
  await rowsOf(ALLOW_DELETES, [platformId]);
  for (const { name, statement } of tables) {
    const rows = await rowsOf(statement, [platformId]);
    if (rows.length) removedCounts[name] = rows.length;
    for (const [id] of rows) if (id) ids.add(id);
  }
  for (const statement of clearStatements) await rowsOf(statement, [platformId]);
  const changes = await rowsOf(ERASE_TRANSFERS, [...ids]);
  const column = (rows: readonly string[][], columnIndex: number) =>
    rows.map((row) => row[columnIndex] as string);
  await rowsOf(LOCK_ACCOUNTS, column(changes, 0));
  await rowsOf(ERASE_ACCOUNTS, [...ids]);
  // The accounts of limits then have a zero balance. The accounts remain, because processes cache the
  // accounts that they have opened.
  await rowsOf(REVERSE_BALANCES, column(changes, 0), column(changes, 1), column(changes, 2));
  return removedCounts;
}

/** Returns a function that resets one platform. Requests in progress that read removed rows are retried. */
export function platformReset({ connect, db, rules }: ResetOptions) {
  const clearStatements = clearingStatements(rules);

  async function attempt(platformId: string): Promise<RemovedCounts> {
    const tables = removalStatements(await db.query<TableInfo>(TABLES), rules);
    const client = await connect();
    try {
      await client.query('begin');
      const removedCounts = await remove(client, platformId, tables, clearStatements);
      await client.query('commit');
      if (hasCanceledWait(client))
        throw new Error(
          'No replica has confirmed the reset. Check the replicas and repeat the reset.',
        );
      return removedCounts;
    } finally {
      await client.end(); // Closing the connection rolls back an uncommitted transaction.
    }
  }

  return async (platformId: string): Promise<RemovedCounts> => {
    for (let attemptNumber = 1; ; attemptNumber++) {
      try {
        return await attempt(platformId);
      } catch (error) {
        // Payments of the same platform may lock these rows in another order.
        if ((error as { code?: string }).code !== DEADLOCK || attemptNumber === MAX_ATTEMPTS)
          throw error;
      }
    }
  };
}
