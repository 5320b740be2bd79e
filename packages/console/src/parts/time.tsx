// Times: relative if recent and by the real clock, with the exact time and its zone in a hint.
import { TEXTS } from '../texts/texts.ts';
import { useIsClockAdvanced } from './advanced-clock.ts';
import { Hint } from './hint.tsx';

const RELATIVE_UNITS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
/** Older times are shown as dates. */
const RELATIVE_SECONDS = 2 * 86_400;
/** Later times are shown as dates, because the clock of a sandbox can be ahead. */
const SOON_SECONDS = 3_600;

const relativeFormat = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const MINUTE_OPTIONS = {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
} as const;
const thisYearFormat = new Intl.DateTimeFormat(undefined, MINUTE_OPTIONS);
const anyYearFormat = new Intl.DateTimeFormat(undefined, { ...MINUTE_OPTIONS, year: 'numeric' });
const exactFormat = new Intl.DateTimeFormat(undefined, {
  ...{ year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' },
  ...{ second: '2-digit', fractionalSecondDigits: 3, timeZoneName: 'short' },
});

const clockFormat = new Intl.DateTimeFormat(undefined, {
  ...{ year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' },
  ...{ second: '2-digit', timeZoneName: 'short' },
});

/** The year is shown unless it is the current one. */
function dateTimeText(time: string): string {
  const date = new Date(time);
  const isOfThisYear = date.getFullYear() === new Date().getFullYear();
  return (isOfThisYear ? thisYearFormat : anyYearFormat).format(date);
}

function timeText(time: string, now = Date.now()): string {
  const seconds = (Date.parse(time) - now) / 1_000;
  if (seconds < -RELATIVE_SECONDS || seconds > SOON_SECONDS) return dateTimeText(time);
  const [unit, size] = RELATIVE_UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? [
    'second',
    1,
  ];
  return relativeFormat.format(Math.trunc(seconds / size), unit as Intl.RelativeTimeFormatUnit);
}

/** Date and time, to the second. */
export const ClockTime = ({ value }: { value: string }) => (
  <time dateTime={value}>{clockFormat.format(new Date(value))}</time>
);

const secondFormat = new Intl.DateTimeFormat(undefined, {
  ...{ month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' },
});

/** A time in a sequence, to the second. */
export const ExactTime = ({ value }: { value: string }) => (
  <Hint text={`${exactFormat.format(new Date(value))} · ${value}`}>
    <time dateTime={value}>{secondFormat.format(new Date(value))}</time>
  </Hint>
);

export function Time({ value }: { value: string | null | undefined }) {
  const isClockAdvanced = useIsClockAdvanced();
  if (!value) return <span className="none">{TEXTS.none}</span>;
  return (
    <Hint text={`${exactFormat.format(new Date(value))} · ${value}`}>
      <time dateTime={value}>{isClockAdvanced ? dateTimeText(value) : timeText(value)}</time>
    </Hint>
  );
}
