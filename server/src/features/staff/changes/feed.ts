// Changes of the installation for operators who follow them: events of platforms, and audit records. One loop
// per process reads them for all connections, soon after commits of this process and several times per second
// for commits of other processes. The loop runs while a connection is open. It also closes connections whose
// session has ended or whose rights have changed.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Operator } from '../../../kernel/caller.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Log } from '../../../runtime/observability/log.ts';
import type { Metrics } from '../../../runtime/observability/metrics.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { eventsOfPlatforms, horizonOf } from '../../notifications/events/index.ts';
import { allPlatformIds } from '../../tenancy/operator-lists/index.ts';
import { recordHeads } from '../audit/index.ts';
import { sessions } from '../users/index.ts';
import { type Connection, createConnection, type Resumption } from './connection.ts';
import { type ChangePosition, positionOfCursor } from './cursor.ts';

/** Maximum number of connections in one process, per operator and in total. */
const MAX_OF_OPERATOR = 10;
const MAX_CONNECTIONS = 500;
/** Poll interval for changes of other processes. */
const POLL_MS = 250;
/** Minimum pause between two polls. Polling takes at most a fifth of the time. */
const MIN_PAUSE_MS = 50;
const PAUSE_SHARE = 4;
/** Pause after more changes than one poll reads. */
const OVERFLOW_MS = 1_000;
/** Interval at which sessions and rights are read again. */
const CHECK_MS = 1_000;
/** Maximum changes per poll. If there are more, clients load everything again. */
const MAX_BATCH = 500;

export interface ChangeFeed {
  /** Opens a stream of changes, after a cursor or from the current position. Throws RATE_LIMITED. */
  open(operator: Operator, after: string | undefined): Promise<Connection['stream']>;
  /** Call this after a commit that may have stored events. */
  wake(): void;
  /** Closes all streams. Streams that are opened later are closed immediately. */
  close(): void;
}

interface FeedOptions {
  runtime: Pick<Runtime, 'db' | 'effects'>;
  log: Log;
  metrics: Pick<Metrics, 'watch'>;
}

type FeedDatabase = FeedOptions['runtime']['db'];

/**
 * The changes after a position and the new position. `batch` is undefined if there are too many.
 */
async function readAfter(
  db: FeedDatabase,
  from: ChangePosition,
  platformIds: readonly string[] | null,
) {
  const horizon = await horizonOf(db);
  // Read after the horizon, so that the platform of every event below the horizon is included.
  const ids = platformIds ?? (await allPlatformIds(db));
  const [events, records] = await Promise.all([
    eventsOfPlatforms(db, ids, from, horizon, MAX_BATCH + 1),
    recordHeads.after(db, from.record, MAX_BATCH + 1),
  ]);
  const isComplete = events.length <= MAX_BATCH && records.length <= MAX_BATCH;
  const record = isComplete ? records.at(-1)?.number : await recordHeads.last(db);
  const position: ChangePosition = {
    // The horizon is below the position only after a crash of the database.
    ...(horizon > from.position ? { position: horizon, id: '' } : from),
    record: record ?? from.record,
  };
  return { position, batch: isComplete ? { events, records, position } : undefined };
}

/**
 * Changes that a client has missed since its cursor. Returns a reset if the changes are unknown or too many.
 */
async function missedSince(
  db: FeedDatabase,
  cursor: string,
  { platformIds }: Operator,
): Promise<Resumption | 'reset'> {
  const position = positionOfCursor(cursor);
  if (!position) return 'reset';
  const [horizon, record] = await Promise.all([horizonOf(db), recordHeads.last(db)]);
  // The cursor belongs to another installation.
  if (position.position > horizon || position.record > record) return 'reset';
  const { batch } = await readAfter(db, position, platformIds);
  return batch ? { from: position, missedChanges: batch } : 'reset';
}

const rightsOf = ({ permissions, platformIds }: Operator) =>
  JSON.stringify([permissions, platformIds]);

/** Closes the connections of operators whose session has ended or whose rights have changed. */
async function closeInvalidConnections(
  runtime: FeedOptions['runtime'],
  connections: Iterable<Connection>,
): Promise<void> {
  await Promise.all(
    [...connections].map(async (connection) => {
      const { operator } = connection;
      const currentOperator = await sessions.currentOperator(runtime, operator);
      if (!currentOperator) connection.end('SESSION_ENDED');
      else if (rightsOf(currentOperator) !== rightsOf(operator)) connection.end('ACCESS_CHANGED');
    }),
  );
}

