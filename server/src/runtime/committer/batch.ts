// Builds the statements of a batch and validates its change sets. Every process locks rows by table
// and ID, and then accounts, so that batches wait for each other in one direction only. Accounts
// are the contended rows. A batch without validation therefore writes new rows and transfers before
// it locks accounts.

import { applyPostings, type Books, emptyBooks } from '../../ledger/books.ts';
import type { TextRow } from '../db/lane.ts';
import { type Bound, bind, type Statement } from '../db/statement.ts';
import type { Table } from '../db/table.ts';
import type { ChangeSet, EventRow, Rejection, Row, RowVersion, Update } from './change-set.ts';
import { type BatchRead, column, columns } from './columns.ts';
import { openedAccounts, postingReads, postingWrites } from './ledger-batch.ts';
import { EVENT_NAMES, INSERT_EVENTS } from './ledger-statements.ts';
import {
  changingNames,
  deleteFrom,
  existingKeys,
  insertInto,
  lockAndMatch,
  lockOf,
  readVersions,
  updateOf,
} from './statements.ts';

/** Compares tables. The order is the same in every process. */
export type TableOrder = (a: Table, b: Table) => number;

/** Orders the named tables first, in their order, and all other tables by name. */
export function tableOrder(firstTables: readonly string[]): TableOrder {
  const rank = new Map(firstTables.map((name, i) => [name, i]));
  const rankOf = (table: Table) => rank.get(table.name) ?? firstTables.length;
  return (a, b) => rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

/** Options by which a committer writes its batches. */
export interface BatchFormat {
  order: TableOrder;
  /** Queues events for delivery. Parameters: IDs, platforms, times, types. */
  enqueue?: Statement | undefined;
}

/** The writes of a batch to one table. */
interface Work {
  updates: Update[];
  removes: RowVersion[];
  requires: RowVersion[];
  inserts: Row[];
}

type WorkByTable = [Table, Work][];

function collect(sets: readonly ChangeSet[], order: TableOrder): WorkByTable {
  const tables = new Map<Table, Work>();
  const workOn = (table: Table): Work => {
    let work = tables.get(table);
    if (!work) {
      work = { updates: [], removes: [], requires: [], inserts: [] };
      tables.set(table, work);
    }
    return work;
  };
  for (const set of sets) {
    for (const each of set.updates) workOn(each.table).updates.push(each);
    for (const each of set.removes) workOn(each.table).removes.push(each);
    for (const each of set.requires) workOn(each.table).requires.push(each);
    for (const each of set.inserts) workOn(each.table).inserts.push(each.row);
  }
  return [...tables].sort(([a], [b]) => order(a, b));
}

/**
 * The rows to lock, as parameters of `lockAndMatch` and `readVersions`. Each row and version once.
 */
function lockParameters({ updates, removes, requires }: Work): unknown[][] {
  const requiredRows = new Map<string, RowVersion>();
  for (const each of requires) requiredRows.set(`${each.id} ${each.version}`, each);
  const changes = [...updates, ...removes];
  const rows = [...changes, ...requiredRows.values()];
  return [...columns(rows, ['id', 'version']), rows.map((_, i) => i < changes.length)];
}

/** Updates by their statements, one statement for each set of changed columns. */
function groupByStatement(table: Table, updates: readonly Update[]) {
  const groups = new Map<ReturnType<typeof updateOf>, Update[]>();
  for (const update of updates) {
    const statement = updateOf(table, changingNames(table, update.changedColumns));
    const group = groups.get(statement);
    if (group) group.push(update);
    else groups.set(statement, [update]);
  }
  return groups;
}

function rowWrites(table: Table, work: Work): Bound[] {
  const { updates, removes, requires } = work;
  const bounds: Bound[] = [];
  if (requires.length) bounds.push(bind(lockAndMatch(table), ...lockParameters(work)));
  else if (updates.length + removes.length) {
    bounds.push(bind(lockOf(table), column([...updates, ...removes], 'id')));
  }
  // The rows are already locked, so the updates need no order.
  for (const [{ statement, names }, group] of groupByStatement(table, updates)) {
    const rows = group.map((each) => each.row);
    bounds.push(bind(statement, ...columns(group, ['id', 'version']), ...columns(rows, names)));
  }
  if (removes.length) bounds.push(bind(deleteFrom(table), ...columns(removes, ['id', 'version'])));
  return bounds;
}

function insertWrites(table: Table, { inserts }: Work): Bound[] {
  if (inserts.length === 0) return [];
  const rows = table.clientKeyed // Two lanes that insert the same keys must use the same order.
    ? inserts.toSorted((a, b) => ((a.id as string) < (b.id as string) ? -1 : 1))
    : inserts;
  return [bind(insertInto(table), ...columns(rows, table.columnNames))];
}

const eventWrites = (events: readonly EventRow[]): Bound[] =>
  events.length ? [bind(INSERT_EVENTS, ...columns(events, EVENT_NAMES))] : [];

const QUEUED_NAMES = ['id', 'platform_id', 'created_at', 'type'];

/** The items for which the predicate is true, then all other items. */
function partition<T>(items: readonly T[], matches: (each: T) => boolean): [T[], T[]] {
  const groups: [T[], T[]] = [[], []];
  for (const each of items) groups[matches(each) ? 0 : 1].push(each);
  return groups;
}

/** All writes of the change sets, for one transaction. Undefined if they need validation first. */
export function batchWrites(
  sets: readonly ChangeSet[],
  { order, enqueue }: BatchFormat,
): Bound[] | undefined {
  const postings = postingWrites(sets);
  if (!postings) return undefined;
  const tables = collect(sets, order);
  const events = sets.flatMap((set) => set.events);
  const [withoutBalance, withBalance] = partition(events, (each) => each.account === null);
  const queuedEvents = enqueue ? events.filter((each) => each.delivered) : [];
  return [
    ...tables.flatMap(([table, work]) => rowWrites(table, work)),
    ...tables.flatMap(([table, work]) => insertWrites(table, work)),
    ...eventWrites(withoutBalance),
    ...(enqueue && queuedEvents.length
      ? [bind(enqueue, ...columns(queuedEvents, QUEUED_NAMES))]
      : []),
    ...postings,
    ...eventWrites(withBalance),
  ];
}

/** State that validation reads. The books are updated as change sets are accepted. */
interface BatchState {
  /** Version by table and ID, or null for a missing row. */
  versions: Map<Table, Map<string, number | null>>;
  /** Existing client-chosen keys, by table. */
  existingKeys: Map<Table, Set<string>>;
  books: Books;
}

function rowRead(table: Table, work: Work): BatchRead<BatchState>[] {
  if (work.updates.length + work.removes.length + work.requires.length === 0) return [];
  const read = (rows: readonly TextRow[], state: BatchState) => {
    const versions = rows.map(
      ([id, version]) => [id as string, version == null ? null : Number(version)] as const,
    );
    state.versions.set(table, new Map(versions));
  };
  return [{ bound: bind(readVersions(table), ...lockParameters(work)), read }];
}

function keyRead(table: Table, { inserts }: Work): BatchRead<BatchState>[] {
  if (!table.clientKeyed || inserts.length === 0) return [];
  const read = (rows: readonly TextRow[], state: BatchState) =>
    void state.existingKeys.set(table, new Set(rows.map(([id]) => id as string)));
  return [{ bound: bind(existingKeys(table), column(inserts, 'id')), read }];
}

/**
 * Statements that read the rows on which change sets depend, and the validation of their results.
 * Rows to change, required rows and accounts are locked.
 */
export function batchReads(sets: readonly ChangeSet[], order: TableOrder) {
  const tables = collect(sets, order);
  const items = [
    ...tables.flatMap(([table, work]) => rowRead(table, work)),
    ...tables.flatMap(([table, work]) => keyRead(table, work)),
    ...postingReads(sets),
  ];
  return {
    bounds: items.map((each) => each.bound),
    /** The rejection of each change set, in order. Undefined for a valid change set. */
    validate(responses: readonly TextRow[][]): (Rejection | undefined)[] {
      const state: BatchState = {
        versions: new Map(),
        existingKeys: new Map(),
        books: emptyBooks(),
      };
      items.forEach((each, i) => {
        each.read(responses[i] ?? [], state);
      });
      return sets.map((set) => validateSet(set, state));
    },
  };
}

/**
 * Adds the accepted postings to `state.books`. Versions and keys remain unchanged, because no
 * change set of a batch writes a row or a client-chosen key on which another change set depends.
 */
function validateSet(set: ChangeSet, state: BatchState): Rejection | undefined {
  for (const { table, row } of set.inserts) {
    const id = row.id as string;
    if (state.existingKeys.get(table)?.has(id)) return { reason: 'exists', table: table.name, id };
  }
  for (const { table, id, version } of [...set.updates, ...set.removes, ...set.requires]) {
    if (state.versions.get(table)?.get(id) !== version) {
      return { reason: 'version', table: table.name, id };
    }
  }
  return applyPostings(set, openedAccounts(set), state.books);
}
