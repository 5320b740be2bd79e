// Discards deliveries that a paused endpoint retained, or that were not pulled, for seven days on
// the clock of their platform. A change of the clock also discards these deliveries before its
// completion, because the sweep runs later.
import type { Time } from '../../../kernel/effects.ts';
import { CLOCK } from '../../../runtime/clocks/clock-table.ts';
import type { Sweep } from '../../../runtime/jobs/jobs.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { CONFIGURED } from './store.ts';

const EVERY_MS = 60_000;
const BATCH = 1_000;
const RETENTION_SQL = "interval '168 hours'";

// Reads the few paused or pulled endpoints and then the oldest deliveries of each along the index
// of the queue. A failed attempt records the reason.
const DISCARD_EXPIRED = `with expired as (
    delete from webhook_queue q using (
      select d.*, w.status = 'PAUSED' as paused from webhook_endpoints w
        left join sandbox_clocks c on c.id = w.platform_id
        cross join lateral (
          select platform_id, endpoint, event_id, due_at from webhook_queue
          where platform_id = w.platform_id and endpoint = w.number
        and due_at < ${CLOCK} - ${RETENTION_SQL}
          order by due_at limit ${BATCH}) d
      where (w.status = 'PAUSED' or w.url is null and w.number > ${CONFIGURED})
        and w.deleted_at is null and ($4::text is null or w.platform_id = $4)
      limit ${BATCH}) retained
    where q.platform_id = retained.platform_id and q.endpoint = retained.endpoint
      and q.event_id = retained.event_id
    returning q.platform_id, q.endpoint, q.event_id, q.attempts, q.due_at, retained.paused
  ), failed as (
    insert into webhook_attempts
      (platform_id, endpoint, event_id, attempt, at, error, ms, result)
    select platform_id, endpoint, event_id, attempts + 1, due_at + ${RETENTION_SQL},
      case when paused then $2 else $3 end, 0, 'dropped' from expired
    on conflict (platform_id, endpoint, event_id, attempt) do nothing)
  select event_id from expired`;
const PAUSED_REASON = 'EXPIRED: the endpoint was paused for seven days';
const PULLED_REASON = 'EXPIRED: the delivery was not acknowledged for seven days';

async function dropExpired({ db }: Pick<Runtime, 'db'>, now: Time, platformId: string | null) {
  const values = [new Date(now), PAUSED_REASON, PULLED_REASON, platformId];
  return (await db.query(DISCARD_EXPIRED, values)).length;
}

/** Discards the deliveries of one platform that were retained for seven days on its clock. */
export async function dropExpiredDeliveries(
  runtime: Pick<Runtime, 'db' | 'effects'>,
  platformId: string,
): Promise<void> {
  while ((await dropExpired(runtime, runtime.effects.now(), platformId)) === BATCH);
}

/**
 * Discards deliveries that a paused endpoint retained, or that were not pulled, for seven days.
 * Runs every minute.
 */
export function retainedDeliverySweep(): Sweep {
  let nextRunAt: Time = 0;
  return {
    name: 'retained webhook deliveries',
    async run(runtime) {
      const now = runtime.effects.now();
      if (now < nextRunAt) return 0;
      const count = await dropExpired(runtime, now, null);
      if (count < BATCH) nextRunAt = now + EVERY_MS;
      return count;
    },
  };
}
