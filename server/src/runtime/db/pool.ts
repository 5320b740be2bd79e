// Connections for reading. Each connection accepts several queries without waiting for earlier results, so
// few connections serve many requests. A lost connection is reopened by the next query that uses it. All
// idle connections except one are closed, because each connection costs the database 2 to 3 MB.
import pg from 'pg';
import { Fault } from '../../kernel/fault.ts';
import { connectDatabase } from './connections/connect.ts';
import { type ConnectionLimits, nextLifetime, RESPONSE_MARGIN_MS } from './connections/limits.ts';
import { hasCanceledWait } from './connections/replication.ts';
import { parseInt8s, parseTime, type ResultRow } from './decode.ts';

interface PoolOptions extends ConnectionLimits {
  url: string;
  size: number;
  /**
   * Interval of the check for idle and old connections. A connection without a query for one to two
   * intervals is closed. Defaults to 4,000.
   */
  idleMs?: number;
}

interface Statement {
  text: string;
  /** Null, text, numbers, bigints, booleans, dates, bytes, `pgArray`s, or plain arrays of text. */
  values: unknown[];
  /** Whether the statement is prepared under a name and reused, for texts that are used repeatedly. */
  prepared: boolean;
  /** Whether the statement may run a second time if the connection breaks. */
  repeatable: boolean;
}

interface Pool {
  /**
   * The rows of a statement. Throws SERVICE_UNAVAILABLE if the pool is closed, if the database cannot be
   * reached or if too many queries are in flight. Any other error is an error of the database.
   */
  run(statement: Statement): Promise<ResultRow[]>;
  /** Writes statements together to one connection. Each statement has a separate result. */
  runSeparately(statements: readonly Statement[]): Promise<ResultRow[]>[];
  stats(): PoolStats;
  /** Waits for queries in flight and closes the connections. */
  close(): Promise<void>;
}

export interface PoolStats {
  /** Connections that are open or being opened. */
  open: number;
  maximum: number;
  /** Queries in flight. */
  queries: number;
}

interface Slot {
  client: Promise<pg.Client> | undefined;
  /** The connected client, with which a query starts without waiting for a promise. */
  connectedClient: pg.Client | undefined;
  load: number;
  /** Whether a query used the connection since the last check for idle connections. */
  used: boolean;
  /** Time at which the connection is replaced because of its age. */
  expiresAt: number;
  /** Time of the last response, or of the first query in flight if it is later. */
  respondedAt: number;
}

const MAX_IN_FLIGHT = 20_000;
const MAX_NAMES = 500;
const IDLE_MS = 4_000;

const PARSERS: Record<number, (text: string) => unknown> = {
  20: BigInt,
  1016: parseInt8s,
  1184: parseTime,
};

