// Stored replies by the client's key. They are kept a week, longer than any client goes on retrying, and
// then swept in small bites; a BRIN index finds the old ones without costing inserts anything.
import { retentionSweep } from '../db/retention.ts';
import { col, table } from '../db/table.ts';

export const idempotency = table(
  'idempotency',
  {
    /** Platform, its agent where one asks, method, path and key. In the path only ids are in clear. */
    id: col.text,
    /** Of the query and the body, keyed, as both may hold secrets. */
    body_hash: col.text,
    status: col.int4,
    reply: col.text,
    created_at: col.time,
  },
  { clientKeyed: true },
);

const KEEP_MS = 7 * 24 * 3_600_000;

/** Deletes replies that are older than a week. */
export const idempotencyRetention = () =>
  retentionSweep('idempotency.forget', [
    { table: 'idempotency', time: 'created_at', keepMs: KEEP_MS },
  ]);
