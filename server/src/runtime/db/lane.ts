// A connection that runs batches of statements. A batch is sent as a single message with one Sync at its
// end, which PostgreSQL runs as one transaction. A failing statement therefore rolls back the complete
// batch without another round trip. A lost connection is reopened in the background without a limit of
// attempts.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { createSink, putArray, reserve, type Sink } from './arrays.ts';
import { connectDatabase } from './connections/connect.ts';
import { CONNECTION_LIMITS, nextLifetime } from './connections/limits.ts';
import { hasCanceledWait } from './connections/replication.ts';
import type { Bound, Statement } from './statement.ts';

/** A result row, with every value in PostgreSQL's text format. */
export type TextRow = (string | null)[];

export interface Lane {
  /** Whether the lane is connected. */
  readonly isConnected: boolean;
  /**
   * Runs statements in one round trip and returns the rows of each. Rejects with TypeError before
   * sending if a value does not fit its type, and with the database's error if the batch was rolled
   * back. Rejects with code OUTCOME_UNKNOWN if the connection was lost before the result, or if the
   * batch is committed and may be on no replica.
   */
  execute(statements: readonly Bound[]): Promise<TextRow[][]>;
  end(): Promise<void>;
}

interface LaneOptions {
  connect(): Promise<pg.Client>;
  /** Called after the first connection and each reconnection, but not when an old connection is replaced. */
  onUp(): void;
  /** Maximum duration of a batch, which is then abandoned with its connection. */
  timeoutMs: number;
  /** Approximate age at which the connection is replaced. */
  maxAgeMs?: number | undefined;
}

const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 2_000;
const RENEW_RETRY_MS = 10_000;

const unknownOutcomeError = (message: string, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { code: 'OUTCOME_UNKNOWN' });

const lostConnectionError = (cause: unknown) =>
  unknownOutcomeError('the connection was lost before the response', cause);

export const isConnectionError = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === 'OUTCOME_UNKNOWN';

/** Whether PostgreSQL rejected and rolled back the batch. False for a lost connection. */
const isRejection = ({ code }: { code?: unknown }) =>
  typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^(57P|08|25P03)/.test(code);

/** The code after the server has become a standby. Another server accepts writes. */
const READ_ONLY = '25006';

const LANE_SETTINGS = [
  // Custom plans reduce the throughput by 50 % and may lock in another order.
  "plan_cache_mode = 'force_generic_plan'",
  // A batch finds its rows by key. A plan that was cached for a small table must not scan the larger table.
  'enable_seqscan = off',
  'enable_hashjoin = off',
  'enable_mergejoin = off',
  "default_transaction_isolation = 'read committed'",
  'default_transaction_read_only = off',
  "timezone = 'UTC'",
  "datestyle = 'ISO'",
];

interface ConnectLaneOptions {
  /** Name of the connection, as PostgreSQL lists it. */
  name?: string;
  /** Maximum time for which a batch waits for a lock. The batch then fails. */
  lockTimeoutMs?: number;
  statementTimeoutMs?: number;
}

/** Opens a connection for a lane. */
export function connectLane(
  url: string,
  { name = 'railhead committer', ...limits }: ConnectLaneOptions = {},
): Promise<pg.Client> {
  const { statementTimeoutMs, lockTimeoutMs } = { ...CONNECTION_LIMITS, ...limits };
  const settings = [
    ...LANE_SETTINGS,
    `lock_timeout = ${lockTimeoutMs}`,
    `statement_timeout = ${statementTimeoutMs}`,
  ];
  return connectDatabase(url, { name, settings });
}

/** Starts a message of the wire protocol. `close` fills in its length. */
function beginMessage(sink: Sink, type: string): number {
  reserve(sink, 5).write(type, sink.at, 'latin1');
  sink.at += 5;
  return sink.at - 4;
}

function close(sink: Sink, start: number): void {
  sink.buffer.writeInt32BE(sink.at - start, start);
}