/** Parsers of these connections: bigint for int8, including arrays, and milliseconds for timestamptz. */
export const isolatedTypes = {
  getTypeParser: ((oid: number, format?: 'text') =>
    (format !== ('binary' as string) && PARSERS[oid]) ||
    pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

async function connect({ url, ...options }: PoolOptions): Promise<pg.Client> {
  const { statementTimeoutMs, lockTimeoutMs } = options;
  const client = connectDatabase(url, {
    name: 'railhead reader',
    settings: [
      "timezone = 'UTC'",
      "datestyle = 'ISO'",
      `statement_timeout = ${statementTimeoutMs}`,
      `lock_timeout = ${lockTimeoutMs}`,
    ],
    pipeline: true,
    types: isolatedTypes,
  });
  return client.catch((cause: Error) => {
    // An error of a connection, such as too many connections, is not an error of the statement.
    if ('severity' in cause)
      throw Object.assign(new Error(cause.message, { cause }), { isRejectedConnection: true });
    throw cause;
  });
}

/**
 * Whether the connection broke or could not be opened, or the server became a standby. False for other
 * errors of the database.
 */
function isBroken(error: unknown): boolean {
  const { code, severity } = error as { code?: string; severity?: string };
  return severity === undefined || /^(57P|08|25P03|25006)/.test(code ?? '');
}

const unavailableFault = (reason: string, cause?: unknown) =>
  new Fault('SERVICE_UNAVAILABLE', reason, undefined, { retryAfterS: 1, cause });

/** Removes a client from its slot, so that a later query opens another connection. */
function removeClient(slot: Slot, client: Promise<pg.Client>): void {
  if (slot.client !== client) return;
  slot.client = undefined;
  slot.connectedClient = undefined;
}

/**
 * Removes a connection from its slot. The connection is closed after its queries in flight, or after
 * `deadlineMs`.
 */
function retire(slot: Slot, client: Promise<pg.Client>, deadlineMs: number): void {
  removeClient(slot, client);
  client.then(
    (connectedClient) => {
      const timer = setTimeout(
        () => connectedClient.connection.stream.destroy(),
        deadlineMs,
      ).unref();
      connectedClient.end().finally(() => clearTimeout(timer));
    },
    () => undefined,
  );
}

/** Throws for a connection whose wait for a replica was canceled, so that it is not used again. */
function assertConfirmed(client: pg.Client): void {
  if (hasCanceledWait(client)) throw new Error('no replica has confirmed the commit');
}

const leastLoadedSlot = (slots: readonly Slot[]) =>
  slots.reduce((min, each) => (each.load < min.load ? each : min));

export function createPool(options: PoolOptions): Pool {
  const { size, statementTimeoutMs, maxAgeMs, idleMs = IDLE_MS } = options;
  const deadlineMs = statementTimeoutMs + RESPONSE_MARGIN_MS;
  const slots: Slot[] = Array.from({ length: size }, () => ({
    ...{ client: undefined, connectedClient: undefined, load: 0, used: false },
    ...{ expiresAt: 0, respondedAt: 0 },
  }));
  const names = new Map<string, string>();
  let inFlight = 0;
  let isClosed = false;

  function nameOf(text: string): string | undefined {
    const cachedName = names.get(text);
    if (cachedName || names.size >= MAX_NAMES) return cachedName;
    const name = `read_${names.size + 1}`;
    names.set(text, name);
    return name;
  }

  function clientOf(slot: Slot): Promise<pg.Client> {
    // A closed connection to a former primary emits `end` only later.
    if (slot.client && slot.connectedClient?.connection.stream.destroyed)
      removeClient(slot, slot.client);
    if (slot.client) return slot.client;
    const clientPromise = connect(options);
    const onEnd = () => removeClient(slot, clientPromise);
    slot.client = clientPromise;
    slot.expiresAt = performance.now() + nextLifetime(maxAgeMs);
    clientPromise.then((client) => {
      slot.connectedClient = client;
      client.on('end', onEnd);
    }, onEnd);
    return clientPromise;
  }

  async function runOn(slot: Slot, { text, values, prepared }: Statement): Promise<ResultRow[]> {
    if (slot.load++ === 0) slot.respondedAt = performance.now();
    slot.used = true;
    const clientPromise = clientOf(slot);
    try {
      const client = slot.connectedClient ?? (await clientPromise);
      const name = prepared ? nameOf(text) : undefined;
      const { rows } = await client.query<ResultRow>({ name, text, values });
      assertConfirmed(client);
      return rows;
    } catch (error) {
      // Retired here, because the `end` event may follow the next query.
      if (isBroken(error)) retire(slot, clientPromise, deadlineMs);
      throw error;
    } finally {
      slot.load--;
      slot.respondedAt = performance.now();
    }
  }

  /** Closes connections without a recent query, except the first, which is preferred. */
  function closeIdleConnections(): void {
    for (const slot of slots.slice(1)) {
      const idleClient = slot.load === 0 && !slot.used ? slot.client : undefined;
      slot.used = false;
      if (idleClient) retire(slot, idleClient, deadlineMs);
    }
  }

  /** Replaces old connections and connections whose host no longer responds. */
  function replaceOldConnections(): void {
    const now = performance.now();
    for (const slot of slots) {
      if (!slot.client) continue;
      const isDead = slot.load > 0 && now - slot.respondedAt > deadlineMs;
      if (isDead) slot.connectedClient?.connection.stream.destroy();
      else if (now > slot.expiresAt) retire(slot, slot.client, deadlineMs);
    }
  }

  const timer = setInterval(() => {
    closeIdleConnections();
    replaceOldConnections();
  }, idleMs);
  timer.unref();

  /** The slots that remain if PostgreSQL rejects further connections. The statement was not sent. */
  function slotsAfterRejection(error: unknown): readonly Slot[] {
    const { isRejectedConnection } = error as { isRejectedConnection?: boolean };
    return isRejectedConnection ? slots.filter(({ connectedClient }) => connectedClient) : [];
  }

  async function run(statement: Statement, preferredSlot?: Slot): Promise<ResultRow[]> {
    if (isClosed) throw unavailableFault('The server is shutting down. Retry the request.');
    if (inFlight >= MAX_IN_FLIGHT)
      throw unavailableFault('Too many requests are waiting for the database. Retry the request.');
    inFlight++;
    try {
      let slot = preferredSlot ?? leastLoadedSlot(slots);
      for (let remainingAttempts = statement.repeatable ? 2 : 1; ; ) {
        try {
          return await runOn(slot, statement);
        } catch (error) {
          if (!isBroken(error)) throw error;
          const connectedSlots = slotsAfterRejection(error);
          if (connectedSlots.length === 0 && --remainingAttempts === 0)
            throw unavailableFault('The database is unavailable. Retry the request.', error);
          slot = leastLoadedSlot(connectedSlots.length > 0 ? connectedSlots : slots);
        }
      }
    } finally {
      inFlight--;
    }
  }

  return {
    run: (statement) => run(statement),
    runSeparately(statements) {
      const slot = leastLoadedSlot(slots);
      const stream = slot.connectedClient?.connection.stream;
      stream?.cork();
      try {
        return statements.map((each) => run(each, slot));
      } finally {
        stream?.uncork();
      }
    },
    stats: () => ({
      open: slots.filter(({ client }) => client !== undefined).length,
      maximum: size,
      queries: inFlight,
    }),
    async close() {
      isClosed = true;
      clearInterval(timer);
      const openClients = slots.flatMap((slot) => (slot.client ? [slot.client] : []));
      await Promise.all(
        openClients.map((client) => client.then((each) => each.end()).catch(() => undefined)),
      );
    },
  };
}
