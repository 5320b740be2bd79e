// Stored replies by idempotency key. They are kept for a week, longer than any client retries, and
// then deleted in small batches. A BRIN index finds the old ones without a cost for inserts.
import type { ResetRules } from '../committer/reset.ts';
import { retentionSweep } from '../db/retention.ts';
import { col, table } from '../db/table.ts';

export const idempotency = table(
  'idempotency',
  {
    /**
     * Platform, agent if any, method, path and key. Parameters of the path are hashed unless they
     * are ids.
     */
    id: col.text,
    /** Hash of the query and the body, keyed, because both may contain secrets. */
    body_hash: col.text,
    status: col.int4,
    reply: col.text,
    created_at: col.time,
  },
  { clientKeyed: true },
);

/** A record belongs to the platform that its id begins with. */
export const idempotencyReset: ResetRules = {
  belongs: { idempotency: "t.id >= ($1::text[])[1] and t.id < ($1::text[])[1] || '~'" },
};

const KEEP_MS = 7 * 24 * 3_600_000;

/** Deletes replies that are older than a week. */
export const idempotencyRetention = () =>
  retentionSweep('idempotency.purge', [
    { table: 'idempotency', time: 'created_at', keepMs: KEEP_MS },
  ]);
