// The outbox as SQL: which platforms have events due, who delivers them, and what came of each try. A
// process takes a lease on a whole platform and then only reads its events: a lease on each event would
// write every event twice, and two processes would mix up its order. Platforms are found by stepping from
// one to the next in the index, so one with a million events due costs what one with a single event does.

import type { Time } from '../../../kernel/effects.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { StoredEvent } from './envelope.ts';
import type { AttemptResult } from './schedule.ts';

/** A due event of a platform whose lease we hold, with where it goes. */
export interface DueEvent extends StoredEvent {
  platform_id: string;
  subject: string;
  /** Tries made before. */
  attempts: number;
  due_at: Time;
  endpoint: string;
  environment: Mode;
  /** Whose data key seals the data, and that key; null where the data lies in clear. */
  sealed_for: string | null;
  /** Null where it was forgotten: then nobody can read the event any more. */
  data_key: string | null;
}

/** A platform with something in the outbox. */
export interface Waiting {
  id: string;
  /** Whether the first of it is due already. */
  due: boolean;
  /** Whether another process delivers it now. */
  taken: boolean;
  endpoint: string | null;
}

/** One try and what follows from it. */
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
  /** When to try again; null when nothing more is to be done. */
  next: Time | null;
}

const time = (at: Time) => new Date(at);

const WAITING = `
  with recursive walk(platform_id, step) as (
    select (select platform_id from events where due_at is not null and platform_id > $2
            order by platform_id limit 1), 1
    union all
    select (select e.platform_id from events e
            where e.due_at is not null and e.platform_id > w.platform_id
            order by e.platform_id limit 1), w.step + 1
    from walk w where w.platform_id is not null and w.step < $3::int
  )
  select w.platform_id as id, p.webhook_endpoint as endpoint,
    (select e.due_at from events e where e.platform_id = w.platform_id and e.due_at is not null
     order by e.due_at limit 1) <= $1 as due,
    coalesce(l.holder <> $4 and l.until > $1, false) as taken
  from walk w left join platforms p on p.id = w.platform_id
    left join webhook_lanes l on l.platform_id = w.platform_id
  where w.platform_id is not null
  order by w.step`;

/** Up to `limit` platforms with undelivered events, in order of id, from after `after`. */
export const waitingPlatforms = (
  db: Database,
  now: Time,
  holder: string,
  after: string,
  limit: number,
) => db.query<Waiting>(WAITING, [time(now), after, limit, holder]);

const HOLD = `
  insert into webhook_lanes (platform_id, holder, until)
  select id, $2, $3 from unnest($1::text[]) as p(id) order by id
  on conflict (platform_id) do update set holder = excluded.holder, until = excluded.until
  where webhook_lanes.holder = excluded.holder or webhook_lanes.until <= $4
  returning platform_id`;

/** Takes or renews the lease on platforms; answers those that are ours until `until`. */
export async function holdPlatforms(
  db: Database,
  holder: string,
  platforms: readonly string[],
  now: Time,
  until: Time,
): Promise<string[]> {
  const values = [platforms, holder, time(until), time(now)];
  const held = await db.query<{ platform_id: string }>(HOLD, values);
  return held.map((each) => each.platform_id);
}

const LET_GO = 'delete from webhook_lanes where platform_id = any($1::text[]) and holder = $2';

/** Gives leases back, for others to take at once. */
export async function letGo(db: Database, holder: string, platforms: string[]): Promise<void> {
  await db.query(LET_GO, [platforms, holder]);
}

const DUE = `
  select e.id, e.platform_id, e.type, e.subject, e.data, e.balance, e.held, e.created_at,
    e.attempts, e.due_at, p.webhook_endpoint as endpoint, p.environment, e.sealed_for, c.data_key
  from unnest($2::text[], $3::int[]) as a(platform_id, take)
    join platforms p on p.id = a.platform_id and p.webhook_endpoint is not null
    cross join lateral (
      select id from events where platform_id = a.platform_id and due_at <= $1
      order by due_at, id limit a.take) d
    left join unnest($4::text[]) as known(id) on known.id = d.id
    join events e on e.id = d.id
    left join customers c on c.id = e.sealed_for
  where known.id is null`;

/**
 * The `take` events of each platform that have been due longest, without those in `known`, which are in
 * hand already and lie at the front. In order.
 */
export async function dueEvents(
  db: Database,
  now: Time,
  asks: readonly { platformId: string; take: number }[],
  known: readonly string[],
): Promise<DueEvent[]> {
  const platforms = asks.map((ask) => ask.platformId);
  const takes = asks.map((ask) => ask.take);
  const due = await db.query<DueEvent>(DUE, [time(now), platforms, takes, known]);
  return due.sort((a, b) => a.due_at - b.due_at || (a.id < b.id ? -1 : 1));
}