function putName(sink: Sink, text: string): void {
  const buffer = reserve(sink, text.length * 3 + 1);
  sink.at += buffer.write(text, sink.at);
  buffer[sink.at++] = 0;
}

function putInt16(sink: Sink, value: number): void {
  reserve(sink, 2).writeInt16BE(value, sink.at);
  sink.at += 2;
}

function putInt32(sink: Sink, value: number): void {
  reserve(sink, 4).writeInt32BE(value, sink.at);
  sink.at += 4;
}

/**
 * Close is sent first, because a second preparation of a statement is an error, and a missing statement can
 * be closed.
 */
function putPrepare(sink: Sink, statement: Statement): void {
  let start = beginMessage(sink, 'C');
  putName(sink, `S${statement.name}`);
  close(sink, start);
  start = beginMessage(sink, 'P');
  putName(sink, statement.name);
  putName(sink, statement.text);
  putInt16(sink, 0); // The casts of the statement determine the types.
  close(sink, start);
}

function putRun(sink: Sink, { statement, columns }: Bound): void {
  let start = beginMessage(sink, 'B');
  putName(sink, ''); // The unnamed portal.
  putName(sink, statement.name);
  putInt16(sink, 1);
  putInt16(sink, 1); // Every parameter is binary.
  putInt16(sink, columns.length);
  columns.forEach((values, i) => {
    const type = statement.types[i];
    if (!type) throw new TypeError(`${statement.name} takes no parameter ${i + 1}`);
    const lengthAt = sink.at;
    putInt32(sink, 0);
    putArray(sink, type, values);
    sink.buffer.writeInt32BE(sink.at - lengthAt - 4, lengthAt);
  });
  putInt16(sink, 0); // Every result is text.
  close(sink, start);
  start = beginMessage(sink, 'E');
  putName(sink, '');
  putInt32(sink, 0); // All rows.
  close(sink, start);
}

/** Encodes all messages including Sync. Adds the names of new prepared statements to `newNames`. */
function encode(
  sink: Sink,
  statements: readonly Bound[],
  preparedNames: ReadonlySet<string>,
  newNames: Set<string>,
): Buffer {
  sink.at = 0;
  for (const bound of statements) {
    const { statement } = bound;
    if (!preparedNames.has(statement.name) && !newNames.has(statement.name)) {
      putPrepare(sink, statement);
      newNames.add(statement.name);
    }
    putRun(sink, bound);
  }
  close(sink, beginMessage(sink, 'S'));
  return sink.buffer.subarray(0, sink.at);
}

/** Sends a message on a client of `pg`, which passes the results to the submitted query object. */
function send(client: pg.Client, message: Buffer): Promise<TextRow[][]> {
  return new Promise((resolve, reject) => {
    const responses: TextRow[][] = [];
    let rows: TextRow[] = [];
    client.query({
      submit: (connection: pg.Connection) => void connection.stream.write(message),
      handleRowDescription: () => undefined,
      handleDataRow: ({ fields }: { fields: TextRow }) => void rows.push(fields),
      handleCommandComplete() {
        responses.push(rows);
        rows = [];
      },
      handleError: reject,
      handleReadyForQuery: () => resolve(responses),
    });
  });
}