/** The pause before the next poll, which `wake` shortens. */
function createPause() {
  let isWoken = false;
  let wakeUp: (() => void) | undefined;
  return {
    wake() {
      isWoken = true;
      wakeUp?.();
    },
    async until(minimumMs: number): Promise<void> {
      await sleep(minimumMs);
      if (!isWoken) {
        const controller = new AbortController();
        wakeUp = () => controller.abort();
        await sleep(POLL_MS, undefined, { signal: controller.signal }).catch(() => undefined);
        wakeUp = undefined;
      }
      isWoken = false;
    },
  };
}

function assertCapacity(connections: ReadonlySet<Connection>, { id }: Operator): void {
  const openConnections = [...connections].filter(({ operator }) => operator.id === id).length;
  if (openConnections < MAX_OF_OPERATOR && connections.size < MAX_CONNECTIONS) return;
  const reason =
    openConnections < MAX_OF_OPERATOR
      ? 'There are too many open change streams. Try again later.'
      : `The operator has ${MAX_OF_OPERATOR} open streams. Close one of them first.`;
  throw new Fault('RATE_LIMITED', reason, undefined, { retryAfterS: 5 });
}

export function createChangeFeed({ runtime, log, metrics }: FeedOptions): ChangeFeed {
  const { db } = runtime;
  const connections = new Set<Connection>();
  const pause = createPause();
  const now = () => performance.now();
  /**
   * Position up to which changes were passed to the connections, or undefined while there is no
   * connection.
   */
  let currentPosition: ChangePosition | undefined;
  let pendingPosition: Promise<void> | undefined;
  let isRunning = false;
  let isStopping = false;
  let checkedAt = 0;
  metrics.watch(
    'railhead_operator_streams',
    'Open connections that stream changes to operators.',
    () => connections.size,
  );

  /** Returns whether there were too many changes. */
  async function poll(from: ChangePosition): Promise<boolean> {
    const { position, batch } = await readAfter(db, from, null);
    currentPosition = position;
    for (const each of connections) {
      if (batch) each.receive(batch);
      else each.reset(position);
    }
    return batch === undefined;
  }

  async function check(): Promise<void> {
    if (now() - checkedAt < CHECK_MS) return;
    await closeInvalidConnections(runtime, connections);
    checkedAt = now();
  }

  async function run(): Promise<void> {
    while (connections.size && currentPosition) {
      const startedAt = now();
      let isOverflow = false;
      try {
        [isOverflow] = await Promise.all([poll(currentPosition), check()]);
      } catch (error) {
        log.error({ err: error }, 'changes could not be read for operators');
      }
      for (const each of connections) each.tick();
      const minimumMs = Math.max(MIN_PAUSE_MS, (now() - startedAt) * PAUSE_SHARE);
      await pause.until(isOverflow ? OVERFLOW_MS : minimumMs);
    }
    currentPosition = undefined;
    isRunning = false;
  }

  async function findPosition(): Promise<void> {
    const [horizon, record] = await Promise.all([horizonOf(db), recordHeads.last(db)]);
    currentPosition ??= { position: horizon, id: '', record };
  }

  async function connect(operator: Operator): Promise<Connection> {
    while (!currentPosition) {
      pendingPosition ??= findPosition().finally(() => {
        pendingPosition = undefined;
      });
      await pendingPosition;
    }
    assertCapacity(connections, operator);
    const onClose = () => void connections.delete(connection);
    const connection = createConnection({ operator, position: currentPosition, now, onClose });
    connections.add(connection);
    if (isRunning) return connection;
    isRunning = true;
    void run();
    return connection;
  }

  return {
    async open(operator, after) {
      const connection = await connect(operator);
      const { stream } = connection;
      if (isStopping) connection.end('SERVER_STOPPING');
      try {
        const isResumed = after !== undefined && !isStopping;
        connection.begin(isResumed ? await missedSince(db, after, operator) : undefined);
      } catch (error) {
        stream.destroy();
        throw error;
      }
      return stream;
    },
    wake: pause.wake,
    close() {
      isStopping = true;
      for (const each of connections) each.end('SERVER_STOPPING');
      pause.wake();
    },
  };
}
