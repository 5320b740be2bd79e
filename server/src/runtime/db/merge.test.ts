// Pages of several ordered lists, for any division of the items.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mergeParts } from './merge.ts';

const compare = (first: number, second: number) => second - first;

it('reads every item of all lists once, in order, regardless of how they are divided', () => {
  const list = fc.uniqueArray(fc.nat(60), { maxLength: 30 });
  const lists = fc.array(list, { minLength: 1, maxLength: 4 });
  const step = fc.integer({ min: 1, max: 7 });
  fc.assert(
    fc.property(lists, step, step, (all, limit, length) => {
      const received: number[] = [];
      let after = Number.POSITIVE_INFINITY;
      for (let pages = 0; pages < 500; pages++) {
        const parts = all.map((each) => {
          const remaining = each.filter((item) => item < after).sort(compare);
          const items = remaining.slice(0, length);
          return { items, end: remaining.length > length ? items.at(-1) : undefined };
        });
        const { items, end } = mergeParts(parts, { limit, positionOf: (item) => item, compare });
        expect(items.length).toBeLessThanOrEqual(limit);
        received.push(...items);
        if (end === undefined) break;
        expect(end).toBeLessThan(after);
        after = end;
      }
      expect(received).toEqual([...new Set(all.flat())].sort(compare));
    }),
  );
});
