// Delivers the outbox: reads due events, sends them and records the results. Delivery is at least
// once, because an event without a record is sent again, with the same ID and bytes, when its lease
// expires. Events of an endpoint are read in the order of due time and ID, but concurrent requests
// can arrive in another order. Except for balance events, an event waits while an earlier event of
// its resource is in flight.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Naming } from '../../../catalog/naming.ts';
import type { Effects, Time } from '../../../kernel/effects.ts';
import { uuid7 } from '../../../kernel/id.ts';
import type { Clocks, PlatformTime } from '../../../runtime/clocks/clocks.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Log } from '../../../runtime/observability/log.ts';
import type { Metrics } from '../../../runtime/observability/metrics.ts';
import type { Tracer } from '../../../runtime/observability/tracing/tracer.ts';
import type { SigningKeys } from '../../../runtime/security/key-ring.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import { createEndpointSigner } from '../endpoints/index.ts';
import { createSignatures } from './envelope.ts';
import { createLanes, LIMITS, type Limits } from './lanes.ts';
import { createReader, LEASE_MS, type ReadBatch } from './reader.ts';
import { createRecorder } from './recorder.ts';
import { type AttemptResult, isDelivered, nextAttemptAt } from './schedule.ts';
import { type AttemptOutcome, excerptOf, headOf, send } from './send.ts';
import {
  type DueEvent,
  firstQueued,
  type Outcome,
  platformsWithHeldClock,
  releasePlatforms,
} from './store.ts';

interface DelivererOptions {
  effects: Effects;
  db: Database;
  /** Attempts and retries are on the clock of the platform. */
  clocks: Clocks;
  /** Decrypts event data. */
  vault: Vault;
  keys: SigningKeys;
  naming: Naming;
  /** Whether sandbox platforms may use loopback endpoints. */
  loopbackWebhooks: boolean;
  log: Log;
  metrics: Metrics;
  /** Creates no traces if absent. */
  tracer?: Tracer | undefined;
  limits?: Partial<Limits>;
  /**
   * Whether the server is under load. Deliveries are then throttled, because they can use half of
   * the CPU.
   */
  isUnderLoad?: () => boolean;
  /** Defaults to `ANSWER_TIMEOUT_MS`. Shorter in tests. */
  answerTimeoutMs?: number;
}

export interface Deliverer {
  /** Polls soon, for events that may have been committed. */
  wake(): void;
  /** Delivers all due events and returns the number of attempts. */
  runDue(now?: Time): Promise<number>;
  /** The deliveries of one platform while its clock is held. */
  heldPlatform(platformId: string, holder: string): PlatformDeliveries;
  start(): void;
  /** Stops reading, waits briefly for requests in flight, and releases the leases. */
  stop(): Promise<void>;
}

const POLL_INTERVAL_MS = 1_000;
/**
 * The pause after a poll is as long as the poll, within bounds. Polls of up to a second therefore
 * use at most half of the time.
 */
const MIN_PAUSE_MS = 10;
const MAX_PAUSE_MS = 1_000;
/**
 * Deliveries per round under load: up to a few hundred per second, so that the outbox is still
 * emptied.
 */
const MAX_PER_ROUND_UNDER_LOAD = 8;
/** Maximum wait of a stop. Less than the usual grace period of process supervisors. */
const STOP_WAIT_MS = 5_000;

function resultOf(attemptOutcome: AttemptOutcome, nextRetryAt: Time | null): AttemptResult {
  if (isDelivered(attemptOutcome.status)) return 'delivered';
  return nextRetryAt === null ? 'dropped' : 'retry';
}

/** The result of an attempt and the time of the next one. */
function outcomeOf(
  effects: Effects,
  event: DueEvent,
  attemptOutcome: AttemptOutcome & { end: PlatformTime },
): Outcome {
  const attempt = event.attempts + 1;
  const { at, end, status, error, ms } = attemptOutcome;
  const { platform_id, endpoint } = event;
  const nextAttempt = isDelivered(status) ? null : nextAttemptAt(effects, event, attempt, end);
  const result = resultOf(attemptOutcome, nextAttempt);
  const response = excerptOf(attemptOutcome.responseText);
  const attemptKey = { platform_id, endpoint, event_id: event.id, attempt };
  return {
    ...attemptKey,
    at,
    status,
    error,
    ms,
    head: headOf(attemptOutcome.headers),
    response,
    result,
    next: nextAttempt,
  };
}

