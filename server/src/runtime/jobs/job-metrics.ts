// Size of the job queue, as gauges by kind. A read counts up to ten thousand queued jobs per kind
// and ten thousand dead jobs. For the oldest job, a read visits up to 1,000 lanes per kind. Gauges
// are read at most once every few seconds, so the cost of a scrape does not depend on the length of
// the queue.
import type { Time } from '../../kernel/effects.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Runtime } from '../operation/operate.ts';
import { createWorker, type Worker, type WorkerOptions } from './jobs.ts';

/** Maximum number of queued jobs counted per kind, and of dead jobs counted for all kinds together. */
export const MAX_COUNTED = 10_000;
/** Maximum lanes of one kind that are searched for the oldest job. */
const MAX_LANES = 1_000;
/** Period for which the gauges of a scrape and the scrapes of several collectors share one reading. */
const CACHE_MS = 5_000;

// Kinds by steps along jobs_lanes, each with a bounded count and the earliest due time of its lanes.
export const WAITING = `with recursive kinds as (
    (select kind from jobs where state <> 'dead' order by kind limit 1)
    union all
    select next.kind from kinds cross join lateral (
      select kind from jobs where state <> 'dead' and kind > kinds.kind
      order by kind limit 1) next)
  select k.kind, counted.queued, oldest.due_at
  from kinds k
  cross join lateral (select count(*)::int4 as queued from (
    select 1 from jobs where kind = k.kind and state = 'queued' and state <> 'dead'
    limit $1) bounded) counted
  cross join lateral (
    with recursive lanes as (
      (select platform_id, due_at, 1 as place from jobs
        where state <> 'dead' and kind = k.kind order by platform_id, due_at limit 1)
      union all
      select next.platform_id, next.due_at, lanes.place + 1
      from lanes cross join lateral (
        select platform_id, due_at from jobs
        where state <> 'dead' and kind = k.kind and platform_id > lanes.platform_id
        order by platform_id, due_at limit 1) next
      where lanes.place < $2)
    select min(due_at) as due_at from lanes) oldest`;

export const DEAD = `select kind, count(*)::int4 as dead from (
    select kind from jobs where state = 'dead' limit $1) bounded group by kind`;

// WAITING of some platforms. The jobs of a kind and platform are a range of the index.
export const WAITING_OF_PLATFORMS = `with recursive kinds as (
    (select kind from jobs where state <> 'dead' order by kind limit 1)
    union all
    select next.kind from kinds cross join lateral (
      select kind from jobs where state <> 'dead' and kind > kinds.kind
      order by kind limit 1) next)
  select k.kind, counted.queued, oldest.due_at
  from kinds k
  cross join lateral (select count(*)::int4 as queued from (
    select 1 from unnest($2::text[]) p(id) cross join lateral (
      select 1 from jobs where kind = k.kind and platform_id = p.id and state = 'queued'
        and state <> 'dead' limit $1) own
    limit $1) bounded) counted
  cross join lateral (select min(first.due_at) as due_at
    from unnest($2::text[]) p(id) cross join lateral (
      select due_at from jobs where kind = k.kind and platform_id = p.id
        and state <> 'dead' order by due_at limit 1) first) oldest`;

const DEAD_OF_PLATFORMS = `select kind, count(*)::int4 as dead from (
    select kind from jobs where state = 'dead' and platform_id = any($2::text[]) limit $1) bounded
  group by kind`;

/** Jobs of one kind. */
interface Queue {
  kind: string;
  /** Counted up to `MAX_COUNTED`. */
  queued: number;
  /** Counted up to `MAX_COUNTED` for all kinds together. */
  dead: number;
  /** Age of the oldest job that is due. */
  oldestMs: number;
}

