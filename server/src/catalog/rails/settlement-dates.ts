// Start day and expected arrival day of a transfer, by cut-off time, rail and calendars.
import {
  CALENDARS,
  type CalendarId,
  calendarsOf,
  hasYear,
  isBusinessDay,
} from './business-days.ts';
import { type PaymentRail, RAILS } from './rails.ts';

/** Time before which a transfer starts on the same day. */
export interface CutOff {
  /** `HH:MM`. */
  time: string;
  /** IANA name, such as `Europe/Berlin`. */
  timeZone: string;
}

interface DatedTransfer {
  rail: PaymentRail | null;
  currency: string;
  /** Country of the external account, if known. */
  country: string | undefined;
}

export interface SettlementDates {
  /**
   * `YYYY-MM-DD`, in the time zone of the cut-off, or else of the first calendar, or else in UTC.
   */
  startsOn: string;
  expectedOn: string;
  isAfterCutOff: boolean;
  calendars: readonly CalendarId[];
  /** Calendars without an entry for the current year or the year of `expectedOn`. */
  incomplete: readonly CalendarId[];
}

const DAY_S = 86_400;
const formats = new Map<string, Intl.DateTimeFormat>();

export function isTimeZone(name: string): boolean {
  try {
    return formatOf(name) !== undefined;
  } catch {
    return false;
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const cachedFormat = formats.get(timeZone);
  if (cachedFormat) return cachedFormat;
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  });
  formats.set(timeZone, format);
  return format;
}

/** Date and time of day in a time zone. */
function localTime(now: number, timeZone: string): { date: string; time: string } {
  const valueByType = new Map(
    formatOf(timeZone)
      .formatToParts(now)
      .map(({ type, value }) => [type, value]),
  );
  const textOf = (type: Intl.DateTimeFormatPartTypes) => valueByType.get(type) ?? '';
  return {
    date: `${textOf('year')}-${textOf('month')}-${textOf('day')}`,
    time: `${textOf('hour')}:${textOf('minute')}`,
  };
}

const dayAfter = (date: string): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + DAY_S * 1_000).toISOString().slice(0, 10);

/** The date itself if it is a business day, or else the next business day. */
function businessDayFrom(date: string, calendars: readonly CalendarId[]): string {
  let day = date;
  while (!isBusinessDay(day, calendars)) day = dayAfter(day);
  return day;
}

function addBusinessDays(date: string, days: number, calendars: readonly CalendarId[]): string {
  let day = date;
  for (let count = 0; count < days; count++) day = businessDayFrom(dayAfter(day), calendars);
  return day;
}

/** Business days from the start to the arrival. One if the provider selects the rail. */
const settlementDaysOf = (rail: PaymentRail | null): number =>
  rail === null ? 1 : Math.floor(RAILS[rail].settlementSeconds / DAY_S);

export function settlementDates(
  now: number,
  { rail, currency, country }: DatedTransfer,
  cutOff?: CutOff | undefined,
): SettlementDates {
  const isInstant = rail !== null && RAILS[rail].instant;
  const calendars = isInstant ? [] : calendarsOf(rail, currency, country);
  const [firstCalendar] = calendars;
  const timeZone = cutOff?.timeZone ?? (firstCalendar ? CALENDARS[firstCalendar].timeZone : 'UTC');
  const { date, time } = localTime(now, timeZone);
  if (isInstant && !cutOff) {
    return { startsOn: date, expectedOn: date, isAfterCutOff: false, calendars, incomplete: [] };
  }
  const isAfterCutOff = cutOff !== undefined && time >= cutOff.time;
  const startsOn = isInstant
    ? isAfterCutOff
      ? dayAfter(date)
      : date
    : businessDayFrom(
        isAfterCutOff && isBusinessDay(date, calendars) ? dayAfter(date) : date,
        calendars,
      );
  const expectedOn = isInstant
    ? startsOn
    : addBusinessDays(startsOn, settlementDaysOf(rail), calendars);
  const years = [date, expectedOn].map((each) => Number(each.slice(0, 4)));
  const incomplete = calendars.filter((each) => !years.every((year) => hasYear(each, year)));
  return { startsOn, expectedOn, isAfterCutOff, calendars, incomplete };
}

/** Calendars without an entry for the current year, or in December for the next year. */
export function incompleteCalendars(now: number, ids: readonly CalendarId[]): CalendarId[] {
  const date = new Date(now);
  const year = date.getUTCFullYear();
  const years = date.getUTCMonth() === 11 ? [year, year + 1] : [year];
  return ids.filter((each) => !years.every((requiredYear) => hasYear(each, requiredYear)));
}
