// Conditions and pages as SQL text and values. A page continues from a position in the order (created_at,
// ID), so each page costs the same. Clients receive the position as an opaque cursor.

import type { Time } from '../../kernel/effects.ts';
import { type FieldError, invalidField } from '../../kernel/fault.ts';
import { pgArray } from './arrays.ts';
import type { ColumnType, RowOf, Table } from './table.ts';

type ColumnName<T extends Table> = keyof T['columns'] & string;

/** A condition on one column, or several conditions of which at least one must be true. */
export type Filter<T extends Table = Table> =
  | { column: ColumnName<T>; op: '=' | '>=' | '<='; value: unknown }
  | { column: ColumnName<T>; op: 'in'; value: readonly unknown[] }
  | { column: ColumnName<T>; op: 'isNull' }
  /** A json column with a list of strings contains this string. */
  | { column: ColumnName<T>; op: 'has'; value: string }
  | { or: readonly Filter<T>[] };

/** Conditions that columns equal these values. Undefined values add no condition. */
export const equals = <C extends string>(expectedValues: Readonly<Record<C, unknown>>) =>
  Object.entries(expectedValues).flatMap(([column, value]) =>
    value === undefined ? [] : [{ column: column as C, op: '=' as const, value }],
  );

type Bounds = 'createdAfter' | 'createdBefore' | 'updatedAfter' | 'updatedBefore';

/** Bounds of a list query on the times of creation and change. Each bound is inclusive. */
export function timeFilters(query: { [Bound in Bounds]?: string | undefined }) {
  const bounds = [
    ['created_at', '>=', query.createdAfter],
    ['created_at', '<=', query.createdBefore],
    ['updated_at', '>=', query.updatedAfter],
    ['updated_at', '<=', query.updatedBefore],
  ] as const;
  return bounds.flatMap(([column, op, text]) =>
    text === undefined ? [] : [{ column, op, value: Date.parse(text) }],
  );
}

/** The error of a period that ends before it begins. */
export function rangeErrors(query: {
  createdAfter?: string | undefined;
  createdBefore?: string | undefined;
}): FieldError[] {
  const { createdAfter, createdBefore } = query;
  if (createdAfter === undefined || createdBefore === undefined) return [];
  if (Date.parse(createdBefore) >= Date.parse(createdAfter)) return [];
  return [{ field: 'createdBefore', message: 'must not be before `createdAfter`' }];
}

export interface PageQuery {
  /** Conditions for which an index exists, together with the order. */
  filters: readonly Filter[];
  /**
   * Further conditions, for which no index exists. These conditions are applied to a limited number of
   * rows, so that the page reads only a part of the table. The page may then have fewer rows than its
   * limit, or none, although there are more.
   */
  unindexed?: readonly Filter[];
  sort: 'asc' | 'desc';
  /** Maximum number of rows, 1 to 1,000. */
  limit: number;
  /** Cursor of an earlier page. */
  cursor?: string | undefined;
  /** Whether matches are counted. Defaults to true. */
  count?: boolean;
}

export interface Page<T extends Table> {
  rows: RowOf<T>[];
  hasMore: boolean;
  /** Cursor of the next page. Absent on the last page. */
  nextCursor?: string;
  /**
   * Total number of matches. Absent if they are not counted, or if more than 10,000 rows would have to
   * be read.
   */
  totalCount?: number;
}

export interface Sql {
  text: string;
  values: unknown[];
}

const MAX_ROWS = 1_000;
const MAX_COUNTED = 10_000;
/** Maximum rows that are read for a page with unindexed conditions. */
const MAX_READ = 10_000;

export const quoteName = (name: string) => `"${name}"`;

function typeOf(table: Table, name: string): ColumnType {
  const column = table.columns[name];
  if (!column) throw new Error(`${table.name} has no column ${name}`);
  return column.type;
}

export const columnList = (table: Table) => table.columnNames.map(quoteName).join(', ');

/** A time in SQL. A year outside 1 to 9999 becomes negative or positive infinity. */
function sqlTime(time: Time): string {
  const text = new Date(time).toISOString();
  if (text.startsWith('-') || text.startsWith('0000')) return '-infinity';
  return text.startsWith('+') ? 'infinity' : text;
}

/** A value in the form that `pg` sends for a column. */
function sqlValue(type: ColumnType, value: unknown): unknown {
  if (value === undefined) throw new TypeError('a condition requires a value, or null');
  if (value === null) return null;
  if (type === 'time') return sqlTime(value as Time);
  if (type === 'json') return JSON.stringify(value);
  return value;
}

/** Whether a value contains NUL, which PostgreSQL rejects in any text. */
const containsNul = (value: unknown) => typeof value === 'string' && value.includes('\u0000');

