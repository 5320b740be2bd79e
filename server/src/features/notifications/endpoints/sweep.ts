// Pauses endpoints whose every attempt failed for five days, and emits an event to the other endpoints. The
// endpoint of the configuration is exempt: clients that use only the configuration could not resume it.
import type { Time } from '../../../kernel/effects.ts';
import type { Sweep } from '../../../runtime/jobs/jobs.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import { endpointPaused } from './contract.ts';
import { presentEndpoint } from './present.ts';
import { CONFIGURED, webhookEndpoints } from './store.ts';

const FAILING_MS = 5 * 86_400_000;
const AT_ONCE = 100;
const EVERY_MS = 60_000;

const FAILING = `select id, platform_id from webhook_endpoints
  where failing_since < $1 and status = 'ENABLED' and deleted_at is null and number > ${CONFIGURED}
  limit ${AT_ONCE}`;

const KEPT_MS = 7 * 86_400_000;

// Reads the few paused or pulled endpoints and then the oldest deliveries of each along the index of
// the queue.
// A failed attempt states why there are no more.
const TOO_OLD = `with gone as (
    delete from webhook_queue q using (
      select d.*, w.status = 'PAUSED' as paused from webhook_endpoints w cross join lateral (
        select platform_id, endpoint, event_id from webhook_queue
        where platform_id = w.platform_id and endpoint = w.number and due_at < $1
        order by due_at limit 1000) d
      where (w.status = 'PAUSED' or w.url is null and w.number > ${CONFIGURED})
        and w.deleted_at is null limit 1000) old
    where q.platform_id = old.platform_id and q.endpoint = old.endpoint
      and q.event_id = old.event_id
    returning q.platform_id, q.endpoint, q.event_id, q.attempts, old.paused
  ), failed as (
    insert into webhook_attempts
      (platform_id, endpoint, event_id, attempt, at, error, ms, result)
    select platform_id, endpoint, event_id, attempts + 1, $2, case when paused then $3 else $4 end,
      0, 'dropped' from gone
    on conflict (platform_id, endpoint, event_id, attempt) do nothing)
  select event_id from gone`;
const PAUSED_REASON = 'EXPIRED: the endpoint was paused for seven days';
const PULLED_REASON = 'EXPIRED: not acknowledged for seven days';

/** Gives up deliveries that were kept for seven days, paused or not pulled; checks every minute. */
export function keptDeliverySweep(): Sweep {
  let next: Time = 0;
  return {
    name: 'kept webhook deliveries',
    async run(runtime) {
      const now = runtime.effects.now();
      if (now < next) return 0;
      const times = [new Date(now - KEPT_MS), new Date(now)];
      const { length } = await runtime.db.query(TOO_OLD, [...times, PAUSED_REASON, PULLED_REASON]);
      if (length < 1000) next = now + EVERY_MS;
      return length;
    },
  };
}

async function pause(runtime: Runtime, id: string, platformId: string): Promise<void> {
  const caller = await callerOf(runtime.db, platformId);
  await operate(runtime, caller, async (ctx) => {
    const row = await ctx.read(webhookEndpoints, id);
    const since = row?.failing_since ?? null;
    if (row?.status !== 'ENABLED' || row.deleted_at !== null || since === null) return;
    if (since > ctx.now - FAILING_MS) return;
    const paused = ctx.update(webhookEndpoints, row, {
      status: 'PAUSED',
      status_reason: 'Every attempt failed for five days.',
      status_changed_at: ctx.now,
      updated_at: ctx.now,
    });
    ctx.emit(endpointPaused, id, presentEndpoint(paused, ctx.effects.now()));
  });
}

/** Pauses endpoints that failed for five days; checks every minute. */
export function pausingSweep(): Sweep {
  let next: Time = 0;
  return {
    name: 'failing webhook endpoints',
    async run(runtime) {
      const now = runtime.effects.now();
      if (now < next) return 0;
      const failing = await runtime.db.query<{ id: string; platform_id: string }>(FAILING, [
        new Date(now - FAILING_MS),
      ]);
      for (const { id, platform_id } of failing) await pause(runtime, id, platform_id);
      if (failing.length < AT_ONCE) next = now + EVERY_MS;
      return failing.length;
    },
  };
}
