// Seals the values of a column again with the newest key of the installation. A sealed value is
// replaced only if it is unchanged since the read, so that no change of a request is overwritten.
// Locked rows are processed in the next pass, so that no request is delayed.
import type { Database } from '../db/database.ts';
import type { Runtime } from '../operation/operate.ts';
import type { SealedColumn } from './sealed-columns.ts';
import type { Vault } from './vault.ts';

const BATCH = 200;

interface Row {
  id: string;
  context: string;
  text: string;
}

/** Matches values that are sealed with a key other than `number`. */
const stalePattern = ({ prefix = '', isList }: SealedColumn, number: number) =>
  `${isList ? '"' : `^${prefix}`}s(1\\.|2\\.(?!${number}\\.))`;

const staleRowsSql = (column: SealedColumn) =>
  `t.${column.column}::text ~ $1 and ${column.where ?? 'true'}`;

/** Number of values of a column that are sealed with a key other than `number`. */
export async function countStale(
  db: Pick<Database, 'query'>,
  column: SealedColumn,
  number: number,
): Promise<number> {
  const text = `select count(*) from ${column.table} t where ${staleRowsSql(column)}`;
  const [row] = await db.query<{ count: bigint }>(text, [stalePattern(column, number)]);
  return Number(row?.count ?? 0);
}

function resealText(vault: Vault, contexts: readonly string[], text: string): string {
  let lastError: unknown = new Error('the column declares no context');
  for (const context of contexts) {
    try {
      return vault.sealOwn(vault.openOwn(text, context), context);
    } catch (error) {
      lastError = error;
    }
  }
  throw lastError;
}

interface SealedText {
  id: string;
  sealed: string;
}

/** The text sealed again. Undefined if it cannot be decrypted. */
function newText(vault: Vault, column: SealedColumn, row: Row): string | undefined {
  try {
    return resealRow(vault, column, row);
  } catch (error) {
    if (isDamaged(error)) return undefined;
    throw error;
  }
}

const isDamaged = (error: unknown) => (error as Error).message.startsWith('cannot decrypt');

function resealRow(vault: Vault, column: SealedColumn, { context, text }: Row): string {
  if (column.isList) {
    const list = (JSON.parse(text) as SealedText[]).map((each) => ({
      ...each,
      sealed: resealText(vault, column.contexts(each.id), each.sealed),
    }));
    return JSON.stringify(list);
  }
  const { prefix = '' } = column;
  return prefix + resealText(vault, column.contexts(context), text.slice(prefix.length));
}

/**
 * Seals the next batch after the ID `afterId`. Returns the number of values that were sealed again and the
 * last ID, which is empty at the end of the table. A sealed value that cannot be decrypted remains
 * unchanged.
 */
export async function resealBatch(
  { db, vault }: Pick<Runtime, 'db' | 'vault'>,
  column: SealedColumn,
  number: number,
  afterId: string,
): Promise<{ count: number; lastId: string }> {
  const { table, column: name, contextColumn = 'id' } = column;
  const rows = await db.query<Row>(
    `select t.id, t.${contextColumn} as context, t.${name}::text as text from ${table} t
      where ${staleRowsSql(column)} and t.id > $2 order by t.id limit ${BATCH}`,
    [stalePattern(column, number), afterId],
  );
  if (rows.length === 0) return { count: 0, lastId: '' };
  const replacements = rows.flatMap((row) => {
    const text = newText(vault, column, row);
    return text === undefined ? [] : [{ ...row, newText: text }];
  });
  const updatedRows = await db.query(
    `with stored as (select * from unnest($1::text[], $2::text[], $3::text[]) as n(id, old, new)),
      locked as (select t.id, n.new from ${table} t join stored n on n.id = t.id
        where t.${name}::text = n.old order by t.id for update of t skip locked)
      update ${table} t set ${name} = n.new${column.isList ? '::json' : ''}
        from locked n where t.id = n.id returning t.id`,
    [
      replacements.map((row) => row.id),
      replacements.map((row) => row.text),
      replacements.map((row) => row.newText),
    ],
  );
  return { count: updatedRows.length, lastId: rows.length < BATCH ? '' : (rows.at(-1)?.id ?? '') };
}
