// The operations on events: a page of the list, waiting for events, and one event.
import type { Static } from '@sinclair/typebox';
import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault, type FieldError, invalid } from '../../../kernel/fault.ts';
import { isAnyId, isId, timeOfId } from '../../../kernel/id.ts';
import { rangeErrors } from '../../../runtime/db/paging.ts';
import type { Log } from '../../../runtime/observability/log.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { customerKeyOf } from '../../../runtime/operation/event-data.ts';
import type { Operation } from '../../../runtime/operation/feature.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { testEvent } from '../../tenancy/config/index.ts';
import { getEventById, listEvents } from './contract.ts';
import { BEGINNING, type Cursor, cursorOf, type EventPosition, readCursor } from './cursor.ts';
import { isAbout, readData } from './data.ts';
import type { Followers } from './followers.ts';
import {
  boundsOf,
  type EventFilter,
  type EventRow,
  eventOf,
  horizonOf,
  LOWEST_POSITION,
  openEpoch,
} from './store.ts';
import { readSteps } from './walk.ts';

export interface EventDeps {
  followers: Pick<Followers, 'register'>;
  log: Log;
  /** Retention period of events. */
  eventRetentionMs: number;
}

type Query = Static<typeof listEvents.query>;

/** The data of an event, or null if it is erased or unreadable. */
function dataOf({ vault }: Ctx, log: Log, row: EventRow): Record<string, unknown> | null {
  try {
    return readData(vault, row);
  } catch (error) {
    const fields = { err: error, event: row.id, platformId: row.platform_id };
    log.error(fields, 'the data of an event is unreadable');
    return null;
  }
}

const present = (row: EventRow, data: Record<string, unknown> | null) => ({
  ...(row.type === testEvent.type ? { test: true } : {}),
  id: row.id,
  type: row.type,
  timestamp: iso(row.created_at),
  resourceId: row.subject,
  data,
});

function presentAll(ctx: Ctx, log: Log, rows: readonly EventRow[], customerId?: string) {
  return rows.flatMap((row) => {
    const data = dataOf(ctx, log, row);
    // The index contains only a part of the customer's hash.
    const isOtherCustomer = customerId !== undefined && !isAbout(customerId, row, data);
    return isOtherCustomer ? [] : [present(row, data)];
  });
}

function queryErrors(query: Query): FieldError[] {
  const { after, before, wait = 0, createdBefore } = query;
  const errors = [...rangeErrors(query)];
  if (after !== undefined && before !== undefined) {
    errors.push({ field: 'before', message: 'must be absent if `after` is set' });
  }
  if (wait > 0 && after === undefined) {
    errors.push({ field: 'wait', message: 'is allowed only with `after`' });
  }
  if (wait > 0 && createdBefore !== undefined) {
    errors.push({ field: 'wait', message: 'must be absent if `createdBefore` is set' });
  }
  return errors;
}

const HOUR_MS = 3_600_000;

/** The cursor from which to continue. Throws if events after it may have been deleted. */
function parseFollowCursor(ctx: Ctx, { eventRetentionMs }: EventDeps, text: string): Cursor {
  const oldestTime = ctx.effects.now() - eventRetentionMs;
  // The cursors of the first pages must not expire before they are used.
  if (text === BEGINNING) return { position: LOWEST_POSITION, id: '', at: oldestTime + HOUR_MS };
  const cursor = readCursor('after', text);
  if (cursor.at >= oldestTime) return cursor;
  const days = Math.round(eventRetentionMs / (24 * HOUR_MS));
  const message =
    `is older than ${days} days, so events after it may have been deleted. Compare the ` +
    `resources, and follow again with \`${BEGINNING}\``;
  throw invalid([{ field: 'after', message }]);
}

/**
 * Events about a resource or a customer are not older than this resource or customer. IDs from a
 * seed contain no real time.
 */
function sinceOf(now: Time, ids: readonly (string | undefined)[]): Time {
  const times = ids.map((id) => (id !== undefined && isAnyId(id) ? timeOfId(id) : 0));
  return Math.max(0, ...times.filter((time) => time <= now));
}

function filterOf({ caller, effects }: Reads, query: Query): EventFilter {
  const { type, resourceId, customerId, createdAfter, createdBefore } = query;
  const parseTime = (text: string | undefined) =>
    text === undefined ? undefined : Date.parse(text);
  return {
    platformId: caller.platformId,
    types: type,
    resourceId,
    customerKey: customerId === undefined ? undefined : customerKeyOf(customerId),
    createdAfter: parseTime(createdAfter),
    createdBefore: parseTime(createdBefore),
    since: sinceOf(effects.now(), [resourceId, customerId]),
  };
}

const DEFAULT_LIMIT = 20;

/** Fields of a context that a page uses. */
type Reads = Pick<Ctx, 'db' | 'effects' | 'caller'>;

