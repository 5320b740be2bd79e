// SQL of the outbox: the queue, endpoints with undelivered events, delivery leases, and attempts. A
// process leases a platform, because a lease per event would write every event twice and permit two
// processes to deliver out of order. Endpoints are found with a loose index scan, so the cost of an
// endpoint does not depend on the number of its due events.

import type { Time } from '../../../kernel/effects.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { CLOCK } from '../../../runtime/clocks/clock-table.ts';
import type { ResetRules } from '../../../runtime/committer/reset.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { statement } from '../../../runtime/db/statement.ts';
import { completeEventData } from '../../../runtime/operation/event-data.ts';
import type { EndpointKey, EventFormat } from '../endpoints/index.ts';
import type { StoredEvent } from './envelope.ts';
import type { AttemptResult } from './schedule.ts';

/** An endpoint of a platform, by its number. 0 is the endpoint of the platform's configuration. */
export interface LaneId {
  platformId: string;
  endpoint: number;
}

/** An event whose data may be encrypted. */
export interface SealedEvent extends StoredEvent {
  platform_id: string;
  /** Customer whose data key encrypts the data, or null if the data is not encrypted. */
  sealed_for: string | null;
  /** Null if the data is not encrypted, and after an erasure. Encrypted data is then unreadable. */
  data_key: string | null;
}

/** A due event of a leased platform, with its endpoint. */
export interface DueEvent extends SealedEvent {
  /** Number of the endpoint. */
  endpoint: number;
  /** Previous attempts. */
  attempts: number;
  due_at: Time;
  url: string;
  environment: Mode;
  /** Whether the delivery has the headers of Standard Webhooks. */
  standard: boolean;
  format: EventFormat;
  /** Keys of the endpoint, or null for the endpoint of the configuration. */
  keys: EndpointKey[] | null;
  /**
   * Time of the endpoint's first failure since its last success, or null without one. Always null
   * for the configured endpoint.
   */
  failing_since: Time | null;
}

/** An endpoint with undelivered events. */
export interface WaitingEndpoint extends LaneId {
  /** Whether its earliest event is due. */
  due: boolean;
  /** Whether another process holds the lease of the platform. */
  isLeasedByOther: boolean;
  /**
   * `url`: events are sent. `retained`: events are retained (paused or pulled). `none`: events are
   * discarded.
   */
  target: 'url' | 'retained' | 'none';
}

/** One delivery attempt and its result. */
export interface AttemptRow {
  platform_id: string;
  endpoint: number;
  event_id: string;
  /** Number of the attempt, from 1. */
  attempt: number;
  at: Time;
  status: number | null;
  error: string | null;
  ms: number;
  head: string | null;
  response: string | null;
  result: AttemptResult;
}

export interface Outcome extends AttemptRow {
  /** Time of the next attempt, or null after the last attempt. */
  next: Time | null;
}

const dateOf = (time: Time) => new Date(time);

/**
 * Queues events for delivery. Parameters: IDs, platforms, times, types. Events of a platform
 * without an endpoint are not queued, even if it sets an endpoint later. A test is queued for the
 * configured endpoint only. The event about a paused endpoint is not queued for that endpoint.
 * Deliveries that are pulled have a position in their order.
 */
export const ENQUEUE = statement(
  `insert into webhook_queue (event_id, platform_id, endpoint, due_at, position)
    select x.id, x.platform_id, e.number, x.due_at, case when e.pulled then event_position() end
    from unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[])
        x(id, platform_id, due_at, type)
      cross join lateral (
        select 0 as number, false as pulled from platforms p
        where p.id = x.platform_id and p.webhook_endpoint is not null
          and not exists (select from webhook_endpoints w where w.platform_id = p.id
            and w.number = 0 and x.type <> 'TEST' and not w.event_types::jsonb ? x.type)
        union all
        select w.number, w.url is null from webhook_endpoints w
        where w.platform_id = x.platform_id and w.number > 0 and w.deleted_at is null
          and x.type <> 'TEST' and (w.event_types is null or w.event_types::jsonb ? x.type)
          and not (x.type = 'WEBHOOK_ENDPOINT.PAUSED' and exists (select from events paused
            where paused.id = x.id and paused.subject = w.id))) e`,
  ['text', 'text', 'time', 'text'],
);

/**
 * A reset retains endpoints, because they are configuration, without the time of their first
 * failure. A reset retains leases, because they belong to processes.
 */
