// SQL of recorded attempts: test events, the attempts of an event, and sending an event again.
import type { Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { StoredEvent } from './envelope.ts';
import { type AttemptRow, restored, type Stored } from './store.ts';

const time = (at: Time) => new Date(at);

const RECORD_TEST = `
  with event as (
    insert into events (id, platform_id, type, subject, data, created_at)
    values ($1, $2, 'TEST', $2, '{}', $3)
  )
  insert into webhook_attempts
    (platform_id, event_id, attempt, at, status, error, ms, head, response, result)
  values ($2, $1, 1, $4, $5, $6, $7, $8, $9, $10)`;

/** Records a test event, which was sent synchronously, and its attempt. */
export async function recordTest(
  db: Database,
  created: Time,
  row: Omit<AttemptRow, 'endpoint' | 'attempt'>,
): Promise<void> {
  const { event_id: id, platform_id: platformId, at } = row;
  const { status, error, ms, head, response, result } = row;
  const sent = [time(at), status, error, ms, head, response, result];
  await db.query(RECORD_TEST, [id, platformId, time(created), ...sent]);
}

/** Attempts of the event `e` to the endpoint, as SQL. */
const attemptsMade = (endpoint: string) => `(select coalesce(max(a.attempt), 0)
    from webhook_attempts a where a.platform_id = e.platform_id and a.endpoint = ${endpoint}
      and a.event_id = e.id)`;

const ONE = `select e.id, e.platform_id, e.type, e.data, b.data as base, e.balance, e.held,
    e.created_at, ${attemptsMade('0')} as attempts
  from events e left join events b on b.id = e.base_id where e.id = $1`;

type EventWithAttempts = StoredEvent & { platform_id: string; attempts: number };

/** A stored event with the number of attempts to the configured endpoint. */
export async function storedEvent(
  db: Database,
  id: string,
): Promise<EventWithAttempts | undefined> {
  const [row] = await db.query<Stored<EventWithAttempts>>(ONE, [id]);
  return row && restored(row);
}

// A platform may have deliveries of removed endpoints, until those are forgotten.
const ATTEMPTS = `
  select a.platform_id, a.endpoint, n.id as "endpointId", a.event_id, a.attempt, a.at, a.status,
    a.error, a.ms, a.head, a.response, a.result
  from events e cross join lateral (select 0 as number, null as id union all
      select w.number, w.id from webhook_endpoints w
      where w.platform_id = e.platform_id and w.number > 0) n
    join webhook_attempts a
      on a.platform_id = e.platform_id and a.endpoint = n.number and a.event_id = e.id
  where e.id = $1 order by a.endpoint, a.attempt`;

export const isEvent = async (db: Database, eventId: string): Promise<boolean> =>
  (await db.query('select 1 from events where id = $1', [eventId])).length > 0;

/** All attempts of an event, by endpoint, oldest first. */
export const attemptsOf = (db: Database, eventId: string) =>
  db.query<AttemptRow & { endpointId: string | null }>(ATTEMPTS, [eventId]);

const DROPPED = `
  select e.id, e.platform_id, e.type, e.subject, e.created_at, a.attempt as attempts
  from webhook_attempts a join events e on e.id = a.event_id
  where a.result = 'dropped' and e.type <> 'TEST'
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
  with resent as (
    insert into webhook_queue (event_id, platform_id, endpoint, due_at, attempts)
    select e.id, e.platform_id, n.number, $2, ${attemptsMade('n.number')}
    from events e cross join lateral (
      select unnest($3::int[]) as number
      union
      select 0 where $3 is null
      union
      select w.number from webhook_endpoints w
      where $3 is null and w.platform_id = e.platform_id and w.number > 0 and w.deleted_at is null
        and (w.event_types is null or w.event_types::jsonb ? e.type)) n
    where e.id = $1 and (e.sealed_for is null
      or exists (select from customers c where c.id = e.sealed_for and c.data_key is not null))
    on conflict (platform_id, endpoint, event_id) do update set due_at = excluded.due_at
    returning platform_id, endpoint, event_id
  ), reopened as (
    update webhook_attempts a set result = 'retry' from resent r
    where a.platform_id = r.platform_id and a.endpoint = r.endpoint and a.event_id = r.event_id
      and a.result = 'dropped'
  )
  select endpoint from resent`;

/**
 * Makes an event due at `now`, delivered or not, for these endpoints or for all that get its type. Returns
 * false if it does not exist or is unreadable. It keeps its id and body and gets at least one more attempt.
 */
export async function resendEvent(
  db: Database,
  eventId: string,
  now: Time,
  endpoints: readonly number[] | null = null,
): Promise<boolean> {
  return (await db.query(RESEND, [eventId, time(now), endpoints])).length > 0;
}
