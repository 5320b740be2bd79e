// Pauses endpoints whose every attempt failed for five days on the clock of their platform, and
// emits an event to the other endpoints. A sweep checks all platforms whose clock is not being
// changed. A change of a sandbox clock checks its platform. The endpoint of the configuration is
// exempt, because clients that use only the configuration could not resume it.
import type { Time } from '../../../kernel/effects.ts';
import { CLOCK } from '../../../runtime/clocks/clock-table.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Sweep } from '../../../runtime/jobs/jobs.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import { endpointPaused } from './contract.ts';
import { presentEndpoint } from './present.ts';
import { CONFIGURED, webhookEndpoints } from './store.ts';

const FAILING_MS = 5 * 86_400_000;
const BATCH_SIZE = 100;
const EVERY_MS = 60_000;

const CAN_BE_PAUSED = `w.status = 'ENABLED' and w.deleted_at is null and w.number > ${CONFIGURED}`;

// Skips platforms whose clock is being changed, because the change pauses their endpoints.
const FAILING_ENDPOINTS = `select w.id, w.platform_id as "platformId" from webhook_endpoints w
    left join sandbox_clocks c on c.id = w.platform_id
  where w.failing_since <= ${CLOCK} - $2::int * interval '1 ms' and ${CAN_BE_PAUSED}
    and (c.held_until is null or c.held_until <= $1)
  order by w.failing_since, w.id limit ${BATCH_SIZE}`;

const FIRST_FAILING_ENDPOINT = `select w.id, w.platform_id as "platformId", w.failing_since as since
  from webhook_endpoints w
  where w.platform_id = $1 and w.failing_since <= $2 and ${CAN_BE_PAUSED}
  order by w.failing_since, w.number limit 1`;

export interface FailingEndpoint {
  id: string;
  platformId: string;
}

/**
 * The first endpoint of a platform that has failed for five days by `until`, and the time at which
 * the five days ended.
 */
export async function firstFailingEndpoint(
  db: Pick<Database, 'query'>,
  platformId: string,
  until: Time,
): Promise<(FailingEndpoint & { at: Time }) | undefined> {
  type Row = FailingEndpoint & { since: Time };
  const [row] = await db.query<Row>(FIRST_FAILING_ENDPOINT, [
    platformId,
    new Date(until - FAILING_MS),
  ]);
  return row && { id: row.id, platformId, at: row.since + FAILING_MS };
}

/** Pauses an endpoint that has failed for five days. */
export async function pauseFailing(
  runtime: Runtime,
  { id, platformId }: FailingEndpoint,
): Promise<void> {
  const caller = await callerOf(runtime.db, platformId);
  await operate(runtime, caller, async (ctx) => {
    const row = await ctx.read(webhookEndpoints, id);
    const since = row?.failing_since ?? null;
    if (row?.status !== 'ENABLED' || row.deleted_at !== null || since === null) return;
    if (since > ctx.now - FAILING_MS) return;
    const pausedEndpoint = ctx.update(webhookEndpoints, row, {
      status: 'PAUSED',
      status_reason: 'Every attempt failed for five days.',
      status_changed_at: ctx.now,
      updated_at: ctx.now,
    });
    ctx.emit(endpointPaused, id, presentEndpoint(pausedEndpoint, ctx.effects.now()));
  });
}

/** Pauses endpoints that failed for five days. Runs every minute. */
export function pausingSweep(): Sweep {
  let nextRunAt: Time = 0;
  return {
    name: 'failing webhook endpoints',
    async run(runtime) {
      const now = runtime.effects.now();
      if (now < nextRunAt) return 0;
      const values = [new Date(now), FAILING_MS];
      const failingEndpoints = await runtime.db.query<FailingEndpoint>(FAILING_ENDPOINTS, values);
      for (const each of failingEndpoints) await pauseFailing(runtime, each);
      if (failingEndpoints.length < BATCH_SIZE) nextRunAt = now + EVERY_MS;
      return failingEndpoints.length;
    },
  };
}
