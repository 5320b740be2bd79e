// Graceful shutdown. Each kind of work in progress has a share of the time. After the drain, the process
// exits within 10 s even if clients, receivers or providers do not respond. Aborted work was not
// acknowledged, or is repeated later.
import type { FastifyInstance } from 'fastify';
import type { Log } from './runtime/observability/log.ts';
import { within } from './runtime/observability/within.ts';

/** A stop that takes longer has failed. Orchestrators usually kill a process after 10 s. */
const STOP_MS = 9_500;
/** Time for jobs in progress. The lease of an unfinished job expires, and the job runs again. */
const JOBS_MS = 5_000;
/** Slightly longer than the deliverer waits for responses. */
const DELIVERIES_MS = 5_500;
/** Time for each component that uses the database, and for the database itself, to finish and close. */
const DATABASE_MS = 1_500;

interface Stoppable {
  readiness: { stop(): void };
  server: FastifyInstance;
  /** Requests that follow events. */
  followers: { close(): void };
  keyRing: { stop(): void };
  directory: { stop(): Promise<void> };
  worker: { stop(): Promise<void> };
  deliverer: { stop(): Promise<void> };
  recorder: { close(): Promise<void> };
  committer: { close(): Promise<void> };
  db: { close(): Promise<void> };
  tracing: { stop(): Promise<void> };
}

/**
 * Finishes work in progress, aborts work that takes too long, and closes the database. Takes at
 * most 8.5 s.
 */
export async function stopServer(components: Stoppable): Promise<void> {
  components.readiness.stop();
  components.followers.close();
  components.keyRing.stop();
  // Concurrent, because each of them may need all of its time. The server has its own limit.
  await Promise.all([
    components.server.close(),
    within(JOBS_MS, components.worker.stop()),
    within(DELIVERIES_MS, components.deliverer.stop()),
  ]);
  await Promise.all([
    within(DATABASE_MS, components.recorder.close()),
    within(DATABASE_MS, components.tracing.stop()),
    within(DATABASE_MS, components.directory.stop()),
    within(DATABASE_MS, components.committer.close()),
  ]);
  await within(DATABASE_MS, components.db.close());
}

interface Shutdown {
  /** Whether the shutdown has started. */
  isShuttingDown(): boolean;
  /** Stops the process after `drain`. Only the first call has an effect. */
  start(reason: string, drain?: () => Promise<void>): void;
}

/** Ends the process with exit code 0, or with 1 if the stop fails or takes longer than `STOP_MS`. */
export function createShutdown(stop: () => Promise<void>, log: Log): Shutdown {
  let isStarted = false;

  async function drainAndStop(drain?: () => Promise<void>): Promise<void> {
    await drain?.();
    setTimeout(() => {
      log.error({}, 'stop timed out');
      process.exit(1);
    }, STOP_MS);
    await stop();
  }

  return {
    isShuttingDown: () => isStarted,
    start(reason, drain) {
      if (isStarted) return;
      isStarted = true;
      log.info({ reason }, 'stopping');
      drainAndStop(drain).then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'stop failed');
          process.exit(1);
        },
      );
    },
  };
}

export function onSignals(
  signals: readonly NodeJS.Signals[],
  handle: (signal: NodeJS.Signals) => void,
): void {
  for (const signal of signals) process.on(signal, () => handle(signal));
}
