// Readiness of the server for load balancers, which is its ability to commit. The probe commits a
// transaction on a separate connection and writes a temporary file, because a small commit can succeed on a
// full disk. The probe uses no table, so that processes never wait for each other.
import type pg from 'pg';
import { readDatabaseUrl } from '../../kernel/net/database-url.ts';
import { connectDatabase, UNCONFIRMED } from '../db/connections/connect.ts';
import { cancelWait, hasCanceledWait } from '../db/connections/replication.ts';
import { within } from './within.ts';

/** Response of `/readyz`. 200 for `ready`, 503 for the other statuses. */
export type ReadyStatus =
  | 'ready'
  | 'starting'
  | 'stopping'
  | 'disk full'
  | 'database read-only'
  | 'database cannot commit'
  | 'database unreachable';

export interface Readiness {
  check(): Promise<ReadyStatus>;
  /** Called when the process can serve. With the role `api`, the first platform then exists. */
  markStarted(): void;
  /** Closes the connection of the probe and sets the status to `stopping`. */
  stop(): void;
}

interface ReadinessOptions {
  url: string;
  /** Whether a change set can be written, which requires a connected lane of the committer. */
  hasLane(): boolean;
  /** Deadline for the database's response. */
  deadlineMs?: number;
  /** Period for which a result is valid. There is at most one probe in this period. */
  validMs?: number;
}

// The message is a record in the write-ahead log, which a commit flushes. 30,000 rows in 64 kB of
// memory become a temporary file of 400 kB, in 4 ms.
const WORK = `begin; set local work_mem = '64kB';
  select pg_logical_emit_message(true, 'railhead', 'ready');
  select count(*) from generate_series(1, 30000)`;

function statusOf(error: unknown): ReadyStatus {
  const { code, severity } = error as { code?: string; severity?: string };
  if (code === '53100') return 'disk full';
  if (code === '25006') return 'database read-only';
  if (code === UNCONFIRMED) return 'database cannot commit';
  // An error without a severity is not an error of PostgreSQL.
  return severity === undefined || /^(57P|08)/.test(code ?? '')
    ? 'database unreachable'
    : 'database cannot commit';
}

/** Probes with one connection, which is opened on demand and dropped after any failure. */
function createProbe(url: string, deadlineMs: number) {
  let client: pg.Client | undefined;
  const hasSeveralHosts = readDatabaseUrl(url).hosts.length > 1;
  /** The status if the database no longer responds. */
  let silentStatus: ReadyStatus = 'database unreachable';

  function drop(): void {
    const lastClient = client;
    client = undefined;
    lastClient?.connection.stream.destroy();
  }

  /** Opens the connection. A connection that is opened after the deadline is closed. */
  async function openConnection(signal: AbortSignal): Promise<pg.Client> {
    const openedClient = await connectDatabase(url, {
      name: 'railhead readiness',
      settings: ['default_transaction_read_only = off'],
      timeoutMs: deadlineMs,
      // The probe commits. With several hosts, only a confirmed commit shows which one is the primary.
      confirmed: hasSeveralHosts,
      confirmMs: deadlineMs / 2,
    });
    if (signal.aborted) {
      openedClient.connection.stream.destroy();
      throw new Error('the connection was opened too late');
    }
    client = openedClient;
    openedClient.on('end', () => client === openedClient && drop());
    return openedClient;
  }

  async function commit(signal: AbortSignal): Promise<ReadyStatus> {
    silentStatus = 'database unreachable';
    const currentClient = client ?? (await openConnection(signal));
    await currentClient.query(WORK);
    silentStatus = 'database cannot commit';
    await currentClient.query('commit');
    return hasCanceledWait(currentClient) ? 'database cannot commit' : 'ready';
  }

  return {
    drop,
    async run(): Promise<ReadyStatus> {
      const outcome: { status?: ReadyStatus } = {};
      const abortController = new AbortController();
      const work = commit(abortController.signal).catch(statusOf);
      await within(
        deadlineMs,
        work.then((status) => {
          outcome.status = status;
        }),
      );
      abortController.abort();
      const { status = silentStatus } = outcome;
      // A commit that waits for a replica would occupy its backend until a replica confirms it.
      if (outcome.status === undefined && client) void cancelWait(client);
      // The transaction may be incomplete or the response outstanding, so the next probe needs a new
      // connection.
      if (status !== 'ready') drop();
      return status;
    },
  };
}

export function createReadiness(options: ReadinessOptions): Readiness {
  const { url, hasLane, deadlineMs = 1_000, validMs = 1_000 } = options;
  const probe = createProbe(url, deadlineMs);
  let phase: 'starting' | 'serving' | 'stopping' = 'starting';
  let latestProbe: Promise<ReadyStatus> | undefined;
  let validUntilMs = 0;

  function probeOnce(): Promise<ReadyStatus> {
    if (latestProbe && performance.now() < validUntilMs) return latestProbe;
    validUntilMs = Infinity;
    latestProbe = probe.run().finally(() => {
      validUntilMs = performance.now() + validMs;
    });
    return latestProbe;
  }

  return {
    async check() {
      if (phase !== 'serving') return phase;
      const status = await probeOnce();
      return status === 'ready' && !hasLane() ? 'database unreachable' : status;
    },
    markStarted() {
      if (phase === 'starting') phase = 'serving';
    },
    stop() {
      phase = 'stopping';
      probe.drop();
    },
  };
}