const spanAttributesOf = ({ event_id, attempt, result, status }: Outcome) => ({
  'railhead.event_id': event_id,
  'railhead.attempts': attempt,
  'railhead.result': result,
  ...(status === null ? {} : { 'http.response.status_code': status }),
});

interface Scope {
  holder: string;
  /** The only platform whose events are delivered. */
  onlyPlatform?: string;
}

/** Reads, sends and records deliveries. The caller decides when. */
function createPipeline(options: DelivererOptions, { holder, onlyPlatform }: Scope) {
  const { effects, db, clocks, vault, log, metrics, isUnderLoad = () => false } = options;
  const limits = { ...LIMITS, ...options.limits };
  const lanes = createLanes(limits);
  const sendDeps = {
    ...options,
    signatures: createSignatures(),
    signWithKeys: createEndpointSigner(vault),
  };
  /** Known platforms with their own clock. */
  const clockedPlatforms = new Set<string>();
  const recorder = createRecorder({
    db,
    log,
    recorded(event) {
      lanes.recorded(event);
      const { platform_id: id } = event;
      // Releases the lease, so that a change of the clock in any process can start before its
      // expiry.
      if (lanes.isIdle(id) && clockedPlatforms.delete(id)) runInBackground(releaseIdle(id), id);
    },
  });
  const reader = createReader({ db, vault, log, lanes, onlyPlatform }, holder);
  const tasks = new Set<Promise<void>>();
  let leaseWork: Promise<unknown> = Promise.resolve();
  let attempts = 0;

  function logOutcome(event: DueEvent, outcome: Outcome): void {
    metrics.delivery(outcome.result);
    const { status, error, attempt, ms } = outcome;
    const fields = { event: event.id, platformId: event.platform_id, status, error, attempt, ms };
    if (outcome.result === 'retry') log.debug(fields, 'event not delivered');
    if (outcome.result === 'dropped') log.warn(fields, 'event dropped');
  }

  /**
   * The time of a platform. Real time while the database is unavailable, so that sending continues.
   */
  async function timeOf(owner: Parameters<Clocks['timeOf']>[0]): Promise<PlatformTime> {
    try {
      return await clocks.timeOf(owner);
    } catch {
      return { now: effects.now(), ownClock: false };
    }
  }

  async function deliver(event: DueEvent, onComplete: () => void): Promise<void> {
    // The lease was not renewed in time, so another process may be sending this event.
    if (lanes.leaseOf(event.platform_id) <= effects.now()) lanes.done(event, null);
    else {
      const owner = { platformId: event.platform_id, environment: event.environment };
      const { now, ownClock } = await timeOf(owner);
      if (ownClock) clockedPlatforms.add(event.platform_id);
      const span = options.tracer?.start('delivery', 'producer', { cause: event.id });
      const attemptOutcome = await send(sendDeps, event, event, span?.traceparent);
      const outcome = outcomeOf(effects, event, {
        ...attemptOutcome,
        at: now,
        end: await timeOf(owner),
      });
      span?.end(spanAttributesOf(outcome), outcome.result !== 'delivered');
      attempts++;
      logOutcome(event, outcome);
      recorder.add(event, outcome);
      lanes.done(event, { delivered: outcome.result === 'delivered', ms: attemptOutcome.ms });
    }
    if (!isUnderLoad()) startDeliveries(onComplete, Infinity);
    onComplete();
  }

  function startDeliveries(onComplete: () => void, maximum: number): void {
    for (const event of lanes.next(maximum)) {
      const task = deliver(event, onComplete).finally(() => tasks.delete(task));
      tasks.add(task);
    }
  }

  /** Reads and lease renewals of one process never overlap. */
  function runSequentially<R>(work: () => Promise<R>): Promise<R> {
    const completion = leaseWork.then(work);
    leaseWork = completion.catch(() => undefined);
    return completion;
  }

  /** Releases the lease of a platform, unless events of it were read since the last delivery. */
  const releaseIdle = (platformId: string) =>
    runSequentially(async () => {
      if (!lanes.isIdle(platformId)) return;
      lanes.dropLease(platformId);
      await releasePlatforms(db, holder, [platformId]);
    });

  /**
   * Stops new requests of a platform, and releases its lease after the requests in flight are
   * recorded.
   */
  async function releasePlatform(platformId: string): Promise<void> {
    await runSequentially(async () => lanes.dropLease(platformId));
    while (!lanes.isIdle(platformId)) {
      await recorder.flush().catch(() => undefined);
      await sleep(RECHECK_MS);
    }
    await releaseIdle(platformId);
  }

  function runInBackground(work: Promise<unknown>, platformId: string): void {
    work.catch((error: unknown) => {
      log.error({ err: error, platformId }, 'a delivery lease could not be released');
    });
  }

  /** Releases platforms whose clocks have another holder. */
  async function releaseHeldPlatforms(): Promise<void> {
    const now = effects.now();
    if (onlyPlatform !== undefined || !lanes.leased(now).length) return;
    for (const id of await platformsWithHeldClock(db, holder, now)) {
      // A platform without a lease in memory is already being released.
      if (lanes.leaseOf(id) > 0) runInBackground(releasePlatform(id), id);
    }
  }

  return {
    releasePlatform,
    restart: reader.restart,
    attempts: () => attempts,
    /**
     * Reads a batch and starts its deliveries. `onComplete` runs after each delivery. If
     * `canBeThrottled`, fewer deliveries are started under load.
     */
    deliverBatch: (
      now: Time,
      onComplete: () => void,
      canBeThrottled: boolean,
    ): Promise<ReadBatch> =>
      runSequentially(async () => {
        const batch = await reader.readBatch(now, limits.buffered - lanes.total);
        const isThrottled = canBeThrottled && isUnderLoad();
        startDeliveries(onComplete, isThrottled ? MAX_PER_ROUND_UNDER_LOAD : Infinity);
        return { ...batch, hasMore: batch.hasMore || (isThrottled && lanes.queued > 0) };
      }),
    /**
     * Renews leases, retries results that could not be recorded, and releases platforms with held
     * clocks.
     */
    tick(): void {
      recorder.tick();
      runSequentially(() => reader.renew(effects.now())).catch((error: unknown) => {
        log.error({ err: error }, 'delivery leases could not be renewed');
      });
      releaseHeldPlatforms().catch((error: unknown) => {
        log.error({ err: error }, 'held clocks could not be read');
      });
    },
    /**
     * Waits until no request is in flight and all results are recorded. Returns the number of
     * awaited deliveries.
     */
    async waitUntilIdle(): Promise<number> {
      let deliveryCount = 0;
      while (tasks.size) {
        deliveryCount += tasks.size;
        await Promise.all(tasks);
      }
      await recorder.flush();
      return deliveryCount;
    },
    flush: () => recorder.flush(),
    async release(): Promise<void> {
      await leaseWork;
      lanes.clear();
    },
    async releaseLeases(): Promise<void> {
      const leasedPlatforms = lanes.leased(effects.now());
      for (const each of leasedPlatforms) lanes.dropLease(each);
      if (leasedPlatforms.length) await releasePlatforms(db, holder, leasedPlatforms);
    },
  };
}

