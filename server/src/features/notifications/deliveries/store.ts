// SQL of the list of deliveries. A step finds the deliveries of each endpoint in the queue and in
// the attempts, in the order of their events. Most filters are then applied to the events.
import type { Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { type Counted, countedSql } from '../events/index.ts';
import type { DeliveryKey } from './position.ts';

export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED';

export interface DeliveryFilter {
  platformId: string;
  /** Numbers of the endpoints. */
  endpoints: readonly number[];
  /** UNDELIVERED: pending or failed. */
  status?: DeliveryStatus | 'UNDELIVERED' | undefined;
  eventId?: string | undefined;
  types?: readonly string[] | undefined;
  resourceId?: string | undefined;
  /** Bounds of event IDs: from the first, before the second. */
  from?: string | undefined;
  before?: string | undefined;
  createdAfter?: Time | undefined;
  createdBefore?: Time | undefined;
}

export interface AttemptDetails {
  attempt: number;
  at: Time;
  status: number | null;
  error: string | null;
  ms: number;
  head: string | null;
  response: string | null;
  result: 'delivered' | 'retry' | 'dropped';
}

export interface DeliveryRow {
  platform_id: string;
  endpoint: number;
  event_id: string;
  type: string;
  subject: string;
  created_at: Time;
  status: DeliveryStatus;
  /** Null unless the delivery is pending. */
  due_at: Time | null;
  /** The latest attempt, or null before the first attempt. */
  attempt: number | null;
  at: Time | null;
  http_status: number | null;
  error: string | null;
  ms: number | null;
  result: AttemptDetails['result'] | null;
}

/**
 * Statements that select the deliveries of each status (`SOURCES`). Conditions on `t` are appended.
 */
const QUEUED_DELIVERIES = 'select t.event_id from webhook_queue t where true';
const ATTEMPTED_DELIVERIES = 'select t.event_id from webhook_attempts t where t.attempt = 1';
const DROPPED_DELIVERIES = "select t.event_id from webhook_attempts t where t.result = 'dropped'";
const SOURCES = {
  ANY: [QUEUED_DELIVERIES, ATTEMPTED_DELIVERIES],
  PENDING: [QUEUED_DELIVERIES],
  UNDELIVERED: [QUEUED_DELIVERIES, DROPPED_DELIVERIES],
  FAILED: [DROPPED_DELIVERIES],
  DELIVERED: [ATTEMPTED_DELIVERIES],
};

export interface Step {
  order: 'asc' | 'desc';
  /** Continue after this delivery. */
  after: DeliveryKey | undefined;
  limit: number;
}

/** The statement of the next deliveries that may match, exported to test its plan. */
export function candidatesSql(filter: DeliveryFilter, { order, after, limit }: Step) {
  const values: unknown[] = [filter.platformId, filter.endpoints, limit];
  const addParameter = (value: unknown) => `$${values.push(value)}`;
  const op = order === 'asc' ? '>' : '<';
  const bounds: string[] = [];
  if (after) {
    const event = addParameter(after.eventId);
    // The first condition is the range of the index.
    bounds.push(`t.event_id ${op}= ${event}`);
    bounds.push(`(t.event_id, t.endpoint) ${op} (${event}, ${addParameter(after.endpoint)}::int)`);
  }
  if (filter.eventId !== undefined) bounds.push(`t.event_id = ${addParameter(filter.eventId)}`);
  if (filter.from !== undefined) bounds.push(`t.event_id >= ${addParameter(filter.from)}`);
  if (filter.before !== undefined) bounds.push(`t.event_id < ${addParameter(filter.before)}`);
  const sources = SOURCES[filter.status ?? 'ANY'].map(
    (
      source,
    ) => `(${source} and ${['t.platform_id = $1', 't.endpoint = n.number', ...bounds].join(' and ')}
      order by t.event_id ${order} limit $3::int)`,
  );
  const text = `select $1::text as "platformId", f.event_id as "eventId", n.number as endpoint
    from unnest($2::int[]) n(number) cross join lateral (
      select distinct event_id from (${sources.join(' union all ')}) s
      order by event_id ${order} limit $3::int) f
    order by f.event_id ${order}, n.number ${order} limit $3::int`;
  return { text, values };
}

/** The key of a delivery, with its platform. */
export interface PlatformKey extends DeliveryKey {
  platformId: string;
}

export type DetailsFilter = Pick<
  DeliveryFilter,
  'types' | 'resourceId' | 'createdAfter' | 'createdBefore' | 'status'
>;

/** The statement that reads the matching deliveries among `keys`, exported to test its plan. */
export function detailsSql(
  filter: DetailsFilter,
  keys: readonly PlatformKey[],
  { order, limit }: Pick<Step, 'order' | 'limit'>,
) {
  const values: unknown[] = [
    keys.map(({ platformId }) => platformId),
    keys.map(({ eventId }) => eventId),
    keys.map(({ endpoint }) => endpoint),
    limit,
  ];
  const addParameter = (value: unknown) => `$${values.push(value)}`;
  const { types, resourceId, createdAfter, createdBefore, status } = filter;
  const conditions = ['x.id = k.event_id', 'x.platform_id = k.platform_id'];
  if (types) conditions.push(`x.type = any (${addParameter(types)}::text[])`);
  if (resourceId !== undefined) conditions.push(`x.subject = ${addParameter(resourceId)}`);
  if (createdAfter !== undefined) {
    conditions.push(`x.created_at >= ${addParameter(new Date(createdAfter))}`);
  }
  if (createdBefore !== undefined) {
    conditions.push(`x.created_at <= ${addParameter(new Date(createdBefore))}`);
  }
  const statusCondition =
    status === undefined || status === 'UNDELIVERED'
      ? `s.status ${status === undefined ? 'is not null' : "<> 'DELIVERED'"}`
      : `s.status = ${addParameter(status)}`;
  const text = `select k.platform_id, e.id as event_id, k.endpoint, e.type, e.subject, e.created_at, s.status,
      q.due_at, l.attempt, l.at, l.status as http_status, l.error, l.ms, l.result
    from unnest($1::text[], $2::text[], $3::int[]) as k(platform_id, event_id, endpoint)
      cross join lateral (select id, type, subject, created_at from events x
        where ${conditions.join(' and ')} offset 0) e
      left join lateral (select due_at from webhook_queue
        where platform_id = k.platform_id and endpoint = k.endpoint and event_id = k.event_id
        limit 1) q on true
      left join lateral (select attempt, at, status, error, ms, result from webhook_attempts
        where platform_id = k.platform_id and endpoint = k.endpoint and event_id = k.event_id
        order by attempt desc limit 1) l on true
      cross join lateral (select case when q.due_at is not null then 'PENDING'
        when l.result = 'delivered' then 'DELIVERED' when l.result is not null then 'FAILED'
        end as status) s
    where ${statusCondition}
    order by e.id ${order}, k.endpoint ${order} limit $4::int`;
  return { text, values };
}

export function deliveryKeys(db: Database, filter: DeliveryFilter, step: Step) {
  const { text, values } = candidatesSql(filter, step);
  return db.query<PlatformKey>(text, values);
}

export function deliveryDetails(
  db: Pick<Database, 'query'>,
  filter: DetailsFilter,
  keys: readonly PlatformKey[],
  page: Pick<Step, 'order' | 'limit'>,
) {
  const { text, values } = detailsSql(filter, keys, page);
  return db.query<DeliveryRow>(text, values);
}

/** One delivery of a platform. */
export async function findDelivery(
  db: Database,
  platformId: string,
  key: DeliveryKey,
): Promise<DeliveryRow | undefined> {
  return (await deliveryDetails(db, {}, [{ platformId, ...key }], { order: 'asc', limit: 1 }))[0];
}

const ATTEMPTS = `select attempt, at, status, error, ms, head, response, result
  from webhook_attempts where platform_id = $1 and endpoint = $2 and event_id = $3
  order by attempt`;

/** The attempts of a delivery, oldest first. */
export const findAttempts = (db: Database, platformId: string, key: DeliveryKey) =>
  db.query<AttemptDetails>(ATTEMPTS, [platformId, key.endpoint, key.eventId]);

const EVENT = `select platform_id as "platformId", type, subject as "resourceId"
  from events where id = $1`;

interface EventHead {
  platformId: string;
  type: string;
  resourceId: string;
}

/** The platform, the type and the resource of an event. */
export async function findEvent(db: Database, id: string) {
  return (await db.query<EventHead>(EVENT, [id]))[0];
}

const PENDING_KEYS = `select platform_id as "platformId", endpoint, event_id as "eventId"
  from webhook_queue where ($1::text is null or platform_id = $1)
    and ($3::text is null or (platform_id, endpoint, event_id) > ($3, $4::int, $5::text))
  order by platform_id, endpoint, event_id limit $2::int`;

/**
 * Pending deliveries of a platform or of all, by platform, endpoint and event. `after` are these
 * three values of the last delivery that was read.
 */
export const pendingKeys = (
  db: Database,
  platformId: string | undefined,
  limit: number,
  after: readonly (string | number | null)[] = [null, null, null],
) => db.query<PlatformKey>(PENDING_KEYS, [platformId ?? null, limit, ...after]);

const DROPPED_EVENTS = `
  select e.id, e.platform_id, e.type, e.subject, e.created_at, a.attempt as attempts,
    a.at, a.endpoint
  from webhook_attempts a join events e on e.id = a.event_id
  where a.result = 'dropped' and ($2::text is null or a.platform_id = $2)
    and ($3::timestamptz is null or (a.at, a.endpoint, a.event_id) < ($3, $4::int, $5::text))
  order by a.at desc, a.endpoint desc, a.event_id desc limit $1::int`;

/** An event that was dropped after its last attempt. */
export interface DroppedEvent {
  id: string;
  platform_id: string;
  type: string;
  subject: string;
  created_at: Time;
  attempts: number;
  /** Time of the last attempt. */
  at: Time;
  endpoint: number;
}

interface DroppedSelection {
  platformId?: string | null | undefined;
  /** The last event that was read. */
  after?: { at: Time; endpoint: number; eventId: string } | undefined;
}

/** Events that were dropped and not resent afterwards, latest first. */
export const droppedEvents = (
  db: Database,
  limit: number,
  { platformId = null, after }: DroppedSelection = {},
) => {
  const position = after ? [new Date(after.at), after.endpoint, after.eventId] : [null, null, null];
  return db.query<DroppedEvent>(DROPPED_EVENTS, [limit, platformId, ...position]);
};

const COUNT_UNDELIVERED = countedSql(
  `select e.created_at from (
      select event_id from webhook_queue where platform_id = $1 and endpoint = $2
        and event_id >= $3 and event_id < $4
      union
      select event_id from webhook_attempts where platform_id = $1 and endpoint = $2
        and event_id >= $3 and event_id < $4 and result = 'dropped'
      order by event_id) k
    cross join lateral (select created_at from events x where x.id = k.event_id
      and x.type <> 'TEST' and x.created_at >= $5 and x.created_at <= $6 offset 0) e
    order by k.event_id`,
  '$7',
);

/** A range of events for one endpoint. */
interface EndpointRange {
  platformId: string;
  endpoint: number;
  /** Bounds of event IDs: from the first, before the second. */
  from: string;
  before: string;
  createdAfter: Time;
  createdBefore: Time;
}

/**
 * Counts the pending and failed deliveries of a range, without test events. The count is at most
 * `maximum` + 1.
 */
export async function countUndelivered(
  db: Database,
  { platformId, endpoint, from, before, createdAfter, createdBefore }: EndpointRange,
  maximum: number,
): Promise<Counted> {
  const times = [new Date(createdAfter), new Date(createdBefore)];
  const values = [platformId, endpoint, from, before, ...times, maximum];
  return (await db.query<Counted>(COUNT_UNDELIVERED, values))[0] as Counted;
}
