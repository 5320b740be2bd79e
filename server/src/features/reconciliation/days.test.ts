// Days in time zones, including clock changes.
import { expect, it } from 'vitest';
import { addDays, dayOf, isTimeZone, periodOf } from './days.ts';

const isoPeriodOf = (day: string, zone: string) =>
  periodOf(day, zone).map((each) => new Date(each).toISOString());

it.each([
  ['2026-11-27', 'UTC', ['2026-11-27T00:00:00.000Z', '2026-11-28T00:00:00.000Z']],
  ['2026-11-27', 'Europe/Berlin', ['2026-11-26T23:00:00.000Z', '2026-11-27T23:00:00.000Z']],
  // Days of 23 and 25 hours.
  ['2026-03-29', 'Europe/Berlin', ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z']],
  ['2026-10-25', 'Europe/Berlin', ['2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z']],
  ['2026-11-27', 'America/New_York', ['2026-11-27T05:00:00.000Z', '2026-11-28T05:00:00.000Z']],
  ['2026-11-27', 'Pacific/Auckland', ['2026-11-26T11:00:00.000Z', '2026-11-27T11:00:00.000Z']],
])('periodOf returns start and end of %s in %s', (day, zone, period) => {
  expect(isoPeriodOf(day, zone)).toEqual(period);
});

it('the period of the day of a time contains the time', () => {
  for (const zone of ['UTC', 'Europe/Berlin', 'America/Sao_Paulo', 'Asia/Kolkata']) {
    for (let hour = 0; hour < 24 * 366; hour += 7) {
      const time = Date.UTC(2026, 0, 1) + hour * 3_600_000;
      const [from, to] = periodOf(dayOf(time, zone), zone);
      expect(time >= from && time < to).toBe(true);
    }
  }
});

it('addDays crosses months and years', () => {
  expect(addDays('2026-02-27', 2)).toBe('2026-03-01');
  expect(addDays('2026-01-01', -1)).toBe('2025-12-31');
});

it('isTimeZone rejects unknown names', () => {
  expect([isTimeZone('Europe/Berlin'), isTimeZone('Europe/Unknown')]).toEqual([true, false]);
});
