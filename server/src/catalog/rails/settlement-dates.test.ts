// Business days, cut-off times and expected days of settlement.
import { describe, expect, it } from 'vitest';
import { CALENDAR_IDS, CALENDARS, calendarsOf, isBusinessDay } from './business-days.ts';
import { incompleteCalendars, isTimeZone, settlementDates } from './settlement-dates.ts';

const timeOf = (text: string) => Date.parse(text);
const SEPA_TRANSFER = { rail: 'SEPA', currency: 'EUR', country: 'DE' } as const;
const CUT_OFF_AT_16 = { time: '16:00', timeZone: 'Europe/Berlin' };

/** Easter Sunday, by the anonymous Gregorian algorithm. */
function easterOf(year: number): number {
  const [a, b, c] = [year % 19, Math.floor(year / 100), year % 100];
  const d =
    (19 * a + b - Math.floor(b / 4) - Math.floor((b - Math.floor((b + 8) / 25) + 1) / 3) + 15) % 30;
  const e = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - d - (c % 4)) % 7;
  const f = d + e - 7 * Math.floor((a + 11 * d + 22 * e) / 451) + 114;
  return Date.UTC(year, Math.floor(f / 31) - 1, (f % 31) + 1);
}

describe('business days', () => {
  it('have holidays with a source for 2026 and 2027, on weekdays and in order', () => {
    for (const id of CALENDAR_IDS) {
      expect(Object.keys(CALENDARS[id].years)).toEqual(['2026', '2027']);
      expect(isTimeZone(CALENDARS[id].timeZone)).toBe(true);
      for (const [year, data] of Object.entries(CALENDARS[id].years)) {
        const holidays: readonly string[] = data.holidays;
        expect(data.source).toMatch(/^https:\/\//);
        expect([...holidays].sort()).toEqual(holidays);
        const weekdays = holidays.map((each) => new Date(`${year}-${each}T00:00:00Z`).getUTCDay());
        expect(weekdays.filter((day) => day === 0 || day === 6)).toEqual([]);
      }
    }
  });

  it('exclude Good Friday and Easter Monday for T2 and the UK', () => {
    for (const year of [2026, 2027]) {
      const easter = easterOf(year);
      for (const offset of [-2, 1]) {
        const date = new Date(easter + offset * 86_400_000).toISOString().slice(0, 10);
        expect(isBusinessDay(date, ['T2'])).toBe(false);
        expect(isBusinessDay(date, ['UK'])).toBe(false);
        expect(isBusinessDay(date, ['FEDERAL_RESERVE'])).toBe(true);
      }
    }
  });

  it('follow the calendar of the rail, or the calendars of currency and country', () => {
    expect(calendarsOf('SEPA', 'EUR', 'GB')).toEqual(['T2']);
    expect(calendarsOf('SWIFT', 'USD', 'GB')).toEqual(['FEDERAL_RESERVE', 'UK']);
    expect(calendarsOf('NEFT', 'INR', 'IN')).toEqual([]);
    expect(isBusinessDay('2026-07-03', ['FEDERAL_RESERVE'])).toBe(true);
    expect(isBusinessDay('2027-07-05', ['FEDERAL_RESERVE'])).toBe(false);
  });
});

describe('settlementDates', () => {
  it('starts on the same day before the cut-off time, and on the next business day after it', () => {
    // In winter, 16:00 in Berlin is 15:00 UTC.
    expect(settlementDates(timeOf('2026-01-05T14:59:59Z'), SEPA_TRANSFER, CUT_OFF_AT_16)).toEqual({
      ...{ startsOn: '2026-01-05', expectedOn: '2026-01-06', isAfterCutOff: false },
      ...{ calendars: ['T2'], incomplete: [] },
    });
    expect(
      settlementDates(timeOf('2026-01-05T15:00:00Z'), SEPA_TRANSFER, CUT_OFF_AT_16),
    ).toMatchObject({
      ...{ startsOn: '2026-01-06', expectedOn: '2026-01-07', isAfterCutOff: true },
    });
    // In summer, 16:00 in Berlin is 14:00 UTC.
    expect(
      settlementDates(timeOf('2026-07-06T14:00:00Z'), SEPA_TRANSFER, CUT_OFF_AT_16).startsOn,
    ).toBe('2026-07-07');
  });

  it('skips weekends and holidays', () => {
    const datesOf = (time: string) => {
      const { startsOn, expectedOn } = settlementDates(timeOf(time), SEPA_TRANSFER, CUT_OFF_AT_16);
      return [startsOn, expectedOn];
    };
    expect(datesOf('2026-04-02T10:00:00Z')).toEqual(['2026-04-02', '2026-04-07']);
    expect(datesOf('2026-04-02T20:00:00Z')).toEqual(['2026-04-07', '2026-04-08']);
    expect(datesOf('2026-04-04T20:00:00Z')).toEqual(['2026-04-07', '2026-04-08']);
    expect(datesOf('2026-12-24T20:00:00Z')).toEqual(['2026-12-28', '2026-12-29']);
  });

  it('uses the day of the time zone', () => {
    const wire = { rail: 'WIRE', currency: 'USD', country: 'US' } as const;
    expect(settlementDates(timeOf('2026-01-06T03:00:00Z'), wire)).toMatchObject({
      ...{ startsOn: '2026-01-05', expectedOn: '2026-01-05' },
    });
  });

  it('returns the same day for an instant rail, also on a holiday', () => {
    const instantTransfer = { rail: 'SEPA_INSTANT', currency: 'EUR', country: 'DE' } as const;
    expect(settlementDates(timeOf('2026-12-25T12:00:00Z'), instantTransfer)).toMatchObject({
      ...{ startsOn: '2026-12-25', expectedOn: '2026-12-25', calendars: [] },
    });
    expect(
      settlementDates(timeOf('2026-12-25T18:00:00Z'), instantTransfer, CUT_OFF_AT_16).startsOn,
    ).toBe('2026-12-26');
  });

  it('counts all weekdays of a year without an entry, and returns the incomplete calendar', () => {
    expect(settlementDates(timeOf('2028-04-14T10:00:00Z'), SEPA_TRANSFER)).toMatchObject({
      ...{ startsOn: '2028-04-14', expectedOn: '2028-04-17', incomplete: ['T2'] },
    });
    expect(
      settlementDates(timeOf('2027-12-31T20:00:00Z'), SEPA_TRANSFER, CUT_OFF_AT_16).incomplete,
    ).toEqual(['T2']);
  });
});

describe('incompleteCalendars', () => {
  it('returns a calendar without the current year, or in December without the next year', () => {
    expect(incompleteCalendars(timeOf('2027-11-30T12:00:00Z'), ['T2', 'UK'])).toEqual([]);
    expect(incompleteCalendars(timeOf('2027-12-01T12:00:00Z'), ['T2', 'UK'])).toEqual(['T2', 'UK']);
    expect(incompleteCalendars(timeOf('2025-06-01T12:00:00Z'), ['UK'])).toEqual(['UK']);
  });
});
