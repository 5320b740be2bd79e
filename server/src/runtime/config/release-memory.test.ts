// Garbage collection of idle and busy processes.
import { expect, it } from 'vitest';
import { createIdleCollector } from './release-memory.ts';

const MB = 2 ** 20;
const idlePeriod = { utilization: 0.001, unusedBytes: 40 * MB };
const busyPeriod = { utilization: 0.3, unusedBytes: 40 * MB };

function createHarness() {
  let collectionCount = 0;
  const observe = createIdleCollector(() => {
    collectionCount++;
  });
  return (...periods: { utilization: number; unusedBytes: number }[]) => {
    for (const each of periods) observe(each);
    return collectionCount;
  };
}

it('an idle collector collects a limited number of times in an idle period', () => {
  const observe = createHarness();
  expect(observe(idlePeriod)).toBe(1);
  expect(observe(idlePeriod, idlePeriod, idlePeriod, idlePeriod)).toBe(3);
});

it('an idle collector stops collecting when little memory is unused', () => {
  const observe = createHarness();
  expect(
    observe(
      idlePeriod,
      { ...idlePeriod, unusedBytes: 6 * MB },
      { ...idlePeriod, unusedBytes: 6 * MB },
    ),
  ).toBe(1);
});

it('an idle collector collects only while idle, including after a busy period', () => {
  const observe = createHarness();
  expect(observe(busyPeriod, busyPeriod)).toBe(0);
  expect(observe(idlePeriod, idlePeriod, idlePeriod, idlePeriod)).toBe(3);
  expect(observe(busyPeriod, idlePeriod)).toBe(4);
});
