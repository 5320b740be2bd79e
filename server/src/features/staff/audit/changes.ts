// The rows and transfers of a change set in the form that an audit record stores, and their
// platforms and customer.
import type { ChangeSet, Row } from '../../../runtime/committer/change-set.ts';

/** Change of one row. For an update, `before` and `after` have only the changed columns. */
interface RowChange {
  table: string;
  id: string;
  before?: Row;
  after?: Row;
}

/** The changes of one record. `omitted` counts rows and transfers beyond the maximum. */
export interface Changes {
  rows: RowChange[];
  transfers: Row[];
  omitted: number;
}

const MAX_ROWS = 100;

/** Tables whose rows only result from a change in other rows. */
const OMITTED_TABLES = new Set(['jobs', 'idempotency']);

/** Columns that are omitted because they could help to guess a credential. */
const SECRET = /secret|password|_hash$|data_key|private_key/;

const isShown = (name: string, value: unknown) => !SECRET.test(name) && !Buffer.isBuffer(value);

const columnsOf = (row: Row, isIncluded: (name: string) => boolean): Row =>
  Object.fromEntries(
    Object.entries(row).filter(([name, value]) => isIncluded(name) && isShown(name, value)),
  );

const withoutNull = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));

function* rowChangesOf({ inserts, updates, removes }: ChangeSet): Generator<RowChange> {
  for (const { table, row } of inserts) {
    yield { table: table.name, id: String(row.id), after: withoutNull(columnsOf(row, () => true)) };
  }
  for (const { table, id, row, previousRow: before = {}, changedColumns } of updates) {
    const isChanged = (name: string) => changedColumns.has(name) && row[name] !== before[name];
    yield {
      table: table.name,
      id,
      before: columnsOf(before, isChanged),
      after: columnsOf(row, isChanged),
    };
  }
  for (const { table, id, previousRow: before = {} } of removes) {
    yield { table: table.name, id, before: withoutNull(columnsOf(before, () => true)) };
  }
}

/** The changes of a change set, without jobs, idempotency keys and events. */
export function changesOf(set: ChangeSet): Changes {
  const rows = [...rowChangesOf(set)].filter(({ table }) => !OMITTED_TABLES.has(table));
  const transfers = set.transfers.map((transfer) => {
    const {
      transaction_id: transactionId,
      step,
      phase,
      debit,
      credit,
      amount,
      currency,
    } = transfer;
    return { transactionId, step, phase, debit, credit, amount, currency };
  });
  return {
    rows: rows.slice(0, MAX_ROWS),
    transfers: transfers.slice(0, MAX_ROWS),
    omitted: Math.max(0, rows.length - MAX_ROWS) + Math.max(0, transfers.length - MAX_ROWS),
  };
}

/** Every row of a change set with its table. */
const rowsOf = ({ inserts, updates, removes }: ChangeSet) => [
  ...inserts,
  ...updates,
  ...removes.map(({ table, previousRow: before = {} }) => ({ table, row: before })),
];

/** The common value of a column in all rows that have it, or undefined if the values differ. */
function sharedValue(set: ChangeSet, column: string): string | undefined {
  const cells = rowsOf(set).map(({ row }) => row[column]);
  const values = new Set(cells.filter((value) => typeof value === 'string'));
  const [value] = values;
  return values.size === 1 ? (value as string) : undefined;
}

/** The platform and the customer of an audit record. */
export interface Owners {
  platformId?: string | undefined;
  customerId?: string | undefined;
}

/**
 * The owners of the rows of a change set, and every platform among them. `platformId` is absent for
 * several platforms. Without one common `customer_id`, the customer is the first updated row of
 * `customers`.
 */
export function ownersOf(set: ChangeSet): Owners & { platformIds: ReadonlySet<string> } {
  const updatedCustomerId = set.updates.find(({ table }) => table.name === 'customers')?.id;
  const platformIds = platformsOf(set);
  const [platformId, ...otherPlatformIds] = platformIds;
  return {
    platformIds,
    platformId: otherPlatformIds.length === 0 ? platformId : undefined,
    customerId: sharedValue(set, 'customer_id') ?? updatedCustomerId,
  };
}

/** Every platform whose rows a change set changes. */
export const platformsOf = (set: ChangeSet): Set<string> =>
  new Set(
    rowsOf(set).flatMap(({ row, table }) => {
      const platformId = table.name === 'platforms' ? row.id : row.platform_id;
      return typeof platformId === 'string' && platformId !== '' ? [platformId] : [];
    }),
  );

/** Changes as JSON. A bigint is a string, because it may exceed the exact integers of JSON. */
export const changesText = (changes: Changes): string =>
  JSON.stringify(changes, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
