// Pages of the list of requests. A filter by operation, token or a successful status may match few of very
// many requests. A page is therefore read in periods of time and returned after a bounded time. A page can be
// shorter than requested although `hasMore` is true.
import { iso, type Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { cursorOf, type Page, type PageQuery, positionOf } from '../../../runtime/db/paging.ts';
import { type RequestSelection, requestFilters } from './present.ts';
import { comparePositions, firstReads, timeBeforeReads } from './read-pages.ts';
import { apiRequests, type RequestRow } from './store.ts';

type RequestPage = Page<typeof apiRequests>;
type PageOptions = Omit<PageQuery, 'filters' | 'count'>;

/** Length of the first period. The length doubles after each period that is read within `SHORT_MS`. */
const FIRST_PERIOD_MS = 24 * 3_600_000;
const SHORT_MS = 50;
/** Time after which no further period of a page is read. */
const PAGE_MS = 500;
/** Lower and higher than every ID. */
const FIRST_ID = ' ';
const LAST_ID = '~';

/** Whether few requests may match, and no index contains only the matching requests. */
function isSelective(selection: RequestSelection): boolean {
  const { operationId, tokenId, status, statusClass, ...otherFilters } = selection;
  const isFailed = (status ?? 0) >= 400 || (statusClass ?? '2xx') !== '2xx';
  const hasIndex =
    isFailed || otherFilters.errorCode || otherFilters.resourceId || otherFilters.replayed;
  return !hasIndex && (operationId ?? tokenId ?? status ?? statusClass) !== undefined;
}

/** A time that is not after any request of a platform, or undefined without requests. */
async function findOldestTime(db: Database, platformId: string): Promise<Time | undefined> {
  const filters = [{ column: 'platform_id' as const, op: '=' as const, value: platformId }];
  const [{ rows }, earlierTime] = await Promise.all([
    db.page(apiRequests, { filters, sort: 'asc', limit: 1, count: false }),
    timeBeforeReads(db, platformId),
  ]);
  const times = [rows[0]?.created_at, earlierTime].filter((each) => each !== undefined);
  return times.length ? Math.min(...times) : undefined;
}

export interface Period {
  from: Time;
  until: Time;
}

/** PostgreSQL and `Date` can represent these times. */
const FULL_PERIOD: Period = { from: 0, until: Date.UTC(9999, 0) };

export function periodOf({ createdAfter, createdBefore }: RequestSelection): Period {
  return {
    from: createdAfter === undefined ? FULL_PERIOD.from : Date.parse(createdAfter),
    until: createdBefore === undefined ? FULL_PERIOD.until : Date.parse(createdBefore),
  };
}

/** Whether successful reads can match. */
export function includesReads(selection: RequestSelection): boolean {
  const { status = 200, statusClass = '2xx', errorCode, resourceId, replayed } = selection;
  const hasOtherFilter = errorCode !== undefined || resourceId !== undefined || replayed === true;
  return status < 400 && statusClass === '2xx' && !hasOtherFilter;
}

/** A page of requests with their own rows and of reads. */
async function pageIn(
  db: Database,
  platformId: string,
  selection: RequestSelection,
  page: PageOptions,
): Promise<RequestPage> {
  const { cursor, sort, limit } = page;
  const { operationId, tokenId, status } = selection;
  const position = cursor === undefined ? undefined : positionOf(cursor);
  const filters = requestFilters(platformId, selection);
  const ownPagePromise = db.page(apiRequests, { ...page, filters, count: false });
  if (!includesReads(selection)) return ownPagePromise;
  const period = periodAfterCursor(periodOf(selection), page);
  const query = { operationId, tokenId, status, ...period, position, sort, limit };
  const [recordedPage, reads] = await Promise.all([
    ownPagePromise,
    firstReads(db, platformId, query),
  ]);
  if (reads.length === 0) return recordedPage;
  const sign = sort === 'asc' ? 1 : -1;
  const requests = [...recordedPage.rows, ...reads].sort(
    (first, second) => sign * comparePositions(first, second),
  );
  const rows = requests.slice(0, limit);
  const hasMore = recordedPage.hasMore || requests.length > limit;
  return { rows, hasMore, ...(hasMore ? { nextCursor: cursorOf(rows.at(-1) as RequestRow) } : {}) };
}

/** The first period in the order of a list, and the remaining range. */
function split({ from, until }: Period, sort: 'asc' | 'desc', lengthMs: number) {
  if (sort === 'asc') {
    const end = Math.min(from + lengthMs, until);
    return { firstPeriod: { from, until: end }, remainingPeriod: { from: end + 1, until }, end };
  }
  const end = Math.max(until - lengthMs, from);
  return { firstPeriod: { from: end, until }, remainingPeriod: { from, until: end - 1 }, end };
}

/** The remaining period after a cursor. */
function periodAfterCursor(period: Period, { sort, cursor }: PageOptions): Period {
  if (cursor === undefined) return period;
  const { created_at: createdAt } = positionOf(cursor);
  return sort === 'asc'
    ? { ...period, from: Math.max(period.from, createdAt) }
    : { ...period, until: Math.min(period.until, createdAt) };
}

/** A page of a filter that may match few requests, in periods of time. */
async function pageInPeriods(
  db: Database,
  platformId: string,
  selection: RequestSelection,
  page: PageOptions,
  now: Time,
): Promise<RequestPage> {
  const oldestTime = await findOldestTime(db, platformId);
  if (oldestTime === undefined) return { rows: [], hasMore: false };
  const startedAt = performance.now();
  const { from, until } = periodOf(selection);
  let period = periodAfterCursor(
    { from: Math.max(oldestTime, from), until: Math.min(now, until) },
    page,
  );
  let lengthMs = FIRST_PERIOD_MS;
  const rows: RequestRow[] = [];
  while (period.from <= period.until) {
    const periodStartedAt = performance.now();
    const { firstPeriod, remainingPeriod, end } = split(period, page.sort, lengthMs);
    // A full page reads one more row to find out whether there is a next page.
    const remainingPage = { ...page, limit: Math.max(page.limit - rows.length, 1) };
    const bounds = { createdAfter: iso(firstPeriod.from), createdBefore: iso(firstPeriod.until) };
    const periodPage = await pageIn(db, platformId, { ...selection, ...bounds }, remainingPage);
    const isFull = rows.length === page.limit;
    if (isFull && periodPage.rows.length > 0) {
      return { rows, hasMore: true, nextCursor: cursorOf(rows.at(-1) as RequestRow) };
    }
    rows.push(...periodPage.rows);
    if (periodPage.hasMore) return { ...periodPage, rows };
    period = remainingPeriod;
    if (performance.now() - periodStartedAt < SHORT_MS) lengthMs *= 2;
    if (period.from <= period.until && performance.now() - startedAt > PAGE_MS) {
      const id = page.sort === 'asc' ? LAST_ID : FIRST_ID;
      return { rows, hasMore: true, nextCursor: cursorOf({ created_at: end, id }) };
    }
  }
  return { rows, hasMore: false };
}

/** A page of the requests of a platform. An invalid cursor throws INVALID_INPUT. */
export async function pageOfRequests(
  db: Database,
  platformId: string,
  selection: RequestSelection,
  { now, ...page }: PageOptions & { now: Time },
): Promise<RequestPage> {
  if (isSelective(selection)) return pageInPeriods(db, platformId, selection, page, now);
  return pageIn(db, platformId, selection, page);
}
