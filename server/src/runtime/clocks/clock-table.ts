// The clock of a sandbox platform as a row: it is stopped at an instant, or runs with an offset to
// real time. A platform without a row follows real time. Rows are written by separate statements
// (`clock-changes.ts`) and not by the committer, because a change of a clock is a loop with a
// lease, not one change set.
import type { Time } from '../../kernel/effects.ts';
import { col, type RowOf, table } from '../db/table.ts';

export const sandboxClocks = table('sandbox_clocks', {
  /** Id of the platform. */
  id: col.text,
  /** The instant at which it is stopped, or null while it runs. */
  stands_at: col.time.null,
  /** While it runs: the offset to real time in milliseconds. */
  offset_ms: col.int8,
  /** Whether it stays stopped after the latest change. */
  frozen: col.bool,
  /** Target of the latest change, or null once it was reached. */
  target: col.time.null,
  /** The change in progress, and its lease in real time. */
  holder: col.text.null,
  held_until: col.time.null,
  created_at: col.time,
  updated_at: col.time,
});

export type ClockRow = RowOf<typeof sandboxClocks>;

/**
 * SQL: the time of a platform, whose row is `c` if it has its own clock. `$1` is real time.
 */
export const CLOCK = `coalesce(c.stands_at,
    $1::timestamptz + coalesce(c.offset_ms, 0) * interval '1 ms')`;

/** The time on a clock. */
export const timeOn = (row: Pick<ClockRow, 'stands_at' | 'offset_ms'>, realTime: Time): Time =>
  row.stands_at ?? realTime + Number(row.offset_ms);
