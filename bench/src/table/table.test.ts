// Rows that show a slowdown: their ratio, their target, and the remarks under the table.
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
    const met = row([20, 30, 90], { slowdown: { maximum: 3 } });
    expect(ratiosOf(met)).toEqual({ median: 3, min: 2, max: 9 });
    expect(tableOf([met])).toMatch(/3\.00 \(2\.00–9\.00\) +≤ 3 +met$/);
    expect(shortfalls([met])).toEqual([]);
  });

  it('is missed above it', () => {
    const missed = row([20, 31, 90], { slowdown: { maximum: 3 } });
    expect(tableOf([missed])).toMatch(/≤ 3 +MISSED$/);
    expect(shortfalls([missed])).toEqual([
      '8a a payment: 3.10 times as long under load as without load, target at most 3.',
    ]);
  });

  it('may have no target', () => {
    const open = row([100, 100, 100], { slowdown: {} });
    expect(tableOf([open])).toMatch(/10\.0 \(10\.0–10\.0\)$/);
    expect(shortfalls([open])).toEqual([]);
  });

  it('lists unanswered requests of the background load', () => {
    const lossy = row([20, 20, 20], {
      slowdown: { maximum: 3 },
      remark: 'two resets',
      unanswered: 2,
    });
    expect(shortfalls([lossy])).toEqual([
      '8a: 2 requests of the background load were not answered.',
    ]);
    expect(remarksOf([lossy, row([1])])).toEqual(['8a: two resets.']);
  });
});

describe('latency without a slowdown', () => {
  it('has a ratio above one if Railhead is faster', () => {
    expect(ratiosOf(row([5, 5, 5]))).toEqual({ median: 2, min: 2, max: 2 });
  });
});
