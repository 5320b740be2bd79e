// Counts the transfers and cards that were assigned to providers, and their results. The rates of
// `metrics.ts` are computed from the rows that all processes share. The counters of this file need no query
// and can be summed over any period.
import type { ChangeSet, Row } from '../../../runtime/committer/change-set.ts';
import type { Metrics } from '../../../runtime/observability/metrics.ts';
import { providerTransfers } from '../store.ts';

/** Label of transfers over the built-in connector. */
const BUILT_IN = 'built-in';

/** Returns a function that counts the transfers of a committed change set. */
export function transferCounter(metrics: Pick<Metrics, 'counter'>): (set: ChangeSet) => void {
  const count = metrics.counter(
    'railhead_provider_transfers_total',
    'Transfers of a provider, by state: ASSIGNED, and the results.',
    ['provider', 'state'],
  );
  const countRow = ({ provider_id }: Row, state: string) =>
    count(provider_id === null ? BUILT_IN : String(provider_id), state);
  const { name } = providerTransfers;
  return ({ inserts, updates }) => {
    for (const { table, row } of inserts) if (table.name === name) countRow(row, 'ASSIGNED');
    for (const { table, row, previousRow: before } of updates) {
      const isResult = table.name === name && row.outcome !== null;
      if (isResult && row.outcome !== before?.outcome) countRow(row, String(row.outcome));
    }
  };
}
