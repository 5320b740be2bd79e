// Jobs for review by an operator: queued, running, dead and canceled jobs, the latter with the
// reason. Inputs may hold personal data, so only the ids in them are shown.

import { iso, type Time } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import { isId } from '../../kernel/id.ts';
import { sandboxClocks, timeOn } from '../clocks/clock-table.ts';
import type { Database } from '../db/database.ts';
import { col, type RowOf, table } from '../db/table.ts';
import type { Ctx } from '../operation/context.ts';
import type { Runtime } from '../operation/operate.ts';
import type { Job } from './job-claims.ts';
import { dueAt, type JobState, jobs } from './jobs-table.ts';

const cancellations = table('job_cancellations', {
  id: col.text,
  platform_id: col.text,
  kind: col.text,
  about: col.json<Record<string, string>>(),
  attempts: col.int4,
  last_error: col.text.null,
  reason: col.text,
  created_at: col.time,
});
type Cancellation = RowOf<typeof cancellations>;

const ID = /^[A-Za-z]{1,40}:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The ids in an input. */
const aboutOf = (input: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(input).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && ID.test(entry[1]),
    ),
  );

/** A job whose lease expired is queued again. */
const stateOf = ({ state, due_at }: Job, now: Time): JobState =>
  state === 'running' && due_at <= now ? 'queued' : state;

const presentJob = (row: Job, now: Time) => {
  const state = stateOf(row, now);
  return {
    jobId: row.id,
    kind: row.kind,
    state: state as string,
    platformId: row.platform_id || null,
    dueAt: state === 'queued' ? iso(row.clock_due_at ?? row.due_at) : null,
    attempts: row.attempts,
    lastError: row.last_error,
    failedAt: row.failed_at === null ? null : iso(row.failed_at),
    about: aboutOf(row.input),
  };
};

const presentCancelled = (row: Cancellation) => ({
  jobId: row.id,
  kind: row.kind,
  state: 'cancelled',
  platformId: row.platform_id || null,
  attempts: row.attempts,
  lastError: row.last_error,
  cancelledAt: iso(row.created_at),
  reason: row.reason,
  about: row.about,
});

/** A job, or the record of a canceled one. */
export type JobSummary = ReturnType<typeof presentJob> | ReturnType<typeof presentCancelled>;

export const JOB_STATES = ['queued', 'running', 'dead', 'cancelled'] as const;

const WHERE = `($1::text is null or kind = $1) and ($2::text is null or platform_id = $2)`;
const COLUMNS = jobs.columnNames.join(', ');
const WAITS = "state = 'queued' or (state = 'running' and due_at <= $4)";
const CONDITIONS: Readonly<Record<string, string>> = {
  queued: `(${WAITS})`,
  running: "state = 'running' and due_at > $4",
  dead: "state = 'dead' and $4::timestamptz is not null",
};

interface ListInput {
  /** One of `JOB_STATES`; all except canceled if absent. */
  state?: string | undefined;
  kind?: string | undefined;
  platformId?: string | undefined;
  limit: number;
}

/** Jobs ordered by due time; dead and canceled ones latest first. */
export async function listJobs(
  { db, effects }: Runtime,
  { state, kind, platformId, limit }: ListInput,
): Promise<JobSummary[]> {
  const values = [kind ?? null, platformId ?? null, limit];
  if (state === 'cancelled') {
    const sql = `select ${cancellations.columnNames.join(', ')} from job_cancellations
      where ${WHERE} order by created_at desc, id limit $3`;
    return (await db.query<Cancellation>(sql, values)).map(presentCancelled);
  }
  const now = effects.now();
  const condition = CONDITIONS[state ?? ''] ?? '$4::timestamptz is not null';
  const order = state === 'dead' ? 'failed_at desc' : 'due_at';
  const sql = `select ${COLUMNS} from jobs where ${WHERE} and ${condition}
    order by ${order}, id limit $3`;
  const rows = await db.query<Job>(sql, [...values, new Date(now)]);
  return rows.map((row) => presentJob(row, now));
}

const noJob = () => new Fault('NOT_FOUND', 'Job not found.');

/** A job by its id. Throws NOT_FOUND. */
export async function jobById({ read }: Pick<Ctx, 'read'>, id: string): Promise<Job> {
  const row = isId(id, 'Job') ? await read(jobs, id) : undefined;
  if (!row) throw noJob();
  return row;
}

/** A job, or the record of a canceled one. Throws NOT_FOUND. */
export async function readJob({ db, effects }: Runtime, id: string): Promise<JobSummary> {
  if (!isId(id, 'Job')) throw noJob();
  const row = await db.read(jobs, id);
  if (row) return presentJob(row, effects.now());
  const cancelled = await db.read(cancellations, id);
  if (!cancelled) throw noJob();
  return presentCancelled(cancelled);
}

const DEAD_OF = `select id from jobs where state = 'dead' and kind = $1 and failed_at <= $2
  order by failed_at, id limit $3`;

/** Ids of jobs of a kind that died by `before`, earliest first. */
export async function deadJobs(
  db: Pick<Database, 'query'>,
  kind: string,
  before: Time,
  limit: number,
): Promise<string[]> {
  const jobRows = await db.query<{ id: string }>(DEAD_OF, [kind, new Date(before), limit]);
  return jobRows.map(({ id }) => id);
}

/** Makes dead jobs, and those that wait after a failure, due now with all their attempts. */
export async function reviveJobs(ctx: Ctx, ids: readonly string[]): Promise<JobSummary[]> {
  const rows = await Promise.all(ids.map((id) => ctx.read(jobs, id)));
  const platforms = [...new Set(rows.flatMap((row) => (row ? [row.platform_id] : [])))];
  const clocks = await Promise.all(platforms.map((id) => ctx.read(sandboxClocks, id)));
  const times = new Map(
    clocks.flatMap((clock) =>
      clock ? [[clock.id, { now: timeOn(clock, ctx.effects.now()), ownClock: true }] as const] : [],
    ),
  );
  return rows.flatMap((row) => {
    if (!row || row.failed_at === null || row.state === 'running') return [];
    const due = dueAt(times.get(row.platform_id) ?? { now: ctx.now, ownClock: false });
    const revived = ctx.update(jobs, row, { state: 'queued', attempts: 0, ...due });
    return [presentJob(revived, ctx.now)];
  });
}

/** Stages the removal of a job; the reason is kept. Throws CONFLICT while it runs. */
export function cancelJobRow(ctx: Ctx, row: Job, reason: string): JobSummary {
  if (stateOf(row, ctx.now) === 'running') {
    const advice = 'Try again when it is queued or dead.';
    throw new Fault('CONFLICT', `The job is running. ${advice}`);
  }
  ctx.remove(jobs, row);
  const { id, kind, platform_id, attempts, last_error } = row;
  const subjects = aboutOf(row.input);
  const stored = {
    kind,
    platform_id,
    about: subjects,
    attempts,
    last_error,
    reason,
    created_at: ctx.now,
  };
  return presentCancelled(ctx.insert(cancellations, { id, ...stored }));
}
