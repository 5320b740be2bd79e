// Pages of a table, newest first, with filters for which no index exists. Rows are read in steps
// along an index, and each page ends after a bounded time. A page that ends early is shorter than
// requested and reports that there is more. Frequently written tables therefore need no index for
// each filter.
import type { Time } from '../../kernel/effects.ts';
import { idsFrom } from '../../kernel/id.ts';
import type { Database } from './database.ts';
import { columnList, conditions, cursorOf, type Filter, positionOf, quoteName } from './paging.ts';
import type { RowOf, Table } from './table.ts';

export interface StepQuery {
  /**
   * Equality filters of an index whose next columns are (created_at, id). Without filters, the rows of the
   * complete table are read in the order of their IDs, which begin with the time.
   */
  scope: readonly Filter[];
  /** Whether an index of the complete table begins with created_at, so that IDs need no order. */
  isByTime?: boolean;
  /** Resources in the IDs of the table. Unused if an index has the time. */
  resources: readonly string[];
  filters: readonly Filter[];
  createdAfter?: Time | undefined;
  createdBefore?: Time | undefined;
  limit: number;
  cursor?: string | undefined;
}

export interface StepPage<T extends Table> {
  rows: RowOf<T>[];
  hasMore: boolean;
  nextCursor?: string;
}

/** Rows of the first step of a page with filters, and maximum rows of later steps. */
const FIRST_STEP = 250;
const LONGEST_STEP = 2_000;
/** Duration of a page after which no further step is read. */
const PAGE_MS = 100;
/**
 * Maximum difference between the time of an ID and `created_at`, which is the time of its
 * operation.
 */
const DISORDER_MS = 120_000;

interface Position {
  created_at: Time;
  id: string;
}

interface Step {
  resource: string;
  after: Position | undefined;
  length: number;
  limit: number;
}

/** Whether an index has the order (created_at, id). */
const hasTimes = ({ scope, isByTime = false }: StepQuery) => scope.length > 0 || isByTime;

/** The statement of one step, exported to test its plan. */
export function stepSql(table: Table, query: StepQuery, { resource, after, length, limit }: Step) {
  const { scope, filters, createdAfter, createdBefore } = query;
  const values: unknown[] = [];
  const addPlaceholder = (value: unknown) => `$${values.push(value)}`;
  const rangeConditions = [conditions(table, scope, values)];
  const isOrderedByTime = hasTimes(query);
  const order = isOrderedByTime ? 'created_at desc, id desc' : 'id desc';
  if (after && isOrderedByTime) {
    const time = addPlaceholder(new Date(after.created_at));
    rangeConditions.push(`(created_at, id) < (${time}::timestamptz, ${addPlaceholder(after.id)})`);
  }
  if (!isOrderedByTime) {
    // A semicolon is the character after the colon.
    rangeConditions.push(
      `id < ${addPlaceholder(after ? after.id : `${resource};`)} and id > ${addPlaceholder(`${resource}:`)}`,
    );
  }
  for (const [op, time, slack] of [
    ['>=', createdAfter, -DISORDER_MS],
    ['<=', createdBefore, DISORDER_MS],
  ] as const) {
    if (time === undefined) continue;
    rangeConditions.push(
      isOrderedByTime
        ? `created_at ${op} ${addPlaceholder(new Date(time))}::timestamptz`
        : `id ${op} ${addPlaceholder(idsFrom(resource, time + slack))}`,
    );
  }
  const bounds = [
    ['>=', createdAfter],
    ['<=', createdBefore],
  ].flatMap(([op, value]) =>
    value === undefined ? [] : [{ column: 'created_at', op, value } as Filter],
  );
  const filterSql = conditions(table, [...filters, ...(isOrderedByTime ? [] : bounds)], values);
  const columns = columnList(table);
  const text = `with step as materialized (select ${columns} from ${quoteName(table.name)}
      where ${rangeConditions.join(' and ')} order by ${order} limit ${addPlaceholder(length)}::int)
    select s.*, m.* from (
      select (select count(*)::int4 from step) as step_length, created_at as step_time,
        id as step_id from step order by ${order.replaceAll('desc', 'asc')} limit 1) s
    left join (select * from step where ${filterSql} order by ${order}
      limit ${addPlaceholder(limit)}::int) m on true`;
  return { text, values };
}

