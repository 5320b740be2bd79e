// Times in PostgreSQL's text format.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTime } from './decode.ts';

describe('parseTime', () => {
  it('reads times in UTC with and without a fraction', () => {
    expect(parseTime('2026-01-05 09:00:00+00')).toBe(Date.UTC(2026, 0, 5, 9));
    expect(parseTime('2024-02-29 23:59:59.5+00')).toBe(Date.UTC(2024, 1, 29, 23, 59, 59, 500));
    expect(parseTime('2026-01-05 09:00:00.07+00')).toBe(Date.UTC(2026, 0, 5, 9, 0, 0, 70));
    expect(parseTime('1969-12-31 23:59:59.999999+00')).toBe(-1);
    expect(parseTime('0001-01-01 00:00:00+00')).toBe(Date.parse('0001-01-01T00:00:00Z'));
  });

  it('preserves the milliseconds of times', () => {
    const time = fc.date({ min: new Date('0100-01-01'), max: new Date('9999-12-31') });
    fc.assert(
      fc.property(
        time.filter((date) => !Number.isNaN(date.getTime())),
        (date) => {
          const text = date.toISOString().replace('T', ' ').replace('Z', '+00');
          expect(parseTime(text)).toBe(date.getTime());
        },
      ),
    );
  });

  it('throws for other strings', () => {
    for (const text of ['infinity', '', '2026-01-05 25:00']) {
      expect(() => parseTime(text)).toThrow(RangeError);
    }
  });
});
