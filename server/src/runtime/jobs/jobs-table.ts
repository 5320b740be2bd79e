// The table of jobs. It is separate from the worker, because contexts stage jobs.
import type { Time } from '../../kernel/effects.ts';
import { stateTable } from '../../kernel/states.ts';
import type { PlatformTime } from '../clocks/clocks.ts';
import type { Database } from '../db/database.ts';
import { col, type RowOf, table } from '../db/table.ts';

export type JobState = 'queued' | 'running' | 'dead';

/** A running job whose lease expired is claimed again. */
export const jobStates = stateTable<JobState, 'claim' | 'postpone' | 'fail' | 'retry'>('Job', {
  queued: { claim: 'running' },
  running: { claim: 'running', postpone: 'queued', fail: 'dead' },
  dead: { retry: 'queued' },
});

export const jobs = table(
  'jobs',
  {
    id: col.text,
    kind: col.text,
    /** The platform of the job. Empty if unknown. */
    platform_id: col.text,
    input: col.json<Record<string, unknown>>(),
    due_at: col.time.mut,
    /** Due time on the clock of the platform, if the platform has a separate clock (`dueAt`). */
    clock_due_at: col.time.null.mut,
    attempts: col.int4.mut,
    state: col.enum<JobState>().mut,
    /** Error and time of the last failed attempt. */
    last_error: col.text.null.mut,
    failed_at: col.time.null.mut,
    version: col.int4,
  },
  { lifecycles: [{ state: (row) => row.state, states: jobStates }] },
);

type JobRow = RowOf<typeof jobs>;

/**
 * `due_at` of a job that waits for the clock of its platform, so that queries of real time skip the job.
 */
export const ON_CLOCK: Time = Date.UTC(9998, 0, 1);

/** The columns of a queued job that is due at a time of its platform. */
export const dueAt = ({ now, ownClock }: PlatformTime): Pick<JobRow, 'due_at' | 'clock_due_at'> =>
  ownClock ? { due_at: ON_CLOCK, clock_due_at: now } : { due_at: now, clock_due_at: null };

/** Whether a job of this kind for the transaction still exists. */
export async function hasJobFor(
  db: Pick<Database, 'query'>,
  { kind }: { kind: string },
  transactionId: string,
): Promise<boolean> {
  const rows = await db.query(
    "select 1 from jobs where kind = $1 and input ->> 'transactionId' = $2 limit 1",
    [kind, transactionId],
  );
  return rows.length > 0;
}
