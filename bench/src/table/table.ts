// The table, followed by the missed targets and by how much they were missed.
import { type Row, ratiosOf, type Side } from './row.ts';
import { median, rangeOf } from './stats.ts';

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const formatted = (value: number) =>
  value >= 100 ? value.toFixed(0) : value.toFixed(value < 10 ? 2 : 1);

const HEAD = [
  ['', '', 'ours', '', '', '', '', 'peer', '', '', '', '', 'ratio', '', ''],
  [
    'row',
    'what',
    'system',
    'median',
    'p50 ms',
    'p99 ms',
    'errors',
    'system',
    'median',
    'p50 ms',
    'p99 ms',
    'errors',
    'median (min–max)',
    'target',
    '',
  ],
];
/** Numeric columns, aligned to the right. */
const RIGHT = new Set([3, 4, 5, 6, 8, 9, 10, 11, 13]);

function cellsOf({ name, values, p50, p99, errors }: Side, unit: Row['unit']): string[] {
  const latency = (all: number[]) => (all.length ? formatted(median(all)) : '');
  const value = `${whole.format(rangeOf(values).median)}${unit === '/s' ? '/s' : ` ${unit}`}`;
  return [name, value, latency(p50), latency(p99), `${errors}`];
}

const isBelow = (row: Row) => row.target !== undefined && ratiosOf(row).median < row.target;

const isSlowed = (row: Row) =>
  row.slowdown?.most !== undefined && !(ratiosOf(row).median <= row.slowdown.most);

const isSlow = ({ ours, maxP99Ms }: Row) => maxP99Ms !== undefined && median(ours.p99) > maxP99Ms;

const isCostly = ({ ours, maxOurs }: Row) => maxOurs !== undefined && median(ours.values) > maxOurs;

/** The target of a row, and whether it is met. */
function verdictOf(row: Row): [string, string] {
  const { target, maxP99Ms, maxOurs, unit, slowdown } = row;
  const wanted = [
    ...(target === undefined ? [] : [`≥ ${target}`]),
    ...(slowdown?.most === undefined ? [] : [`≤ ${slowdown.most}`]),
    ...(maxP99Ms === undefined ? [] : [`p99 ≤ ${maxP99Ms} ms`]),
    ...(maxOurs === undefined ? [] : [`≤ ${whole.format(maxOurs)} ${unit}`]),
  ];
  if (!wanted.length) return ['', ''];
  const isMissed = [isBelow, isSlow, isSlowed, isCostly].some((misses) => misses(row));
  return [wanted.join(', '), isMissed ? 'MISSED' : 'met'];
}

function lineOf(row: Row): string[] {
  const { id, what, ours, peer, unit } = row;
  const { median: middle, min, max } = ratiosOf(row);
  const ratio = `${formatted(middle)} (${formatted(min)}–${formatted(max)})`;
  return [id, what, ...cellsOf(ours, unit), ...cellsOf(peer, unit), ratio, ...verdictOf(row)];
}

/** All rows as one plain-text table. */
export function tableOf(rows: readonly Row[]): string {
  const lines = [...HEAD, ...rows.map(lineOf)];
  const widths = lines[0]?.map((_, index) =>
    Math.max(...lines.map((line) => line[index]?.length ?? 0)),
  );
  const text = lines.map((line) =>
    line
      .map((cell, index) =>
        RIGHT.has(index) ? cell.padStart(widths?.[index] ?? 0) : cell.padEnd(widths?.[index] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  text.splice(2, 0, '─'.repeat(Math.max(...text.map((line) => line.length))));
  return text.join('\n');
}

/** The rows as JSON, with their ratios, for comparisons and histories. */
export function jsonOf(
  about: string,
  rows: readonly Row[],
  seconds: Readonly<Record<string, number>>,
): string {
  const withRatios = rows.map((row) => ({ ...row, ratio: ratiosOf(row) }));
  return JSON.stringify({ about: about.split('\n'), seconds, rows: withRatios }, null, 2);
}

/** The time that each group took, and all together. */
export function timesOf(seconds: Readonly<Record<string, number>>): string {
  const each = Object.entries(seconds).map(([name, time]) => `${name} ${time} s`);
  const total = Object.values(seconds).reduce((sum, time) => sum + time, 0);
  return `Measured in ${(total / 60).toFixed(1)} minutes: ${each.join(', ')}.`;
}

/** The remark of a row beside its figures. */
export const remarksOf = (rows: readonly Row[]): string[] =>
  rows.flatMap(({ id, remark }) => (remark === undefined ? [] : [`${id}: ${remark}.`]));

/** One sentence for each missed target, and for each row with errors. */
export function shortfalls(rows: readonly Row[]): string[] {
  const missed = rows.filter(isBelow).map((row) => {
    const { median: got } = ratiosOf(row);
    const target = row.target as number;
    const percentBelow = ((1 - got / target) * 100).toFixed(0);
    const wanted = `target ${target}; ${percentBelow} % short.`;
    return `${row.id} ${row.what}: ${formatted(got)} of ${row.peer.name}, ${wanted}`;
  });
  const slow = rows.filter(isSlow).map(({ id, what, ours, maxP99Ms }) => {
    const got = median(ours.p99);
    const limit = maxP99Ms as number;
    const over = ((got / limit - 1) * 100).toFixed(0);
    return `${id} ${what}: p99 of ${formatted(got)} ms, target at most ${limit}; ${over} % over.`;
  });
  const slowed = rows.filter(isSlowed).map((row) => {
    const { id, what, ours, peer, slowdown } = row;
    const got = `${formatted(ratiosOf(row).median)} times as long ${ours.name} as ${peer.name}`;
    return `${id} ${what}: ${got}, target at most ${slowdown?.most}.`;
  });
  const costly = rows.filter(isCostly).map(({ id, what, ours, maxOurs, unit }) => {
    const got = median(ours.values);
    const limit = maxOurs as number;
    const over = ((got / limit - 1) * 100).toFixed(0);
    const target = `target at most ${whole.format(limit)}; ${over} % over.`;
    return `${id} ${what}: ${whole.format(got)} ${unit}, ${target}`;
  });
  const unanswered = rows
    .filter((row) => row.unanswered)
    .map(
      (row) => `${row.id}: ${row.unanswered} requests of the background load were not answered.`,
    );
  const broken = rows
    .filter((row) => row.ours.errors + row.peer.errors > 0)
    .map(
      ({ id, ours, peer }) =>
        `${id}: ${ours.errors} errors on our side, ${peer.errors} on the other.`,
    );
  return [...missed, ...slow, ...slowed, ...costly, ...unanswered, ...broken];
}
