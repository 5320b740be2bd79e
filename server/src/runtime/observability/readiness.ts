// Readiness of the server for load balancers: whether it can commit. The probe commits a
// transaction on a separate connection and writes a temporary file, because a small commit still
// succeeds on a full disk while existing pages have free space. It needs no table, so any number of
// processes probe without waiting for each other.
import pg from 'pg';
import { within } from './within.ts';

/** Response of `/readyz`; 200 for the first, 503 for the others. */
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
  /** Closes the probe's connection; the status is `stopping` from now on. */
  stop(): void;
}

interface ReadinessOptions {
  url: string;
  /** Whether a change set can be written: at least one lane of the committer is connected. */
  hasLane(): boolean;
  /** Deadline for the database's response. */
  deadlineMs?: number;
  /** Period for which a result is valid; at most one probe within it. */
  validMs?: number;
}

// The message is a record in the write-ahead log, which a commit flushes. 30,000 rows in 64 kB of
// memory become a temporary file of 400 kB, in 4 ms.
const PROBE = `begin; set local work_mem = '64kB';
  select pg_logical_emit_message(true, 'railhead', 'ready');
  select count(*) from generate_series(1, 30000);
  commit`;

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

  function drop(): void {
    const last = client;
    client = undefined;
    last?.connection.stream.destroy();
  }

  async function commit(): Promise<ReadyStatus> {
    if (!client) {
      const newClient = new pg.Client({
        connectionString: url,
        application_name: 'railhead readiness',
        connectionTimeoutMillis: deadlineMs,
      });
      client = newClient;
      newClient.on('error', () => undefined);
      newClient.on('end', () => client === newClient && drop());
      await newClient.connect();
      await newClient.query('set default_transaction_read_only = off');
    }
    await client.query(PROBE);
    return 'ready';
  }

  return {
    drop,
    async run(): Promise<ReadyStatus> {
      const outcome: { status?: ReadyStatus } = {};
      const work = commit().catch(statusOf);
      await within(
        deadlineMs,
        work.then((status) => {
          outcome.status = status;
        }),
      );
      const { status = 'database unreachable' } = outcome;
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
