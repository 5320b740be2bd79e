// The results as texts: the table, JSON, times, remarks and missed targets.
import { type Row, ratiosOf, type Side } from './row.ts';
import { median, rangeOf } from './stats.ts';

const integerFormat = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const formatValue = (value: number) =>
  value >= 100 ? value.toFixed(0) : value.toFixed(value < 10 ? 2 : 1);

const HEAD = [
  ['', '', 'railhead', '', '', '', '', 'peer', '', '', '', '', 'ratio', '', ''],
  [
    'row',
    'label',
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
const RIGHT_ALIGNED = new Set([3, 4, 5, 6, 8, 9, 10, 11, 13]);

function cellsOf({ name, values, p50, p99, errors }: Side, unit: Row['unit']): string[] {
  const latency = (latencies: number[]) => (latencies.length ? formatValue(median(latencies)) : '');
  const value = `${integerFormat.format(rangeOf(values).median)}${unit === '/s' ? '/s' : ` ${unit}`}`;
  return [name, value, latency(p50), latency(p99), `${errors}`];
}

const isBelowTarget = (row: Row) => row.target !== undefined && ratiosOf(row).median < row.target;

const isAboveMaxSlowdown = (row: Row) =>
  row.slowdown?.maximum !== undefined && !(ratiosOf(row).median <= row.slowdown.maximum);

const isAboveMaxP99 = ({ railhead, maxP99Ms }: Row) =>
  maxP99Ms !== undefined && median(railhead.p99) > maxP99Ms;

const isAboveMaximum = ({ railhead, maxValue }: Row) =>
  maxValue !== undefined && median(railhead.values) > maxValue;

/** The target of a row, and whether it is met. */
function verdictOf(row: Row): [string, string] {
  const { target, maxP99Ms, maxValue, unit, slowdown } = row;
  const targets = [
    ...(target === undefined ? [] : [`≥ ${target}`]),
    ...(slowdown?.maximum === undefined ? [] : [`≤ ${slowdown.maximum}`]),
    ...(maxP99Ms === undefined ? [] : [`p99 ≤ ${maxP99Ms} ms`]),
    ...(maxValue === undefined ? [] : [`≤ ${integerFormat.format(maxValue)} ${unit}`]),
  ];
  if (!targets.length) return ['', ''];
  const isMissed = [isBelowTarget, isAboveMaxP99, isAboveMaxSlowdown, isAboveMaximum].some(
    (misses) => misses(row),
  );
  return [targets.join(', '), isMissed ? 'MISSED' : 'met'];
}

function lineOf(row: Row): string[] {
  const { id, label, railhead, peer, unit } = row;
  const { median: middle, min, max } = ratiosOf(row);
  const ratio = `${formatValue(middle)} (${formatValue(min)}–${formatValue(max)})`;
  return [id, label, ...cellsOf(railhead, unit), ...cellsOf(peer, unit), ratio, ...verdictOf(row)];
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
        RIGHT_ALIGNED.has(index)
          ? cell.padStart(widths?.[index] ?? 0)
          : cell.padEnd(widths?.[index] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  text.splice(2, 0, '─'.repeat(Math.max(...text.map((line) => line.length))));
  return text.join('\n');
}

/** The rows as JSON, with their ratios, for comparisons and histories. */
export function jsonOf(
  title: string,
  rows: readonly Row[],
  seconds: Readonly<Record<string, number>>,
): string {
  const withRatios = rows.map((row) => ({ ...row, ratio: ratiosOf(row) }));
  return JSON.stringify({ about: title.split('\n'), seconds, rows: withRatios }, null, 2);
}

/** Time of each group, and total time. */
export function timesOf(seconds: Readonly<Record<string, number>>): string {
  const times = Object.entries(seconds).map(([name, time]) => `${name} ${time} s`);
  const total = Object.values(seconds).reduce((sum, time) => sum + time, 0);
  return `Measured in ${(total / 60).toFixed(1)} minutes: ${times.join(', ')}.`;
}

/** One text for each row with a remark. */
export const remarksOf = (rows: readonly Row[]): string[] =>
  rows.flatMap(({ id, remark }) => (remark === undefined ? [] : [`${id}: ${remark}.`]));

/** One sentence for each missed target, and for each row with unanswered requests or errors. */
export function shortfalls(rows: readonly Row[]): string[] {
  const missedTargets = rows.filter(isBelowTarget).map((row) => {
    const { median: measuredRatio } = ratiosOf(row);
    const target = row.target as number;
    const percentBelow = ((1 - measuredRatio / target) * 100).toFixed(0);
    const shortfall = `target ${target}, ${percentBelow} % short.`;
    return `${row.id} ${row.label}: ${formatValue(measuredRatio)} of ${row.peer.name}, ${shortfall}`;
  });
  const slowRows = rows.filter(isAboveMaxP99).map(({ id, label, railhead, maxP99Ms }) => {
    const measuredP99 = median(railhead.p99);
    const limit = maxP99Ms as number;
    const percentOver = ((measuredP99 / limit - 1) * 100).toFixed(0);
    const excess = `${percentOver} % over`;
    return `${id} ${label}: p99 of ${formatValue(measuredP99)} ms, target at most ${limit}, ${excess}.`;
  });
  const slowedRows = rows.filter(isAboveMaxSlowdown).map((row) => {
    const { id, label, railhead, peer, slowdown } = row;
    const ratioText = `${formatValue(ratiosOf(row).median)} times as long ${railhead.name} as ${peer.name}`;
    return `${id} ${label}: ${ratioText}, target at most ${slowdown?.maximum}.`;
  });
  const aboveMaximum = rows
    .filter(isAboveMaximum)
    .map(({ id, label, railhead, maxValue, unit }) => {
      const measuredValue = median(railhead.values);
      const limit = maxValue as number;
      const percentOver = ((measuredValue / limit - 1) * 100).toFixed(0);
      const target = `target at most ${integerFormat.format(limit)}, ${percentOver} % over.`;
      return `${id} ${label}: ${integerFormat.format(measuredValue)} ${unit}, ${target}`;
    });
  const unansweredRequests = rows
    .filter((row) => row.unansweredCount)
    .map(
      (row) =>
        `${row.id}: ${row.unansweredCount} requests of the background load were not answered.`,
    );
  const rowsWithErrors = rows
    .filter((row) => row.railhead.errors + row.peer.errors > 0)
    .map(
      ({ id, railhead, peer }) =>
        `${id}: ${railhead.errors} errors of Railhead, ${peer.errors} of the peer.`,
    );
  return [
    ...missedTargets,
    ...slowRows,
    ...slowedRows,
    ...aboveMaximum,
    ...unansweredRequests,
    ...rowsWithErrors,
  ];
}