/** SQL of one condition. The values of the condition are appended to `values`. */
function condition(table: Table, filter: Filter, values: unknown[]): string {
  if ('or' in filter) {
    const alternatives = filter.or.map((term) => condition(table, term, values));
    return alternatives.length ? `(${alternatives.join(' or ')})` : 'false';
  }
  const type = typeOf(table, filter.column);
  const column = quoteName(filter.column);
  if (filter.op === 'isNull') return `${column} is null`;
  if (filter.op === 'in') {
    const storableValues = filter.value.filter((each) => !containsNul(each));
    return `${column} = any($${values.push(pgArray(type, storableValues))})`;
  }
  if (containsNul(filter.value)) return 'false';
  if (filter.op === 'has') return `${column}::jsonb ? $${values.push(filter.value)}`;
  const value = sqlValue(type, filter.value);
  if (value === null && filter.op === '=') return `${column} is null`;
  return `${column} ${filter.op} $${values.push(value)}`;
}

/** SQL of all conditions, joined. `true` without conditions. */
export function conditions(table: Table, filters: readonly Filter[], values: unknown[]): string {
  return filters.map((filter) => condition(table, filter, values)).join(' and ') || 'true';
}

interface Position {
  created_at: Time;
  id: string;
}

/** The cursor of the position after this row. */
export function cursorOf({ created_at, id }: Position): string {
  return Buffer.from(`${created_at} ${id}`).toString('base64url');
}

/** Throws a fault on the field `cursor` for a string that `cursorOf` did not create. */
export function positionOf(cursor: string): Position {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, time, id] = /^(\d{1,14}) ([\x20-\x7e]{1,200})$/.exec(text) ?? [];
  const position = { created_at: Number(time), id: id ?? '' };
  if (id === undefined || cursorOf(position) !== cursor) {
    throw invalidField('cursor', 'is not a cursor of this list');
  }
  return position;
}

/** Whether an index may find the rows of each branch separately. */
const isChoice = (filter: Filter) =>
  'or' in filter &&
  filter.or.length > 1 &&
  filter.or.every((each) => 'op' in each && (each.op === '=' || each.op === 'isNull'));

/**
 * The conditions, once for each branch of the first choice among the filters. The branches are disjoint, so
 * that each row is found once. An index returns only the rows of one branch in order, so with separate
 * branches only the first rows of each are read.
 */
function branches(table: Table, filters: readonly Filter[], values: unknown[]): string[] {
  const choiceIndex = filters.findIndex(isChoice);
  if (choiceIndex < 0) return [conditions(table, filters, values)];
  const commonSql = conditions(table, filters.toSpliced(choiceIndex, 1), values);
  const choices = (filters[choiceIndex] as { or: readonly Filter[] }).or;
  const alternatives = choices.map((term) => condition(table, term, values));
  return alternatives.map((term, nth) => {
    const exclusions = alternatives
      .slice(0, nth)
      .map((condition) => ` and (${condition}) is not true`);
    return `${commonSql} and ${term}${exclusions.join('')}`;
  });
}

/**
 * Chooses the start of the page from the cursor and the bound of the requested period. The later position
 * implies both conditions. An index starts at one bound only, and with both conditions it could scan from
 * the earlier bound.
 */
function chooseStart(query: PageQuery): { filters: readonly Filter[]; position?: Position } {
  const { filters, sort, cursor } = query;
  if (cursor === undefined) return { filters };
  const position = positionOf(cursor);
  const op = sort === 'asc' ? '>=' : '<=';
  const isBound = (each: Filter) => 'op' in each && each.column === 'created_at' && each.op === op;
  const isBoundLater = filters.some((each) => {
    if (!isBound(each)) return false;
    const { value } = each as { value: Time };
    return sort === 'asc' ? value > position.created_at : value < position.created_at;
  });
  if (isBoundLater) return { filters };
  return { filters: filters.filter((each) => !isBound(each)), position };
}

/**
 * SQL of the first rows, in the order of the list, that meet the indexed conditions. Appends its parameters
 * to `values`.
 */
function rangeSql(table: Table, query: PageQuery, values: unknown[], maximum: number): string {
  const { sort } = query;
  const { filters, position } = chooseStart(query);
  const conditions = branches(table, filters, values);
  let startSql = '';
  if (position) {
    const timeIndex = values.push(sqlValue(typeOf(table, 'created_at'), position.created_at));
    const idIndex = values.push(position.id);
    const operator = sort === 'asc' ? '>' : '<';
    startSql = ` and (created_at, id) ${operator} ($${timeIndex}::timestamptz, $${idIndex})`;
  }
  const orderSql = `order by created_at ${sort}, id ${sort} limit $${values.push(maximum)}`;
  const selectBranch = (where: string) =>
    `select ${columnList(table)} from ${quoteName(table.name)} where ${where}${startSql} ${orderSql}`;
  const [where] = conditions;
  if (conditions.length === 1) return selectBranch(where as string);
  const selects = conditions.map((branch) => `(${selectBranch(branch)})`);
  return `select * from (${selects.join(' union all ')}) either ${orderSql}`;
}

