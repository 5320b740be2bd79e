// SQL of the list of events. One index orders the events of a platform by position, which is the
// transaction that stored them. Only events below the horizon are read, because all later events
// are stored above it. A filter by type, customer or resource is applied to the entries of the
// index.
import type { Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { completeEventData } from '../../../runtime/operation/event-data.ts';
import type { StoredEvent } from '../webhooks/index.ts';
import type { EventPosition } from './cursor.ts';

export interface EventRow extends StoredEvent {
  platform_id: string;
  position: bigint;
  sealed_for: string | null;
  data_key: string | null;
}

type Stored = EventRow & { base_id: string | null; base: string | null };

/** Filters of a list of the events of a platform. Absent fields do not filter. */
export interface EventFilter {
  platformId: string;
  types?: readonly string[] | undefined;
  resourceId?: string | undefined;
  /** The hash of a customer (`customerKeyOf`). */
  customerKey?: number | undefined;
  createdAfter?: Time | undefined;
  createdBefore?: Time | undefined;
  /** Time before which no event matches. */
  since?: Time | undefined;
}

export interface Range {
  /** `asc`: oldest first. `desc`: newest first. */
  order: 'asc' | 'desc';
  /** Positions from `low` to below `high`. */
  low: bigint;
  high: bigint;
  /** Continue from this position. */
  from: EventPosition;
  limit: number;
}

// Conditions on the columns of the index `events_order`.
const PLATFORM_CONDITION = 'hashtext(e.platform_id) = hashtext($1) and e.platform_id = $1';
const typesCondition = (types: string) => `(hashtext(e.type) & 32767)::smallint = any (array(
      select (hashtext(t) & 32767)::smallint from unnest(${types}::text[]) t)) and e.type = any (${types})`;
const resourceCondition = (id: string) =>
  `(hashtext(e.subject) & 32767)::smallint = (hashtext(${id}) & 32767)::smallint and e.subject = ${id}`;

const COLUMNS = `e.id, e.platform_id, e.type, e.subject, e.data, e.base_id, b.data as base, e.balance,
  e.held, e.created_at, e.position, e.sealed_for, c.data_key`;
// `customers` belongs to a later feature, so it is read in SQL only.
const JOINS = 'left join events b on b.id = e.base_id left join customers c on c.id = e.sealed_for';

const restoreRow = ({ base_id, base, ...row }: Stored): EventRow => ({
  ...row,
  // An event of an earlier version may refer to an event whose weekly partition was removed.
  data: completeEventData(row.data, base_id === null ? null : (base ?? '')),
});

/** The statement of a range, exported to test its plan. */
export function rangeSql(filter: EventFilter, { order, low, high, from, limit }: Range) {
  const values: unknown[] = [filter.platformId, low, high, from.position, from.id];
  const addParameter = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    PLATFORM_CONDITION,
    'e.position >= $2 and e.position < $3',
    `(e.position, e.id) ${order === 'asc' ? '>' : '<'} ($4::bigint, $5::text)`,
  ];
  const { types, resourceId, customerKey, createdAfter, createdBefore } = filter;
  if (types) conditions.push(typesCondition(addParameter(types)));
  if (customerKey !== undefined)
    conditions.push(`e.customer_key = ${addParameter(customerKey)}::smallint`);
  if (resourceId !== undefined)
    conditions.push(resourceCondition(`${addParameter(resourceId)}::text`));
  if (createdAfter !== undefined)
    conditions.push(`e.created_at >= ${addParameter(new Date(createdAfter))}`);
  if (createdBefore !== undefined) {
    conditions.push(`e.created_at <= ${addParameter(new Date(createdBefore))}`);
  }
  const orderClause = `order by e.position ${order}, e.id ${order}`;
  const text = `select ${COLUMNS} from (select * from events e where ${conditions.join(' and ')}
      ${orderClause} limit ${addParameter(limit)}) e ${JOINS} ${orderClause}`;
  return { text, values };
}

/** Events of a range, in its order. */
export async function eventsIn(db: Database, filter: EventFilter, range: Range) {
  const { text, values } = rangeSql(filter, range);
  return (await db.query<Stored>(text, values)).map(restoreRow);
}

