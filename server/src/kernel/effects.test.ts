// Times as ISO 8601 text, compared with `Date`.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { iso } from './effects.ts';

const MAX_TIME = 8.64e15;

describe('iso', () => {
  it('formats every time like Date', () => {
    const nearTime = fc.integer({ min: -1e13, max: 1e13 });
    const anyTime = fc.maxSafeInteger().map((value) => value % MAX_TIME);
    const times = fc.array(fc.oneof(nearTime, anyTime), { minLength: 1 });
    fc.assert(
      fc.property(times, (values) => {
        for (const time of values) expect(iso(time)).toBe(new Date(time).toISOString());
      }),
    );
  });

  it('formats both limits of the range and times near zero', () => {
    for (const time of [-MAX_TIME, -86_400_001, -1, 0, 1, 253_402_300_800_000, MAX_TIME]) {
      expect(iso(time)).toBe(new Date(time).toISOString());
    }
  });

  it('throws for an invalid time and formats the next time', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, MAX_TIME + 86_400_000]) {
      expect(() => iso(value)).toThrow(RangeError);
    }
    expect(iso(1)).toBe('1970-01-01T00:00:00.001Z');
  });
});