export const webhookReset: ResetRules = {
  retained: { webhook_endpoints: 'true', webhook_lanes: 'true' },
  clears: { webhook_endpoints: 'failing_since' },
};

// Endpoint settings `w` of the queue rows `q` of platforms `p`.
const TARGET = `case
    when w.status = 'PAUSED' and w.deleted_at is null then 'retained'
    when q.endpoint = 0 then case when p.webhook_endpoint is null then 'none' else 'url' end
    when w.id is null or w.deleted_at is not null then 'none'
    when w.url is null then 'retained' else 'url' end`;
const WITH_SETTINGS = `left join platforms p on p.id = q.platform_id
    left join webhook_endpoints w on w.platform_id = q.platform_id and w.number = q.endpoint`;

// While a clock is being changed, only the process that changes it delivers.
const WAITING_ENDPOINTS = `
  with recursive q(platform_id, endpoint, step) as (
    (select platform_id, endpoint, 1 from webhook_queue
      where (platform_id, endpoint) > ($2, $3::int) order by platform_id, endpoint limit 1)
    union all
    select n.platform_id, n.endpoint, q.step + 1 from q cross join lateral (
      select platform_id, endpoint from webhook_queue
      where (platform_id, endpoint) > (q.platform_id, q.endpoint)
      order by platform_id, endpoint limit 1) n
    where q.step < $4::int
  )
  select q.platform_id as "platformId", q.endpoint, ${TARGET} as target,
    (select d.due_at from webhook_queue d
     where d.platform_id = q.platform_id and d.endpoint = q.endpoint
     order by d.due_at limit 1) <= ${CLOCK} as due,
    coalesce(l.holder <> $5 and l.until > $1, false)
      or coalesce(c.holder <> $5 and c.held_until > $1, false) as "isLeasedByOther"
  from q ${WITH_SETTINGS}
    left join sandbox_clocks c on c.id = q.platform_id
    left join webhook_lanes l on l.platform_id = q.platform_id
  order by q.step`;

/**
 * Up to `limit` endpoints with undelivered events, after `after` in the order of platform and
 * number.
 */
export const lanesWithEvents = (
  db: Database,
  now: Time,
  holder: string,
  after: LaneId,
  limit: number,
) =>
  db.query<WaitingEndpoint>(WAITING_ENDPOINTS, [
    dateOf(now),
    after.platformId,
    after.endpoint,
    limit,
    holder,
  ]);

const LEASE = `
  insert into webhook_lanes (platform_id, holder, until)
  select id, $2, $3 from unnest($1::text[]) as p(id) order by id
  on conflict (platform_id) do update set holder = excluded.holder, until = excluded.until
  where webhook_lanes.holder = excluded.holder or webhook_lanes.until <= $4
  returning platform_id`;

/** Acquires or renews leases. Returns the platforms that are leased until `until`. */
export async function leasePlatforms(
  db: Database,
  holder: string,
  platforms: readonly string[],
  now: Time,
  until: Time,
): Promise<string[]> {
  const values = [platforms, holder, dateOf(until), dateOf(now)];
  const leases = await db.query<{ platform_id: string }>(LEASE, values);
  return leases.map((each) => each.platform_id);
}

const CLOCK_LANES_SQL = `select l.platform_id from webhook_lanes l
  join sandbox_clocks c on c.id = l.platform_id
  where l.holder = $1 and c.held_until > $2 and c.holder <> $1`;

/** Platforms that this process has leased and whose clock is held by another holder. */
export async function platformsWithHeldClock(
  db: Database,
  holder: string,
  now: Time,
): Promise<string[]> {
  const rows = await db.query<{ platform_id: string }>(CLOCK_LANES_SQL, [holder, dateOf(now)]);
  return rows.map((each) => each.platform_id);
}

const FIRST_QUEUED = `select q.due_at from webhook_queue q ${WITH_SETTINGS}
  where q.platform_id = $1 and q.due_at <= $2 and ${TARGET} <> 'retained'
  order by q.due_at limit 1`;

/**
 * Due time of the first delivery of a platform to send or discard, or undefined if none is due at
 * `until`.
 */
export async function firstQueued(
  db: Pick<Database, 'query'>,
  platformId: string,
  until: Time,
): Promise<Time | undefined> {
  const rows = await db.query<{ due_at: Time }>(FIRST_QUEUED, [platformId, dateOf(until)]);
  return rows[0]?.due_at;
}

const RELEASE = 'delete from webhook_lanes where platform_id = any($1::text[]) and holder = $2';