/** Interval of checks for requests in flight. */
const RECHECK_MS = 5;

const clamp = (minimum: number, value: number, maximum: number) =>
  Math.min(maximum, Math.max(minimum, value));

const doNothing = () => undefined;

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { effects, log } = options;
  const pipeline = createPipeline(options, { holder: uuid7(effects) });
  let isStarted = false;
  let isRunning = false;
  let isPollRequested = false;
  let ticker: NodeJS.Timeout | undefined;
  let pause: NodeJS.Timeout | undefined;

  async function runRound(): Promise<void> {
    if (!isStarted) return;
    const startedAt = effects.now();
    isPollRequested = false;
    try {
      const { eventCount, hasMore } = await pipeline.deliverBatch(startedAt, poll, true);
      if (eventCount > 0 || hasMore) isPollRequested = true;
    } catch (error) {
      log.error({ err: error }, 'delivery round failed');
    }
    const pauseMs = clamp(MIN_PAUSE_MS, effects.now() - startedAt, MAX_PAUSE_MS);
    pause = setTimeout(() => {
      isRunning = false;
      if (isPollRequested) poll();
    }, pauseMs);
  }

  function poll(): void {
    isPollRequested = true;
    if (!isStarted || isRunning) return;
    isRunning = true;
    setImmediate(() => void runRound());
  }

  async function runDue(now: Time = effects.now()): Promise<number> {
    const attemptsBefore = pipeline.attempts();
    for (;;) {
      pipeline.restart();
      let readCount = 0;
      for (let hasMore = true; hasMore; ) {
        const batch = await pipeline.deliverBatch(now, doNothing, false);
        readCount += batch.eventCount;
        hasMore = batch.hasMore;
      }
      const deliveryCount = await pipeline.waitUntilIdle();
      if (readCount + deliveryCount === 0) return pipeline.attempts() - attemptsBefore;
    }
  }

  return {
    wake: poll,
    runDue,
    heldPlatform: (platformId, holder) =>
      deliveriesOf(options, platformId, holder, () => pipeline.releasePlatform(platformId)),
    start() {
      isStarted = true;
      ticker = setInterval(() => {
        pipeline.tick();
        poll();
      }, POLL_INTERVAL_MS);
      poll();
    },
    async stop() {
      isStarted = false;
      clearInterval(ticker);
      clearTimeout(pause);
      isRunning = false;
      await pipeline.release();
      try {
        // Requests without a response in time are sent again later.
        await Promise.race([
          pipeline.waitUntilIdle(),
          sleep(STOP_WAIT_MS, undefined, { ref: false }),
        ]);
        await pipeline.flush();
        await pipeline.releaseLeases();
      } catch (error) {
        // Unrecorded deliveries are sent again after the leases expire.
        log.error({ err: error }, 'stopped with unrecorded deliveries');
      }
    },
  };
}

