// Selects the due jobs that a process runs next. The earliest due jobs are selected within the limits. If
// more jobs are due than were read, the claim steps along an index from lane to lane and reads the first
// jobs of each lane. A lane is one kind of one platform, so the cost of a claim does not depend on the
// length of the queue.
import type { Time } from '../../kernel/effects.ts';
import type { Database } from '../db/database.ts';
import type { RowOf } from '../db/table.ts';
import { claimOnClock, dueOnClocks } from './clock-jobs.ts';
import type { JobSlots } from './job-slots.ts';
import type { jobs } from './jobs-table.ts';

export type Job = RowOf<typeof jobs>;

/** Maximum number of earliest due jobs that a claim reads. */
const HEAD_ROWS = 64;
/** Maximum lanes of one claim. `ROWS_PER_LANE` is the maximum number of jobs of each lane. */
const LANES = 256;
const ROWS_PER_LANE = 4;

export const HEAD = `select id, kind, platform_id from jobs where due_at <= $1
  order by due_at limit $2`;

// `place` counts the visited lanes. The next claim continues after the last lane, even if this lane has no
// due job.
export const IN_LANES = `with recursive lanes as (
    (select kind, platform_id, 1 as place from jobs
      where state <> 'dead' and (kind, platform_id) > ($2, $3)
      order by kind, platform_id limit 1)
    union all
    select next.kind, next.platform_id, lanes.place + 1
    from lanes cross join lateral (
      select kind, platform_id from jobs
      where state <> 'dead' and (kind, platform_id) > (lanes.kind, lanes.platform_id)
      order by kind, platform_id limit 1) next
    where lanes.place < $4)
  select l.kind, l.platform_id, l.place, due.id, due.due_at
  from lanes l left join lateral (
    select id, due_at from jobs
    where state <> 'dead' and kind = l.kind and platform_id = l.platform_id and due_at <= $1
      and l.kind <> all ($6::text[]) and l.platform_id <> all ($7::text[])
      and l.kind || ' ' || l.platform_id <> all ($8::text[])
    order by due_at limit $5) due on true
  order by due.due_at nulls last`;

const CLAIM = `update jobs j set state = 'running', due_at = $2, attempts = attempts + 1,
    version = version + 1
  from (select id from jobs where id = any($3::text[]) and due_at <= $1 for update skip locked) due
  where j.id = due.id
  returning j.id, j.kind, j.platform_id, j.input, j.due_at, j.clock_due_at, j.attempts, j.state,
    j.last_error, j.failed_at, j.version`;

type Due = Pick<Job, 'id' | 'kind' | 'platform_id'>;

interface LaneRow extends Omit<Due, 'id'> {
  id: string | null;
  place: number;
}

interface ClaimResult {
  jobs: Job[];
  /** Whether another claim may find more jobs for free slots. */
  hasMore: boolean;
}

interface ClaimOptions {
  db: Pick<Database, 'query'>;
  slots: JobSlots;
  /** Whether this process has a handler of a kind. Processes with a handler claim the other jobs. */
  isHandled(kind: string): boolean;
  leaseMs: number;
}

/** Returns the function that claims jobs for one process. Each claimed job occupies a slot. */
export function createClaim({ db, slots, isHandled, leaseMs }: ClaimOptions) {
  let afterLane = { kind: '', platform_id: '' };
  let afterPlatform = '';

  const selectJobs = (dueJobs: readonly Due[], excludedIds: ReadonlySet<string>): Due[] =>
    dueJobs.filter((each) => isHandled(each.kind) && !excludedIds.has(each.id) && slots.take(each));

  /**
   * The due jobs of the lanes after those of the previous claim. Continues with the first lane after the
   * last lane.
   */
  async function readLanes(now: Date): Promise<{ due: Due[]; isLast: boolean }> {
    const { kinds, platforms, lanes } = slots.reachedLimits();
    const limits = [LANES, ROWS_PER_LANE, kinds, platforms, lanes];
    const values = [now, afterLane.kind, afterLane.platform_id, ...limits];
    const rows = await db.query<LaneRow>(IN_LANES, values);
    const visitedCount = Math.max(0, ...rows.map((each) => each.place));
    const lastRow = rows.find((each) => each.place === visitedCount);
    const isLast = visitedCount < LANES || !lastRow;
    afterLane = isLast ? { kind: '', platform_id: '' } : lastRow;
    const dueJobs = rows.flatMap(({ id, ...columns }) => (id === null ? [] : [{ ...columns, id }]));
    return { due: dueJobs, isLast };
  }

  async function claimJobs(selectedJobs: readonly Due[], now: Time): Promise<Job[]> {
    if (!selectedJobs.length) return [];
    const values = [new Date(now), new Date(now + leaseMs), selectedJobs.map(({ id }) => id)];
    try {
      const rows = await db.query<Job>(CLAIM, values);
      const claimedIds = new Set(rows.map(({ id }) => id));
      for (const each of selectedJobs) if (!claimedIds.has(each.id)) slots.release(each);
      return rows;
    } catch (error) {
      for (const each of selectedJobs) slots.release(each);
      throw error;
    }
  }

  /** Claims jobs that are due on the clocks of sandbox platforms. */
  async function claimOnClocks(now: Time): Promise<ClaimResult> {
    if (slots.freeCount() === 0) return { jobs: [], hasMore: false };
    const { due, after } = await dueOnClocks(db, now, afterPlatform);
    afterPlatform = after;
    const selectedJobs = selectJobs(due, new Set());
    if (!selectedJobs.length) return { jobs: [], hasMore: afterPlatform !== '' };
    const ids = selectedJobs.map(({ id }) => id);
    const jobs = await claimOnClock(db, now + leaseMs, ids).catch((error: unknown) => {
      for (const each of selectedJobs) slots.release(each);
      throw error;
    });
    const claimedIds = new Set(jobs.map(({ id }) => id));
    for (const each of selectedJobs) if (!claimedIds.has(each.id)) slots.release(each);
    return { jobs, hasMore: slots.freeCount() > 0 };
  }

  async function claimInRealTime(now: Time): Promise<ClaimResult> {
    if (slots.freeCount() === 0) return { jobs: [], hasMore: false };
    const time = new Date(now);
    const headRows = await db.query<Due>(HEAD, [time, HEAD_ROWS]);
    const selectedJobs = selectJobs(headRows, new Set());
    let hasMore = false;
    if (headRows.length === HEAD_ROWS && slots.freeCount() > 0) {
      const lanes = await readLanes(time).catch((error: unknown) => {
        for (const each of selectedJobs) slots.release(each);
        throw error;
      });
      const jobsOfLanes = selectJobs(lanes.due, new Set(selectedJobs.map(({ id }) => id)));
      selectedJobs.push(...jobsOfLanes);
      hasMore = !lanes.isLast || jobsOfLanes.length > 0;
    }
    const jobs = await claimJobs(selectedJobs, now);
    // Another process may have claimed some of the selected jobs concurrently.
    return {
      jobs,
      hasMore: slots.freeCount() > 0 && (hasMore || jobs.length < selectedJobs.length),
    };
  }

  return async function claim(now: Time, { onClocks = true } = {}): Promise<ClaimResult> {
    const realTimeClaim = await claimInRealTime(now);
    if (!onClocks) return realTimeClaim;
    const clockClaim = await claimOnClocks(now).catch((error: unknown) => {
      for (const each of realTimeClaim.jobs) slots.release(each);
      throw error;
    });
    return {
      jobs: [...realTimeClaim.jobs, ...clockClaim.jobs],
      hasMore: realTimeClaim.hasMore || clockClaim.hasMore,
    };
  };
}
