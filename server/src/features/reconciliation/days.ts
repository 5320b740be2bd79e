// Calendar days in the time zone of a provider.
import type { Time } from '../../kernel/effects.ts';

const DAY_MS = 86_400_000;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Throws RangeError for an unknown time zone. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const cachedFormat = formats.get(timeZone);
  if (cachedFormat) return cachedFormat;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
  });
  formats.set(timeZone, format);
  return format;
}

export function isTimeZone(timeZone: string): boolean {
  try {
    formatOf(timeZone);
    return true;
  } catch {
    return false;
  }
}

/** Local time in the zone, encoded as if it were UTC. */
function localTime(time: Time, timeZone: string): Time {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(time)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

const textOf = (time: Time) => new Date(time).toISOString().slice(0, 10);

/** The day of a time, such as `2026-11-27`. */
export const dayOf = (time: Time, timeZone: string): string => textOf(localTime(time, timeZone));

/** `days` can be negative. */
export const addDays = (day: string, days: number): string =>
  textOf(Date.parse(day) + days * DAY_MS);

/**
 * Start of a local day. The offset is read twice, because the clock can change between the two
 * times.
 */
function startOfDay(day: string, timeZone: string): Time {
  const localMidnight = Date.parse(day);
  const offsetAt = (time: Time) => localTime(time, timeZone) - time;
  const estimate = localMidnight - offsetAt(localMidnight);
  return localMidnight - offsetAt(estimate);
}

/** Start and end of a day. */
export const periodOf = (day: string, timeZone: string): [Time, Time] => [
  startOfDay(day, timeZone),
  startOfDay(addDays(day, 1), timeZone),
];
