// Requests that wait for events. One loop per process polls the database for all of them with one
// statement. It polls shortly after a commit of this process, and several times per second for
// commits of other processes. The loop stops when no request waits.
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../../kernel/fault.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Log } from '../../../runtime/observability/log.ts';
import type { Metrics } from '../../../runtime/observability/metrics.ts';
import type { EventPosition } from './cursor.ts';
import { requestsWithEvents, type WaitingRequest } from './store.ts';

/** Maximum number of waiting requests in one process, per platform and in total. */
const MAX_OF_PLATFORM = 20;
const MAX_WAITING = 2_000;
/** Poll interval for events of other processes. */
const POLL_MS = 250;
/** Minimum pause between two polls. Polling takes at most a fifth of the time. */
const MIN_PAUSE_MS = 20;
const PAUSE_SHARE = 4;
/** Delay while the process stops, so that clients do not repeat their requests immediately. */
const STOPPING_MS = 500;

interface Waiter extends WaitingRequest {
  onArrival(): void;
}

/** The registration of one waiting request. */
interface FollowerRegistration {
  /**
   * Resolves when the platform has an event after the position, after `ms`, or on disconnect or
   * stop.
   */
  wait(position: EventPosition, ms: number): Promise<void>;
  /** Whether to respond immediately, because the client has disconnected or the process stops. */
  readonly isClosed: boolean;
  release(): void;
}

export interface Followers {
  /** Throws RATE_LIMITED if too many requests wait. */
  register(platformId: string, disconnect?: AbortSignal): FollowerRegistration;
  /** Call this after a commit that may have stored events. */
  wake(): void;
  /** Completes all waits. Later requests wait briefly. */
  close(): void;
}

interface FollowersOptions {
  db: Database;
  log: Log;
  metrics: Pick<Metrics, 'watch'>;
}

const tooManyRequests = (reason: string) =>
  new Fault('RATE_LIMITED', reason, undefined, { retryAfterS: 1 });

/** Counts the requests that wait. */
function createRegistrations() {
  const waitingCounts = new Map<string, number>();
  let total = 0;
  return {
    total: () => total,
    /** Returns a function that releases the registration. */
    register(platformId: string): () => void {
      const platformCount = waitingCounts.get(platformId) ?? 0;
      if (platformCount >= MAX_OF_PLATFORM) {
        throw tooManyRequests(
          `${MAX_OF_PLATFORM} requests of the platform wait for events. Follow events with fewer ` +
            'requests, or without `wait`.',
        );
      }
      if (total >= MAX_WAITING)
        throw tooManyRequests('Too many requests wait for events. Try again later.');
      waitingCounts.set(platformId, platformCount + 1);
      total++;
      return () => {
        total--;
        const remainingCount = (waitingCounts.get(platformId) ?? 1) - 1;
        if (remainingCount) waitingCounts.set(platformId, remainingCount);
        else waitingCounts.delete(platformId);
      };
    },
  };
}

/** Polls while requests wait. */
function createLoop({ db, log }: FollowersOptions) {
  const waiters = new Set<Waiter>();
  let isRunning = false;
  let isWoken = false;
  let wakeUp: (() => void) | undefined;

  async function poll(): Promise<void> {
    const currentWaiters = [...waiters];
    for (const followerIndex of await requestsWithEvents(db, currentWaiters))
      currentWaiters[followerIndex]?.onArrival();
  }

  /**
   * Waits for the minimum pause, and then up to POLL_MS or until events are committed in this
   * process.
   */
  async function pause(pollDurationMs: number): Promise<void> {
    await sleep(Math.max(MIN_PAUSE_MS, pollDurationMs * PAUSE_SHARE));
    if (isWoken) return;
    const controller = new AbortController();
    wakeUp = () => controller.abort();
    await sleep(POLL_MS, undefined, { signal: controller.signal }).catch(() => undefined);
    wakeUp = undefined;
  }

  async function run(): Promise<void> {
    while (waiters.size) {
      isWoken = false;
      const startedAt = performance.now();
      try {
        await poll();
      } catch (error) {
        log.error({ err: error }, 'events could not be read for waiting requests');
      }
      if (waiters.size) await pause(performance.now() - startedAt);
    }
    isRunning = false;
  }

  return {
    wake() {
      isWoken = true;
      wakeUp?.();
    },
    add(waiter: Waiter): void {
      waiters.add(waiter);
      // An event may have been committed since the request read. The reply must not wait for a
      // complete poll interval.
      isWoken = true;
      wakeUp?.();
      if (isRunning) return;
      isRunning = true;
      void run();
    },
    remove: (waiter: Waiter) => void waiters.delete(waiter),
    clear() {
      for (const each of waiters) each.onArrival();
    },
  };
}

export function createFollowers(options: FollowersOptions): Followers {
  const registrations = createRegistrations();
  const loop = createLoop(options);
  let isStopping = false;
  options.metrics.watch(
    'railhead_event_followers',
    'Requests that wait for events.',
    registrations.total,
  );

  function wait(platformId: string, cursor: EventPosition, ms: number, disconnect?: AbortSignal) {
    return new Promise<void>((resolve) => {
      const { position, id } = cursor;
      const finish = () => {
        clearTimeout(timer);
        disconnect?.removeEventListener('abort', finish);
        loop.remove(waiter);
        resolve();
      };
      const waiter: Waiter = { platformId, position, id, onArrival: finish };
      const timer = setTimeout(finish, ms);
      disconnect?.addEventListener('abort', finish);
      if (disconnect?.aborted) finish();
      else loop.add(waiter);
    });
  }

  return {
    register(platformId, disconnect) {
      const release = registrations.register(platformId);
      let mayWait = true;
      return {
        async wait(position, ms) {
          const isLastWait = isStopping;
          await wait(platformId, position, isLastWait ? Math.min(ms, STOPPING_MS) : ms, disconnect);
          if (isStopping) mayWait = false;
        },
        get isClosed() {
          return disconnect?.aborted === true || !mayWait;
        },
        release,
      };
    },
    wake: loop.wake,
    close() {
      isStopping = true;
      loop.clear();
    },
  };
}