/** The queues of all kinds with jobs, of some platforms or of all platforms. */
export async function readQueues(
  { db, effects }: Pick<Runtime, 'db' | 'effects'>,
  platformIds?: readonly string[],
): Promise<Queue[]> {
  const [waitingCounts, deadCounts] = await Promise.all([
    platformIds
      ? db.query<WaitingCount>(WAITING_OF_PLATFORMS, [MAX_COUNTED, platformIds])
      : db.query<WaitingCount>(WAITING, [MAX_COUNTED, MAX_LANES]),
    platformIds
      ? db.query<{ kind: string; dead: number }>(DEAD_OF_PLATFORMS, [MAX_COUNTED, platformIds])
      : db.query<{ kind: string; dead: number }>(DEAD, [MAX_COUNTED]),
  ]);
  const now = effects.now();
  const kinds = [...new Set([...waitingCounts, ...deadCounts].map(({ kind }) => kind))].sort();
  return kinds.map((kind) => {
    const { queued = 0, due_at = null } = waitingCounts.find((each) => each.kind === kind) ?? {};
    return {
      ...{ kind, queued },
      dead: deadCounts.find((each) => each.kind === kind)?.dead ?? 0,
      oldestMs: Math.max(0, now - (due_at ?? now)),
    };
  });
}

interface WaitingCount {
  kind: string;
  queued: number;
  due_at: Time | null;
}

interface QueueGauges {
  queued: Map<string, number>;
  oldest: Map<string, number>;
  dead: Map<string, number>;
}

/**
 * Returns a function that reads the gauges at most once per `CACHE_MS`. A kind that has occurred once
 * remains with zero.
 */
function createReader({
  db,
  effects,
}: Pick<Runtime, 'db' | 'effects'>): () => Promise<QueueGauges> {
  const kinds = new Set<string>();
  let cachedRead: Promise<QueueGauges> | undefined;
  let readAt: Time = 0;

  async function read(): Promise<QueueGauges> {
    const now = effects.now();
    const [waitingCounts, deadCounts] = await Promise.all([
      db.query<WaitingCount>(WAITING, [MAX_COUNTED, MAX_LANES]),
      db.query<{ kind: string; dead: number }>(DEAD, [MAX_COUNTED]),
    ]);
    for (const { kind } of [...waitingCounts, ...deadCounts]) kinds.add(kind);
    const zeroCounts = () => new Map([...kinds].map((kind) => [kind, 0]));
    const result = { queued: zeroCounts(), oldest: zeroCounts(), dead: zeroCounts() };
    for (const { kind, queued, due_at } of waitingCounts) {
      result.queued.set(kind, queued);
      result.oldest.set(kind, Math.max(0, now - (due_at ?? now)) / 1_000);
    }
    for (const each of deadCounts) result.dead.set(each.kind, each.dead);
    return result;
  }

  return () => {
    const now = effects.now();
    if (cachedRead && now >= readAt && now < readAt + CACHE_MS) return cachedRead;
    readAt = now;
    const nextRead = read();
    cachedRead = nextRead;
    nextRead.catch(() => {
      if (cachedRead === nextRead) cachedRead = undefined;
    });
    return nextRead;
  };
}

/** `runningJobs` counts this process. The other gauges count the complete installation. */
function watchJobs(
  metrics: Pick<Metrics, 'watchEach'>,
  runtime: Pick<Runtime, 'db' | 'effects'>,
  runningJobs: () => ReadonlyMap<string, number>,
): void {
  const read = createReader(runtime);
  const watch = (name: keyof QueueGauges, unit: string, help: string) =>
    metrics.watchEach(
      `railhead_jobs_${name}${unit}`,
      help,
      'kind',
      async () => (await read())[name],
    );
  watch('queued', '', `Queued jobs, due or not. Counted up to ${MAX_COUNTED}.`);
  watch('oldest', '_seconds', 'Time since the earliest due time of a job.');
  watch('dead', '', `Dead jobs (attempts exhausted). Counted up to ${MAX_COUNTED}.`);
  const help = 'Jobs running in this process.';
  metrics.watchEach('railhead_jobs_running', help, 'kind', runningJobs);
}

/** A worker whose queue and running jobs are gauges of `metrics`. */
export function measuredWorker(options: WorkerOptions): Worker {
  const worker = createWorker(options);
  watchJobs(options.metrics, options.runtime, worker.running);
  return worker;
}
