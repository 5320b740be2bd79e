// SQL of the outbox: platforms with due events, delivery leases, and attempts. A process leases a whole
// platform: a lease per event would write every event twice and let two processes deliver out of order.
// Platforms are found with a loose index scan, so a platform with a million due events costs as much as a
// platform with one.

import type { Time } from '../../../kernel/effects.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { ResetRules } from '../../../runtime/committer/reset.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { statement } from '../../../runtime/db/statement.ts';
import { wholeEventData } from '../../../runtime/operation/event-data.ts';
import type { StoredEvent } from './envelope.ts';
import type { AttemptResult } from './schedule.ts';

/** A due event of a leased platform, with its endpoint. */
export interface DueEvent extends StoredEvent {
  platform_id: string;
  subject: string;
  /** Previous attempts. */
  attempts: number;
  due_at: Time;
  endpoint: string;
  environment: Mode;
  /** Whether it carries the headers of Standard Webhooks. */
  standard: boolean;
  /** Customer whose data key encrypts the data; null if the data is in clear. */
  sealed_for: string | null;
  /** Null after an erasure, which makes the event unreadable. */
  data_key: string | null;
}

/** A platform with undelivered events. */
export interface Waiting {
  id: string;
  /** Whether its earliest event is due. */
  due: boolean;
  /** Whether another process holds the lease. */
  taken: boolean;
  endpoint: string | null;
}

/** One delivery attempt and its result. */
interface AttemptRow {
  event_id: string;
  /** From 1. */
  attempt: number;
  at: Time;
  status: number | null;
  error: string | null;
  ms: number;
  response: string | null;
  result: AttemptResult;
}

export interface Outcome extends AttemptRow {
  /** Time of the next attempt; null if there is none. */
  next: Time | null;
}

const time = (at: Time) => new Date(at);

/**
 * Queues events for delivery. Parameters: ids, platforms, times. Events of a platform without an endpoint
 * are not delivered, also if it sets one later.
 */
export const ENQUEUE = statement(
  `insert into webhook_queue (event_id, platform_id, due_at)
    select x.id, x.platform_id, x.due_at
    from unnest($1::text[], $2::text[], $3::timestamptz[]) x(id, platform_id, due_at)
    where exists (select from platforms p
      where p.id = x.platform_id and p.webhook_endpoint is not null)`,
  ['text', 'text', 'time'],
);

export const webhookReset: ResetRules = {
  belongs: {
    webhook_attempts: 't.event_id in (select id from events where platform_id = any($1::text[]))',
  },
};

const WAITING = `
  with recursive walk(platform_id, step) as (
    select (select platform_id from webhook_queue where platform_id > $2
            order by platform_id limit 1), 1
    union all
    select (select q.platform_id from webhook_queue q where q.platform_id > w.platform_id
            order by q.platform_id limit 1), w.step + 1
    from walk w where w.platform_id is not null and w.step < $3::int
  )
  select w.platform_id as id, p.webhook_endpoint as endpoint,
    (select q.due_at from webhook_queue q where q.platform_id = w.platform_id
     order by q.due_at limit 1) <= $1 as due,
    coalesce(l.holder <> $4 and l.until > $1, false) as taken
  from walk w left join platforms p on p.id = w.platform_id
    left join webhook_lanes l on l.platform_id = w.platform_id
  where w.platform_id is not null
  order by w.step`;

/** Up to `limit` platforms with undelivered events and an id greater than `after`, ordered by id. */
export const waitingPlatforms = (
  db: Database,
  now: Time,
  holder: string,
  after: string,
  limit: number,
) => db.query<Waiting>(WAITING, [time(now), after, limit, holder]);

const LEASE = `
  insert into webhook_lanes (platform_id, holder, until)
  select id, $2, $3 from unnest($1::text[]) as p(id) order by id
  on conflict (platform_id) do update set holder = excluded.holder, until = excluded.until
  where webhook_lanes.holder = excluded.holder or webhook_lanes.until <= $4
  returning platform_id`;

/** Takes or renews leases; returns the platforms that are leased until `until`. */
export async function leasePlatforms(
  db: Database,
  holder: string,
  platforms: readonly string[],
  now: Time,
  until: Time,
): Promise<string[]> {
  const values = [platforms, holder, time(until), time(now)];
  const held = await db.query<{ platform_id: string }>(LEASE, values);
  return held.map((each) => each.platform_id);
}