/** Number and times of events, counted up to a maximum. */
export interface Counted {
  /** One more than the maximum if more events exist. */
  count: number;
  oldest: Time | null;
  /**
   * Time of the newest event. If more events than the maximum exist, a time up to which their
   * number does not exceed the maximum.
   */
  newest: Time | null;
}

/** SQL that counts the times `created_at` that another statement selects in their order. */
export const countedSql = (times: string, maximum: string) => `
  with counted as materialized (select created_at, row_number() over () as n
    from (${times} limit ${maximum}::int + 1) f)
  select count(*)::int4 as count, min(created_at) as oldest,
    max(created_at) filter (where created_at < coalesce(
      (select created_at from counted where n = ${maximum}::int + 1), 'infinity')) as newest
  from counted`;

/** The statement that counts events, exported to test its plan. */
export function countSql(
  { platformId, types, createdAfter = 0, createdBefore = 0 }: EventFilter,
  { low, high }: Pick<Range, 'low' | 'high'>,
  maximum: number,
) {
  const times = [new Date(createdAfter), new Date(createdBefore)];
  const values: unknown[] = [platformId, low, high, ...times, maximum];
  const typesClause = types ? `and ${typesCondition(`$${values.push(types)}`)}` : '';
  const timesSql = `select e.created_at from events e
    where ${PLATFORM_CONDITION} and e.position >= $2 and e.position < $3
      and e.created_at >= $4 and e.created_at <= $5 and e.type <> 'TEST' ${typesClause}
    order by e.position`;
  return { text: countedSql(timesSql, '$6'), values };
}

/** Number and times of the events of a range, without test events. */
export async function countIn(
  db: Database,
  filter: EventFilter,
  range: Pick<Range, 'low' | 'high'>,
  maximum: number,
): Promise<Counted> {
  const { text, values } = countSql(filter, range, maximum);
  return (await db.query<Counted>(text, values))[0] as Counted;
}

const EVENT_BY_ID = `select ${COLUMNS} from events e ${JOINS} where e.id = $1 and e.platform_id = $2`;

export async function eventOf(
  db: Database,
  platformId: string,
  id: string,
): Promise<EventRow | undefined> {
  const [row] = await db.query<Stored>(EVENT_BY_ID, [id, platformId]);
  return row && restoreRow(row);
}

const PLATFORM = 'select platform_id from events where id = $1';

export const platformOfEvent = async (db: Database, id: string): Promise<string | undefined> =>
  (await db.query<{ platform_id: string }>(PLATFORM, [id]))[0]?.platform_id;

/** The position below which all events are committed. */
export async function horizonOf(db: Database): Promise<bigint> {
  const [row] = await db.query<{ horizon: bigint }>('select event_horizon() as horizon');
  return (row as { horizon: bigint }).horizon;
}

/** The horizon, and a position above the positions of all transactions that have begun. */
export interface Frontier {
  horizon: bigint;
  end: bigint;
}

const FRONTIER = `select event_horizon() as horizon,
  event_horizon() + pg_snapshot_xmax(s)::text::bigint - pg_snapshot_xmin(s)::text::bigint as end
  from pg_current_snapshot() s`;

export async function frontierOf(db: Database): Promise<Frontier> {
  const [row] = await db.query<Frontier>(FRONTIER, []);
  return row as Frontier;
}

// Omits the data of the events, which is their largest field.
const SUBJECTS = `select e.position, e.id, e.subject from events e
  where ${PLATFORM_CONDITION} and e.position >= $2 and e.position < $3
    and (e.position, e.id) > ($2::bigint, $4::text) and ${typesCondition('$5')}
  order by e.position, e.id limit $6::int`;

interface SubjectStep extends EventPosition {
  platformId: string;
  types: readonly string[];
  horizon: bigint;
  limit: number;
}

/** The resources of the events after a position and below the horizon, in their order. */
export const subjectsAfter = (
  db: Database,
  { platformId, types, position, id, horizon, limit }: SubjectStep,
): Promise<(EventPosition & { subject: string })[]> =>
  db.query(SUBJECTS, [platformId, position, horizon, id, types, limit]);

/**
 * Maximum difference between the order of events by time and by position. It covers the time from
 * an operation to the commit of its events, and the difference between the clocks of processes.
 */
const DISORDER_MS = 120_000;

