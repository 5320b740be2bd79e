// SQL of pulled deliveries. A pulled delivery is a row of the queue with a position. The row is
// deleted when the delivery is acknowledged. An acknowledgment is recorded like an attempt.
import type { Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { completeEventData } from '../../../runtime/operation/event-data.ts';
import type { EndpointKey, EventFormat } from '../endpoints/index.ts';
import type { StoredEvent } from '../webhooks/index.ts';
import type { PullPosition } from './cursor.ts';

/** An endpoint whose deliveries are pulled, by its number. */
export interface PulledEndpoint {
  platformId: string;
  endpoint: number;
}

/** A delivery that is not acknowledged, with the settings that sign it. */
export interface PullRow extends StoredEvent {
  platform_id: string;
  endpoint: number;
  /** Customer whose data key encrypts the data, or null if the data is not encrypted. */
  sealed_for: string | null;
  /** Null if the data is not encrypted, and after an erasure. */
  data_key: string | null;
  position: bigint;
  /**
   * Number of earlier attempts, which belong to acknowledged or expired deliveries of the event.
   */
  attempts: number;
  /** Whether the delivery has the headers of Standard Webhooks. */
  standard: boolean;
  format: EventFormat;
  keys: EndpointKey[];
}

// `customers` belongs to a later feature, so it is read in SQL only. Events are looked up one by
// one in subqueries that the planner cannot join.
const PULL = `
  select e.*, $2::int as endpoint, d.position, d.attempts, w.standard_webhooks as standard,
    w.format, w.keys,
    (select b.data from events b where b.id = e.base_id) as base,
    (select c.data_key from customers c where c.id = e.sealed_for) as data_key
  from webhook_endpoints w
    cross join lateral (
      select event_id, position, attempts from webhook_queue
      where platform_id = w.platform_id and endpoint = w.number and position < $3
        and (position, event_id) > ($4::bigint, $5::text)
      order by position, event_id limit $6) d
    cross join lateral (
      select id, platform_id, type, subject, data, base_id, balance, held, created_at, sealed_for
      from events where id = d.event_id offset 0) e
  where w.platform_id = $1 and w.number = $2 and w.status = 'ENABLED' and w.deleted_at is null
  order by d.position, e.id`;

const FIRST_POSITION: PullPosition = { position: -(2n ** 62n), eventId: '' };

/**
 * The oldest deliveries below `horizon` and after a position. None while the endpoint is paused.
 */
export async function pullableDeliveries(
  db: Database,
  { platformId, endpoint }: PulledEndpoint,
  horizon: bigint,
  { position, eventId }: PullPosition = FIRST_POSITION,
  limit: number,
): Promise<PullRow[]> {
  const values = [platformId, endpoint, horizon, position, eventId, limit];
  const rows = await db.query<PullRow & { base: string | null }>(PULL, values);
  return rows.map(({ base, ...row }) => ({ ...row, data: completeEventData(row.data, base) }));
}

/** `condition` selects rows of the queue. `$3` is the time. */
const acknowledgeSql = (condition: string) => `
  with acknowledged as (
    delete from webhook_queue where (platform_id, endpoint, event_id) in (
      select platform_id, endpoint, event_id from webhook_queue
      where platform_id = $1 and endpoint = $2 and position is not null and ${condition})
    returning event_id, attempts
  ), recorded as (
    insert into webhook_attempts (platform_id, endpoint, event_id, attempt, at, ms, result)
    select $1, $2, event_id, attempts + 1, $3, 0, 'delivered' from acknowledged
    on conflict (platform_id, endpoint, event_id, attempt) do nothing
  )
  select event_id from acknowledged`;

const ACKNOWLEDGE_UP_TO = acknowledgeSql(`(position, event_id) <= ($4::bigint, $5::text)
      order by position, event_id limit $6`);
const ACKNOWLEDGE_EVENTS = acknowledgeSql('event_id = any($4::text[])');

/** Acknowledges up to `limit` deliveries up to a position. Returns their number. */
export async function acknowledgeUpTo(
  db: Database,
  { platformId, endpoint }: PulledEndpoint,
  now: Time,
  { position, eventId }: PullPosition,
  limit: number,
): Promise<number> {
  const values = [platformId, endpoint, new Date(now), position, eventId, limit];
  return (await db.query(ACKNOWLEDGE_UP_TO, values)).length;
}

/** Acknowledges the deliveries of these events. Returns their number. */
export const acknowledgeEvents = async (
  db: Database,
  { platformId, endpoint }: PulledEndpoint,
  now: Time,
  eventIds: readonly string[],
): Promise<number> =>
  (await db.query(ACKNOWLEDGE_EVENTS, [platformId, endpoint, new Date(now), eventIds])).length;
