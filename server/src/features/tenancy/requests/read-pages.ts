// Reads in the order of a list. A row has many reads, and rows of several processes overlap. A page
// therefore reads rows until no further row can contain a request before the found requests.
import type { Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { MAX_SPAN_MS, type ReadsRow, requestsOf } from './reads.ts';
import { hashOf, type RequestRow } from './store.ts';

type Sort = 'asc' | 'desc';

interface ReadsQuery {
  operationId?: string | undefined;
  tokenId?: string | undefined;
  status?: number | undefined;
  /** Inclusive. */
  from: Time;
  until: Time;
  /** Only requests after this position, in the order of `sort`. */
  position?: { created_at: Time; id: string } | undefined;
  sort: Sort;
  limit: number;
}

const ROWS_PER_QUERY = 10;

const rowsSqlOf = (sort: Sort) => `select platform_id, last_at, last_id, shapes, entries
  from api_request_reads where platform_id = $1
    and last_at >= $2 and last_at <= $3 and first_at <= $4
    and ($5::int8 is null or $5 = any(operation_hashes))
    and ($6::int8 is null or $6 = any(token_hashes))
    and ($7::timestamptz is null or (last_at, last_id) ${sort === 'asc' ? '>' : '<'} ($7, $8))
  order by last_at ${sort}, last_id ${sort} limit ${ROWS_PER_QUERY}`;

const ROWS_SQL_BY_ORDER = { asc: rowsSqlOf('asc'), desc: rowsSqlOf('desc') };

export type RequestPosition = Pick<RequestRow, 'created_at' | 'id'>;

/** Negative if the first is earlier. */
export const comparePositions = (first: RequestPosition, second: RequestPosition): number =>
  first.created_at - second.created_at ||
  (first.id < second.id ? -1 : first.id > second.id ? 1 : 0);

/** The first requests of a period in the order of `sort`, at most one more than `limit`. */
export async function firstReads(
  db: Pick<Database, 'query'>,
  platformId: string,
  { operationId, tokenId, status, from, until, position, sort, limit }: ReadsQuery,
): Promise<RequestRow[]> {
  const sign = sort === 'asc' ? 1 : -1;
  const isWanted = (row: RequestRow) =>
    row.created_at >= from &&
    row.created_at <= until &&
    (operationId === undefined || row.operation_id === operationId) &&
    (tokenId === undefined || row.token_id === tokenId) &&
    (status === undefined || row.status === status) &&
    (position === undefined || sign * comparePositions(row, position) > 0);
  const hashIf = (text: string | undefined) => (text === undefined ? null : hashOf(text));
  const bounds = [new Date(from), new Date(until + MAX_SPAN_MS), new Date(until)];
  const values = [platformId, ...bounds, hashIf(operationId), hashIf(tokenId)];
  const foundRows: RequestRow[] = [];
  let lastRow: ReadsRow | undefined;
  for (;;) {
    const after = [lastRow ? new Date(lastRow.last_at) : null, lastRow?.last_id ?? null];
    const rows = await db.query<ReadsRow>(ROWS_SQL_BY_ORDER[sort], [...values, ...after]);
    for (const row of rows) foundRows.push(...requestsOf(row, isWanted));
    lastRow = rows.at(-1);
    foundRows.sort((first, second) => sign * comparePositions(first, second));
    if (!lastRow || rows.length < ROWS_PER_QUERY) break;
    // No further row has a request beyond this time.
    const bound = sort === 'asc' ? lastRow.last_at - MAX_SPAN_MS : lastRow.last_at;
    const nextRow = foundRows[limit];
    if (nextRow && sign * (bound - nextRow.created_at) > 0) break;
  }
  return foundRows.slice(0, limit + 1);
}

const OLDEST_SQL = `select first_at from api_request_reads where platform_id = $1
  order by last_at, last_id limit 1`;

/** A time before all reads of a platform, or undefined without reads. */
export async function timeBeforeReads(
  db: Pick<Database, 'query'>,
  platformId: string,
): Promise<Time | undefined> {
  const [row] = await db.query<Pick<ReadsRow, 'first_at'>>(OLDEST_SQL, [platformId]);
  return row && row.first_at - MAX_SPAN_MS;
}