const ATTEMPT_COLUMNS = 'id, event_id, attempt, at, status, error, ms, response, result';

const RECORD = `
  with r as (
    select * from unnest($1::text[], $2::int[], $3::timestamptz[], $4::int[], $5::text[], $6::int[],
      $7::text[], $8::text[], $9::timestamptz[])
      as r(event_id, attempt, at, status, error, ms, response, result, next)
  ), moved as (
    update events e set due_at = r.next, attempts = r.attempt
    from r where e.id = r.event_id and e.attempts = r.attempt - 1
  )
  insert into webhook_attempts (${ATTEMPT_COLUMNS})
  select r.event_id || '/' || r.attempt, r.event_id, r.attempt, r.at, r.status, r.error, r.ms,
    r.response, r.result
  from r on conflict (id) do nothing`;

/** Writes a batch of results in one statement. Writing a result again changes nothing. */
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

const SETTLE = `
  with gone as (
    select e.id from events e join platforms p on p.id = e.platform_id
    where e.platform_id = any($1::text[]) and e.due_at <= $2 and p.webhook_endpoint is null
    limit $3::int for update of e skip locked
  )
  update events e set due_at = null from gone where e.id = gone.id returning e.id`;

/** Takes due events of platforms without an endpoint out of the queue; answers how many. */
export async function settleUntold(
  db: Database,
  now: Time,
  platforms: readonly string[],
  limit: number,
): Promise<number> {
  return (await db.query<{ id: string }>(SETTLE, [platforms, time(now), limit])).length;
}

const SETTLE_UNREADABLE =
  'update events set due_at = null where id = any($1::text[]) and due_at is not null';

/** Takes events out of the queue that nobody can read any more. */
export async function settleUnreadable(db: Database, ids: readonly string[]): Promise<void> {
  await db.query(SETTLE_UNREADABLE, [ids]);
}

const KEEP_TEST = `
  with event as (
    insert into events (id, platform_id, type, subject, data, created_at, attempts)
    values ($1, $2, 'TEST', $2, '{}', $3, 1)
  )
  insert into webhook_attempts (${ATTEMPT_COLUMNS})
  values ($1 || '/1', $1, 1, $4, $5, $6, $7, $8, $9)`;

/** Keeps a test that was sent while its caller waited: the event, past due, and its one try. */
export async function keepTest(
  db: Database,
  platformId: string,
  created: Time,
  row: AttemptRow,
): Promise<void> {
  const { event_id: id, at, status, error, ms, response, result } = row;
  const sent = [time(at), status, error, ms, response, result];
  await db.query(KEEP_TEST, [id, platformId, time(created), ...sent]);
}

const ONE = `select id, type, data, balance, held, created_at, attempts from events where id = $1`;

/** An event as its row has it, with the tries made. */
export async function storedEvent(
  db: Database,
  id: string,
): Promise<(StoredEvent & { attempts: number }) | undefined> {
  return (await db.query<StoredEvent & { attempts: number }>(ONE, [id]))[0];
}

const ATTEMPTS = `
  select event_id, attempt, at, status, error, ms, response, result from webhook_attempts
  where id > $1 || '/' and id < $1 || '0' order by attempt`;

/** Whether there is such an event. */
export const isEvent = async (db: Database, eventId: string): Promise<boolean> =>
  (await db.query('select 1 from events where id = $1', [eventId])).length > 0;

/** Every try of an event, first to last. */
export const attemptsOf = (db: Database, eventId: string) =>
  db.query<AttemptRow>(ATTEMPTS, [eventId]);

const DROPPED = `
  select e.id, e.platform_id, e.type, e.subject, e.created_at, e.attempts
  from webhook_attempts a join events e on e.id = a.event_id
  where a.result = 'dropped' and e.due_at is null and a.attempt = e.attempts and e.type <> 'TEST'
  order by a.at desc limit $1::int`;

/** An event that was given up. */
interface DroppedEvent {
  id: string;
  platform_id: string;
  type: string;
  subject: string;
  created_at: Time;
  attempts: number;
}

/** Events that were given up and not sent again since, latest first. */
export const droppedEvents = (db: Database, limit: number) =>
  db.query<DroppedEvent>(DROPPED, [limit]);

// Events are sealed for customers, a table of a feature to the right of this one; read by SQL alone.
const RESEND = `update events e set due_at = $2 where id = $1 and (sealed_for is null
  or exists (select from customers c where c.id = e.sealed_for and c.data_key is not null))
  returning id`;

/**
 * Makes an event due at `now`, whatever came of it before; answers whether there is such an event and it
 * can still be read. It keeps its id and body, and is tried at least once more.
 */
export async function resendEvent(db: Database, eventId: string, now: Time): Promise<boolean> {
  return (await db.query<{ id: string }>(RESEND, [eventId, time(now)])).length > 0;
}
