// Change sets that wait for a lane. A change set claims the rows and client-chosen keys that it writes
// until it is settled, so two change sets of the same row never share a batch, and no lane waits for
// another inside the database. Rows that are only required may be shared. Otherwise the order is kept.

import type { Table } from '../db/table.ts';
import type { ChangeSet, Outcome, Versioned } from './change-set.ts';

export interface Unit {
  readonly set: ChangeSet;
  /** Rows that it changes or removes, and client-chosen keys. */
  readonly exclusive: readonly string[];
  /** Rows that it requires. */
  readonly shared: readonly string[];
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

const keyOf = (table: Table, id: unknown) => `${table.name} ${String(id)}`;

const readOf = (each: Versioned) => `${keyOf(each.table, each.id)} ${each.version}`;

/**
 * The same change set with every row once: a removal replaces a change, and both replace a
 * requirement. A requirement with another version is kept, so that the database rejects the change
 * set: its decision was based on two states.
 */
function withoutDuplicates(set: ChangeSet): ChangeSet {
  if (set.removes.length + set.requires.length === 0) return set;
  const removedRows = new Set(set.removes.map(readOf));
  const updates = set.updates.filter((each) => !removedRows.has(readOf(each)));
  const checked = new Set([...removedRows, ...updates.map(readOf)]);
  const inserted = new Set(set.inserts.map((each) => keyOf(each.table, each.row.id)));
  const requires = set.requires.filter(
    (each) => !checked.has(readOf(each)) && !inserted.has(keyOf(each.table, each.id)),
  );
  return { ...set, updates, requires };
}

/** A change set with its claims and the callbacks of its promise. */
export function createUnit(
  changes: ChangeSet,
  resolve: Unit['resolve'],
  reject: Unit['reject'],
): Unit {
  const set = withoutDuplicates(changes);
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
  /**
   * Up to `max` units without conflicts among each other or with those in flight. They are claimed.
   */
  take(max: number): Unit[];
  /** Releases the claims of a unit. */
  release(unit: Unit): void;
  /** Returns taken units to the front. */
  returnToFront(units: readonly Unit[]): void;
  /** Removes and returns all waiting units. */
  clear(): Unit[];
}

const EXCLUSIVE = -1;
const COMPACT_AT = 1_024;

export function createQueue(): Queue {
  /** Key to EXCLUSIVE, or to the number of units in flight that require it. */
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
      const remainingClaims = (claims.get(key) ?? 1) - 1;
      if (remainingClaims) claims.set(key, remainingClaims);
      else claims.delete(key);
    }
  }

  function toFront(returned: readonly Unit[]): void {
    if (head < returned.length) {
      units = [...returned, ...units.slice(head)];
      head = 0;
      return;
    }
    head -= returned.length;
    for (const [i, unit] of returned.entries()) units[head + i] = unit;
  }

  function take(max: number): Unit[] {
    const claimed: Unit[] = [];
    const blocked: Unit[] = [];
    while (claimed.length < max && head < units.length) {
      const unit = units[head++] as Unit;
      if (isFree(unit)) {
        claim(unit);
        claimed.push(unit);
      } else blocked.push(unit);
    }
    if (blocked.length) toFront(blocked);
    if (head > COMPACT_AT && head * 2 > units.length) {
      units = units.slice(head);
      head = 0;
    }
    return claimed;
  }

  return {
    get waiting() {
      return units.length - head;
    },
    push: (unit) => void units.push(unit),
    take,
    release,
    returnToFront(returned) {
      returned.forEach(release);
      toFront(returned);
    },
    clear() {
      const remaining = units.slice(head);
      units = [];
      head = 0;
      return remaining;
    },
  };
}
