// Queued, running, dead and canceled jobs for review by an operator. Inputs may contain personal data, so
// only their IDs are shown.

import { iso, type Time } from '../../kernel/effects.ts';
import { Fault, invalidField } from '../../kernel/fault.ts';
import { isId } from '../../kernel/id.ts';
import { sandboxClocks, timeOn } from '../clocks/clock-table.ts';
import type { Database } from '../db/database.ts';
import { cursorOf } from '../db/paging.ts';
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

/** The IDs in an input. */
const idsIn = (input: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(input).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && ID.test(entry[1]),
    ),
  );

/** The state of a job. A running job whose lease expired is queued again. */
const stateOf = ({ state, due_at }: Job, now: Time): JobState =>
  state === 'running' && due_at <= now ? 'queued' : state;

const presentJob = (row: Job, now: Time) => {
  const state = stateOf(row, now);
  return {
    jobId: row.id,
    kind: row.kind,
    state: state as ReviewState,
    platformId: row.platform_id || null,
    dueAt: state === 'queued' ? iso(row.clock_due_at ?? row.due_at) : null,
    attempts: row.attempts,
    lastError: row.last_error,
    failedAt: row.failed_at === null ? null : iso(row.failed_at),
    about: idsIn(row.input),
  };
};

const presentCancellation = (row: Cancellation) => ({
  jobId: row.id,
  kind: row.kind,
  state: 'cancelled' as ReviewState,
  platformId: row.platform_id || null,
  attempts: row.attempts,
  lastError: row.last_error,
  cancelledAt: iso(row.created_at),
  reason: row.reason,
  about: row.about,
});

/** A job, or the record of a canceled job. */
export type JobSummary = ReturnType<typeof presentJob> | ReturnType<typeof presentCancellation>;

export const JOB_STATES = ['queued', 'running', 'dead', 'cancelled'] as const;
type ReviewState = (typeof JOB_STATES)[number];

/** The last row of the previous page: its time in the order of the list, and its ID. */
interface Position {
  at: Time;
  id: string;
}

const WHERE = `($1::text is null or kind = $1) and ($2::text is null or platform_id = $2)`;
/** Rows after a position. `isDescending` orders by time descending, then by ID ascending. */
const afterCursor = (column: string, isDescending: boolean) =>
  `($5::timestamptz is null or ${column} ${isDescending ? '<' : '>'} $5
    or (${column} = $5 and id > $6))`;
const COLUMNS = jobs.columnNames.join(', ');
const IS_QUEUED = "state = 'queued' or (state = 'running' and due_at <= $4)";
const CONDITIONS: Readonly<Record<string, string>> = {
  queued: `(${IS_QUEUED})`,
  running: "state = 'running' and due_at > $4",
  dead: "state = 'dead' and $4::timestamptz is not null",
};

interface ListInput {
  /** One of `JOB_STATES`. All except canceled if absent. */
  state?: string | undefined;
  kind?: string | undefined;
  platformId?: string | undefined;
  limit: number;
  after?: Position | undefined;
}

/** Jobs ordered by due time. A list of dead or canceled jobs is ordered latest first. */
export async function listJobs({ db, effects }: Runtime, input: ListInput): Promise<JobSummary[]> {
  return (await listJobsWithPosition({ db, effects }, input)).map(({ job }) => job);
}

/** Jobs, each with its position in the list. */
async function listJobsWithPosition(
  { db, effects }: Pick<Runtime, 'db' | 'effects'>,
  { state, kind, platformId, limit, after }: ListInput,
): Promise<{ job: JobSummary; at: Time | null }[]> {
  const now = effects.now();
  const position = after ? [new Date(after.at), after.id] : [null, null];
  const values = [kind ?? null, platformId ?? null, limit, new Date(now), ...position];
  if (state === 'cancelled') {
    const sql = `select ${cancellations.columnNames.join(', ')} from job_cancellations
      where ${WHERE} and $4::timestamptz is not null and ${afterCursor('created_at', true)}
      order by created_at desc, id limit $3`;
    const rows = await db.query<Cancellation>(sql, values);
    return rows.map((row) => ({ job: presentCancellation(row), at: row.created_at }));
  }
  const condition = CONDITIONS[state ?? ''] ?? '$4::timestamptz is not null';
  const isDead = state === 'dead';
  const column = isDead ? 'failed_at' : 'due_at';
  const sql = `select ${COLUMNS} from jobs
    where ${WHERE} and ${condition} and ${afterCursor(column, isDead)}
    order by ${column}${isDead ? ' desc' : ''}, id limit $3`;
  const rows = await db.query<Job>(sql, values);
  return rows.map((row) => ({ job: presentJob(row, now), at: row[column] }));
}

