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

const unitOf = (parts: Partial<ChangeSet>) =>
  createUnit(
    setOf(parts),
    () => undefined,
    () => undefined,
  );

const changing = (...ids: string[]) =>
  unitOf({ updates: ids.map((id) => updateThing(thingRow(id), {})) });
const leaning = (...ids: string[]) => unitOf({ requires: ids.map((id) => thingAt(thingRow(id))) });
const keyed = (id: string) => unitOf({ inserts: [{ table: clientKeys, row: { id } }] });

function filled(units: readonly Unit[]) {
  const queue = createQueue();
  units.forEach(queue.push);
  return queue;
}

describe('createQueue', () => {
  it('keeps apart what changes the same row, or takes the same key', () => {
    const [a, b, c, d] = [changing('1'), changing('1', '2'), keyed('k'), keyed('k')];
    const queue = filled([a, b, c, d]);
    expect(queue.take(10)).toEqual([a, c]);
    expect(queue.take(10)).toEqual([]);
    queue.release(a);
    expect(queue.take(10)).toEqual([b]);
    queue.release(c);
    expect(queue.take(10)).toEqual([d]);
    expect(queue.waiting).toBe(0);
  });

  it('lets many lean on a row, but not beside one that changes it', () => {
    const [a, b, c, d] = [leaning('1'), leaning('1'), changing('1'), leaning('1')];
    const queue = filled([a, b, c, d]);
    expect(queue.take(10)).toEqual([a, b, d]);
    queue.release(a);
    queue.release(b);
    expect(queue.take(10)).toEqual([]);
    queue.release(d);
    expect(queue.take(10)).toEqual([c]);
  });

  it('lets rows of different tables share an id', () => {
    const queue = filled([changing('1'), keyed('1')]);
    expect(queue.take(10)).toHaveLength(2);
  });

  it('puts back what was not sent, before all others', () => {
    const [a, b, c] = [changing('1'), changing('2'), changing('3')];
    const queue = filled([a, b, c]);
    const taken = queue.take(2);
    queue.putBack(taken);
    expect(queue.take(10)).toEqual([a, b, c]);
  });

  it('hands every unit out once, in order for each row, never two at a time that clash', () => {
    const key = fc.constantFrom('1', '2', '3');
    const spec = fc.record({ changes: fc.uniqueArray(key), leans: fc.uniqueArray(key) });
    const step = fc.record({
      push: fc.array(spec, { maxLength: 4 }),
      take: fc.nat(4),
      done: fc.nat(4),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const queue = createQueue();
        const out: { changes: string[]; leans: string[]; unit: Unit }[] = [];
        const known = new Map<Unit, { changes: string[]; leans: string[] }>();
        let pushed = 0;
        let seen = 0;
        const take = (most: number) => {
          for (const unit of queue.take(most)) {
            const mine = known.get(unit) as { changes: string[]; leans: string[] };
            for (const other of out) {
              const clash = mine.changes.some(
                (id) => other.changes.includes(id) || other.leans.includes(id),
              );
              expect(clash || mine.leans.some((id) => other.changes.includes(id))).toBe(false);
            }
            out.push({ ...mine, unit });
            seen++;
          }
        };
        for (const { push, take: most, done } of steps) {
          for (const { changes, leans } of push) {
            const leansOnly = leans.filter((id) => !changes.includes(id));
            const unit = unitOf({
              updates: changes.map((id) => updateThing(thingRow(id), {})),
              requires: leans.map((id) => thingAt(thingRow(id))),
            });
            known.set(unit, { changes, leans: leansOnly });
            queue.push(unit);
            pushed++;
          }
          take(most);
          for (const { unit } of out.splice(0, done)) queue.release(unit);
        }
        while (seen < pushed) {
          for (const { unit } of out.splice(0)) queue.release(unit);
          const before = seen;
          take(1_000);
          expect(seen).toBeGreaterThan(before);
        }
        expect(queue.waiting).toBe(0);
      }),
    );
  });
});

describe('createUnit', () => {
  const row = thingRow('1');

  it('names a row once: removing beats changing, both beat leaning', () => {
    const given = setOf({
      updates: [updateThing(row, { rank: 1 })],
      removes: [thingAt(row)],
      requires: [thingAt(row), thingAt(thingRow('2'))],
    });
    const { set } = createUnit(
      given,
      () => undefined,
      () => undefined,
    );
    expect(set.updates).toEqual([]);
    expect(set.removes).toHaveLength(1);
    expect(set.requires.map((each) => each.id)).toEqual(['2']);
    expect(given.updates).toHaveLength(1);
  });

  it('keeps what was read at another version, and claims its row once', () => {
    const newer = { ...row, version: 2 };
    const unit = unitOf({
      updates: [updateThing(newer, {})],
      requires: [thingAt(row), thingAt(newer)],
    });
    expect(unit.set.requires).toEqual([thingAt(row)]);
    const queue = filled([unit, changing('1')]);
    expect(queue.take(10)).toEqual([unit]);
    expect(queue.take(10)).toEqual([]);
    queue.release(unit);
    expect(queue.take(10)).toHaveLength(1);
  });

  it('does not lean on a row that it inserts itself', () => {
    const unit = unitOf({ inserts: [{ table: things, row }], requires: [thingAt(row)] });
    expect(unit.set.requires).toEqual([]);
  });
});