/** Releases leases, so that other processes can acquire them immediately. */
export async function releasePlatforms(
  db: Database,
  holder: string,
  platforms: string[],
): Promise<void> {
  await db.query(RELEASE, [platforms, holder]);
}

/** A request for due events of one endpoint. */
export interface ReadRequest extends LaneId {
  take: number;
  /** Continue after this event. Null reads from the earliest. */
  after: QueuePosition | null;
}

/** Position in an endpoint's queue, which is ordered by due time and ID. */
export type QueuePosition = Pick<DueEvent, 'due_at' | 'id'>;

// Events are looked up one by one in subqueries that the planner cannot join. A join would read the
// full table, because the planner expects many more rows than `take`.
const DUE_EVENTS = `
  select e.*, a.endpoint, d.attempts, d.due_at, coalesce(w.url, p.webhook_endpoint) as url,
    p.environment, case when a.endpoint = 0 then p.standard_webhooks else w.standard_webhooks end
      as standard,
    coalesce(w.format, 'FULL') as format,
    case when a.endpoint > 0 then w.keys end as keys, w.failing_since,
    (select b.data from events b where b.id = e.base_id) as base,
    (select c.data_key from customers c where c.id = e.sealed_for) as data_key
  from unnest($2::text[], $3::int[], $4::int[], $5::timestamptz[], $6::text[])
      as a(platform_id, endpoint, take, after_due, after_id)
    join platforms p on p.id = a.platform_id
    left join webhook_endpoints w on w.platform_id = a.platform_id and w.number = a.endpoint
    left join sandbox_clocks c on c.id = a.platform_id
    cross join lateral (
      select event_id, due_at, attempts from webhook_queue
      where platform_id = a.platform_id and endpoint = a.endpoint and due_at <= ${CLOCK}
        and (due_at, event_id) > (a.after_due, a.after_id)
      order by due_at, event_id limit a.take) d
    left join unnest($7::text[], $8::int[]) as known(id, endpoint)
      on known.id = d.event_id and known.endpoint = a.endpoint
    cross join lateral (
      select id, platform_id, type, subject, data, base_id, balance, held, created_at, sealed_for
      from events where id = d.event_id offset 0) e
  where known.id is null and w.status is distinct from 'PAUSED'
    and case when a.endpoint = 0 then p.webhook_endpoint is not null
      else w.url is not null and w.deleted_at is null end`;

/** A stored event, with the data of the event from which it differs. */
export type Stored<E> = E & { base: string | null };

export const withCompleteData = <E extends StoredEvent>(row: Stored<E>): E => ({
  ...row,
  data: completeEventData(row.data, row.base),
});

const EARLIEST_POSITION: QueuePosition = { due_at: 0, id: '' };

/**
 * The `take` events of each endpoint that have been due longest after its position, except
 * `bufferedEvents`. Ordered by due time and ID.
 */
export async function dueEvents(
  db: Database,
  now: Time,
  requests: readonly ReadRequest[],
  bufferedEvents: readonly { id: string; endpoint: number }[],
): Promise<DueEvent[]> {
  const from = requests.map((request) => request.after ?? EARLIEST_POSITION);
  const rows = await db.query<Stored<DueEvent>>(DUE_EVENTS, [
    dateOf(now),
    requests.map((request) => request.platformId),
    requests.map((request) => request.endpoint),
    requests.map((request) => request.take),
    from.map((position) => dateOf(position.due_at)),
    from.map((position) => position.id),
    bufferedEvents.map((each) => each.id),
    bufferedEvents.map((each) => each.endpoint),
  ]);
  return rows
    .map((row) => withCompleteData<DueEvent>(row))
    .sort((a, b) => a.due_at - b.due_at || (a.id < b.id ? -1 : 1));
}

const ATTEMPT_COLUMNS =
  'platform_id, endpoint, event_id, attempt, at, status, error, ms, head, response, result';

const IS_ATTEMPTED = `q.platform_id = r.platform_id and q.endpoint = r.endpoint
    and q.event_id = r.event_id and q.attempts = r.attempt - 1`;

const RECORD = `
  with r as (
    select * from unnest($1::text[], $2::int[], $3::text[], $4::int[], $5::timestamptz[], $6::int[],
      $7::text[], $8::int[], $9::text[], $10::text[], $11::text[], $12::timestamptz[])
      as r(${ATTEMPT_COLUMNS}, next)
  ), done as (
    delete from webhook_queue q using r where ${IS_ATTEMPTED} and r.next is null
  ), retried as (
    update webhook_queue q set due_at = r.next, attempts = r.attempt
    from r where ${IS_ATTEMPTED} and r.next is not null
  )
  insert into webhook_attempts (${ATTEMPT_COLUMNS}) select ${ATTEMPT_COLUMNS} from r
  on conflict (platform_id, endpoint, event_id, attempt) do nothing`;

