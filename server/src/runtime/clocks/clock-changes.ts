// Changes of the clock of a sandbox platform. The process that changes a clock has a lease on it. During
// the change the clock is stopped at the instant whose jobs run, and advances after they have run. After a
// crash the clock remains at its last instant until the next change, so a crash skips no job.
import type { Time } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Database } from '../db/database.ts';
import { type ClockRow, sandboxClocks } from './clock-table.ts';

type Writer = Pick<Database, 'query'>;

/** Longer than a job usually runs. Steps between jobs renew the lease. */
const LEASE_MS = 40_000;

const COLUMNS = sandboxClocks.columnNames.join(', ');

const HOLD = `insert into sandbox_clocks as c
    (id, stands_at, target, holder, held_until, created_at, updated_at)
  values ($1, $2, $2, $3, $4, $2, $2)
  on conflict (id) do update set
    stands_at = coalesce(c.stands_at, $2::timestamptz + c.offset_ms * interval '1 ms'),
    holder = excluded.holder, held_until = excluded.held_until, updated_at = excluded.updated_at
  where c.held_until is null or c.held_until <= $2
  returning ${COLUMNS}`;

/** Stops the clock for a change and returns its row. Undefined while another change is in progress. */
export async function holdClock(
  db: Writer,
  { platformId, holder, realTime }: { platformId: string; holder: string; realTime: Time },
): Promise<ClockRow | undefined> {
  const values = [platformId, new Date(realTime), holder, new Date(realTime + LEASE_MS)];
  return (await db.query<ClockRow>(HOLD, values))[0];
}

const BEGIN = `insert into sandbox_clocks
    (id, stands_at, target, holder, held_until, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $3, $3) on conflict (id) do nothing returning ${COLUMNS}`;

/**
 * Creates the clock of a platform without data, stopped at `at`, with a lease for a change. `at` may be in
 * the past. Undefined if the platform already has a clock.
 */
export async function beginClock(
  db: Writer,
  {
    platformId,
    holder,
    at,
    realTime,
  }: Record<'platformId' | 'holder', string> & Record<'at' | 'realTime', Time>,
): Promise<ClockRow | undefined> {
  const times = [at, realTime].map((each) => new Date(each));
  const values = [platformId, ...times, holder, new Date(realTime + LEASE_MS)];
  return (await db.query<ClockRow>(BEGIN, values))[0];
}

const STEP = `update sandbox_clocks set stands_at = $3, target = $4, held_until = $5, updated_at = $6
  where id = $1 and holder = $2 returning ${COLUMNS}`;

/** The error of a clock that another process has changed or a reset has removed. */
const leaseLostFault = () =>
  new Fault(
    'CONFLICT',
    'Another request has advanced or reset the clock. Read the clock and try again.',
  );

/** Advances the clock to `at` during a change to `target`, and renews the lease. */
export async function stepClock(
  db: Writer,
  { id, holder }: Pick<ClockRow, 'id' | 'holder'>,
  { at, target, realTime }: { at: Time; target: Time; realTime: Time },
): Promise<ClockRow> {
  const times = [at, target, realTime + LEASE_MS, realTime].map((each) => new Date(each));
  const [row] = await db.query<ClockRow>(STEP, [id, holder, ...times]);
  if (!row) throw leaseLostFault();
  return row;
}

// The clock continues from its present time, unless it is frozen.
const RELEASE = `update sandbox_clocks set
    offset_ms = round(extract(epoch from stands_at - $3::timestamptz) * 1000),
    stands_at = case when $4::boolean then stands_at end, frozen = $4, target = $5,
    holder = null, held_until = null, updated_at = $3
  where id = $1 and holder = $2 returning ${COLUMNS}`;

/** Completes a change. `target` is null if the clock has reached it. */
export async function releaseClock(
  db: Writer,
  { id, holder }: Pick<ClockRow, 'id' | 'holder'>,
  { frozen, target, realTime }: { frozen: boolean; target: Time | null; realTime: Time },
): Promise<ClockRow> {
  const newTarget = target === null ? null : new Date(target);
  const [row] = await db.query<ClockRow>(RELEASE, [
    id,
    holder,
    new Date(realTime),
    frozen,
    newTarget,
  ]);
  if (!row) throw leaseLostFault();
  return row;
}
