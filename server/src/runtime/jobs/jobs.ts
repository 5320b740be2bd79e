// Runs jobs that change sets staged. A handler calls external systems and then returns a function
// that stages the result. The change set of the result also removes the job, so the result is
// committed at most once. A job library is not used, because due times follow the clock of
// `Effects` and the committer inserts jobs (docs/decisions/0003).

import type { TObject } from '@sinclair/typebox';
import type { Caller } from '../../kernel/caller.ts';
import { type JobDefinition, type JobInput, storedKindsOf } from '../../kernel/contract/job.ts';
import type { Time } from '../../kernel/effects.ts';
import { isAnyId } from '../../kernel/id.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type Attributes, inSpan } from '../observability/tracing/tracer.ts';
import type { Ctx } from '../operation/context.ts';
import { operate, type Runtime } from '../operation/operate.ts';
import { createClaim, type Job } from './job-claims.ts';
import { failJob, MAX_ATTEMPTS } from './job-failures.ts';
import { createJobSlots, JOB_LIMITS, type JobLimits } from './job-slots.ts';
import { jobs } from './jobs-table.ts';

export type { Job } from './job-claims.ts';

/** The result of a job, staged as `caller`, possibly more than once, and committed once. */
export interface Result {
  caller: Caller;
  stage(ctx: Ctx): Promise<void>;
}

/** A job with the input of its definition. An earlier version may have stored fewer fields. */
export type JobOf<D extends JobDefinition> = Omit<Job, 'input'> & { input: JobInput<D> };

interface Work<J = Job> {
  /** Failed attempts after which the job is dead. Defaults to `MAX_ATTEMPTS`. */
  readonly maxAttempts?: number;
  /** Maximum duration. A longer run fails and frees its slot. Defaults to `DEADLINE_MS`. */
  readonly deadlineMs?: number;
  run(runtime: Runtime, job: J): Promise<Result>;
}

export interface JobHandler extends Work {
  readonly kind: string;
}

/** The handler of a definition's jobs. */
export const jobHandler = <S extends TObject>(
  { kind }: JobDefinition<S>,
  { run, ...limits }: Work<JobOf<JobDefinition<S>>>,
): JobHandler => ({
  kind,
  ...limits,
  // The cast is valid, because only jobs of this definition have its kind.
  run: (runtime, job) => run(runtime, job as JobOf<JobDefinition<S>>),
});

/** Work found by a query instead of a job. Returns the amount of work done. */
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
  /** Defaults to `JOB_LIMITS`. */
  jobLimits?: JobLimits;
}

export interface Worker {
  /** Kinds of stored jobs with a handler. */
  readonly kinds: readonly string[];
  /** Maximum attempts of each kind with a handler. */
  readonly maxAttempts: ReadonlyMap<string, number>;
  wake(): void;
  /** Runs a claimed job and records its result. Never rejects. */
  run(job: Job): Promise<void>;
  /**
   * Runs one round of due jobs, limited by free slots, and one round of sweeps. Returns the amount of work
   * done.
   */
  runDue(): Promise<number>;
  start(): void;
  /** Claims no more jobs and waits for running jobs and sweeps. */
  stop(): Promise<void>;
  /** Number of running jobs of each kind in this process. */
  running(): ReadonlyMap<string, number>;
}

/**
 * Duration of a lease. A worker renews the leases of its running jobs, and leases of a stopped worker
 * expire.
 */
export const LEASE_MS = 20_000;
/** Longer than the deadlines of all outbound calls of one run. */
const DEADLINE_MS = 120_000;
const POLL_MS = 1_000;

// Locked rows belong to jobs whose result is being committed.
const RENEW = `update jobs set due_at = $3 where id in (
  select j.id from jobs j join unnest($1::text[], $2::int[]) as r(id, version)
    on j.id = r.id and j.version = r.version and j.state = 'running'
    for update of j skip locked)`;

