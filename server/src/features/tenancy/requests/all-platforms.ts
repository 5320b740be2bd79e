// A page of the requests of all platforms, newest first. Requests with their own rows, and reads,
// are each read in steps along an index by time. Each part stops after a bounded time, so the cost
// of a page is independent of the number of platforms and rows.
import type { Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { mergeParts, type Part } from '../../../runtime/db/merge.ts';
import { cursorOf, positionOf } from '../../../runtime/db/paging.ts';
import { pageInSteps, type StepQuery } from '../../../runtime/db/steps.ts';
import { includesReads, periodOf } from './pages.ts';
import { type RequestSelection, requestFilters } from './present.ts';
import { comparePositions, type RequestPosition } from './read-pages.ts';
import { MAX_SPAN_MS, type ReadsRow, requestsOf } from './reads.ts';
import { apiRequests, hashOf, type RequestRow } from './store.ts';

type Reader = Pick<Database, 'query'>;

interface PageOptions {
  limit: number;
  cursor?: string | undefined;
}

const newestFirst = (first: RequestPosition, second: RequestPosition) =>
  comparePositions(second, first);

/** The steps through requests with their own rows, exported to test their plans. */
export function ownSteps(selection: RequestSelection): Omit<StepQuery, 'limit'> {
  const { createdAfter, createdBefore, resourceId, ...rest } = selection;
  return {
    scope: resourceId === undefined ? [] : [{ column: 'resource_id', op: '=', value: resourceId }],
    isByTime: true,
    resources: [],
    filters: requestFilters(undefined, rest),
    createdAfter: createdAfter === undefined ? undefined : Date.parse(createdAfter),
    createdBefore: createdBefore === undefined ? undefined : Date.parse(createdBefore),
  };
}

async function ownPart(
  db: Reader,
  selection: RequestSelection,
  page: PageOptions,
): Promise<Part<RequestRow, RequestPosition>> {
  const query = { ...ownSteps(selection), ...page };
  const { rows, nextCursor } = await pageInSteps(db, apiRequests, query);
  return { items: rows, end: nextCursor === undefined ? undefined : positionOf(nextCursor) };
}

/** A row of reads, without the requests that it contains. */
interface ReadsHead {
  platform_id: string;
  last_at: Time;
  last_id: string;
  /** Whether the row may contain matching requests. */
  matches: boolean;
}

const HEADS_SQL = `select platform_id, last_at, last_id,
    ($4::int8 is null or $4 = any(operation_hashes))
      and ($5::int8 is null or $5 = any(token_hashes)) as matches
  from api_request_reads
  where last_at >= $1 and last_at <= $2 and first_at <= $3
    and ($6::timestamptz is null or (last_at, last_id) < ($6, $7))
  order by last_at desc, last_id desc limit $8::int`;

interface HeadStep {
  from: Time;
  until: Time;
  operationId?: string | undefined;
  tokenId?: string | undefined;
  after?: ReadsHead | undefined;
  length: number;
}

/** The statement of a step through rows of reads, exported to test its plan. */
export function headsSql({ from, until, operationId, tokenId, after, length }: HeadStep) {
  const hashIf = (text: string | undefined) => (text === undefined ? null : hashOf(text));
  const bounds = [new Date(from), new Date(until + MAX_SPAN_MS), new Date(until)];
  const position = [after ? new Date(after.last_at) : null, after?.last_id ?? null];
  const values = [...bounds, hashIf(operationId), hashIf(tokenId), ...position, length];
  return { text: HEADS_SQL, values };
}

const CONTENTS_SQL = `select r.platform_id, r.shapes, r.entries
  from unnest($1::text[], $2::timestamptz[], $3::text[]) as k(platform_id, last_at, last_id)
    join api_request_reads r using (platform_id, last_at, last_id)`;

const contentsOf = (db: Reader, heads: readonly ReadsHead[]) =>
  db.query<ReadsRow>(CONTENTS_SQL, [
    heads.map((head) => head.platform_id),
    heads.map((head) => new Date(head.last_at)),
    heads.map((head) => head.last_id),
  ]);

/** Rows whose requests are read in one query, and rows of a step that a filter may skip. */
const READ_ROWS = 10;
const FILTERED_STEP_ROWS = 500;
/** Time after which no further step of a page is read. */
const PAGE_MS = 100;
/** Lower than every ID. */
const FIRST_ID = ' ';

async function readsPart(
  db: Reader,
  selection: RequestSelection,
  { limit, cursor }: PageOptions,
): Promise<Part<RequestRow, RequestPosition>> {
  const { operationId, tokenId, status } = selection;
  const position = cursor === undefined ? undefined : positionOf(cursor);
  const { from, until: periodEnd } = periodOf(selection);
  const until = Math.min(periodEnd, position?.created_at ?? periodEnd);
  const isWanted = (row: RequestRow) =>
    row.created_at >= from &&
    row.created_at <= until &&
    (operationId === undefined || row.operation_id === operationId) &&
    (tokenId === undefined || row.token_id === tokenId) &&
    (status === undefined || row.status === status) &&
    (position === undefined || newestFirst(position, row) < 0);
  const startedAt = performance.now();
  const length =
    operationId === undefined && tokenId === undefined ? READ_ROWS : FILTERED_STEP_ROWS;
  const foundRows: RequestRow[] = [];
  let after: ReadsHead | undefined;
  for (;;) {
    const { text, values } = headsSql({ from, until, operationId, tokenId, after, length });
    const heads = await db.query<ReadsHead>(text, values);
    const matchingHeads = heads.filter(({ matches }) => matches);
    const headsToRead = matchingHeads.slice(0, READ_ROWS);
    for (const row of headsToRead.length ? await contentsOf(db, headsToRead) : []) {
      foundRows.push(...requestsOf(row, isWanted));
    }
    foundRows.sort(newestFirst);
    const hasUnreadHeads = matchingHeads.length > READ_ROWS;
    after = hasUnreadHeads ? headsToRead.at(-1) : heads.at(-1);
    const isLast = !hasUnreadHeads && heads.length < length;
    if (isLast && foundRows.length <= limit) return { items: foundRows, end: undefined };
    // No further row has a request after this time.
    const bound = after?.last_at ?? 0;
    const nextRow = foundRows[limit];
    if (nextRow && (isLast || nextRow.created_at > bound)) {
      return { items: foundRows.slice(0, limit), end: foundRows[limit - 1] };
    }
    // A page that ends after the period would contain no request, and the next page would read the
    // same rows.
    if (bound < until && performance.now() - startedAt > PAGE_MS) {
      const items = foundRows.filter(({ created_at }) => created_at > bound).slice(0, limit);
      return { items, end: { created_at: bound + 1, id: FIRST_ID } };
    }
  }
}

/**
 * A page of the requests of all platforms, newest first. An invalid cursor throws INVALID_INPUT.
 */
export async function pageOfAllRequests(
  db: Reader,
  selection: RequestSelection,
  page: PageOptions,
): Promise<{ rows: RequestRow[]; hasMore: boolean; nextCursor?: string }> {
  const parts = await Promise.all([
    ownPart(db, selection, page),
    ...(includesReads(selection) ? [readsPart(db, selection, page)] : []),
  ]);
  const order = { limit: page.limit, positionOf: (row: RequestRow) => row, compare: newestFirst };
  const { items, end } = mergeParts<RequestRow, RequestPosition>(parts, order);
  return {
    rows: items,
    hasMore: end !== undefined,
    ...(end === undefined ? {} : { nextCursor: cursorOf(end) }),
  };
}
