// Number and age of pending deliveries, as gauges. A read is bounded and shared by consecutive
// scrapes.
import type { Time } from '../../../kernel/effects.ts';
import { timeOfUuid7 } from '../../../kernel/id.ts';
import type { Metrics } from '../../../runtime/observability/metrics.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';

/** Maximum number of counted rows. Larger counts are reported as this number. */
const MAX_COUNTED = 10_000;
/** Maximum rows read, including rows of pulled deliveries. */
const MAX_READ = 100_000;
const CACHE_MS = 5_000;
/** Maximum endpoints whose oldest event is read. */
const MAX_ENDPOINTS = 1_000;

const COUNT = `select count(*)::int4 as pending from (
  select from (select position from webhook_queue limit ${MAX_READ}) queued
  where position is null limit ${MAX_COUNTED}) bounded`;

const OLDEST_DUE_TIME = `select min(due_at) as due_at from (
  select position, due_at from webhook_queue limit ${MAX_READ}) queued where position is null`;

// The first event of each endpoint, by steps along indexes. The time of an event is a part of its
// ID.
const FIRST_EVENTS = `with recursive endpoints as (
    (select platform_id, endpoint, 1 as place from webhook_queue
      order by platform_id, endpoint limit 1)
    union all
    select next.platform_id, next.endpoint, endpoints.place + 1
    from endpoints cross join lateral (
      select platform_id, endpoint from webhook_queue
      where (platform_id, endpoint) > (endpoints.platform_id, endpoints.endpoint)
      order by platform_id, endpoint limit 1) next
    where endpoints.place < ${MAX_ENDPOINTS})
  select min(right(first.event_id, 36) collate "C") as uuid
  from endpoints cross join lateral (
    select event_id from webhook_queue q
    where q.platform_id = endpoints.platform_id and q.endpoint = endpoints.endpoint
      and q.position is null
    order by event_id limit 1) first`;

/**
 * Age of the oldest event that is not delivered to one of the first `MAX_ENDPOINTS` endpoints,
 * excluding pulled deliveries. 0 if there is none.
 */
async function readOldestSeconds({
  db,
  effects,
}: Pick<Runtime, 'db' | 'effects'>): Promise<number> {
  const [row] = await db.query<{ uuid: string | null }>(FIRST_EVENTS);
  const now = effects.now();
  return row?.uuid == null ? 0 : Math.max(0, now - timeOfUuid7(row.uuid)) / 1_000;
}

/** Seconds since the due time of the oldest due delivery, among the deliveries that are read. */
export async function longestOverdueSeconds({
  db,
  effects,
}: Pick<Runtime, 'db' | 'effects'>): Promise<number> {
  const [row] = await db.query<{ due_at: Time | null }>(OLDEST_DUE_TIME);
  const dueAt = row?.due_at ?? effects.now();
  return Math.max(0, effects.now() - dueAt) / 1_000;
}

/** A reading that is repeated at most once per `CACHE_MS`. */
function shareReading(
  { effects }: Pick<Runtime, 'effects'>,
  readValue: () => Promise<number>,
): () => Promise<number> {
  let cachedReading: Promise<number> | undefined;
  let readAt: Time = 0;
  return () => {
    const now = effects.now();
    if (cachedReading && now >= readAt && now < readAt + CACHE_MS) return cachedReading;
    const pendingReading = readValue();
    [cachedReading, readAt] = [pendingReading, now];
    pendingReading.catch(() => {
      if (cachedReading === pendingReading) cachedReading = undefined;
    });
    return pendingReading;
  };
}

/** Registers gauges of the pending deliveries of all processes, test events included. */
export function watchPending(
  metrics: Pick<Metrics, 'watch'>,
  runtime: Pick<Runtime, 'db' | 'effects'>,
): void {
  const { db } = runtime;
  const count = async () => (await db.query<{ pending: number }>(COUNT))[0]?.pending ?? 0;
  metrics.watch(
    'railhead_deliveries_pending',
    `Webhook deliveries that are pending and not pulled. Counted up to ${MAX_COUNTED}.`,
    shareReading(runtime, count),
  );
  metrics.watch(
    'railhead_deliveries_overdue_seconds',
    'Time since the earliest due time of a pending webhook delivery.',
    shareReading(runtime, () => longestOverdueSeconds(runtime)),
  );
  metrics.watch(
    'railhead_deliveries_oldest_seconds',
    'Age of the oldest event that is not delivered yet, including events that are retried.',
    shareReading(runtime, () => readOldestSeconds(runtime)),
  );
}
