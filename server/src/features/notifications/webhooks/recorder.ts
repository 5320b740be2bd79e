// Writes what came of deliveries, many in one statement. What cannot be written now stays here and is
// tried again; meanwhile its event counts as in hand and is not read a second time.
import type { Database } from '../../../runtime/db/database.ts';
import type { Log } from '../../../runtime/observability/log.ts';
import { type DueEvent, type Outcome, recordOutcomes } from './store.ts';

interface RecorderOptions {
  db: Database;
  log: Log;
  /** Called for each event once its result is written. */
  written(event: DueEvent): void;
}

interface Recorder {
  add(event: DueEvent, outcome: Outcome): void;
  /** Tries again what could not be written. */
  tick(): void;
  /** Writes everything now; rejects with the database's error. */
  flush(): Promise<void>;
}

const AT_ONCE = 500;
/** A statement for every few results would cost more than the results are worth. */
const GATHER_MS = 10;

/** Whether the fault lies in the values: trying the same again cannot help. */
const isBadValue = (error: unknown) =>
  /^2[23]/.test(String((error as { code?: unknown } | null)?.code ?? ''));

export function createRecorder({ db, log, written }: RecorderOptions): Recorder {
  const pending: { event: DueEvent; outcome: Outcome }[] = [];
  let writer: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let size = AT_ONCE;

  async function writeSome(): Promise<void> {
    const batch = pending.slice(0, size);
    const outcomes = batch.map((each) => each.outcome);
    try {
      await recordOutcomes(db, outcomes);
      size = Math.min(AT_ONCE, size * 2);
    } catch (error) {
      // Alone, a result that cannot be written holds up only itself.
      size = 1;
      if (!isBadValue(error)) throw error;
      if (batch.length > 1) return;
      log.error({ err: error, event: batch[0]?.event.id }, 'delivery cannot be recorded');
    }
    pending.splice(0, batch.length);
    for (const { event } of batch) written(event);
  }

  async function writeAll(): Promise<void> {
    while (pending.length) await writeSome();
  }

  function inTurn(): Promise<void> {
    const turn = writer.then(writeAll);
    writer = turn.catch(() => undefined);
    return turn;
  }

  function inBackground(): void {
    inTurn().catch((error: unknown) => log.error({ err: error }, 'deliveries not recorded yet'));
  }

  return {
    add(event, outcome) {
      pending.push({ event, outcome });
      timer ??= setTimeout(() => {
        timer = undefined;
        inBackground();
      }, GATHER_MS);
    },
    tick() {
      if (pending.length) inBackground();
    },
    flush() {
      clearTimeout(timer);
      timer = undefined;
      return inTurn();
    },
  };
}
