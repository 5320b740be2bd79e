// Readiness of the server for load balancers: whether it can commit. The probe commits a
// transaction on a separate connection and writes a temporary file, because a small commit still
// succeeds on a full disk while existing pages have free space. It needs no table, so any number of
// processes probe without waiting for each other.
import type pg from 'pg';
import { connectDatabase } from '../db/connections/connect.ts';
import { cancelWait, hasCanceledWait } from '../db/connections/replication.ts';
import { within } from './within.ts';

/** Response of `/readyz`. 200 for the first, 503 for the others. */
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
  /** The first platform and its credentials exist. */
  started(): void;
  /** Closes the probe's connection. The status is `stopping` from now on. */
  stop(): void;
}

interface ReadinessOptions {
  url: string;
  /** Whether a change set can be written: at least one lane of the committer is connected. */
  hasLane(): boolean;
  /** Deadline for the database's response. */
  deadlineMs?: number;
  /** Period for which a result is valid. At most one probe within it. */
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
  // Without a severity the error does not come from PostgreSQL.
  return severity === undefined || /^(57P|08)/.test(code ?? '')
    ? 'database unreachable'
    : 'database cannot commit';
}

/** One connection, opened on demand and dropped after any failure. */
function createProbe(url: string, deadlineMs: number) {
  let client: pg.Client | undefined;
  /** The status if the database does not respond any more. */
  let silentStatus: ReadyStatus = 'database unreachable';

  function drop(): void {
    const last = client;
    client = undefined;
    last?.connection.stream.destroy();
  }

  /** Opens the connection. One that is opened too late is closed. */
  async function openConnection(signal: AbortSignal): Promise<pg.Client> {
    const opened = await connectDatabase(url, {
      name: 'railhead readiness',
      settings: ['default_transaction_read_only = off'],
      timeoutMs: deadlineMs,
      confirmed: false, // the probe itself commits
    });
    if (signal.aborted) {
      opened.connection.stream.destroy();
      throw new Error('the connection was opened too late');
    }
    client = opened;
    opened.on('end', () => client === opened && drop());
    return opened;
  }

  async function commit(signal: AbortSignal): Promise<ReadyStatus> {
    silentStatus = 'database unreachable';
    const current = client ?? (await openConnection(signal));
    await current.query(WORK);
    silentStatus = 'database cannot commit';
    await current.query('commit');
    return hasCanceledWait(current) ? 'database cannot commit' : 'ready';
  }

  return {
    drop,
    async run(): Promise<ReadyStatus> {
      const outcome: { status?: ReadyStatus } = {};
      const timeout = new AbortController();
      const work = commit(timeout.signal).catch(statusOf);
      await within(
        deadlineMs,
        work.then((status) => {
          outcome.status = status;
        }),
      );
      timeout.abort();
      const { status = silentStatus } = outcome;
      // A commit that waits for a replica would occupy its backend until there is one.
      if (outcome.status === undefined && client) void cancelWait(client);
      // The transaction may be incomplete or the response outstanding: the next probe needs a new
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
  let latest: Promise<ReadyStatus> | undefined;
  let validUntilMs = 0;

  function probed(): Promise<ReadyStatus> {
    if (latest && performance.now() < validUntilMs) return latest;
    validUntilMs = Infinity;
    latest = probe.run().finally(() => {
      validUntilMs = performance.now() + validMs;
    });
    return latest;
  }

  return {
    async check() {
      if (phase !== 'serving') return phase;
      const status = await probed();
      return status === 'ready' && !hasLane() ? 'database unreachable' : status;
    },
    started() {
      if (phase === 'starting') phase = 'serving';
    },
    stop() {
      phase = 'stopping';
      probe.drop();
    },
  };
}
