// SQL of recorded attempts: test events, the attempts of an event, sending an event again, and the
// number of due deliveries.
import type { Time } from '../../../kernel/effects.ts';
import { CLOCK } from '../../../runtime/clocks/clock-table.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { StoredEvent } from './envelope.ts';
import { type AttemptRow, type LaneId, type Stored, withCompleteData } from './store.ts';

const dateOf = (time: Time) => new Date(time);

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
  createdAt: Time,
  row: Omit<AttemptRow, 'endpoint' | 'attempt'>,
): Promise<void> {
  const { event_id: id, platform_id: platformId, at } = row;
  const { status, error, ms, head, response, result } = row;
  const attemptValues = [dateOf(at), status, error, ms, head, response, result];
  await db.query(RECORD_TEST, [id, platformId, dateOf(createdAt), ...attemptValues]);
}

/** Attempts of the event `e` to the endpoint, as SQL. */
const attemptsMadeSql = (endpoint: string) => `(select coalesce(max(a.attempt), 0)
    from webhook_attempts a where a.platform_id = e.platform_id and a.endpoint = ${endpoint}
      and a.event_id = e.id)`;

const EVENT_BY_ID = `select e.id, e.platform_id, e.type, e.subject, e.data, b.data as base, e.balance, e.held,
    e.created_at, ${attemptsMadeSql('0')} as attempts
  from events e left join events b on b.id = e.base_id where e.id = $1`;

type EventWithAttempts = StoredEvent & { platform_id: string; attempts: number };

/** A stored event with the number of attempts to the configured endpoint. */
export async function eventWithAttempts(
  db: Database,
  id: string,
): Promise<EventWithAttempts | undefined> {
  const [row] = await db.query<Stored<EventWithAttempts>>(EVENT_BY_ID, [id]);
  return row && withCompleteData(row);
}

/** The position of a pulled delivery: after all deliveries that could be read before. */
const positionOf = (endpoint: string) => `(select event_position() from webhook_endpoints w
        where w.platform_id = e.platform_id and w.number = ${endpoint} and w.number > 0
          and w.url is null)`;

// `customers` belongs to a later feature, so it is read in SQL only.
const REQUEUE = `
  with requeued as (
    insert into webhook_queue (event_id, platform_id, endpoint, due_at, attempts, position)
    select e.id, e.platform_id, n.number, ${CLOCK}, ${attemptsMadeSql('n.number')},
      ${positionOf('n.number')}
    from unnest($2::text[]) as w(id)
      cross join lateral (select id, platform_id, data, sealed_for from events
        where id = w.id offset 0) e
      cross join unnest($3::int[]) as n(number)
      left join sandbox_clocks c on c.id = e.platform_id
    where e.data <> '' and (e.sealed_for is null
      or exists (select from customers o where o.id = e.sealed_for and o.data_key is not null))
    on conflict (platform_id, endpoint, event_id) do update set due_at = excluded.due_at
    returning platform_id, endpoint, event_id
  ), reopened as (
    update webhook_attempts a set result = 'retry' from requeued r
    where a.platform_id = r.platform_id and a.endpoint = r.endpoint and a.event_id = r.event_id
      and a.result = 'dropped'
  )
  select event_id as "eventId", endpoint from requeued order by event_id, endpoint`;

/** An event that is queued for an endpoint. */
interface RequeuedEvent {
  eventId: string;
  endpoint: number;
}

/**
 * Makes events due now, delivered or not, for these endpoints. `now` is real time. Unknown and
 * erased events are omitted from the result. An event keeps its ID and body and has at least one
 * more attempt.
 */
export const requeueEvents = (
  db: Database,
  eventIds: readonly string[],
  now: Time,
  endpoints: readonly number[],
): Promise<RequeuedEvent[]> => db.query<RequeuedEvent>(REQUEUE, [dateOf(now), eventIds, endpoints]);

// The clock is read first, so that the index is used for the due deliveries.
const COUNT_DUE = `select count(*)::int4 as count from (
  select from webhook_queue where platform_id = $2 and endpoint = $3 and due_at <= coalesce(
    (select ${CLOCK} from sandbox_clocks c where c.id = $2), $1) limit $4::int) due`;

/** Number of deliveries of an endpoint that are due, counted up to `maximum`. */
export async function countDue(
  db: Database,
  { platformId, endpoint }: LaneId,
  now: Time,
  maximum: number,
): Promise<number> {
  const values = [dateOf(now), platformId, endpoint, maximum];
  return (await db.query<{ count: number }>(COUNT_DUE, values))[0]?.count ?? 0;
}