const RELEASE = 'delete from webhook_lanes where platform_id = any($1::text[]) and holder = $2';

/** Releases leases, so that other processes can take them at once. */
export async function releasePlatforms(
  db: Database,
  holder: string,
  platforms: string[],
): Promise<void> {
  await db.query(RELEASE, [platforms, holder]);
}

/** The due events wanted from one platform. */
export interface ReadRequest {
  platformId: string;
  take: number;
  /** Continue after this event; null reads from the earliest. */
  after: QueuePosition | null;
}

/** Place in a platform's queue, which is ordered by due time and id. */
export type QueuePosition = Pick<DueEvent, 'due_at' | 'id'>;

// Events are looked up one by one in subqueries that the planner cannot join: it expects many more
// rows than `take` and would read the whole table.
const DUE = `
  select e.*, d.attempts, d.due_at, p.webhook_endpoint as endpoint, p.environment,
    p.standard_webhooks as standard,
    (select b.data from events b where b.id = e.base_id) as base,
    (select c.data_key from customers c where c.id = e.sealed_for) as data_key
  from unnest($2::text[], $3::int[], $4::timestamptz[], $5::text[])
      as a(platform_id, take, after_due, after_id)
    join platforms p on p.id = a.platform_id and p.webhook_endpoint is not null
    cross join lateral (
      select event_id, due_at, attempts from webhook_queue
      where platform_id = a.platform_id and due_at <= $1
        and (due_at, event_id) > (a.after_due, a.after_id)
      order by due_at, event_id limit a.take) d
    left join unnest($6::text[]) as known(id) on known.id = d.event_id
    cross join lateral (
      select id, platform_id, type, subject, data, base_id, balance, held, created_at, sealed_for
      from events where id = d.event_id offset 0) e
  where known.id is null`;

/** An event as its row stores it, with the data of the event that it differs from. */
type Stored<E> = E & { base: string | null };

const restored = <E extends StoredEvent>(row: Stored<E>): E => ({
  ...row,
  data: wholeEventData(row.data, row.base),
});

const EARLIEST: QueuePosition = { due_at: 0, id: '' };

/**
 * The `take` events of each platform that have been due longest after its position, except those in `known`.
 * Ordered by due time and id.
 */
export async function dueEvents(
  db: Database,
  now: Time,
  requests: readonly ReadRequest[],
  known: readonly string[],
): Promise<DueEvent[]> {
  const from = requests.map((request) => request.after ?? EARLIEST);
  const due = await db.query<Stored<DueEvent>>(DUE, [
    time(now),
    requests.map((request) => request.platformId),
    requests.map((request) => request.take),
    from.map((position) => time(position.due_at)),
    from.map((position) => position.id),
    known,
  ]);
  return due
    .map((row) => restored<DueEvent>(row))
    .sort((a, b) => a.due_at - b.due_at || (a.id < b.id ? -1 : 1));
}

const ATTEMPT_COLUMNS = 'id, event_id, attempt, at, status, error, ms, response, result';

const RECORD = `
  with r as (
    select * from unnest($1::text[], $2::int[], $3::timestamptz[], $4::int[], $5::text[], $6::int[],
      $7::text[], $8::text[], $9::timestamptz[])
      as r(event_id, attempt, at, status, error, ms, response, result, next)
  ), done as (
    delete from webhook_queue q using r
    where q.event_id = r.event_id and q.attempts = r.attempt - 1 and r.next is null
  ), retried as (
    update webhook_queue q set due_at = r.next, attempts = r.attempt
    from r where q.event_id = r.event_id and q.attempts = r.attempt - 1 and r.next is not null
  )
  insert into webhook_attempts (${ATTEMPT_COLUMNS})
  select r.event_id || '/' || r.attempt, r.event_id, r.attempt, r.at, r.status, r.error, r.ms,
    r.response, r.result
  from r on conflict (id) do nothing`;

/** Records a batch of results in one statement. Idempotent. */
export async function recordOutcomes(db: Database, outcomes: readonly Outcome[]): Promise<void> {
  const column = <K extends keyof Outcome>(name: K) => outcomes.map((each) => each[name]);
  await db.query(RECORD, [
    column('event_id'),
    column('attempt'),
    outcomes.map((each) => time(each.at)),
    column('status'),
    column('error'),
    column('ms'),
    column('response'),
    column('result'),
    outcomes.map((each) => (each.next === null ? null : time(each.next))),
  ]);
}

