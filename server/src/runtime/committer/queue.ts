// Change sets that wait for a lane. A change set in flight claims the rows that it changes or
// removes and its client-chosen keys. Two change sets that write the same row therefore never share
// a batch or run concurrently in one process. Rows that are only required may be shared.

import type { Table } from '../db/table.ts';
import type { ChangeSet, Outcome, RowVersion } from './change-set.ts';

export interface Unit {
  readonly set: ChangeSet;
  /** Rows that the change set changes or removes, and its client-chosen keys. */
  readonly exclusiveKeys: readonly string[];
  /** Rows that the change set requires. */
  readonly sharedKeys: readonly string[];
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

const keyOf = (table: Table, id: unknown) => `${table.name} ${String(id)}`;

const versionKeyOf = (each: RowVersion) => `${keyOf(each.table, each.id)} ${each.version}`;

/**
 * Removes entries that another entry of the same row replaces. A removal replaces a change, and all
 * writes replace a requirement. A requirement of a changed or removed row with another version
 * remains, so that the database rejects a change set that depends on two states.
 */
function removeDuplicates(set: ChangeSet): ChangeSet {
  if (set.removes.length + set.requires.length === 0) return set;
  const removedRows = new Set(set.removes.map(versionKeyOf));
  const updates = set.updates.filter((each) => !removedRows.has(versionKeyOf(each)));
  const checkedRows = new Set([...removedRows, ...updates.map(versionKeyOf)]);
  const insertedRows = new Set(set.inserts.map((each) => keyOf(each.table, each.row.id)));
  const requires = set.requires.filter(
    (each) => !checkedRows.has(versionKeyOf(each)) && !insertedRows.has(keyOf(each.table, each.id)),
  );
  return { ...set, updates, requires };
}

/** A change set with its claims and the callbacks of its promise. */
export function createUnit(
  changes: ChangeSet,
  resolve: Unit['resolve'],
  reject: Unit['reject'],
): Unit {
  const set = removeDuplicates(changes);
  const exclusiveKeys = [...set.updates, ...set.removes].map((each) => keyOf(each.table, each.id));
  for (const { table, row } of set.inserts) {
    if (table.clientKeyed) exclusiveKeys.push(keyOf(table, row.id));
  }
  const sharedKeys = set.requires
    .map((each) => keyOf(each.table, each.id))
    .filter((key) => !exclusiveKeys.includes(key));
  return { set, exclusiveKeys, sharedKeys, resolve, reject };
}

export interface Queue {
  readonly waiting: number;
  push(unit: Unit): void;
  /** Claims and returns up to `max` units without conflicts with each other or with units in flight. */
  take(max: number): Unit[];
  /** Releases the claims of a unit. */
  release(unit: Unit): void;
  /** Releases the claims of units and returns the units to the front of the queue. */
  returnToFront(units: readonly Unit[]): void;
  /** Removes and returns all waiting units. */
  clear(): Unit[];
}

const EXCLUSIVE = -1;
const COMPACT_AT = 1_024;

export function createQueue(): Queue {
  /** EXCLUSIVE, or the number of units in flight that require a key, by key. */
  const claims = new Map<string, number>();
  let units: Unit[] = [];
  let head = 0;

  const isFree = ({ exclusiveKeys, sharedKeys }: Unit) =>
    exclusiveKeys.every((key) => !claims.has(key)) &&
    sharedKeys.every((key) => claims.get(key) !== EXCLUSIVE);

  function claim({ exclusiveKeys, sharedKeys }: Unit): void {
    for (const key of exclusiveKeys) claims.set(key, EXCLUSIVE);
    for (const key of sharedKeys) claims.set(key, (claims.get(key) ?? 0) + 1);
  }

  function release({ exclusiveKeys, sharedKeys }: Unit): void {
    for (const key of exclusiveKeys) claims.delete(key);
    for (const key of sharedKeys) {
      const remainingClaims = (claims.get(key) ?? 1) - 1;
      if (remainingClaims) claims.set(key, remainingClaims);
      else claims.delete(key);
    }
  }

  function moveToFront(returnedUnits: readonly Unit[]): void {
    if (head < returnedUnits.length) {
      units = [...returnedUnits, ...units.slice(head)];
      head = 0;
      return;
    }
    head -= returnedUnits.length;
    for (const [i, unit] of returnedUnits.entries()) units[head + i] = unit;
  }

  function take(max: number): Unit[] {
    const claimedUnits: Unit[] = [];
    const blockedUnits: Unit[] = [];
    while (claimedUnits.length < max && head < units.length) {
      const unit = units[head++] as Unit;
      if (isFree(unit)) {
        claim(unit);
        claimedUnits.push(unit);
      } else blockedUnits.push(unit);
    }
    if (blockedUnits.length) moveToFront(blockedUnits);
    if (head > COMPACT_AT && head * 2 > units.length) {
      units = units.slice(head);
      head = 0;
    }
    return claimedUnits;
  }

  return {
    get waiting() {
      return units.length - head;
    },
    push: (unit) => void units.push(unit),
    take,
    release,
    returnToFront(returnedUnits) {
      returnedUnits.forEach(release);
      moveToFront(returnedUnits);
    },
    clear() {
      const remainingUnits = units.slice(head);
      units = [];
      head = 0;
      return remainingUnits;
    },
  };
}
