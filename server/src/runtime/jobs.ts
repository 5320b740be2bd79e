// Works off the jobs that change sets left behind. A handler talks to the outside first and then says, as
// a function of a context, what the result means; that change set also removes the job, so a job's effect
// is there exactly once however often a crash makes it run. A claim is a lease: a job whose worker died
// comes due again by itself. Our own loop rather than a job library because due times follow World's
// clock and jobs are inserted by the committer (docs/decisions/0003).
import type { Time } from '../kernel/world.ts';
import type { Caller, Ctx } from './context.ts';
import { jobs } from './jobs-table.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { operate, type Runtime } from './operate.ts';
import type { RowOf } from './table.ts';

export type Job = RowOf<typeof jobs>;

/** What a job's result means: staged as `caller`, possibly more than once, committed once. */
export interface Result {
  caller: Caller;
  stage(ctx: Ctx): Promise<void>;
}

export interface JobHandler {
  readonly kind: string;
  run(runtime: Runtime, job: Job): Promise<Result>;
}

/** Work that is found by looking, not by a row: answers how much it did. */
export interface Sweep {
  readonly name: string;
  run(runtime: Runtime): Promise<number>;
}

export interface WorkerOptions {
  runtime: Runtime;
  handlers: readonly JobHandler[];
  sweeps: readonly Sweep[];
  log: Log;
  metrics: Metrics;
}

export interface Worker {
  wake(): void;
  /** Runs everything due now, once round; answers how much there was. */
  runDue(): Promise<number>;
  start(): void;
  /** Takes no more and waits for what is under way. */
  stop(): Promise<void>;
}

/** A living worker renews the leases of what it has under way; those of a dead one lapse. */
const LEASE_MS = 20_000;
/** No handler needs as long. One that hangs may run twice at once; only one of the two can finish the job. */
const LONGEST_MS = 600_000;
const AT_ONCE = 64;
const LOOK_EVERY_MS = 1_000;
const MAX_BACKOFF_MS = 3_600_000;

const CLAIM = `update jobs j set due_at = $2, attempts = attempts + 1, version = version + 1
  from (select id from jobs where due_at <= $1 order by due_at limit $3
        for update skip locked) due
  where j.id = due.id
  returning j.id, j.kind, j.input, j.due_at, j.attempts, j.version`;

// What is locked is just being finished.
const RENEW = `update jobs set due_at = $3 where id in (
  select j.id from jobs j join unnest($1::text[], $2::int[]) as r(id, version)
    on j.id = r.id and j.version = r.version for update of j skip locked)`;

const POSTPONE = 'update jobs set due_at = $3 where id = $1 and version = $2';

const backoffMs = (attempts: number) =>
  Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** Math.min(attempts, 20));

async function finish(runtime: Runtime, job: Job, result: Result): Promise<void> {
  await operate(runtime, result.caller, async (ctx) => {
    const row = await ctx.read(jobs, job.id);
    if (!row || row.version !== job.version) return; // another worker took it over
    await result.stage(ctx);
    ctx.remove(jobs, row);
  });
}

export function createWorker(options: WorkerOptions): Worker {
  const { runtime, log, metrics } = options;
  const handlers = new Map(options.handlers.map((each) => [each.kind, each]));
  /** Jobs under way: a slow one takes a place, it does not hold the others up. */
  const running = new Map<Job, { work: Promise<void>; since: Time; until: Time }>();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let lookAgain = false;
  let sweepDue = false;
  let stopped = true;

  async function runOne(job: Job): Promise<void> {
    try {
      const handler = handlers.get(job.kind);
      if (!handler) throw new Error(`no handler for jobs of kind ${job.kind}`);
      await finish(runtime, job, await handler.run(runtime, job));
      metrics.job(job.kind, 'done');
    } catch (error) {
      metrics.job(job.kind, 'again');
      log.error({ err: error, job: job.id, kind: job.kind, attempts: job.attempts }, 'job failed');
      const at = runtime.world.now() + backoffMs(job.attempts);
      await runtime.db.query(POSTPONE, [job.id, job.version, new Date(at)]);
    }
  }

  async function claim(most: number): Promise<Job[]> {
    if (most <= 0) return [];
    const now = runtime.world.now();
    const values = [new Date(now), new Date(now + LEASE_MS), most];
    return (await runtime.db.query(CLAIM, values)) as unknown as Job[];
  }

  async function sweep(): Promise<number> {
    const counts = await Promise.all(options.sweeps.map((each) => each.run(runtime)));
    return counts.reduce((sum, each) => sum + each, 0);
  }

  async function runDue(): Promise<number> {
    const claimed = await claim(AT_ONCE);
    await Promise.all(claimed.map(runOne));
    return claimed.length + (await sweep());
  }

  function begin(job: Job): void {
    const work = runOne(job)
      .catch((error: unknown) => log.error({ err: error, job: job.id }, 'job lost its database'))
      .finally(() => {
        running.delete(job);
        look();
      });
    const since = runtime.world.now();
    running.set(job, { work, since, until: since + LEASE_MS });
  }

  /** A job that takes its time is not begun a second time, and waits after a failure as any other. */
  async function renew(): Promise<void> {
    const now = runtime.world.now();
    const until = now + LEASE_MS;
    const short = [...running].filter(
      ([, each]) => each.until < now + LEASE_MS / 2 && now - each.since < LONGEST_MS,
    );
    if (!short.length) return;
    const [ids, versions] = [short.map(([{ id }]) => id), short.map(([job]) => job.version)];
    await runtime.db.query(RENEW, [ids, versions, new Date(until)]);
    for (const [, each] of short) each.until = until;
  }

  async function lookOnce(): Promise<void> {
    do {
      lookAgain = false;
      const claimed = await claim(AT_ONCE - running.size);
      claimed.forEach(begin);
      if (!sweepDue) continue;
      sweepDue = (await sweep()) > 0;
      if (sweepDue) lookAgain = true;
    } while (lookAgain && !stopped);
  }

  /** Looks now, or once more when a look is under way: what was committed since may be due. */
  function look(): void {
    if (stopped) return;
    if (looking) {
      lookAgain = true;
      return;
    }
    looking = lookOnce()
      .catch((error: unknown) => log.error({ err: error }, 'looking for jobs failed'))
      .finally(() => {
        looking = undefined;
        if (lookAgain) look();
      });
  }

  return {
    wake: () => void setImmediate(look),
    runDue,
    start() {
      stopped = false;
      const tick = () => {
        sweepDue = true;
        renew().catch((error: unknown) => log.error({ err: error }, 'leases not renewed'));
        look();
      };
      timer = setInterval(tick, LOOK_EVERY_MS);
      tick();
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await looking;
      await Promise.all([...running.values()].map(({ work }) => work));
    },
  };
}
