// Days on which settlement systems are closed besides weekends, by calendar and year, with the source of
// each year. A new year is a new entry. `railhead_calendar_incomplete` alerts if a year that is needed has
// none; its days then count as business days except weekends.
import type { PaymentRail } from './rails.ts';

interface CalendarYear {
  /** Where the dates were published. */
  readonly source: string;
  /** `MM-DD`; dates on weekends are omitted. */
  readonly closed: readonly string[];
}

interface BusinessCalendar {
  readonly name: string;
  /** Time zone of the system's days. */
  readonly timeZone: string;
  readonly years: Readonly<Record<number, CalendarYear>>;
}

const ECB = 'https://www.ecb.europa.eu/ecb/contacts/working-hours/html/index.en.html';
const FED = 'https://www.federalreserve.gov/aboutthefed/k8.htm';
const UK = 'https://www.gov.uk/bank-holidays';

export const CALENDARS = {
  /** Euro: T2, which replaced TARGET2; also the settlement days of SEPA. */
  T2: {
    name: 'T2 (euro)',
    timeZone: 'Europe/Paris',
    years: {
      2026: { source: ECB, closed: ['01-01', '04-03', '04-06', '05-01', '12-25'] },
      2027: { source: ECB, closed: ['01-01', '03-26', '03-29'] },
    },
  },
  /** Federal Reserve Banks. They stay open on the Friday before a holiday on a Saturday. */
  FEDERAL_RESERVE: {
    name: 'Federal Reserve Banks (US dollar)',
    timeZone: 'America/New_York',
    years: {
      2026: {
        source: FED,
        closed: [
          ...['01-01', '01-19', '02-16', '05-25', '06-19'],
          ...['09-07', '10-12', '11-11', '11-26', '12-25'],
        ],
      },
      2027: {
        source: FED,
        closed: [
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
        closed: ['01-01', '04-03', '04-06', '05-04', '05-25', '08-31', '12-25', '12-28'],
      },
      2027: {
        source: UK,
        closed: ['01-01', '03-26', '03-29', '05-03', '05-31', '08-30', '12-27', '12-28'],
      },
    },
  },
} as const satisfies Record<string, BusinessCalendar>;

export type CalendarId = keyof typeof CALENDARS;

export const CALENDAR_IDS = Object.keys(CALENDARS) as readonly CalendarId[];

/** Rails with their own calendar. */
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
 * The calendars whose business days a transfer needs: that of the rail, or else those of the currency and of
 * the country of the account. None is known for some: their business days are all days but weekends.
 */
export function calendarsOf(
  rail: PaymentRail | null,
  currency: string,
  country: string | undefined,
): readonly CalendarId[] {
  const own = rail === null ? undefined : BY_RAIL[rail];
  if (own) return [own];
  const both = [BY_CURRENCY[currency], country === undefined ? undefined : BY_COUNTRY[country]];
  return [...new Set(both.filter((each) => each !== undefined))];
}

/** The published days of a year; undefined if there is no data for it. */
const yearOf = (calendar: CalendarId, year: number): CalendarYear | undefined =>
  (CALENDARS[calendar] as BusinessCalendar).years[year];

export const hasYear = (calendar: CalendarId, year: number): boolean =>
  yearOf(calendar, year) !== undefined;

const isWeekend = (date: string): boolean =>
  [0, 6].includes(new Date(`${date}T00:00:00Z`).getUTCDay());

/** Whether a date (`YYYY-MM-DD`) is a business day of every calendar. */
export const isBusinessDay = (date: string, calendars: readonly CalendarId[]): boolean =>
  !isWeekend(date) &&
  !calendars.some((each) => yearOf(each, Number(date.slice(0, 4)))?.closed.includes(date.slice(5)));
