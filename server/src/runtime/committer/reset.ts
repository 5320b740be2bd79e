// Removes the rows of a sandbox platform in one transaction, as if they had never existed: rows of
// all tables but what the features keep, and their transfers with both sides, so that the books of
// the other platforms still balance. Tables are found in the database: one with a `platform_id`
// needs no rule, so a new feature is reset without a word about it.
import type pg from 'pg';
import type { Database } from '../db/database.ts';
import { type Statement, statement } from '../db/statement.ts';
import { ERASE_ACCOUNTS, ERASE_TRANSFERS, LOCK_ACCOUNTS, TAKE_BACK } from './ledger-statements.ts';

/** What a reset needs to know of a feature's tables. In a condition `t` is the table. */
export interface ResetRules {
  /** Tables that are configuration, with the condition for the rows that stay. */
  stays?: Readonly<Record<string, string>>;
  /** Tables with rows that stay, and a column of them that becomes null. */
  clears?: Readonly<Record<string, string>>;
  /** Tables without a `platform_id`, with the condition for the rows of the platforms `$1`. */
  belongs?: Readonly<Record<string, string>>;
}

/** Number of removed rows by table. */
export type Removed = Record<string, number>;

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

/** One reset of a platform at a time; the rows that are never changed may be removed. */
const PERMIT = statement(
  `select pg_advisory_xact_lock(hashtextextended('reset ' || unnest($1::text[]), 0)),
    set_config('railhead.sandbox_reset', 'on', true)`,
  ['text'],
);

/** Statements that remove the rows of all tables: first those that belong by another table. */
function removals(tables: readonly TableInfo[], rules: readonly ResetRules[]) {
  const stays = Object.assign({}, ...rules.map((each) => each.stays)) as Record<string, string>;
  const belongs = Object.assign({}, ...rules.map((each) => each.belongs)) as Record<string, string>;
  const made: { name: string; statement: Statement }[] = [];
  for (const { name, owned, identified } of tables) {
    const mine = belongs[name] ?? (owned ? 't.platform_id = any($1::text[])' : undefined);
    if (mine === undefined) continue;
    const kept = stays[name] ? `and not (${stays[name]})` : '';
    const text = `delete from "${name}" t where ${mine} ${kept} returning ${identified ? 't.id' : "''"}`;
    const each = { name, statement: statement(text, ['text']) };
    if (name in belongs) made.unshift(each);
    else made.push(each);
  }
  return made;
}

/** Statements that clear columns of the rows that stay. */
const clearings = (rules: readonly ResetRules[]): Statement[] =>
  rules
    .flatMap(({ clears = {} }) => Object.entries(clears))
    .map(([name, column]) =>
      statement(
        `update "${name}" set "${column}" = null
          where platform_id = any($1::text[]) and "${column}" is not null`,
        ['text'],
      ),
    );

/** Removes everything within the open transaction of `client`. */
async function remove(
  client: pg.Client,
  platformId: string,
  tables: ReturnType<typeof removals>,
  cleared: readonly Statement[],
): Promise<Removed> {
  const rowsOf = async ({ text }: Statement, ...columns: unknown[][]) =>
    (await client.query<string[]>({ text, values: columns, rowMode: 'array' })).rows;
  const removed: Removed = {};
  const ids = new Set<string>();
  await rowsOf(PERMIT, [platformId]);
  for (const { name, statement } of tables) {
    const rows = await rowsOf(statement, [platformId]);
    if (rows.length) removed[name] = rows.length;
    for (const [id] of rows) if (id) ids.add(id);
  }
  for (const statement of cleared) await rowsOf(statement, [platformId]);
  const moved = await rowsOf(ERASE_TRANSFERS, [...ids]);
  const column = (rows: readonly string[][], at: number) => rows.map((row) => row[at] as string);
  await rowsOf(LOCK_ACCOUNTS, column(moved, 0));
  await rowsOf(ERASE_ACCOUNTS, [...ids]);
  // Accounts of limits are zero then, and stay: a process remembers which ones it has opened.
  await rowsOf(TAKE_BACK, column(moved, 0), column(moved, 1), column(moved, 2));
  return removed;
}

/** A function that resets one platform. Requests in progress that read removed rows are retried. */
export function platformReset({ connect, db, rules }: ResetOptions) {
  const cleared = clearings(rules);

  async function attempt(platformId: string): Promise<Removed> {
    const tables = removals(await db.query<TableInfo>(TABLES), rules);
    const client = await connect();
    try {
      await client.query('begin');
      const removed = await remove(client, platformId, tables, cleared);
      await client.query('commit');
      return removed;
    } finally {
      await client.end(); // rolls back what was not committed
    }
  }

  return async (platformId: string): Promise<Removed> => {
    for (let index = 1; ; index++) {
      try {
        return await attempt(platformId);
      } catch (error) {
        // It locks rows table by table, which payments of the same platform may do in another order.
        if ((error as { code?: string }).code !== DEADLOCK || index === MAX_ATTEMPTS) throw error;
      }
    }
  };
}