/** Rejects if `work` has no result in time. A later result has no effect on the job. */
function withTimeLimit<R>(ms: number, work: Promise<R>): Promise<R> {
  return new Promise((resolve, reject) => {
    const timeoutError = Object.assign(new Error(`no result within ${ms} ms`), {
      code: 'ETIMEDOUT',
    });
    const timer = setTimeout(() => reject(timeoutError), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

async function finish(runtime: Runtime, job: Job, result: Result): Promise<void> {
  await operate(runtime, result.caller, async (ctx) => {
    const row = await ctx.read(jobs, job.id);
    if (!row || row.version !== job.version) return; // The job was claimed again, changed or canceled.
    await result.stage(ctx);
    ctx.remove(jobs, row);
  });
}

/** Only IDs and numbers, because the input of a job may contain personal data. */
function spanAttributesOf({ id, kind, attempts, input }: Job): Attributes {
  const transactionId = (input as { transactionId?: unknown }).transactionId;
  return {
    'railhead.job_id': id,
    'railhead.job_kind': kind,
    'railhead.attempts': attempts,
    ...(typeof transactionId === 'string' && isAnyId(transactionId)
      ? { 'railhead.transaction_id': transactionId }
      : {}),
  };
}

export function createWorker(options: WorkerOptions): Worker {
  const { runtime, log, metrics } = options;
  const handlers = new Map(
    options.handlers.flatMap((each) => storedKindsOf(each.kind).map((kind) => [kind, each])),
  );
  const slots = createJobSlots(options.jobLimits ?? JOB_LIMITS);
  const claim = createClaim({
    db: runtime.db,
    slots,
    isHandled: (kind) => handlers.has(kind),
    leaseMs: LEASE_MS,
  });
  /** Running jobs. A slow job occupies one slot and does not delay other jobs. */
  const runningJobs = new Map<Job, { work: Promise<void>; until: Time }>();
  const runningSweeps = new Map<Sweep, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let claimPromise: Promise<void> | undefined;
  let shouldClaimAgain = false;
  /**
   * Whether the next claim includes jobs on clocks, which each poll sets. Other claims include these jobs
   * only if this process has read a clock of a platform.
   */
  let shouldReadClocks = true;
  let isStopped = true;

  async function attempt(job: Job, { run, maxAttempts, deadlineMs }: JobHandler): Promise<void> {
    // An attempt whose process exited, including the last attempt, was not recorded.
    if (job.attempts > (maxAttempts ?? MAX_ATTEMPTS)) {
      throw new Error('the process exited while the job was running');
    }
    const result = await withTimeLimit(deadlineMs ?? DEADLINE_MS, run(runtime, job));
    await finish(runtime, job, result);
  }

  async function runOne(job: Job): Promise<void> {
    const handler = handlers.get(job.kind) as JobHandler;
    const { id, kind, attempts } = job;
    const span = runtime.tracer?.start(`job ${kind}`, 'consumer', { cause: id });
    const end = (result: string) =>
      span?.end({ ...spanAttributesOf(job), 'railhead.result': result }, result !== 'done');
    try {
      await inSpan(span, () => attempt(job, handler));
      metrics.job(kind, 'done');
      end('done');
    } catch (error) {
      const outcome = await failJob(runtime, job, error, handler.maxAttempts);
      metrics.job(kind, outcome);
      end(outcome);
      if (outcome === 'postponed') return;
      const message = outcome === 'dead' ? 'job is dead' : 'job failed';
      log.error({ err: error, job: id, kind, attempts }, message);
    }
  }

  /** Runs a claimed job, which counts as running until it settles. */
  function begin(job: Job): Promise<void> {
    const work = runOne(job)
      .catch((error: unknown) =>
        log.error({ err: error, job: job.id }, 'job result could not be saved'),
      )
      .finally(() => runningJobs.delete(job));
    runningJobs.set(job, { work, until: runtime.effects.now() + LEASE_MS });
    return work;
  }

  /** Runs a job that occupies a slot, and frees the slot. */
  const beginInSlot = (job: Job): Promise<void> => begin(job).finally(() => slots.release(job));

  async function runDue(): Promise<number> {
    const { jobs: claimedJobs } = await claim(runtime.effects.now());
    await Promise.all(claimedJobs.map(beginInSlot));
    const counts = await Promise.all(options.sweeps.map((each) => each.run(runtime)));
    return counts.reduce((sum, each) => sum + each, claimedJobs.length);
  }

  /** Renews the leases of long jobs, so that no other process starts them. */
  async function renew(): Promise<void> {
    const now = runtime.effects.now();
    const until = now + LEASE_MS;
    const expiringJobs = [...runningJobs].filter(([, each]) => each.until < now + LEASE_MS / 2);
    if (!expiringJobs.length) return;
    const [ids, versions] = [
      expiringJobs.map(([{ id }]) => id),
      expiringJobs.map(([job]) => job.version),
    ];
    await runtime.db.query(RENEW, [ids, versions, new Date(until)]);
    for (const [, each] of expiringJobs) each.until = until;
  }

  async function claimRounds(): Promise<void> {
    do {
      shouldClaimAgain = false;
      const onClocks = shouldReadClocks || runtime.clocks.anyOwn();
      shouldReadClocks = false;
      const { jobs: claimedJobs, hasMore } = await claim(runtime.effects.now(), { onClocks });
      for (const job of claimedJobs) void beginInSlot(job).finally(claimDue);
      if (hasMore) shouldClaimAgain = true;
    } while (shouldClaimAgain && !isStopped);
  }

  /**
   * Claims now, or once more if a claim is in progress, because jobs committed during the claim may be due.
   */
  function claimDue(): void {
    if (isStopped) return;
    if (claimPromise) {
      shouldClaimAgain = true;
      return;
    }
    claimPromise = claimRounds()
      .catch((error: unknown) => log.error({ err: error }, 'claiming jobs failed'))
      .finally(() => {
        claimPromise = undefined;
        if (shouldClaimAgain) claimDue();
      });
  }

  async function sweepAll(sweep: Sweep): Promise<void> {
    try {
      while (!isStopped && (await sweep.run(runtime)) > 0);
    } catch (error) {
      log.error({ err: error, sweep: sweep.name }, 'sweep failed');
    }
  }

  /**
   * Starts the sweeps independently, so that a sweep with much work does not delay jobs or other sweeps.
   */
  function sweepDue(): void {
    for (const sweep of options.sweeps) {
      if (runningSweeps.has(sweep)) continue;
      const work = sweepAll(sweep).finally(() => runningSweeps.delete(sweep));
      runningSweeps.set(sweep, work);
    }
  }

  return {
    kinds: [...handlers.keys()],
    maxAttempts: new Map(
      options.handlers.map(({ kind, maxAttempts = MAX_ATTEMPTS }) => [kind, maxAttempts]),
    ),
    wake: () => void setImmediate(claimDue),
    run: begin,
    runDue,
    start() {
      isStopped = false;
      const tick = () => {
        renew().catch((error: unknown) =>
          log.error({ err: error }, 'job leases could not be renewed'),
        );
        shouldReadClocks = true;
        claimDue();
        sweepDue();
      };
      timer = setInterval(tick, POLL_MS);
      tick();
    },
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await claimPromise;
      await Promise.all([...runningJobs.values()].map(({ work }) => work));
      await Promise.all(runningSweeps.values());
    },
    running() {
      const counts = new Map<string, number>();
      for (const { kind } of runningJobs.keys()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      return counts;
    },
  };
}
