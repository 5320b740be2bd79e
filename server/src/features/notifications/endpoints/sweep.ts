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
    ctx.emit(endpointPaused, id, presentEndpoint(paused, ctx.now));
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
