// Jobs that wait for the clock of their platform (`clock_due_at`). A claim steps along an index from
// platform to platform, so that its cost does not depend on the number of waiting jobs. While a clock is
// being changed, only the process that changes it claims its jobs. The lease of a claimed job is in real
// time.
import type { Time } from '../../kernel/effects.ts';
import type { Database } from '../db/database.ts';
import type { Sql } from '../db/paging.ts';
import type { RowOf } from '../db/table.ts';
import { type jobs, ON_CLOCK } from './jobs-table.ts';

type Reader = Pick<Database, 'query'>;

/** Maximum platforms of one claim. `JOBS_PER_PLATFORM` is the maximum number of jobs of each platform. */
const PLATFORMS = 256;
const JOBS_PER_PLATFORM = 16;

/** A job that is due on the clock of its platform. Without an ID, a platform without due jobs. */
interface DueOnClock {
  id: string | null;
  kind: string;
  platform_id: string;
  /** Number of visited platforms. */
  place: number;
}

const DUE_ON_CLOCKS = `with recursive walk as (
    (select platform_id, 1 as place from jobs
      where clock_due_at is not null and platform_id > $2 order by platform_id limit 1)
    union all
    select next.platform_id, walk.place + 1 from walk cross join lateral (
      select platform_id from jobs
      where clock_due_at is not null and platform_id > walk.platform_id
      order by platform_id limit 1) next
    where walk.place < $3)
  select w.platform_id, w.place, due.id, due.kind from walk w
    left join sandbox_clocks c on c.id = w.platform_id
    left join lateral (
      select id, kind, clock_due_at from jobs
      where clock_due_at is not null and platform_id = w.platform_id
        and clock_due_at <= coalesce(c.stands_at,
          $1::timestamptz + coalesce(c.offset_ms, 0) * interval '1 ms')
        and (c.held_until is null or c.held_until <= $1)
      order by clock_due_at, id limit $4) due on true
  order by due.clock_due_at nulls last, due.id`;

/** The statement of jobs due on clocks of platforms after `afterPlatform`. */
export const dueOnClocksSql = (realTime: Time, afterPlatform: string): Sql => ({
  text: DUE_ON_CLOCKS,
  values: [new Date(realTime), afterPlatform, PLATFORMS, JOBS_PER_PLATFORM],
});

/**
 * Jobs due on clocks of platforms after `afterPlatform`, and the platform after which the next claim
 * continues.
 */
export async function dueOnClocks(db: Reader, realTime: Time, afterPlatform: string) {
  const { text, values } = dueOnClocksSql(realTime, afterPlatform);
  const rows = await db.query<DueOnClock>(text, values);
  const visitedCount = Math.max(0, ...rows.map((each) => each.place));
  const lastRow = rows.find((each) => each.place === visitedCount);
  const dueJobs = rows.flatMap(({ id, kind, platform_id }) =>
    id === null ? [] : [{ id, kind, platform_id }],
  );
  return { due: dueJobs, after: visitedCount < PLATFORMS || !lastRow ? '' : lastRow.platform_id };
}

const COLUMNS = `j.id, j.kind, j.platform_id, j.input, j.due_at, j.clock_due_at, j.attempts,
    j.state, j.last_error, j.failed_at, j.version`;

// A running job never has a `clock_due_at`, so a job is claimed once.
const CLAIM = `update jobs j set state = 'running', due_at = $1, clock_due_at = null,
    attempts = attempts + 1, version = version + 1
  from (select id from jobs where id = any($2::text[]) and clock_due_at is not null
    for update skip locked) due
  where j.id = due.id returning ${COLUMNS}`;

/** Claims jobs that are due on their clocks, with a lease until `leaseUntil`. */
export const claimOnClock = (db: Reader, leaseUntil: Time, ids: readonly string[]) =>
  db.query<RowOf<typeof jobs>>(CLAIM, [new Date(leaseUntil), ids]);

const FIRST_JOB = `select id, clock_due_at as at from jobs
  where platform_id = $1 and clock_due_at is not null and clock_due_at <= $2
  order by clock_due_at, id limit 1`;

/** The first job of a platform in the order of due time and ID, if due by `until`. */
export async function firstOnClock(
  db: Reader,
  platformId: string,
  until: Time,
): Promise<{ id: string; at: Time } | undefined> {
  const rows = await db.query<{ id: string; at: Time }>(FIRST_JOB, [platformId, new Date(until)]);
  return rows[0];
}

// A running job whose lease expired is due immediately.
const MOVE_TO_CLOCK = `update jobs set state = 'queued', due_at = $3,
    clock_due_at = case when state = 'running' then $4 else due_at end,
    version = version + case when state = 'running' then 1 else 0 end
  where state <> 'dead' and kind = any($2::text[]) and platform_id = $1 and clock_due_at is null
    and (state = 'queued' or due_at <= $5)`;

/** Moves jobs of a platform that no process is running from real time to its clock. */
export async function moveToClock(
  db: Reader,
  platformId: string,
  kinds: readonly string[],
  { clock, realTime }: { clock: Time; realTime: Time },
): Promise<void> {
  const values = [platformId, kinds, new Date(ON_CLOCK), new Date(clock), new Date(realTime)];
  await db.query(MOVE_TO_CLOCK, values);
}

const RUNNING_JOB = `select 1 from jobs where state <> 'dead' and kind = any($2::text[])
  and platform_id = $1 and state = 'running' and due_at > $3 limit 1`;

/** Whether a job of these kinds of a platform is running in any process. */
export const hasRunningJob = async (
  db: Reader,
  platformId: string,
  kinds: readonly string[],
  realTime: Time,
): Promise<boolean> =>
  (await db.query(RUNNING_JOB, [platformId, kinds, new Date(realTime)])).length > 0;
