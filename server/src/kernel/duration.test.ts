// Addition of ISO 8601 durations to times, and rejected strings.
import { describe, expect, it } from 'vitest';
import { readDuration, timeAfter } from './duration.ts';

const timeAfterText = (from: string, duration: string): string =>
  new Date(timeAfter(Date.parse(from), readDuration(duration) ?? { months: NaN, ms: 0 })).toJSON();

describe('a duration', () => {
  it.each([
    ['P2D', '2026-01-07T09:00:00.000Z'],
    ['PT0S', '2026-01-05T09:00:00.000Z'],
    ['PT6M', '2026-01-05T09:06:00.000Z'],
    ['P1W', '2026-01-12T09:00:00.000Z'],
    ['P1Y2M3DT4H5M6.5S', '2027-03-08T13:05:06.500Z'],
    ['P2Y', '2028-01-05T09:00:00.000Z'],
  ])('%s is added to a time: %s', (duration, expectedTime) => {
    expect(timeAfterText('2026-01-05T09:00:00Z', duration)).toBe(expectedTime);
  });

  it('results in the last day of a shorter month', () => {
    expect(timeAfterText('2026-01-31T00:00:00Z', 'P1M')).toBe('2026-02-28T00:00:00.000Z');
    expect(timeAfterText('2028-02-29T00:00:00Z', 'P1Y')).toBe('2029-02-28T00:00:00.000Z');
  });

  it.each(['', 'P', 'PT', 'P1DT', '2D', '-P1D', 'P-1D', 'P1S', 'PT1D', 'P1.5D', 'p1d', 'P1D '])(
    'is not %j',
    (text) => expect(readDuration(text)).toBeUndefined(),
  );
});