/** Records a batch of results in one statement. Idempotent. */
export async function recordOutcomes(db: Database, outcomes: readonly Outcome[]): Promise<void> {
  const columnOf = <K extends keyof Outcome>(name: K) => outcomes.map((each) => each[name]);
  await db.query(RECORD, [
    columnOf('platform_id'),
    columnOf('endpoint'),
    columnOf('event_id'),
    columnOf('attempt'),
    outcomes.map((each) => dateOf(each.at)),
    columnOf('status'),
    columnOf('error'),
    columnOf('ms'),
    columnOf('head'),
    columnOf('response'),
    columnOf('result'),
    outcomes.map((each) => (each.next === null ? null : dateOf(each.next))),
  ]);
}

const NOTE_FAILING = `
  update webhook_endpoints w set failing_since = r.since
  from unnest($1::text[], $2::int[], $3::timestamptz[]) as r(platform_id, number, since)
  where w.platform_id = r.platform_id and w.number = r.number
    and (w.failing_since is null) <> (r.since is null)`;

/** The first failure of an endpoint since its last success, or null after a success. */
export interface Failing extends LaneId {
  since: Time | null;
}

/**
 * Records or clears the time of the first failure of endpoints. A recorded time is not replaced by
 * a later time.
 */
export async function noteFailing(
  db: Database,
  failingEndpoints: readonly Failing[],
): Promise<void> {
  await db.query(NOTE_FAILING, [
    failingEndpoints.map((each) => each.platformId),
    failingEndpoints.map((each) => each.endpoint),
    failingEndpoints.map(({ since }) => (since === null ? null : dateOf(since))),
  ]);
}

/** Marks the last attempts of the rows in `discarded` as failed permanently. */
const END_LAST_ATTEMPTS = `update webhook_attempts a set result = 'dropped' from discarded d
    where a.platform_id = d.platform_id and a.endpoint = d.endpoint and a.event_id = d.event_id
      and a.attempt = d.attempts and a.result = 'retry'`;

const DISCARD = `
  with discarded as (
    delete from webhook_queue where (platform_id, endpoint, event_id) in (
      select q.platform_id, q.endpoint, q.event_id
      from unnest($2::text[], $3::int[]) as lane(platform_id, endpoint)
        join webhook_queue q on q.platform_id = lane.platform_id and q.endpoint = lane.endpoint
        left join sandbox_clocks c on c.id = q.platform_id
        ${WITH_SETTINGS}
      where (q.due_at <= ${CLOCK} or w.deleted_at is not null) and ${TARGET} = 'none'
      limit $4::int for update of q skip locked)
    returning platform_id, endpoint, event_id, attempts
  ), closed as (${END_LAST_ATTEMPTS})
  select event_id from discarded`;

/**
 * Removes the events of deleted endpoints, and the due events of endpoints that were removed from
 * the configuration. Returns their number.
 */
export async function discardUndeliverable(
  db: Database,
  now: Time,
  lanes: readonly LaneId[],
  limit: number,
): Promise<number> {
  const platforms = lanes.map((each) => each.platformId);
  const endpoints = lanes.map((each) => each.endpoint);
  return (await db.query(DISCARD, [dateOf(now), platforms, endpoints, limit])).length;
}

const DISCARD_UNREADABLE = `
  with discarded as (
    delete from webhook_queue q using unnest($1::text[], $2::int[], $3::text[])
      as u(platform_id, endpoint, event_id)
    where q.platform_id = u.platform_id and q.endpoint = u.endpoint and q.event_id = u.event_id
    returning q.platform_id, q.endpoint, q.event_id, q.attempts
  ) ${END_LAST_ATTEMPTS}`;

type QueuedDelivery = Pick<DueEvent, 'platform_id' | 'endpoint' | 'id'>;

/** Removes events whose data was erased or cannot be decrypted. */
export async function discardUnreadable(
  db: Database,
  events: readonly QueuedDelivery[],
): Promise<void> {
  await db.query(DISCARD_UNREADABLE, [
    events.map((each) => each.platform_id),
    events.map((each) => each.endpoint),
    events.map((each) => each.id),
  ]);
}
