// Pages of several ordered lists, with any division of the items.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mergeParts } from './merge.ts';

const compare = (first: number, second: number) => second - first;

it('mergeParts reads every item of all lists once and in order, for any division', () => {
  const list = fc.uniqueArray(fc.nat(60), { maxLength: 30 });
  const lists = fc.array(list, { minLength: 1, maxLength: 4 });
  const step = fc.integer({ min: 1, max: 7 });
  fc.assert(
    fc.property(lists, step, step, (allLists, limit, length) => {
      const receivedItems: number[] = [];
      let position = Number.POSITIVE_INFINITY;
      for (let pages = 0; pages < 500; pages++) {
        const lists = allLists.map((each) => {
          const remainingItems = each.filter((item) => item < position).sort(compare);
          const items = remainingItems.slice(0, length);
          return { items, end: remainingItems.length > length ? items.at(-1) : undefined };
        });
        const { items, end } = mergeParts(lists, { limit, positionOf: (item) => item, compare });
        expect(items.length).toBeLessThanOrEqual(limit);
        receivedItems.push(...items);
        if (end === undefined) break;
        expect(end).toBeLessThan(position);
        position = end;
      }
      expect(receivedItems).toEqual([...new Set(allLists.flat())].sort(compare));
    }),
  );
});
