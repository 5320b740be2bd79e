// Stored replies by idempotency key. Replies are retained for a week, longer than the retries of clients,
// and then deleted in small batches. A BRIN index selects old replies without a cost for inserts.
import type { ResetRules } from '../committer/reset.ts';
import { retentionSweep } from '../db/retention.ts';
import { col, table } from '../db/table.ts';

export const idempotency = table(
  'idempotency',
  {
    /**
     * Platform with agent, or operator, then method, path and key. Parameters of the path are
     * hashed unless they are IDs.
     */
    id: col.text,
    /** Keyed hash of the query and the body, because both may contain secrets. */
    body_hash: col.text,
    status: col.int4,
    reply: col.text,
    created_at: col.time,
  },
  { clientKeyed: true },
);

/** The ID of a record begins with the ID of its platform. */
export const idempotencyReset: ResetRules = {
  belongs: { idempotency: "t.id >= ($1::text[])[1] and t.id < ($1::text[])[1] || '~'" },
};

const KEEP_MS = 7 * 24 * 3_600_000;

/** Deletes replies that are older than a week. */
export const idempotencyRetention = () =>
  retentionSweep('idempotency.purge', [
    { table: 'idempotency', time: 'created_at', keepMs: KEEP_MS },
  ]);
