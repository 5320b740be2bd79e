// When an idle process collects garbage.
import { expect, it } from 'vitest';
import { createIdleCollector } from './release-memory.ts';

const MB = 2 ** 20;
const idlePeriod = { utilization: 0.001, unused: 40 * MB };
const busyPeriod = { utilization: 0.3, unused: 40 * MB };

function harness() {
  let collections = 0;
  const observe = createIdleCollector(() => {
    collections++;
  });
  return (...periods: { utilization: number; unused: number }[]) => {
    for (const each of periods) observe(each);
    return collections;
  };
}

it('collects after an idle period, a few times', () => {
  const after = harness();
  expect(after(idlePeriod)).toBe(1);
  expect(after(idlePeriod, idlePeriod, idlePeriod, idlePeriod)).toBe(3);
});

it('stops collecting once little memory is unused', () => {
  const after = harness();
  expect(
    after(idlePeriod, { ...idlePeriod, unused: 6 * MB }, { ...idlePeriod, unused: 6 * MB }),
  ).toBe(1);
});

it('does not collect while busy, and starts again afterwards', () => {
  const after = harness();
  expect(after(busyPeriod, busyPeriod)).toBe(0);
  expect(after(idlePeriod, idlePeriod, idlePeriod, idlePeriod)).toBe(3);
  expect(after(busyPeriod, idlePeriod)).toBe(4);
});
