// Group commit. Waiting change sets are written together in one transaction, and each is accepted or
// rejected independently. A batch needs its locks and its disk flush once, so many concurrent payments of
// one account are fast. Several lanes work concurrently, because a lane waits for the disk during its
// commit.
import type pg from 'pg';
import { Fault } from '../../kernel/fault.ts';
import { validateTransfers } from '../../ledger/books.ts';
import { type Lane, openLane } from '../db/lane.ts';
import type { Statement } from '../db/statement.ts';
import { type BatchFormat, tableOrder } from './batch.ts';
import type { ChangeSet, Outcome } from './change-set.ts';
import { createQueue, createUnit, type Queue, type Unit } from './queue.ts';
import { type BatchCounters, settle, type Verdict } from './settle.ts';

/** The report of a batch for metrics. `mode` is the most expensive mode of its parts. */
export interface BatchReport {
  units: number;
  ms: number;
  mode: 'optimistic' | 'careful' | 'repeated';
}

interface CommitterOptions {
  /**
   * Opens a connection for a lane (`connectLane`). Called again to replace a lost or old
   * connection.
   */
  connect(): Promise<pg.Client>;
  lanes?: number;
  /** Maximum change sets in a batch. */
  max?: number;
  /**
   * Minimum waiting change sets for a further lane while other lanes are busy. After
   * `smallBatchDelayMs`, fewer are sufficient.
   */
  min?: number;
  smallBatchDelayMs?: number;
  /** Maximum queued change sets. Further change sets are rejected with SERVICE_UNAVAILABLE. */
  maxWaiting?: number;
  /** Names of tables that are written before all other tables, for foreign keys. */
  tablesFirst?: readonly string[];
  /**
   * Queues events, with the parameters of `BatchFormat.enqueue`. If absent, no events are
   * delivered.
   */
  enqueue?: Statement;
  /** Maximum time of a round trip. The batch is then abandoned together with its connection. */
  timeoutMs?: number;
  /** Approximate age at which connections are replaced. */
  maxAgeMs?: number;
  /**
   * While no lane is connected, all queued change sets are rejected this long after the first of
   * them.
   */
  maxDownMs?: number;
  /** A monotonic clock in milliseconds, for `onBatch`. */
  elapsed?(): number;
  onBatch?(report: BatchReport): void;
}

interface CommitterStats {
  batches: number;
  units: number;
  /** Batches, or parts of batches, that were validated before writing. */
  careful: number;
  /**
   * Rejected attempts that validation did not resolve, including attempts with a part of a batch.
   */
  retries: number;
  waiting: number;
  writing: number;
  /** Number of connected lanes. */
  lanes: number;
  busyLanes: number;
  /** Total number of lanes. */
  maxLanes: number;
}

export interface Committer {
  /**
   * Writes a change set completely or not at all. A rejection is a normal result. The promise
   * rejects with SERVICE_UNAVAILABLE if the queue is full or the database cannot write now. The
   * code is NOT_COMMITTED if the committer was closed first. The code is OUTCOME_UNKNOWN if the
   * connection broke before the result, or if the commit may be on no replica. Any other error is
   * an error of the database or of a value that does not fit its column. Only with OUTCOME_UNKNOWN
   * may the change set have been written.
   */
  commit(set: ChangeSet): Promise<Outcome>;
  stats(): CommitterStats;
  /** Accepts no more change sets and waits until all accepted change sets are settled. */
  close(): Promise<void>;
}

const ACCEPTED: Outcome = { ok: true };

const notCommittedError = () =>
  Object.assign(new Error('the committer is closed'), { code: 'NOT_COMMITTED' });

const queueFullFault = () =>
  new Fault('SERVICE_UNAVAILABLE', 'Too many requests are waiting. Try again later.', undefined, {
    retryAfterS: 1,
  });

const connectionFault = () =>
  new Fault('SERVICE_UNAVAILABLE', 'The database is unavailable. Retry the request.', undefined, {
    retryAfterS: 1,
  });

const isEmpty = (set: ChangeSet) =>
  set.inserts.length +
    set.updates.length +
    set.removes.length +
    set.requires.length +
    set.transfers.length +
    set.freezes.length +
    set.events.length ===
  0;

/**
 * Settles a batch on a lane, in halves if needed. After a lost connection, the halves that were not
 * sent return to the queue.
 */
async function settleBatch(
  lane: Lane,
  batch: Unit[],
  queue: Queue,
  format: BatchFormat,
): Promise<BatchCounters> {
  const counters = { separateRounds: 0, retries: 0 };
  const settleAll = (group: readonly Unit[], settleUnit: (unit: Unit, i: number) => void) =>
    group.forEach((unit, i) => {
      queue.release(unit);
      settleUnit(unit, i);
    });
  const groups = [batch];
  for (let group = groups.shift(); group; group = groups.shift()) {
    try {
      const sets = group.map((unit) => unit.set);
      const verdicts = await settle(lane, sets, format, counters);
      if (verdicts) {
        settleAll(group, (unit, i) => {
          const verdict = verdicts[i] as Verdict;
          if (verdict instanceof Error) unit.reject(verdict);
          else unit.resolve(verdict);
        });
      } else {
        const half = group.length >> 1;
        groups.unshift(group.slice(0, half), group.slice(half));
      }
    } catch (error) {
      settleAll(group, (unit) => unit.reject(error));
      queue.returnToFront(groups.flat());
      break;
    }
  }
  return counters;
}

