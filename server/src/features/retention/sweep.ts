// Applies the retention every hour. Partitions are created two weeks ahead, so inserts continue
// while runs fail.
import type { Time } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Sweep } from '../../runtime/jobs/jobs.ts';
import { applyRetention, isRetentionDue } from './apply.ts';
import type { RetentionDeps } from './deps.ts';

const RUN_EVERY_MS = 3_600_000;
/** Delay after a failure, such as unavailable storage. */
const RETRY_MS = 60_000;

export function retentionSweep(deps: RetentionDeps): Sweep {
  let nextRunAt: Time = 0;
  return {
    name: 'retention',
    async run({ effects }) {
      const now = effects.now();
      if (now < nextRunAt) return 0;
      nextRunAt = now + RETRY_MS;
      try {
        if (await isRetentionDue(deps)) await applyRetention(deps);
      } catch (error) {
        // Another process is applying the retention.
        if (!(error instanceof Fault && error.code === 'CONFLICT')) throw error;
      }
      nextRunAt = now + RUN_EVERY_MS;
      return 0;
    },
  };
}