/** Deliveries of one platform while its clock is held. */
export interface PlatformDeliveries {
  /**
   * Delivers a batch of events that are due on the clock, with one request at a time per endpoint.
   * `hasResponded` is false if a response or the release of a lease took too long. The regular
   * deliverer then sends the other events.
   */
  run(): Promise<{ attempts: number; hasResponded: boolean }>;
  /** Releases the platform to the regular deliverer after the last response. */
  end(): void;
}

/** Maximum wait for a response while a clock is held. */
const PROMPT_MS = 2_000;

function deliveriesOf(
  options: DelivererOptions,
  platformId: string,
  holder: string,
  releaseFromRegular: () => Promise<void>,
): PlatformDeliveries {
  const { db, effects, log } = options;
  const limits = { ...options.limits, perPlatform: 1 };
  const pipeline = createPipeline({ ...options, limits }, { holder, onlyPlatform: platformId });
  /**
   * Resolves when this process has released the platform. Other processes begin to release it
   * within a second.
   */
  let regularRelease: Promise<void> | undefined;

  /** Whether the work completes within PROMPT_MS. */
  async function completesPromptly(work: Promise<unknown>): Promise<boolean> {
    const cancellation = new AbortController();
    const timeout = sleep(PROMPT_MS, false, { signal: cancellation.signal }).catch(() => false);
    const isCompleted = await Promise.race([work.then(() => true), timeout]);
    cancellation.abort();
    return isCompleted;
  }

  async function releasePlatform(): Promise<void> {
    await pipeline.release();
    const ticker = setInterval(() => pipeline.tick(), POLL_INTERVAL_MS);
    try {
      await pipeline.waitUntilIdle();
    } finally {
      clearInterval(ticker);
    }
    await pipeline.releaseLeases();
  }

  return {
    async run() {
      const attemptsBefore = pipeline.attempts();
      regularRelease ??= releaseFromRegular();
      if (!(await completesPromptly(regularRelease))) return { attempts: 0, hasResponded: false };
      // The lease of a process that stopped without releasing it has expired by this time.
      const leasedUntil = performance.now() + LEASE_MS + PROMPT_MS;
      for (;;) {
        const { eventCount } = await pipeline.deliverBatch(effects.now(), doNothing, false);
        const hasResponded = await completesPromptly(pipeline.waitUntilIdle());
        const attempts = pipeline.attempts() - attemptsBefore;
        if (!hasResponded || attempts > 0) return { attempts, hasResponded };
        // No event remains to be sent, or another process has not released its lease yet.
        const isLeaseAwaited = eventCount === 0 && performance.now() < leasedUntil;
        if (!isLeaseAwaited) return { attempts, hasResponded: eventCount > 0 };
        const now = await options.clocks.nowOf({ platformId });
        if ((await firstQueued(db, platformId, now)) === undefined)
          return { attempts, hasResponded };
        await sleep(MIN_PAUSE_MS);
      }
    },
    end() {
      releasePlatform().catch((error: unknown) => {
        log.error({ err: error, platformId }, 'deliveries of a held clock were not completed');
      });
    },
  };
}
