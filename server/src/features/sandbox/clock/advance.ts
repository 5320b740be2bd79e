// Advances a held clock to its target and executes due work in the order of time. Jobs of one instant
// are executed in the order of ID. The clock advances to the instant of the earliest job, delivery or
// pause of a failing endpoint, and that work is executed. Further work at the same instant follows
// immediately.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Time } from '../../../kernel/effects.ts';
import { stepClock } from '../../../runtime/clocks/clock-changes.ts';
import type { ClockRow } from '../../../runtime/clocks/clock-table.ts';
import {
  claimOnClock,
  firstOnClock,
  hasRunningJob,
  moveToClock,
} from '../../../runtime/jobs/clock-jobs.ts';
import { type Job, LEASE_MS } from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import {
  type FailingEndpoint,
  firstFailing,
  pauseFailing,
} from '../../notifications/endpoints/index.ts';
import { firstQueued, type PlatformDeliveries } from '../../notifications/webhooks/index.ts';

/** Functions that the composition provides to advance clocks. */
export interface ClockWork {
  /** Kinds of jobs. */
  kinds: readonly string[];
  /** Runs a claimed job and records its result. */
  runJob(job: Job): Promise<void>;
  /** Sends the deliveries of one platform while its clock is held. */
  deliveries(platformId: string, holder: string): PlatformDeliveries;
  /** Stages jobs for the work that sweeps would find by real time. */
  stage(ctx: Ctx): Promise<void>;
}

/** Limits of one request. The next request executes the remaining work. */
const MAX_ITEMS = 10_000;
const MAX_MS = 25_000;
/** Maximum wait for jobs that other processes have started. */
const RUNNING_MS = 5_000;
const PAUSE_MS = 10;
/** Interval at which the lease of a clock at one instant is renewed. */
const RENEW_MS = 5_000;

/** Moves jobs to the clock, whose time is `clock`. Waits at most `RUNNING_MS` for running jobs. */
export async function moveJobsToClock(
  { db, effects }: Pick<Runtime, 'db' | 'effects'>,
  platformId: string,
  { kinds }: Pick<ClockWork, 'kinds'>,
  clock: Time,
): Promise<void> {
  const deadline = performance.now() + RUNNING_MS;
  for (;;) {
    await moveToClock(db, platformId, kinds, { clock, realTime: effects.now() });
    const isRunning = await hasRunningJob(db, platformId, kinds, effects.now());
    if (!isRunning || performance.now() > deadline) return;
    await sleep(PAUSE_MS);
  }
}

interface Advance {
  clock: ClockRow;
  processedCount: number;
  isReached: boolean;
}

/**
 * Executes all work due until `target`. The clock stops there, or earlier if a limit is reached.
 */
export async function advanceTo(
  runtime: Runtime,
  work: ClockWork,
  heldClock: ClockRow,
  target: Time,
): Promise<Advance> {
  const { db, effects, clocks } = runtime;
  const { id: platformId, holder } = heldClock;
  const deliveries = work.deliveries(platformId, holder ?? '');
  const deadline = performance.now() + MAX_MS;
  let clock = heldClock;
  let renewAt = performance.now() + RENEW_MS;
  let processedCount = 0;
  /** Whether the endpoints respond. Otherwise the regular deliverer sends the deliveries. */
  let isResponsive = true;

  async function moveTo(targetTime: Time): Promise<void> {
    if (targetTime <= (clock.stands_at ?? 0) && performance.now() < renewAt) return;
    const time = Math.max(targetTime, clock.stands_at ?? 0);
    clock = await stepClock(db, clock, { at: time, target, realTime: effects.now() });
    renewAt = performance.now() + RENEW_MS;
    clocks.replace(clock);
  }

  async function runJob(id: string): Promise<void> {
    const [job] = await claimOnClock(db, effects.now() + LEASE_MS, [id]);
    // Another process claimed the job before the clock was held.
    if (!job) return void (await sleep(PAUSE_MS));
    await work.runJob(job);
    processedCount++;
  }

  async function deliver(): Promise<void> {
    const { attempts, hasResponded } = await deliveries.run();
    processedCount += attempts;
    isResponsive = hasResponded;
  }

  async function pause(endpoint: FailingEndpoint): Promise<void> {
    await pauseFailing(runtime, endpoint);
    processedCount++;
  }

  /** The next instant with work, and the work. */
  async function findNextWork(): Promise<{ at: Time; run: () => Promise<void> } | undefined> {
    const [job, failingEndpoint, queuedAt] = await Promise.all([
      firstOnClock(db, platformId, target),
      firstFailing(db, platformId, target),
      isResponsive ? firstQueued(db, platformId, target) : undefined,
    ]);
    const candidates = [
      ...(job ? [{ at: job.at, run: () => runJob(job.id) }] : []),
      ...(failingEndpoint ? [{ at: failingEndpoint.at, run: () => pause(failingEndpoint) }] : []),
      ...(queuedAt === undefined ? [] : [{ at: queuedAt, run: deliver }]),
    ];
    // Work at one instant runs in this order.
    return candidates.toSorted((a, b) => a.at - b.at)[0];
  }

  try {
    for (;;) {
      const nextWork = await findNextWork();
      if (!nextWork) break;
      if (processedCount >= MAX_ITEMS || performance.now() > deadline) {
        return { clock, processedCount, isReached: false };
      }
      await moveTo(nextWork.at);
      await nextWork.run();
    }
    await moveTo(target);
    return { clock, processedCount, isReached: true };
  } finally {
    deliveries.end();
  }
}
