// Events of several platforms together, in the order of their positions, for operators who follow
// them.
import type { Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { completeEventData, customerOf } from '../../../runtime/operation/event-data.ts';
import type { EventPosition } from './cursor.ts';

/** An event without its data. */
export interface EventHead extends EventPosition {
  type: string;
  platformId: string;
  resourceId: string;
  /** The customer that the event is about, if any. */
  customerId: string | undefined;
  createdAt: Time;
}

interface Row extends EventPosition {
  type: string;
  platform_id: string;
  subject: string;
  data: string;
  base_id: string | null;
  base: string | null;
  sealed_for: string | null;
  created_at: Time;
}

/**
 * One range of the index `events_order` for each platform. Exported to test its plan. The inner
 * limit bounds the cost of a platform with many events.
 */
export const HEADS = `select e.position, e.id, e.type, e.platform_id, e.subject, e.data, e.base_id,
    b.data as base, e.sealed_for, e.created_at
  from (select e.* from unnest($1::text[]) as p(id) cross join lateral (
      select * from events e
      where hashtext(e.platform_id) = hashtext(p.id) and e.platform_id = p.id
        and e.position >= $2 and e.position < $4 and (e.position, e.id) > ($2::bigint, $3::text)
      order by e.position, e.id limit $5::int) e
    order by e.position, e.id limit $5::int) e
  left join events b on b.id = e.base_id
  order by e.position, e.id`;

/** The customer of an event. For encrypted and erased data, the customer of its key. */
function customerIn({ subject, data, base_id, base, sealed_for }: Row): string | undefined {
  if (sealed_for !== null) return sealed_for;
  const text = completeEventData(data, base_id === null ? null : (base ?? ''));
  return customerOf(subject, text === '' ? undefined : JSON.parse(text));
}

/** Up to `limit` events of these platforms after one position and below another, in their order. */
export async function eventsOfPlatforms(
  db: Pick<Database, 'query'>,
  platformIds: readonly string[],
  { position, id }: EventPosition,
  below: bigint,
  limit: number,
): Promise<EventHead[]> {
  if (position >= below) return [];
  const rows = await db.query<Row>(HEADS, [platformIds, position, id, below, limit]);
  return rows.map((row) => ({
    position: row.position,
    id: row.id,
    type: row.type,
    platformId: row.platform_id,
    resourceId: row.subject,
    customerId: customerIn(row),
    createdAt: row.created_at,
  }));
}
