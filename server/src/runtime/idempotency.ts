// Stored replies by the client's key. They are kept a week, longer than any client goes on retrying, and
// then swept in small bites; a BRIN index finds the old ones without costing inserts anything.
import type { Time } from '../kernel/world.ts';
import type { Sweep } from './jobs.ts';
import { col, table } from './table.ts';

export const idempotency = table(
  'idempotency',
  {
    /** Platform, method, path and key. */
    id: col.text,
    body_hash: col.text,
    status: col.int4,
    reply: col.text,
    created_at: col.time,
  },
  { clientKeyed: true },
);

const KEEP_MS = 7 * 24 * 3_600_000;
const LOOK_EVERY_MS = 10 * 60_000;
const AT_ONCE = 5_000;

const FORGET = `delete from idempotency where id in (
  select id from idempotency where created_at < $1 limit ${AT_ONCE})
  returning 1`;

/** Deletes replies that are older than a week. */
export function forgetSweep(): Sweep {
  let next: Time = 0;
  return {
    name: 'idempotency.forget',
    async run({ world, db }) {
      const now = world.now();
      if (now < next) return 0;
      const gone = await db.query(FORGET, [new Date(now - KEEP_MS)]);
      if (gone.length < AT_ONCE) next = now + LOOK_EVERY_MS;
      return gone.length;
    },
  };
}
