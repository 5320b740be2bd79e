// The change sets that can be written concurrently.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  clientKeys,
  setOf,
  thingAt,
  thingRow,
  things,
  updateThing,
} from '../../../test/kit/app/sample-tables.ts';
import type { ChangeSet } from './change-set.ts';
import { createQueue, createUnit, type Unit } from './queue.ts';

const unitOf = (changes: Partial<ChangeSet>) =>
  createUnit(
    setOf(changes),
    () => undefined,
    () => undefined,
  );

const updateUnit = (...ids: string[]) =>
  unitOf({ updates: ids.map((id) => updateThing(thingRow(id), {})) });
const requireUnit = (...ids: string[]) =>
  unitOf({ requires: ids.map((id) => thingAt(thingRow(id))) });
const insertKeyUnit = (id: string) => unitOf({ inserts: [{ table: clientKeys, row: { id } }] });

function queueOf(units: readonly Unit[]) {
  const queue = createQueue();
  units.forEach(queue.push);
  return queue;
}

describe('createQueue', () => {
  it('separates change sets that change the same row or insert the same key', () => {
    const [a, b, c, d] = [
      updateUnit('1'),
      updateUnit('1', '2'),
      insertKeyUnit('k'),
      insertKeyUnit('k'),
    ];
    const queue = queueOf([a, b, c, d]);
    expect(queue.take(10)).toEqual([a, c]);
    expect(queue.take(10)).toEqual([]);
    queue.release(a);
    expect(queue.take(10)).toEqual([b]);
    queue.release(c);
    expect(queue.take(10)).toEqual([d]);
    expect(queue.waiting).toBe(0);
  });

  it('allows many readers or one writer of a row', () => {
    const [a, b, c, d] = [requireUnit('1'), requireUnit('1'), updateUnit('1'), requireUnit('1')];
    const queue = queueOf([a, b, c, d]);
    expect(queue.take(10)).toEqual([a, b, d]);
    queue.release(a);
    queue.release(b);
    expect(queue.take(10)).toEqual([]);
    queue.release(d);
    expect(queue.take(10)).toEqual([c]);
  });

  it('allows rows of different tables to share an ID', () => {
    const queue = queueOf([updateUnit('1'), insertKeyUnit('1')]);
    expect(queue.take(10)).toHaveLength(2);
  });

  it('returns unsent change sets to the front', () => {
    const [a, b, c] = [updateUnit('1'), updateUnit('2'), updateUnit('3')];
    const queue = queueOf([a, b, c]);
    const batch = queue.take(2);
    queue.returnToFront(batch);
    expect(queue.take(10)).toEqual([a, b, c]);
  });

  it('returns every unit once, in order for each row, without concurrent conflicts', () => {
    const idArbitrary = fc.constantFrom('1', '2', '3');
    const unitArbitrary = fc.record({
      changes: fc.uniqueArray(idArbitrary),
      requirements: fc.uniqueArray(idArbitrary),
    });
    const stepArbitrary = fc.record({
      push: fc.array(unitArbitrary, { maxLength: 4 }),
      take: fc.nat(4),
      done: fc.nat(4),
    });
    fc.assert(
      fc.property(fc.array(stepArbitrary, { maxLength: 30 }), (steps) => {
        const queue = createQueue();
        const unitsInFlight: { changes: string[]; requirements: string[]; unit: Unit }[] = [];
        const claims = new Map<Unit, { changes: string[]; requirements: string[] }>();
        let pushedCount = 0;
        let takenCount = 0;
        const takeUnits = (max: number) => {
          for (const unit of queue.take(max)) {
            const rows = claims.get(unit) as { changes: string[]; requirements: string[] };
            for (const otherUnit of unitsInFlight) {
              const hasConflict = rows.changes.some(
                (id) => otherUnit.changes.includes(id) || otherUnit.requirements.includes(id),
              );
              expect(
                hasConflict || rows.requirements.some((id) => otherUnit.changes.includes(id)),
              ).toBe(false);
            }
            unitsInFlight.push({ ...rows, unit });
            takenCount++;
          }
        };
        for (const { push, take: max, done } of steps) {
          for (const { changes, requirements } of push) {
            const sharedIds = requirements.filter((id) => !changes.includes(id));
            const unit = unitOf({
              updates: changes.map((id) => updateThing(thingRow(id), {})),
              requires: requirements.map((id) => thingAt(thingRow(id))),
            });
            claims.set(unit, { changes, requirements: sharedIds });
            queue.push(unit);
            pushedCount++;
          }
          takeUnits(max);
          for (const { unit } of unitsInFlight.splice(0, done)) queue.release(unit);
        }
        while (takenCount < pushedCount) {
          for (const { unit } of unitsInFlight.splice(0)) queue.release(unit);
          const previousCount = takenCount;
          takeUnits(1_000);
          expect(takenCount).toBeGreaterThan(previousCount);
        }
        expect(queue.waiting).toBe(0);
      }),
    );
  });
});

describe('createUnit', () => {
  const row = thingRow('1');

  it('contains a row once: as a removal, else as a change, else as a requirement', () => {
    const input = setOf({
      updates: [updateThing(row, { rank: 1 })],
      removes: [thingAt(row)],
      requires: [thingAt(row), thingAt(thingRow('2'))],
    });
    const { set } = createUnit(
      input,
      () => undefined,
      () => undefined,
    );
    expect(set.updates).toEqual([]);
    expect(set.removes).toHaveLength(1);
    expect(set.requires.map((each) => each.id)).toEqual(['2']);
    expect(input.updates).toHaveLength(1);
  });

  it('keeps a read at another version and claims its row once', () => {
    const newerRow = { ...row, version: 2 };
    const unit = unitOf({
      updates: [updateThing(newerRow, {})],
      requires: [thingAt(row), thingAt(newerRow)],
    });
    expect(unit.set.requires).toEqual([thingAt(row)]);
    const queue = queueOf([unit, updateUnit('1')]);
    expect(queue.take(10)).toEqual([unit]);
    expect(queue.take(10)).toEqual([]);
    queue.release(unit);
    expect(queue.take(10)).toHaveLength(1);
  });

  it('omits the requirement of a row that it inserts', () => {
    const unit = unitOf({ inserts: [{ table: things, row }], requires: [thingAt(row)] });
    expect(unit.set.requires).toEqual([]);
  });
});
