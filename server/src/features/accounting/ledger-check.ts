// The regular verification of the ledger, and the metrics of the latest verification. Only one
// process at a time runs the regular verification. The verification uses a separate connection,
// because reading every posting exceeds the statement timeout of the server.
import type { Time } from '../../kernel/effects.ts';
import type { Database } from '../../runtime/db/database.ts';
import type { Sweep } from '../../runtime/jobs/jobs.ts';
import type { Metrics } from '../../runtime/observability/metrics.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import { recountLedger } from './ledger.ts';
import { claimCheck, type LatestCheck, latestCheck, recordCheck } from './ledger-check-store.ts';

export interface LedgerCheckOptions {
  /** Time between two verifications. 0 disables verifications. */
  everyMs: number;
  /** Runs `work` with queries on a connection that has `timeoutMs` for each statement. */
  withConnection<R>(
    timeoutMs: number,
    work: (connection: Pick<Database, 'query'>) => Promise<R>,
  ): Promise<R>;
}

const POLL_INTERVAL_MS = 60_000;
const TIMEOUT_MS = 1_800_000;

/** Verifies the ledger at an interval. */
export function ledgerCheckSweep({ everyMs, withConnection }: LedgerCheckOptions): Sweep {
  let nextPollAt: Time = 0;
  return {
    name: 'ledger.check',
    async run({ effects, db }) {
      const now = effects.now();
      if (everyMs === 0 || now < nextPollAt) return 0;
      nextPollAt = now + POLL_INTERVAL_MS;
      if (!(await claimCheck(db, now))) return 0;
      const { balanced } = await withConnection(TIMEOUT_MS, recountLedger);
      const checkedAt = effects.now();
      const result = { checkedAt, balanced, ms: checkedAt - now, dueAt: checkedAt + everyMs };
      await recordCheck(db, result);
      return 0;
    },
  };
}

/**
 * Publishes metrics of the latest verification. The metrics are absent before the first
 * verification.
 */
export function watchLedgerCheck(
  metrics: Pick<Metrics, 'watch'>,
  { db, effects }: Pick<Runtime, 'db' | 'effects'>,
): void {
  const watch = (name: string, help: string, numberOf: (check: LatestCheck) => number) =>
    metrics.watch(name, `${help} Absent before the first verification.`, async () => {
      const check = await latestCheck(db);
      return check && numberOf(check);
    });
  watch(
    'railhead_ledger_balanced',
    '1 if the latest verification of the ledger found no difference, otherwise 0.',
    ({ balanced }) => Number(balanced),
  );
  watch(
    'railhead_ledger_check_age_seconds',
    'Time since the completion of the latest verification of the ledger.',
    ({ checked_at }) => Math.max(0, effects.now() - checked_at) / 1_000,
  );
  watch(
    'railhead_ledger_check_seconds',
    'Duration of the latest verification of the ledger.',
    ({ ms }) => ms / 1_000,
  );
}
