// The clock of a sandbox platform as a row. The clock is stopped at an instant, or runs with an offset to
// real time. A platform without a row follows real time. Rows are written by separate statements
// (`clock-changes.ts`) instead of the committer, because a change of a clock is a loop with a lease.
import type { Time } from '../../kernel/effects.ts';
import { col, type RowOf, table } from '../db/table.ts';

export const sandboxClocks = table('sandbox_clocks', {
  /** ID of the platform. */
  id: col.text,
  /** The instant at which the clock is stopped, or null while it runs. */
  stands_at: col.time.null,
  /** The offset to real time in milliseconds, while the clock runs. */
  offset_ms: col.int8,
  /** Whether the clock remains stopped after the latest change. */
  frozen: col.bool,
  /** Target of the latest change, or null after the target was reached. */
  target: col.time.null,
  /** The change in progress, and its lease in real time. */
  holder: col.text.null,
  held_until: col.time.null,
  created_at: col.time,
  updated_at: col.time,
});

export type ClockRow = RowOf<typeof sandboxClocks>;

/** SQL of the time of a platform, whose row is `c` if it has a separate clock. `$1` is real time. */
export const CLOCK = `coalesce(c.stands_at,
    $1::timestamptz + coalesce(c.offset_ms, 0) * interval '1 ms')`;

/** The time on a clock. */
export const timeOn = (row: Pick<ClockRow, 'stands_at' | 'offset_ms'>, realTime: Time): Time =>
  row.stands_at ?? realTime + Number(row.offset_ms);
