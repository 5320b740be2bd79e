// Periodic work on events: deletion after their retention period, and the epoch of their positions.

import type { Sweep } from '../../../runtime/jobs/jobs.ts';
import { eventsFrom } from '../../../runtime/operation/personal-data.ts';
import { deleteOlder, openEpoch } from './store.ts';

const BATCH_SIZE = 2_000;
const EVERY_MS = 60_000;

/** Deletes events that are older than `keepMs`, in small batches. */
function retentionSweep(keepMs: number): Sweep {
  let next = 0;
  return {
    name: 'events.purge',
    async run({ effects, db }) {
      const now = effects.now();
      if (now < next) return 0;
      const deleted = await deleteOlder(db, eventsFrom(now - keepMs), BATCH_SIZE);
      if (deleted < BATCH_SIZE) next = now + EVERY_MS;
      return deleted;
    },
  };
}

/**
 * Transaction ids begin again after a failover to another timeline; positions must not. Processes that store
 * events do this when they connect.
 */
function epochSweep(): Sweep {
  let next = 0;
  return {
    name: 'events.epoch',
    async run({ effects, db }) {
      const now = effects.now();
      if (now < next) return 0;
      next = now + EVERY_MS;
      await openEpoch(db);
      return 0;
    },
  };
}

export const eventSweeps = (keepMs: number): readonly Sweep[] => [
  retentionSweep(keepMs),
  epochSweep(),
];