interface End {
  step_length: number;
  step_time: Time;
  step_id: string;
}

/** A page of the rows of one resource, after a position. */
async function pageOfResource(
  db: Pick<Database, 'query'>,
  table: Table,
  query: StepQuery,
  { resource, after: startPosition }: Pick<Step, 'resource' | 'after'>,
): Promise<{ rows: Position[]; end: Position | undefined }> {
  const { limit, filters } = query;
  const startMs = performance.now();
  let length = filters.length === 0 ? limit + 1 : FIRST_STEP;
  let position = startPosition;
  const rows: Position[] = [];
  for (;;) {
    const step = { resource, after: position, length, limit: limit + 1 - rows.length };
    const { text, values } = stepSql(table, query, step);
    const endRows = await db.query<End & Position>(text, values);
    const [end] = endRows;
    if (!end) return { rows, end: undefined };
    for (const { step_length: _, step_time: __, step_id: ___, ...row } of endRows) {
      if (row.id !== null) rows.push(row);
    }
    if (rows.length > limit) {
      const page = rows.slice(0, limit);
      return { rows: page, end: page.at(-1) };
    }
    if (end.step_length < length) return { rows, end: undefined };
    position = { created_at: end.step_time, id: end.step_id };
    if (performance.now() - startMs > PAGE_MS) return { rows, end: position };
    length = Math.min(LONGEST_STEP, Math.max(FIRST_STEP, length * 2));
  }
}

const uuidOf = ({ id }: Position) => id.slice(id.indexOf(':') + 1);

/** Descending order of the IDs of several resources. */
const newestFirst = (a: Position, b: Position) => (uuidOf(a) < uuidOf(b) ? 1 : -1);

/** A page of the matching rows. An invalid cursor throws INVALID_INPUT. */
export async function pageInSteps<T extends Table>(
  db: Pick<Database, 'query'>,
  table: T,
  query: StepQuery,
): Promise<StepPage<T>> {
  const { limit, cursor, resources } = query;
  const after = cursor === undefined ? undefined : positionOf(cursor);
  const isOrderedByTime = hasTimes(query);
  // An index of (created_at, id) contains all resources in one order.
  const parts = await Promise.all(
    (isOrderedByTime ? [''] : resources).map((resource) => {
      const id = after && (isOrderedByTime ? after.id : `${resource}:${uuidOf(after)}`);
      const position = after && { created_at: after.created_at, id: id as string };
      return pageOfResource(db, table, query, { resource, after: position });
    }),
  );
  const [firstPart] = parts;
  if (parts.length === 1 && firstPart) return createStepPage<T>(firstPart.rows, firstPart.end);
  // Some rows beyond the nearest end of a part are not loaded.
  const [end] = parts.flatMap((part) => part.end ?? []).sort(newestFirst);
  const sortedRows = parts
    .flatMap(({ rows }) => rows)
    .filter((row) => !end || uuidOf(row) >= uuidOf(end))
    .sort(newestFirst);
  const rows = sortedRows.slice(0, limit);
  return createStepPage<T>(rows, sortedRows.length > limit ? rows.at(-1) : end);
}

const createStepPage = <T extends Table>(
  rows: readonly Position[],
  end: Position | undefined,
): StepPage<T> => ({
  // The statement selects all columns of the table.
  rows: rows as unknown as RowOf<T>[],
  hasMore: end !== undefined,
  ...(end ? { nextCursor: cursorOf(end) } : {}),
});
