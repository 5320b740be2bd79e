// Counts committed changes of payments for Prometheus. The counters need no query. Amounts by day
// are in the payment metrics of the database.
import type { ChangeSet, Row } from '../../../runtime/committer/change-set.ts';
import type { Metrics } from '../../../runtime/observability/metrics.ts';

const TABLE = 'transactions';

/**
 * Returns a function that counts the payments that a committed change set created, or whose status
 * it changed.
 */
export function paymentCounter(metrics: Pick<Metrics, 'counter'>): (set: ChangeSet) => void {
  const count = metrics.counter(
    'railhead_payments_total',
    'Payments that reached a state, by type.',
    ['type', 'state'],
  );
  const countRow = ({ type, status }: Row) => count(String(type), String(status));
  return ({ inserts, updates }) => {
    for (const { table, row } of inserts) if (table.name === TABLE) countRow(row);
    for (const { table, row, previousRow: before } of updates) {
      if (table.name === TABLE && row.status !== before?.status) countRow(row);
    }
  };
}
