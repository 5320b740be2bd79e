// ISO 8601 durations, such as `P2D` or `PT1H30M`. Years and months are calendar units in UTC.
import type { Time } from './effects.ts';

export interface Duration {
  months: number;
  ms: number;
}

const NUMBER = '(\\d{1,9})';
const PATTERN = new RegExp(
  `^P(?=\\d|T\\d)(?:${NUMBER}Y)?(?:${NUMBER}M)?(?:${NUMBER}W)?(?:${NUMBER}D)?` +
    `(?:T(?=\\d)(?:${NUMBER}H)?(?:${NUMBER}M)?(?:(\\d{1,9}(?:[.,]\\d{1,3})?)S)?)?$`,
);

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** An ISO 8601 duration. Undefined for any other text. */
export function readDuration(text: string): Duration | undefined {
  const parts = PATTERN.exec(text)?.slice(1);
  if (!parts) return undefined;
  const [years, months, weeks, days, hours, minutes, seconds] = parts.map((part = '0') =>
    Number(part.replace(',', '.')),
  ) as [number, number, number, number, number, number, number];
  return {
    months: years * 12 + months,
    ms: (weeks * 7 + days) * DAY + hours * HOUR + minutes * MINUTE + Math.round(seconds * SECOND),
  };
}

/** The time after a duration. In a month without this day, the last day of the month. */
export function timeAfter(time: Time, { months, ms }: Duration): Time {
  if (months === 0) return time + ms;
  const date = new Date(time);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, lastDay));
  return date.getTime() + ms;
}