/** The statement that finds a position by time, exported to test its plan. */
export const BOUNDARY = `with recursive halves(low, high, step) as (
    select coalesce((select e.position from events e where ${PLATFORM_CONDITION}
      order by e.position limit 1), $2::bigint), $2::bigint, 0
    union all
    select case when m.created_at < $3 then h.middle else h.low end,
      case when m.created_at < $3 then h.high else h.middle end, h.step + 1
    from (select low, high, low + (high - low) / 2 as middle, step from halves) h
      left join lateral (select e.created_at from events e where ${PLATFORM_CONDITION}
        and e.position >= h.middle and e.position < $2
        order by e.position limit 1) m on true
    where h.high - h.low > 1 and h.step < 64
  )
  select low, high from halves order by step desc limit 1`;

/**
 * Bounds of the positions of events in the time range of a filter. The bounds are found by binary
 * search in at most 64 steps.
 */
export async function boundsOf(
  db: Database,
  { platformId, createdAfter, createdBefore, since }: EventFilter,
  horizon: bigint,
): Promise<{ low: bigint; high: bigint }> {
  const findBoundary = async (time: Time) => {
    const values = [platformId, horizon, new Date(time)];
    const [row] = await db.query<{ low: bigint; high: bigint }>(BOUNDARY, values);
    return row as { low: bigint; high: bigint };
  };
  const oldestTime = Math.max(createdAfter ?? 0, since ?? 0);
  const [after, before] = await Promise.all([
    oldestTime > 0 ? findBoundary(oldestTime - DISORDER_MS) : undefined,
    createdBefore === undefined ? undefined : findBoundary(createdBefore + DISORDER_MS),
  ]);
  return { low: after?.low ?? LOWEST_POSITION, high: before?.high ?? horizon };
}

/** A position below the position of every event. */
export const LOWEST_POSITION = -(2n ** 62n);

const FIRST_POSITION = `select e.position from events e where ${PLATFORM_CONDITION}
  order by e.position limit 1`;

/** Position of the oldest event of a platform, or undefined if it has none. */
export async function firstPositionOf(db: Database, platformId: string) {
  const [row] = await db.query<{ position: bigint }>(FIRST_POSITION, [platformId]);
  return row?.position;
}

/** A waiting request: the platform, and the position after which it waits for an event. */
export interface WaitingRequest extends EventPosition {
  platformId: string;
}

const REQUESTS_WITH_EVENTS = `select w.at from unnest($1::int[], $2::text[], $3::bigint[], $4::text[])
    as w(at, platform_id, position, id)
  where exists (select from events e
    where hashtext(e.platform_id) = hashtext(w.platform_id) and e.platform_id = w.platform_id
      and e.position >= w.position and e.position < $5
      and (e.position, e.id) > (w.position, w.id))`;

/** Indexes of the waiting requests that have an event to read. */
export async function requestsWithEvents(
  db: Database,
  waitingRequests: readonly WaitingRequest[],
): Promise<number[]> {
  const horizon = await horizonOf(db);
  const rows = await db.query<{ at: number }>(REQUESTS_WITH_EVENTS, [
    waitingRequests.map((_, index) => index),
    waitingRequests.map((each) => each.platformId),
    waitingRequests.map((each) => each.position),
    waitingRequests.map((each) => each.id),
    horizon,
  ]);
  return rows.map(({ at }) => at);
}

const OPEN_EPOCH = 'select open_event_epoch()';

// PostgreSQL does not write the initial state of an unlogged sequence to the disk of a replica
// before its next checkpoint. On a replica that becomes the primary earlier, the sequence is
// permanently unreadable.
const RENEW_MARK = `drop sequence event_epoch_mark; create unlogged sequence event_epoch_mark;
  ${OPEN_EPOCH}`;

const isUnreadable = (error: unknown) => {
  const { code, message } = error as { code?: string; message?: string };
  return code === 'XX000' && message?.includes('event_epoch_mark') === true;
};

/**
 * Starts a new epoch of positions after a crash, or after a restore into another cluster or
 * timeline.
 */
export async function openEpoch(db: { query(text: string): Promise<unknown> }): Promise<void> {
  try {
    await db.query(OPEN_EPOCH);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    await db.query(RENEW_MARK);
  }
}
