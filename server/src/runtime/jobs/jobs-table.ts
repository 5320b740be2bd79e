// The jobs table; separate from the worker because contexts stage into it.
import { stateTable } from '../../kernel/states.ts';
import type { Database } from '../db/database.ts';
import { col, table } from '../db/table.ts';

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
    /** The platform that the job works for; empty if unknown. */
    platform_id: col.text,
    input: col.json<Record<string, unknown>>(),
    due_at: col.time.mut,
    attempts: col.int4.mut,
    state: col.enum<JobState>().mut,
    /** Error and time of the last failed attempt. */
    last_error: col.text.null.mut,
    failed_at: col.time.null.mut,
    version: col.int4,
  },
  { lifecycles: [{ state: (row) => row.state, states: jobStates }] },
);

/** Whether a job of this kind for the transaction still exists. */
export async function hasJobFor(
  db: Pick<Database, 'query'>,
  { kind }: { kind: string },
  transactionId: string,
): Promise<boolean> {
  const found = await db.query(
    "select 1 from jobs where kind = $1 and input ->> 'transactionId' = $2 limit 1",
    [kind, transactionId],
  );
  return found.length > 0;
}
