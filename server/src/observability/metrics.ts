// The metrics of a server: metrics of its process, of the database and of the features. They are
// documented in docs/metrics.md.
import { type LedgerCheckOptions, watchLedgerCheck } from '../features/accounting/index.ts';
import { ENQUEUE, watchPending } from '../features/notifications/webhooks/index.ts';
import { paymentCounter } from '../features/payments/monitoring/index.ts';
import { providerMetrics } from '../features/providers/index.ts';
import { watchDifferences } from '../features/reconciliation/index.ts';
import { type Committer, createCommitter } from '../runtime/committer/committer.ts';
import { ROLES, type Role } from '../runtime/config/roles.ts';
import { connectDatabase } from '../runtime/db/connections/connect.ts';
import { type ConnectionLimits, laneLimits } from '../runtime/db/connections/limits.ts';
import { isolatedTypes } from '../runtime/db/pool.ts';
import { watchConnections } from '../runtime/observability/database-metrics.ts';
import { createMetrics, type Metrics } from '../runtime/observability/metrics.ts';
import type { Readiness } from '../runtime/observability/readiness.ts';
import { within } from '../runtime/observability/within.ts';
import type { Runtime } from '../runtime/operation/operate.ts';
import { connectCommitter } from '../startup.ts';

export interface ProcessSettings {
  number: number;
  /**
   * Publishes the metrics of this process and returns a function that reads the metrics of all processes.
   */
  shareMetrics(readMetrics: () => Promise<string>): () => Promise<string>;
}

interface CommitterSettings {
  databaseUrl: string;
  connectionLimits?: ConnectionLimits | undefined;
}

/** The committer with metrics of its batches, of payments and of providers. */
export function committerOf(settings: CommitterSettings, metrics: Metrics): Committer {
  const committer = createCommitter({
    connect: () => connectCommitter(settings),
    ...laneLimits(settings.connectionLimits),
    enqueue: ENQUEUE,
    elapsed: () => performance.now(),
    onBatch: ({ units, ms, mode }) => metrics.batch(units, ms, mode),
  });
  const observers = [paymentCounter(metrics), providerMetrics.counter(metrics)];
  return {
    ...committer,
    async commit(set) {
      const outcome = await committer.commit(set);
      if (outcome.ok) for (const observe of observers) observe(set);
      return outcome;
    },
  };
}

/** The metrics of the process, with the value 1 for each of its roles and 0 for the others. */
export function metricsFor(
  { process }: { process?: ProcessSettings | undefined },
  roles: readonly Role[],
): Metrics {
  const metrics = createMetrics({ process: process?.number });
  const valueByRole = new Map(ROLES.map((role) => [role, roles.includes(role) ? 1 : 0]));
  metrics.watchEach(
    'railhead_role',
    '1 if this process has the role, otherwise 0.',
    'role',
    () => valueByRole,
  );
  return metrics;
}

/** Text of /metrics for all processes, because a scrape of a shared port reaches only one process. */
export const metricsOf = (metrics: Metrics, process: ProcessSettings | undefined) => ({
  contentType: metrics.contentType,
  text: process ? process.shareMetrics(metrics.text) : metrics.text,
});

interface InstallationDeps {
  metrics: Metrics;
  runtime: Runtime;
  committer: Committer;
  readiness: Pick<Readiness, 'check'>;
}

/** Time limit of the check, shorter than the time limit after which a metric is absent. */
const READY_MS = 500;

/** Publishes whether the process is ready. A database that does not respond in time counts as not ready. */
export function watchReadiness(metrics: Metrics, readiness: Pick<Readiness, 'check'>): void {
  metrics.watch('railhead_ready', '1 if this process can commit, otherwise 0.', async () => {
    let isReady = false;
    const check = async () => {
      isReady = (await readiness.check()) === 'ready';
    };
    await within(READY_MS, check());
    return Number(isReady);
  });
}

/**
 * Publishes readiness, connections, pending webhook deliveries, open differences of the reconciliation
 * and the checks of the ledger.
 */
export function watchInstallation({
  metrics,
  runtime,
  committer,
  readiness,
}: InstallationDeps): void {
  watchReadiness(metrics, readiness);
  const { db } = runtime;
  const elapsed = () => performance.now();
  watchConnections({ metrics, db, stats: committer.stats, elapsed });
  watchPending(metrics, runtime);
  watchDifferences(metrics, runtime);
  watchLedgerCheck(metrics, runtime);
}

interface LedgerCheckSettings {
  databaseUrl: string;
  ledgerCheckMs?: number | undefined;
}

/** The regular verification of the ledger. Each run has a separate connection. */
export const ledgerCheckOf = (settings: LedgerCheckSettings): LedgerCheckOptions => ({
  everyMs: settings.ledgerCheckMs ?? 0,
  async withConnection(timeoutMs, work) {
    const client = await connectDatabase(settings.databaseUrl, {
      name: 'railhead ledger check',
      settings: [`statement_timeout = ${timeoutMs}`, 'default_transaction_read_only = on'],
      types: isolatedTypes,
    });
    try {
      return await work({
        // The caller defines the row type of its statement.
        query: async (text, values = []) => (await client.query(text, [...values])).rows as never,
      });
    } finally {
      await client.end();
    }
  },
});