const modeOf = ({ separateRounds, retries }: BatchCounters): BatchReport['mode'] =>
  retries ? 'repeated' : separateRounds ? 'careful' : 'optimistic';

/** Number of lanes of a committer. With more lanes, batches are smaller. */
export const LANES = 2;

/** A committer whose lanes connect immediately and reconnect until it is closed. */
export function createCommitter(options: CommitterOptions): Committer {
  const { lanes: laneCount = LANES, max = 256, min = 16, maxWaiting = 20_000 } = options;
  const { smallBatchDelayMs = 5 } = options;
  const { elapsed = () => 0, onBatch, timeoutMs = 25_000, maxDownMs = 10_000 } = options;
  const format = { order: tableOrder(options.tablesFirst ?? []), enqueue: options.enqueue };
  const queue = createQueue();
  const idleLanes = new Set<Lane>();
  const busyLanes = new Set<Lane>();
  const counts = { batches: 0, units: 0, careful: 0, retries: 0 };
  let writingCount = 0;
  let isScheduled = false;
  /** Active while a few change sets wait for a busy lane. */
  let smallBatchTimer: NodeJS.Timeout | undefined;
  /** Started when change sets wait and no lane is connected. */
  let downTimer: NodeJS.Timeout | undefined;
  let resolveDrain: (() => void) | undefined;

  // If one lane takes the complete queue, the other lane has no work, and Node and PostgreSQL run
  // alternately.
  const batchLimit = () =>
    Math.min(max, Math.max(min, Math.ceil((queue.waiting + writingCount) / laneCount)));

  async function run(lane: Lane, batch: Unit[]): Promise<void> {
    const startMs = elapsed();
    counts.batches++;
    counts.units += batch.length;
    writingCount += batch.length;
    const counters = await settleBatch(lane, batch, queue, format);
    writingCount -= batch.length;
    counts.careful += counters.separateRounds;
    counts.retries += counters.retries;
    busyLanes.delete(lane);
    if (lane.isConnected) idleLanes.add(lane);
    onBatch?.({ units: batch.length, ms: elapsed() - startMs, mode: modeOf(counters) });
    schedule();
  }

  /**
   * Whether a batch should wait for a busy lane, because many small batches cost more than they save. A
   * lane that waits for a lock can be busy for seconds.
   */
  function isTooSmall(): boolean {
    if (busyLanes.size === 0 || queue.waiting >= min) return false;
    smallBatchTimer ??= setTimeout(() => {
      smallBatchTimer = undefined;
      startBatches(true);
    }, smallBatchDelayMs);
    return true;
  }

  /** Rejects the queued change sets, none of which was written, if no lane connects in time. */
  function watchConnection(): void {
    if (downTimer || queue.waiting === 0 || lanes.some((lane) => lane.isConnected)) return;
    downTimer = setTimeout(() => {
      downTimer = undefined;
      if (lanes.some((lane) => lane.isConnected)) return;
      for (const unit of queue.clear()) unit.reject(connectionFault());
    }, maxDownMs).unref();
  }

  function startBatches(isOverdue = false): void {
    isScheduled = false;
    for (const lane of idleLanes) {
      if (queue.waiting === 0) break;
      if (!lane.isConnected) {
        idleLanes.delete(lane);
        continue;
      }
      if (!isOverdue && isTooSmall()) break;
      clearTimeout(smallBatchTimer);
      smallBatchTimer = undefined;
      const batch = queue.take(batchLimit());
      if (batch.length === 0) break; // All waiting change sets conflict with change sets in flight.
      idleLanes.delete(lane);
      busyLanes.add(lane);
      void run(lane, batch);
    }
    watchConnection();
    resolveIfDrained();
  }

  /** Waits for the end of this tick, so that all change sets of the tick are sent together. */
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => startBatches());
  }

  function resolveIfDrained(): void {
    if (!resolveDrain || busyLanes.size) return;
    if (idleLanes.size === 0) for (const unit of queue.clear()) unit.reject(notCommittedError());
    if (queue.waiting === 0) resolveDrain();
  }

  const lanes = Array.from({ length: laneCount }, () => {
    const lane: Lane = openLane({
      connect: options.connect,
      timeoutMs,
      maxAgeMs: options.maxAgeMs,
      onUp() {
        if (!busyLanes.has(lane)) idleLanes.add(lane);
        schedule();
      },
    });
    return lane;
  });

  return {
    commit(set) {
      if (resolveDrain) return Promise.reject(notCommittedError());
      if (queue.waiting >= maxWaiting) return Promise.reject(queueFullFault());
      const rejection = validateTransfers(set.transfers);
      if (rejection) return Promise.resolve({ ok: false, rejection });
      if (isEmpty(set)) return Promise.resolve(ACCEPTED);
      return new Promise((resolve, reject) => {
        queue.push(createUnit(set, resolve, reject));
        if (idleLanes.size) schedule();
        else watchConnection();
      });
    },
    stats: () => ({
      ...counts,
      waiting: queue.waiting,
      writing: writingCount,
      lanes: lanes.filter((lane) => lane.isConnected).length,
      busyLanes: busyLanes.size,
      maxLanes: laneCount,
    }),
    async close() {
      await new Promise<void>((resolve) => {
        resolveDrain = resolve;
        schedule();
      });
      await Promise.all(lanes.map((lane) => lane.end()));
    },
  };
}