const isScan = ({ unindexed = [] }: PageQuery) => unindexed.length > 0;

/**
 * SQL of the rows of a page and of one further row, which shows whether there is a next page. With
 * unindexed conditions, the last row that may be read is returned as well, and the columns `matches` and
 * `nth` are added. Throws a `RangeError` if `limit` is not an integer from 1 to 1,000.
 */
export function pageSql(table: Table, query: PageQuery): Sql {
  const { sort, limit, unindexed = [] } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_ROWS) {
    throw new RangeError(`a page must have 1 to ${MAX_ROWS} rows, not ${limit}`);
  }
  const values: unknown[] = [];
  if (!isScan(query)) return { text: rangeSql(table, query, values, limit + 1), values };
  const indexedSql = rangeSql(table, query, values, MAX_READ);
  // Rows are numbered in the order of reading, so that reading ends with the page.
  const text = `select * from (
      select *, (${conditions(table, unindexed, values)}) is true as matches,
        row_number() over (order by created_at ${sort}, id ${sort}) as nth
      from (${indexedSql}) indexed) read
    where matches or nth = ${MAX_READ}
    order by created_at ${sort}, id ${sort} limit $${values.push(limit + 1)}`;
  return { text, values };
}

/** SQL that counts the matches, and the rows read for them, to one more than the maximum reported. */
export function countSql(table: Table, query: PageQuery): Sql {
  const { filters, unindexed = [] } = query;
  const values: unknown[] = [];
  const limitSql = `limit ${MAX_COUNTED + 1}`;
  // Ordered, because an unordered scan can begin at the start of the table, with rows of other platforms.
  const orderSql = `order by created_at, id ${limitSql}`;
  const columns = isScan(query) ? columnList(table) : '1';
  const selects = branches(table, filters, values).map(
    (where) => `(select ${columns} from ${quoteName(table.name)} where ${where} ${orderSql})`,
  );
  const filterSql = isScan(query) ? ` filter (where ${conditions(table, unindexed, values)})` : '';
  const text = `select count(*)${filterSql}::int4 as count, count(*)::int4 as read from
    (select ${isScan(query) ? '*' : ''} from (${selects.join(' union all ')}) either ${limitSql}) counted`;
  return { text, values };
}

type ScannedRow<T extends Table> = RowOf<T> & { matches?: boolean; nth?: bigint };

/** A page of the rows of `pageSql` and the row of `countSql`. */
export function pageOf<T extends Table>(
  query: PageQuery,
  fetchedRows: readonly RowOf<T>[],
  matchCount: { count: number; read: number } | undefined,
): Page<T> {
  const { limit } = query;
  const matchingRows = isScan(query)
    ? (fetchedRows as readonly ScannedRow<T>[]).flatMap(({ matches, nth, ...row }) =>
        matches ? [row as RowOf<T>] : [],
      )
    : fetchedRows;
  const rows = matchingRows.slice(0, limit);
  const lastRow = fetchedRows.at(-1) as (Position & { nth?: bigint }) | undefined;
  const isFull = matchingRows.length > limit;
  const hasMore = isFull || Number(lastRow?.nth ?? 0) === MAX_READ;
  const endPosition = isFull ? (rows.at(-1) as Position | undefined) : lastRow;
  return {
    rows,
    hasMore,
    ...(hasMore && endPosition ? { nextCursor: cursorOf(endPosition) } : {}),
    ...(matchCount && matchCount.read <= MAX_COUNTED ? { totalCount: matchCount.count } : {}),
  };
}

/** The cursor after which a page starts, absent for the first page, and the maximum number of rows. */
export interface PageInput {
  cursor?: string | undefined;
  limit: number;
}

/** Position of the first page in an ascending list. */
const START: Position = { created_at: 0, id: '' };

/** The position after which a hand-written statement continues. */
export const startOf = (cursor: string | undefined): Position =>
  cursor === undefined ? START : positionOf(cursor);

/** A page of the rows of a hand-written statement, which returns up to `limit + 1` rows. */
export function pageOfRows<R>(
  fetchedRows: readonly R[],
  limit: number,
  positionOfRow: (row: R) => Position,
) {
  const data = fetchedRows.slice(0, limit);
  const lastRow = data.at(-1);
  const hasMore = fetchedRows.length > limit;
  return {
    data,
    hasMore,
    ...(hasMore && lastRow ? { nextCursor: cursorOf(positionOfRow(lastRow)) } : {}),
  };
}
