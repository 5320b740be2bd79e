// The comparison of two checkouts: medians, quotients in favor of this checkout, and the verdict.
import { describe, expect, it } from 'vitest';
import type { Row } from './row.ts';
import { jsonOf } from './table.ts';

const script = new URL('../../../scripts/bench-compare.mjs', import.meta.url).href;
const { linesOf, isSlower } = await import(script);

/** The rows of one round in the JSON format of the bench. */
function rowsOf(id: string, unit: Row['unit'], value: number): unknown[] {
  const side = { name: 'server', values: [value], p50: [], p99: [], errors: 0 };
  const row: Row = { id, label: 'a payment', unit, railhead: side, peer: side };
  return JSON.parse(jsonOf('about', [row], { execute: 1 })).rows;
}

describe('comparison', () => {
  it('divides rates, and inverts the ratio of times', () => {
    const rates = linesOf(
      [rowsOf('2a', '/s', 1000), rowsOf('2a', '/s', 800)],
      [rowsOf('2a', '/s', 1100), rowsOf('2a', '/s', 800)],
    );
    expect(rates).toEqual([['2a', 'a payment', '900/s', '950/s', '1.05 (1.00–1.10)']]);
    expect(isSlower(rates)).toBe(false);
    const times = linesOf([rowsOf('12', 'ms', 10)], [rowsOf('12', 'ms', 12.5)]);
    expect(times).toEqual([['12', 'a payment', '10.0 ms', '12.5 ms', '0.80 (0.80–0.80)']]);
    expect(isSlower(times)).toBe(true);
  });

  it('marks a row that the other checkout does not have as new', () => {
    const lines = linesOf([rowsOf('1a', '/s', 1)], [rowsOf('2a', '/s', 1)]);
    expect(lines).toEqual([['2a', 'a payment', 'new', '', '']]);
    expect(isSlower(lines)).toBe(false);
  });
});
