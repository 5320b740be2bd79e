// Holidays of settlement systems, by calendar and year, with the source of each year. Each year is
// one entry. The metric `railhead_calendar_incomplete` reports a missing entry for the year of the
// current or the next month. Without an entry, all days except weekends count as business days.
import type { PaymentRail } from './rails.ts';

interface CalendarYear {
  /** Publication of the dates. */
  readonly source: string;
  /** Dates as `MM-DD`, without weekends. */
  readonly holidays: readonly string[];
}

interface BusinessCalendar {
  readonly name: string;
  /** Time zone of the dates. */
  readonly timeZone: string;
  readonly years: Readonly<Record<number, CalendarYear>>;
}

const ECB = 'https://www.ecb.europa.eu/ecb/contacts/working-hours/html/index.en.html';
const FED = 'https://www.federalreserve.gov/aboutthefed/k8.htm';
const UK = 'https://www.gov.uk/bank-holidays';

export const CALENDARS = {
  /** Euro: T2, which replaced TARGET2. SEPA settles on the same days. */
  T2: {
    name: 'T2 (euro)',
    timeZone: 'Europe/Paris',
    years: {
      2026: { source: ECB, holidays: ['01-01', '04-03', '04-06', '05-01', '12-25'] },
      2027: { source: ECB, holidays: ['01-01', '03-26', '03-29'] },
    },
  },
  /** Federal Reserve Banks. They stay open on the Friday before a holiday on a Saturday. */
  FEDERAL_RESERVE: {
    name: 'Federal Reserve Banks (US dollar)',
    timeZone: 'America/New_York',
    years: {
      2026: {
        source: FED,
        holidays: [
          ...['01-01', '01-19', '02-16', '05-25', '06-19'],
          ...['09-07', '10-12', '11-11', '11-26', '12-25'],
        ],
      },
      2027: {
        source: FED,
        holidays: [
          ...['01-01', '01-18', '02-15', '05-31', '07-05'],
          ...['09-06', '10-11', '11-11', '11-25'],
        ],
      },
    },
  },
  /** Bank holidays of England and Wales, on which CHAPS is closed. */
  UK: {
    name: 'Bank holidays of England and Wales (pound)',
    timeZone: 'Europe/London',
    years: {
      2026: {
        source: UK,
        holidays: ['01-01', '04-03', '04-06', '05-04', '05-25', '08-31', '12-25', '12-28'],
      },
      2027: {
        source: UK,
        holidays: ['01-01', '03-26', '03-29', '05-03', '05-31', '08-30', '12-27', '12-28'],
      },
    },
  },
} as const satisfies Record<string, BusinessCalendar>;

export type CalendarId = keyof typeof CALENDARS;

export const CALENDAR_IDS = Object.keys(CALENDARS) as readonly CalendarId[];

const BY_RAIL: Partial<Record<PaymentRail, CalendarId>> = {
  SEPA: 'T2',
  ACH: 'FEDERAL_RESERVE',
  WIRE: 'FEDERAL_RESERVE',
};
const BY_CURRENCY: Readonly<Record<string, CalendarId>> = {
  EUR: 'T2',
  USD: 'FEDERAL_RESERVE',
  GBP: 'UK',
};
const BY_COUNTRY: Readonly<Record<string, CalendarId>> = { US: 'FEDERAL_RESERVE', GB: 'UK' };

/**
 * Calendars that determine the business days of a transfer. The calendar of the rail applies, or
 * else those of the currency and of the country of the account. Empty if there is none. Then all
 * days except weekends are business days.
 */
export function calendarsOf(
  rail: PaymentRail | null,
  currency: string,
  country: string | undefined,
): readonly CalendarId[] {
  const railCalendar = rail === null ? undefined : BY_RAIL[rail];
  if (railCalendar) return [railCalendar];
  const otherCalendars = [
    BY_CURRENCY[currency],
    country === undefined ? undefined : BY_COUNTRY[country],
  ];
  return [...new Set(otherCalendars.filter((each) => each !== undefined))];
}

/** The entry of a year. Undefined if it is missing. */
const yearOf = (calendar: CalendarId, year: number): CalendarYear | undefined =>
  (CALENDARS[calendar] as BusinessCalendar).years[year];

export const hasYear = (calendar: CalendarId, year: number): boolean =>
  yearOf(calendar, year) !== undefined;

const isWeekend = (date: string): boolean =>
  [0, 6].includes(new Date(`${date}T00:00:00Z`).getUTCDay());

/** Whether a date (`YYYY-MM-DD`) is a business day of every calendar. */
export const isBusinessDay = (date: string, calendars: readonly CalendarId[]): boolean =>
  !isWeekend(date) &&
  !calendars.some((each) =>
    yearOf(each, Number(date.slice(0, 4)))?.holidays.includes(date.slice(5)),
  );