/** The connection of a lane, which reconnects until it is closed. */
function createLaneConnection({ connect, onUp, maxAgeMs }: Omit<LaneOptions, 'timeoutMs'>) {
  const preparedNames = new Set<string>();
  const abortController = new AbortController();
  const { signal } = abortController;
  let sink = createSink(65_536);
  let client: pg.Client | undefined;
  /** Replaces the client as soon as it runs no transaction. */
  let successor: pg.Client | undefined;
  let isBusy = false;
  let isRenewing = false;
  let timer: NodeJS.Timeout | undefined;

  function use(newClient: pg.Client): void {
    preparedNames.clear();
    sink = createSink(65_536); // A closed socket may still use the previous buffer.
    client = newClient;
    newClient.on('error', () => drop(newClient)).on('end', () => drop(newClient));
    if (maxAgeMs !== undefined) renewAfter(nextLifetime(maxAgeMs));
  }

  function renewAfter(delayMs: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => void renew(), delayMs).unref();
  }

  async function renew(): Promise<void> {
    if (isRenewing || signal.aborted) return;
    isRenewing = true;
    try {
      const newClient = await connect();
      if (signal.aborted || successor) return void newClient.end();
      successor = newClient;
      newClient.on('end', () => {
        if (successor === newClient) successor = undefined;
      });
      replaceIfIdle();
    } catch {
      renewAfter(RENEW_RETRY_MS);
    } finally {
      isRenewing = false;
    }
  }

  function replaceIfIdle(): void {
    if (!successor || !client || isBusy || client.getTransactionStatus() !== 'I') return;
    const [lastClient, newClient] = [client, successor];
    successor = undefined;
    use(newClient);
    void lastClient.end();
  }

  function drop(lostClient: pg.Client): void {
    if (client !== lostClient) return;
    client = undefined;
    lostClient.connection.stream.destroy();
    if (!signal.aborted) void reconnect();
  }

  async function reconnect(): Promise<void> {
    for (let delayMs = FIRST_RETRY_MS; !signal.aborted; ) {
      try {
        const newClient = successor ?? (await connect());
        if (signal.aborted) return await newClient.end();
        if (newClient === successor) successor = undefined;
        use(newClient);
        return onUp();
      } catch {
        await sleep(delayMs, undefined, { signal }).catch(() => undefined);
        delayMs = Math.min(delayMs * 2, MAX_RETRY_MS);
      }
    }
  }

  void reconnect();
  return {
    /** The present client. A closed connection to a former primary emits `end` only later. */
    client: () => (client?.connection.stream.destroyed ? undefined : client),
    /**
     * Encodes a message for the present client. The result includes the names of the statements that the
     * message prepares.
     */
    encode(statements: readonly Bound[]) {
      const newNames = new Set<string>();
      return { message: encode(sink, statements, preparedNames, newNames), newNames };
    },
    prepared: preparedNames,
    drop,
    renew,
    setBusy(value: boolean): void {
      isBusy = value;
      replaceIfIdle();
    },
    async end(): Promise<void> {
      abortController.abort();
      clearTimeout(timer);
      const lastClients = [client, successor];
      client = undefined;
      successor = undefined;
      await Promise.all(lastClients.map((each) => each?.end()));
    },
  };
}

/** Opens a lane, which connects immediately and reconnects until `end` is called. */
export function openLane({ timeoutMs, ...options }: LaneOptions): Lane {
  const connection = createLaneConnection(options);

  async function execute(statements: readonly Bound[]): Promise<TextRow[][]> {
    const currentClient = connection.client();
    if (!currentClient) throw lostConnectionError('the lane is down');
    const { message, newNames } = connection.encode(statements);
    const timer = setTimeout(() => connection.drop(currentClient), timeoutMs);
    connection.setBusy(true);
    try {
      const responses = await send(currentClient, message);
      for (const name of newNames) connection.prepared.add(name);
      if (hasCanceledWait(currentClient))
        throw unknownOutcomeError('no replica has confirmed the commit');
      return responses;
    } catch (error) {
      if (connection.client() === currentClient && isRejection(error as { code?: unknown })) {
        if ((error as { code?: unknown }).code === READ_ONLY) void connection.renew();
        throw error;
      }
      connection.drop(currentClient);
      throw isConnectionError(error) ? error : lostConnectionError(error);
    } finally {
      clearTimeout(timer);
      connection.setBusy(false);
    }
  }

  return {
    get isConnected() {
      return connection.client() !== undefined;
    },
    execute,
    end: connection.end,
  };
}
