// Periodic work on events: the epoch of their positions.
import type { Sweep } from '../../../runtime/jobs/jobs.ts';
import { openEpoch } from './store.ts';

const EVERY_MS = 60_000;

/**
 * Starts a new epoch after a failover to another timeline, because transaction IDs can be lower
 * there and positions must increase. Processes that store events also do this when they connect.
 */
export function epochSweep(): Sweep {
  let nextRunAt = 0;
  return {
    name: 'events.epoch',
    async run({ effects, db }) {
      const now = effects.now();
      if (now < nextRunAt) return 0;
      nextRunAt = now + EVERY_MS;
      await openEpoch(db);
      return 0;
    },
  };
}
