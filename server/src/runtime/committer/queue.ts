// Change sets that wait for a lane. A row or a client's key that one change set is writing is claimed until
// that one is settled, so two that touch the same row never share a batch and never make one lane wait for
// another inside the database; rows that are only leaned on may be shared. The rest keep their order.

import type { Table } from '../db/table.ts';
import type { ChangeSet, Outcome, Versioned } from './change-set.ts';

export interface Unit {
  readonly set: ChangeSet;
  /** Rows it changes or removes, and keys chosen by clients. */
  readonly exclusive: readonly string[];
  /** Rows it leans on. */
  readonly shared: readonly string[];
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

const keyOf = (table: Table, id: unknown) => `${table.name} ${String(id)}`;

const readOf = (each: Versioned) => `${keyOf(each.table, each.id)} ${each.version}`;

/**
 * The same change set with every row named once: removing beats changing, and both beat leaning on. What
 * was read at another version stays, so that the database refuses it: the decision saw two states.
 */
function normal(set: ChangeSet): ChangeSet {
  if (set.removes.length + set.requires.length === 0) return set;
  const removed = new Set(set.removes.map(readOf));
  const updates = set.updates.filter((each) => !removed.has(readOf(each)));
  const checked = new Set([...removed, ...updates.map(readOf)]);
  const inserted = new Set(set.inserts.map((each) => keyOf(each.table, each.row.id)));
  const requires = set.requires.filter(
    (each) => !checked.has(readOf(each)) && !inserted.has(keyOf(each.table, each.id)),
  );
  return { ...set, updates, requires };
}

/** A change set with its claims and the two ends of its promise. */
export function createUnit(
  given: ChangeSet,
  resolve: Unit['resolve'],
  reject: Unit['reject'],
): Unit {
  const set = normal(given);
  const exclusive = [...set.updates, ...set.removes].map((each) => keyOf(each.table, each.id));
  for (const { table, row } of set.inserts) {
    if (table.clientKeyed) exclusive.push(keyOf(table, row.id));
  }
  const shared = set.requires
    .map((each) => keyOf(each.table, each.id))
    .filter((key) => !exclusive.includes(key));
  return { set, exclusive, shared, resolve, reject };
}

export interface Queue {
  readonly waiting: number;
  push(unit: Unit): void;
  /** Up to `most` that get along with each other and with those under way; they are claimed. */
  take(most: number): Unit[];
  /** Ends the claims of a unit. */
  release(unit: Unit): void;
  /** Puts taken units back to the front. */
  putBack(units: readonly Unit[]): void;
  /** Takes out everything that waits. */
  clear(): Unit[];
}

const EXCLUSIVE = -1;
const COMPACT_AT = 1_024;

export function createQueue(): Queue {
  /** Key to ALONE, or to the number of units under way that lean on it. */
  const claims = new Map<string, number>();
  let units: Unit[] = [];
  let head = 0;

  const isFree = ({ exclusive, shared }: Unit) =>
    exclusive.every((key) => !claims.has(key)) &&
    shared.every((key) => claims.get(key) !== EXCLUSIVE);

  function claim({ exclusive, shared }: Unit): void {
    for (const key of exclusive) claims.set(key, EXCLUSIVE);
    for (const key of shared) claims.set(key, (claims.get(key) ?? 0) + 1);
  }

  function release({ exclusive, shared }: Unit): void {
    for (const key of exclusive) claims.delete(key);
    for (const key of shared) {
      const others = (claims.get(key) ?? 1) - 1;
      if (others) claims.set(key, others);
      else claims.delete(key);
    }
  }

  function toFront(back: readonly Unit[]): void {
    if (head < back.length) {
      units = [...back, ...units.slice(head)];
      head = 0;
      return;
    }
    head -= back.length;
    for (const [i, unit] of back.entries()) units[head + i] = unit;
  }

  function take(most: number): Unit[] {
    const taken: Unit[] = [];
    const passed: Unit[] = [];
    while (taken.length < most && head < units.length) {
      const unit = units[head++] as Unit;
      if (isFree(unit)) {
        claim(unit);
        taken.push(unit);
      } else passed.push(unit);
    }
    if (passed.length) toFront(passed);
    if (head > COMPACT_AT && head * 2 > units.length) {
      units = units.slice(head);
      head = 0;
    }
    return taken;
  }

  return {
    get waiting() {
      return units.length - head;
    },
    push: (unit) => void units.push(unit),
    take,
    release,
    putBack(back) {
      back.forEach(release);
      toFront(back);
    },
    clear() {
      const left = units.slice(head);
      units = [];
      head = 0;
      return left;
    },
  };
}