/** A page, oldest first, after a cursor. */
async function readPageAfter(ctx: Ctx, query: Query, from: Cursor) {
  const { limit = DEFAULT_LIMIT } = query;
  const filter = filterOf(ctx, query);
  const startedAt = ctx.effects.now();
  if (from.position === LOWEST_POSITION)
    filter.createdAfter = Math.max(filter.createdAfter ?? 0, from.at);
  let horizon = await horizonOf(ctx.db);
  if (from.position > horizon) {
    // After a crash of the database, a cursor can be above the horizon until the committer connects
    // again.
    await openEpoch(ctx.db);
    horizon = await horizonOf(ctx.db);
  }
  if (from.position > horizon) {
    const message = 'is not a cursor of this service. Use `after` of an earlier reply';
    throw invalid([{ field: 'after', message }]);
  }
  const bounds = await boundsOf(ctx.db, filter, horizon);
  const walk = await readSteps(ctx.db, filter, { order: 'asc', ...bounds, from, limit });
  const firstEvent = walk.rows[0];
  const lastRow = walk.rows.at(-1);
  // Without further events, all events up to `startedAt` were read.
  const readUntil: Time = walk.hasMore
    ? Math.max(from.at, lastRow ? timeOfId(lastRow.id) : 0)
    : startedAt;
  const nextPosition = walk.hasMore || bounds.high === horizon ? walk.end : (lastRow ?? from);
  const before = firstEvent
    ? cursorOf({ ...positionOf(firstEvent), at: timeOfId(firstEvent.id) })
    : undefined;
  return {
    rows: walk.rows,
    hasMore: walk.hasMore,
    after: { ...positionOf(nextPosition), at: readUntil },
    before,
  };
}

const positionOf = ({ position, id }: EventPosition): EventPosition => ({ position, id });

/** A page, newest first, before a cursor or from the newest event. */
export async function readPageBefore(ctx: Reads, query: Query, before: Cursor | undefined) {
  const { limit = DEFAULT_LIMIT } = query;
  const filter = filterOf(ctx, query);
  const horizon = await horizonOf(ctx.db);
  const horizonCursor: Cursor = { position: horizon, id: '', at: ctx.effects.now() };
  const bounds = await boundsOf(ctx.db, filter, horizon);
  const from = before ?? horizonCursor;
  const walk = await readSteps(ctx.db, filter, { order: 'desc', ...bounds, from, limit });
  const [firstEvent] = walk.rows;
  const newestCursor =
    before && firstEvent ? { ...positionOf(firstEvent), at: timeOfId(firstEvent.id) } : from;
  return {
    rows: walk.rows,
    hasMore: walk.hasMore,
    after: newestCursor,
    before: walk.hasMore ? cursorOf({ ...walk.end, at: horizonCursor.at }) : undefined,
  };
}

/**
 * Reads until an event is found, the wait has timed out, the client disconnects, or the process
 * stops.
 */
async function follow(
  ctx: Ctx,
  { followers }: EventDeps,
  query: Query,
  from: Cursor,
  disconnect: AbortSignal | undefined,
) {
  const { wait = 0 } = query;
  let page = await readPageAfter(ctx, query, from);
  let idleMs = 0;
  const isEmpty = () => page.rows.length === 0 && !page.hasMore;
  if (wait === 0 || !isEmpty()) return { page, idleMs };
  const registration = followers.register(ctx.caller.platformId, disconnect);
  try {
    while (isEmpty() && !registration.isClosed && idleMs < wait * 1_000) {
      const startedAt = performance.now();
      await registration.wait(page.after, wait * 1_000 - idleMs);
      idleMs += performance.now() - startedAt;
      if (disconnect?.aborted) break;
      page = await readPageAfter(ctx, query, page.after);
    }
  } finally {
    registration.release();
  }
  return { page, idleMs };
}

export const eventOperations = (deps: EventDeps): readonly Operation[] => [
  handle(listEvents, async (ctx, { query, disconnect }) => {
    const errors = queryErrors(query);
    if (errors.length) throw invalid(errors);
    const { after, before, customerId } = query;
    const { page, idleMs } =
      after === undefined
        ? {
            page: await readPageBefore(
              ctx,
              query,
              before === undefined ? undefined : readCursor('before', before),
            ),
            idleMs: 0,
          }
        : await follow(ctx, deps, query, parseFollowCursor(ctx, deps, after), disconnect);
    const body = {
      data: presentAll(ctx, deps.log, page.rows, customerId),
      hasMore: page.hasMore,
      after: cursorOf(page.after),
      ...(page.before === undefined ? {} : { before: page.before }),
    };
    return { status: 200, body, idleMs };
  }),
  handle(getEventById, async (ctx, { params: { eventId } }) => {
    const row = isId(eventId, 'Webhook')
      ? await eventOf(ctx.db, ctx.caller.platformId, eventId)
      : undefined;
    if (!row) throw new Fault('NOT_FOUND', 'Event not found.');
    return { status: 200, body: present(row, dataOf(ctx, deps.log, row)) };
  }),
];
