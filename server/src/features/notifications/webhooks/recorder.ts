// Records delivery results, many in one statement. Results that cannot be written are retried,
// unless their values are invalid. Events of unwritten results count as buffered and are not read
// again.
import type { Database } from '../../../runtime/db/database.ts';
import type { Log } from '../../../runtime/observability/log.ts';
import { CONFIGURED } from '../endpoints/index.ts';
import { type DueEvent, type Failing, noteFailing, type Outcome, recordOutcomes } from './store.ts';

interface RecorderOptions {
  db: Database;
  log: Log;
  /** Called for each event after its result is committed, or dropped because it is invalid. */
  recorded(event: DueEvent): void;
}

interface Recorder {
  add(event: DueEvent, outcome: Outcome): void;
  /** Retries results that could not be written. */
  tick(): void;
  /** Writes all results now. Rejects with the database error. */
  flush(): Promise<void>;
}

const BATCH_SIZE = 500;
/** Delay that collects results into one statement. */
const GATHER_MS = 10;

/** Data errors (SQLSTATE class 22 and 23): a retry with the same values fails again. */
const isInvalidValue = (error: unknown) =>
  /^2[23]/.test(String((error as { code?: unknown } | null)?.code ?? ''));

interface RecordedDelivery {
  event: DueEvent;
  outcome: Outcome;
}

/**
 * Records failing endpoints, so that an endpoint that never recovers can be paused. A working
 * endpoint requires no write. The configured endpoint is never paused automatically.
 */
function createFailureRecorder(db: Database) {
  /** Endpoints that failed in this process since their last success. */
  const failedEndpoints = new Set<string>();

  return async (batch: readonly RecordedDelivery[]): Promise<void> => {
    const changes = new Map<string, Failing>();
    for (const { event, outcome } of batch) {
      const { platform_id: platformId, endpoint } = event;
      if (endpoint === CONFIGURED) continue;
      const key = `${platformId} ${endpoint}`;
      const since = outcome.result === 'delivered' ? null : outcome.at;
      if (since === null) {
        const isNoted = event.failing_since !== null || failedEndpoints.has(key);
        if (!isNoted) continue;
        failedEndpoints.delete(key);
      } else {
        // Another process, a change of the endpoint or a reset may have removed an earlier record.
        if (event.failing_since !== null) continue;
        failedEndpoints.add(key);
      }
      changes.set(key, { platformId, endpoint, since });
    }
    if (changes.size) await noteFailing(db, [...changes.values()]);
  };
}

export function createRecorder({ db, log, recorded }: RecorderOptions): Recorder {
  const pendingDeliveries: RecordedDelivery[] = [];
  const noteFailures = createFailureRecorder(db);
  let writer: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let size = BATCH_SIZE;

  async function writeBatch(): Promise<void> {
    const batch = pendingDeliveries.slice(0, size);
    const outcomes = batch.map((each) => each.outcome);
    try {
      await recordOutcomes(db, outcomes);
      await noteFailures(batch);
      size = Math.min(BATCH_SIZE, size * 2);
    } catch (error) {
      // Results are written individually, so that an invalid result does not block the others.
      size = 1;
      if (!isInvalidValue(error)) throw error;
      if (batch.length > 1) return;
      log.error(
        { err: error, event: batch[0]?.event.id },
        'an invalid delivery result was not recorded',
      );
    }
    pendingDeliveries.splice(0, batch.length);
    for (const { event } of batch) recorded(event);
  }

  async function writeAll(): Promise<void> {
    while (pendingDeliveries.length) await writeBatch();
  }

  function writeSequentially(): Promise<void> {
    const write = writer.then(writeAll);
    writer = write.catch(() => undefined);
    return write;
  }

  function runInBackground(): void {
    writeSequentially().catch((error: unknown) =>
      log.error({ err: error }, 'delivery results could not be written and are retried'),
    );
  }

  return {
    add(event, outcome) {
      pendingDeliveries.push({ event, outcome });
      timer ??= setTimeout(() => {
        timer = undefined;
        runInBackground();
      }, GATHER_MS);
    },
    tick() {
      if (pendingDeliveries.length) runInBackground();
    },
    flush() {
      clearTimeout(timer);
      timer = undefined;
      return writeSequentially();
    },
  };
}