/**
 * The position of a cursor. Throws a fault on the field `cursor` for a string that is not a cursor
 * of this list. Times have up to 15 digits, because jobs that wait for the clock of a platform are
 * due at `ON_CLOCK`.
 */
function positionOf(cursor: string): Position {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, time, id = ''] = /^(\d{1,15}) ([\x20-\x7e]{1,200})$/.exec(text) ?? [];
  const position = { at: Number(time), id };
  if (time === undefined || cursorOf({ created_at: position.at, id }) !== cursor) {
    throw invalidField('cursor', 'is not a cursor of this list');
  }
  return position;
}

export interface JobQuery extends Omit<ListInput, 'limit' | 'after'> {
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** A page of jobs, in the order of `listJobs`. Throws INVALID_INPUT for an invalid cursor. */
export async function pageOfJobSummaries(
  runtime: Pick<Runtime, 'db' | 'effects'>,
  { limit = 20, cursor, ...query }: JobQuery,
) {
  const after = cursor === undefined ? undefined : positionOf(cursor);
  const jobsWithPosition = await listJobsWithPosition(runtime, {
    ...query,
    limit: limit + 1,
    after,
  });
  const lastJob = jobsWithPosition[limit - 1];
  const hasMore = jobsWithPosition.length > limit;
  return {
    data: jobsWithPosition.slice(0, limit).map(({ job }) => job),
    hasMore,
    ...(hasMore && lastJob
      ? { nextCursor: cursorOf({ created_at: lastJob.at ?? 0, id: lastJob.job.jobId }) }
      : {}),
  };
}

export const jobNotFoundFault = () => new Fault('NOT_FOUND', 'Job not found.');

/** A job by its ID. Throws NOT_FOUND. */
export async function jobById({ read }: Pick<Ctx, 'read'>, id: string): Promise<Job> {
  const row = isId(id, 'Job') ? await read(jobs, id) : undefined;
  if (!row) throw jobNotFoundFault();
  return row;
}

/** A job, or the record of a canceled job. Throws NOT_FOUND. */
export async function readJob({ db, effects }: Runtime, id: string): Promise<JobSummary> {
  if (!isId(id, 'Job')) throw jobNotFoundFault();
  const row = await db.read(jobs, id);
  if (row) return presentJob(row, effects.now());
  const cancellation = await db.read(cancellations, id);
  if (!cancellation) throw jobNotFoundFault();
  return presentCancellation(cancellation);
}

const DEAD_OF = `select id from jobs where state = 'dead' and kind = $1 and failed_at <= $2
  order by failed_at, id limit $3`;

/** IDs of the jobs of a kind that were dead at `cutoff`, earliest first. */
export async function deadJobs(
  db: Pick<Database, 'query'>,
  kind: string,
  cutoff: Time,
  limit: number,
): Promise<string[]> {
  const jobRows = await db.query<{ id: string }>(DEAD_OF, [kind, new Date(cutoff), limit]);
  return jobRows.map(({ id }) => id);
}

/**
 * Sets dead jobs, and jobs that wait after a failure, to due now with all their attempts. Returns the
 * changed jobs.
 */
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
    const dueColumns = dueAt(times.get(row.platform_id) ?? { now: ctx.now, ownClock: false });
    const revivedRow = ctx.update(jobs, row, { state: 'queued', attempts: 0, ...dueColumns });
    return [presentJob(revivedRow, ctx.now)];
  });
}

/** Stages the removal of a job and the record with the reason. Throws CONFLICT while the job runs. */
export function cancelJobRow(ctx: Ctx, row: Job, reason: string): JobSummary {
  if (stateOf(row, ctx.now) === 'running') {
    throw new Fault('CONFLICT', 'The job is running. Try again when it is queued or dead.');
  }
  ctx.remove(jobs, row);
  const { id, kind, platform_id, attempts, last_error } = row;
  const subjects = idsIn(row.input);
  const cancellation = {
    kind,
    platform_id,
    about: subjects,
    attempts,
    last_error,
    reason,
    created_at: ctx.now,
  };
  return presentCancellation(ctx.insert(cancellations, { id, ...cancellation }));
}
