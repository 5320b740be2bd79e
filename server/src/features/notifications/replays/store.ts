// Replays and their progress.

import { retentionSweep } from '../../../runtime/db/retention.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import { type ReplayStatus, replayStates } from './states.ts';

export type ReplayScope = 'UNDELIVERED' | 'ALL';

export const webhookReplays = table(
  'webhook_replays',
  {
    id: col.text,
    platform_id: col.text,
    endpoint_id: col.text,
    /** Number of the endpoint. */
    endpoint: col.int4,
    scope: col.enum<ReplayScope>(),
    from_time: col.time,
    to_time: col.time,
    status: col.enum<ReplayStatus>().mut,
    total: col.int4,
    done: col.int4.mut,
    /**
     * Position of the last event that was read, or null at the beginning and after the completion.
     */
    place: col.text.null.mut,
    failure_reason: col.text.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    lifecycles: [{ state: (row) => row.status, states: replayStates }],
    // An endpoint has at most one replay in progress.
    contendedKeys: ['webhook_replays_active'],
  },
);

export type ReplayRow = RowOf<typeof webhookReplays>;

const KEEP_MS = 30 * 86_400_000;

/** Deletes replays after 30 days. */
export const replayRetention = () =>
  retentionSweep('replays.purge', [
    { table: 'webhook_replays', time: 'created_at', keepMs: KEEP_MS },
  ]);
