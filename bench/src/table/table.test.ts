// Ratios, targets, shortfalls and remarks of the rows of a result table.
import { describe, expect, it } from 'vitest';
import { type Row, ratiosOf } from './row.ts';
import { remarksOf, shortfalls, tableOf } from './table.ts';

const side = (name: string, values: number[], errors = 0) => ({
  name,
  values,
  p50: values,
  p99: values,
  errors,
});

const row = (railhead: number[], overrides: Partial<Row> = {}): Row => ({
  id: '8a',
  label: 'a payment',
  unit: 'ms',
  railhead: side('under load', railhead),
  peer: side('without load', [10, 10, 10]),
  ...overrides,
});

describe('slowdown', () => {
  it('is the time under load divided by the time without load, and meets targets up to its limit', () => {
    const metRow = row([20, 30, 90], { slowdown: { maximum: 3 } });
    expect(ratiosOf(metRow)).toEqual({ median: 3, min: 2, max: 9 });
    expect(tableOf([metRow])).toMatch(/3\.00 \(2\.00–9\.00\) +≤ 3 +met$/);
    expect(shortfalls([metRow])).toEqual([]);
  });

  it('misses its target above the maximum', () => {
    const missedRow = row([20, 31, 90], { slowdown: { maximum: 3 } });
    expect(tableOf([missedRow])).toMatch(/≤ 3 +MISSED$/);
    expect(shortfalls([missedRow])).toEqual([
      '8a a payment: 3.10 times as long under load as without load, target at most 3.',
    ]);
  });

  it('may have no target', () => {
    const rowWithoutTarget = row([100, 100, 100], { slowdown: {} });
    expect(tableOf([rowWithoutTarget])).toMatch(/10\.0 \(10\.0–10\.0\)$/);
    expect(shortfalls([rowWithoutTarget])).toEqual([]);
  });
});

describe('table', () => {
  it('has a shortfall for unanswered requests of the background load', () => {
    const rowWithResets = row([20, 20, 20], { slowdown: { maximum: 3 }, unansweredCount: 2 });
    expect(shortfalls([rowWithResets])).toEqual([
      '8a: 2 requests of the background load were not answered.',
    ]);
  });

  it('has one remark for each row with a remark', () => {
    const rowWithRemark = row([20, 20, 20], { remark: 'two resets' });
    expect(remarksOf([rowWithRemark, row([1])])).toEqual(['8a: two resets.']);
  });
});

describe('latency without a slowdown', () => {
  it('has a ratio above one if Railhead is faster', () => {
    expect(ratiosOf(row([5, 5, 5]))).toEqual({ median: 2, min: 2, max: 2 });
  });
});