const DISCARD = `
  delete from webhook_queue where event_id in (
    select q.event_id from webhook_queue q join platforms p on p.id = q.platform_id
    where q.platform_id = any($1::text[]) and q.due_at <= $2 and p.webhook_endpoint is null
    limit $3::int for update of q skip locked)
  returning event_id`;

/** Removes due events of platforms that removed their endpoint; returns how many. */
export async function discardUndeliverable(
  db: Database,
  now: Time,
  platforms: readonly string[],
  limit: number,
): Promise<number> {
  return (await db.query(DISCARD, [platforms, time(now), limit])).length;
}

const DISCARD_UNREADABLE = 'delete from webhook_queue where event_id = any($1::text[])';

/** Removes events that cannot be decrypted any more. */
export async function discardUnreadable(db: Database, ids: readonly string[]): Promise<void> {
  await db.query(DISCARD_UNREADABLE, [ids]);
}

const RECORD_TEST = `
  with event as (
    insert into events (id, platform_id, type, subject, data, created_at)
    values ($1, $2, 'TEST', $2, '{}', $3)
  )
  insert into webhook_attempts (${ATTEMPT_COLUMNS})
  values ($1 || '/1', $1, 1, $4, $5, $6, $7, $8, $9)`;

/** Records a test event, which was sent synchronously, and its attempt. */
export async function recordTest(
  db: Database,
  platformId: string,
  created: Time,
  row: AttemptRow,
): Promise<void> {
  const { event_id: id, at, status, error, ms, response, result } = row;
  const sent = [time(at), status, error, ms, response, result];
  await db.query(RECORD_TEST, [id, platformId, time(created), ...sent]);
}

const ATTEMPTS_MADE = (id: string) => `(select coalesce(max(a.attempt), 0) from webhook_attempts a
    where a.id > ${id} || '/' and a.id < ${id} || '0')`;

const ONE = `select e.id, e.type, e.data, b.data as base, e.balance, e.held, e.created_at,
    ${ATTEMPTS_MADE('e.id')} as attempts
  from events e left join events b on b.id = e.base_id where e.id = $1`;

/** A stored event with the number of attempts. */
export async function storedEvent(
  db: Database,
  id: string,
): Promise<(StoredEvent & { attempts: number }) | undefined> {
  const [row] = await db.query<Stored<StoredEvent & { attempts: number }>>(ONE, [id]);
  return row && restored(row);
}

const ATTEMPTS = `
  select event_id, attempt, at, status, error, ms, response, result from webhook_attempts
  where id > $1 || '/' and id < $1 || '0' order by attempt`;

export const isEvent = async (db: Database, eventId: string): Promise<boolean> =>
  (await db.query('select 1 from events where id = $1', [eventId])).length > 0;

/** All attempts of an event, oldest first. */
export const attemptsOf = (db: Database, eventId: string) =>
  db.query<AttemptRow>(ATTEMPTS, [eventId]);

const DROPPED = `
  select e.id, e.platform_id, e.type, e.subject, e.created_at, a.attempt as attempts
  from webhook_attempts a join events e on e.id = a.event_id
  where a.result = 'dropped' and e.type <> 'TEST' and a.attempt = ${ATTEMPTS_MADE('e.id')}
    and not exists (select from webhook_queue q where q.event_id = e.id)
  order by a.at desc limit $1::int`;

/** An event that was dropped after its last attempt. */
interface DroppedEvent {
  id: string;
  platform_id: string;
  type: string;
  subject: string;
  created_at: Time;
  attempts: number;
}

/** Events that were dropped and not resent since, latest first. */
export const droppedEvents = (db: Database, limit: number) =>
  db.query<DroppedEvent>(DROPPED, [limit]);

// `customers` belongs to a later wing, so it is read in SQL only.
const RESEND = `
  insert into webhook_queue (event_id, platform_id, due_at, attempts)
  select e.id, e.platform_id, $2, ${ATTEMPTS_MADE('e.id')} from events e
  where e.id = $1 and (e.sealed_for is null
    or exists (select from customers c where c.id = e.sealed_for and c.data_key is not null))
  on conflict (event_id) do update set due_at = excluded.due_at
  returning event_id`;

/**
 * Makes an event due at `now`, delivered or not. Returns false if it does not exist or is unreadable. It
 * keeps its id and body and gets at least one more attempt.
 */
export async function resendEvent(db: Database, eventId: string, now: Time): Promise<boolean> {
  return (await db.query(RESEND, [eventId, time(now)])).length > 0;
}
