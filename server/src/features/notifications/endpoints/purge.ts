// Deletes the rows of deleted endpoints after their last deliveries are deleted. Their numbers can
// then be reused.
import type { Time } from '../../../kernel/effects.ts';
import type { Sweep } from '../../../runtime/jobs/jobs.ts';

/** Retention of the row after the deletion, longer than any attempt in progress. */
const KEEP_MS = 86_400_000;
const EVERY_MS = 3_600_000;

const PURGE = `delete from webhook_endpoints w
  where w.deleted_at < $1 and w.number > 0
    and not exists (select from webhook_queue q
      where q.platform_id = w.platform_id and q.endpoint = w.number)
    and not exists (select from webhook_attempts a
      where a.platform_id = w.platform_id and a.endpoint = w.number)
  returning w.id`;

/** Runs every hour. */
export function deletedEndpointSweep(): Sweep {
  let nextRunAt: Time = 0;
  return {
    name: 'webhook-endpoints.purge',
    async run({ effects, db }) {
      const now = effects.now();
      if (now < nextRunAt) return 0;
      nextRunAt = now + EVERY_MS;
      return (await db.query(PURGE, [new Date(now - KEEP_MS)])).length;
    },
  };
}
