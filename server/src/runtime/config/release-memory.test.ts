// Garbage collection of idle and busy processes.
import { expect, it } from 'vitest';
import { createIdleCollector } from './release-memory.ts';

const MB = 2 ** 20;
const idlePeriod = { utilization: 0.001, unusedBytes: 40 * MB };
const busyPeriod = { utilization: 0.3, unusedBytes: 40 * MB };

function harness() {
  let collections = 0;
  const observe = createIdleCollector(() => {
    collections++;
  });
  return (...periods: { utilization: number; unusedBytes: number }[]) => {
    for (const each of periods) observe(each);
    return collections;
  };
}

it('an idle collector collects a limited number of times in an idle period', () => {
  const observe = harness();
  expect(observe(idlePeriod)).toBe(1);
  expect(observe(idlePeriod, idlePeriod, idlePeriod, idlePeriod)).toBe(3);
});

it('an idle collector stops collecting when little memory is unused', () => {
  const observe = harness();
  expect(
    observe(
      idlePeriod,
      { ...idlePeriod, unusedBytes: 6 * MB },
      { ...idlePeriod, unusedBytes: 6 * MB },
    ),
  ).toBe(1);
});

it('an idle collector collects only while idle, including after a busy period', () => {
  const observe = harness();
  expect(observe(busyPeriod, busyPeriod)).toBe(0);
  expect(observe(idlePeriod, idlePeriod, idlePeriod, idlePeriod)).toBe(3);
  expect(observe(busyPeriod, idlePeriod)).toBe(4);
});
