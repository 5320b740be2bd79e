// The report of a session: a table of the checks, followed by the failed checks with their
// remedies.
import type { CheckResult } from './check.ts';
import type { Verdict } from './verdict.ts';

interface ReportOptions {
  url: string;
  inbox: string;
  /** Columns of the terminal. At most 160 are used. */
  width: number;
  isColored: boolean;
}

const GAP = 2;
const MAX_WIDTH = 160;
const MIN_CELL = 16;

const COLORS: Readonly<Record<Verdict, number>> = { passed: 32, failed: 31, skipped: 33 };

/** Removes control characters, because a string of the adapter must not control the terminal. */
const removeControls = (text: string) => text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, ' ');

/** Splits a string into lines of at most `width` characters. Longer words are split. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of removeControls(text).split(' ')) {
    const pieces = word.match(new RegExp(`.{1,${width}}`, 'gu')) ?? [''];
    for (const piece of pieces) {
      const lastLine = lines.at(-1) as string;
      const joinedLine = lastLine === '' ? piece : `${lastLine} ${piece}`;
      if (joinedLine.length <= width) lines[lines.length - 1] = joinedLine;
      else lines.push(piece);
    }
  }
  return lines;
}

/** Returns the lines of one row of the table. */
function row(cells: readonly string[], widths: readonly number[]): string[] {
  const wrappedCells = cells.map((cell, index) => wrap(cell, widths[index] ?? MIN_CELL));
  const height = Math.max(...wrappedCells.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    wrappedCells
      .map((lines, index) => (lines[line] ?? '').padEnd(widths[index] ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

const HEAD = ['VERDICT', 'CHECK', 'ACTION', 'EXPECTED', 'ACTUAL'];

function widthsOf(results: readonly CheckResult[], width: number): number[] {
  const nameWidth = Math.max(...results.map(({ name }) => name.length), MIN_CELL);
  const verdictWidth = 'skipped'.length;
  const availableWidth = Math.min(width, MAX_WIDTH) - verdictWidth - nameWidth - GAP * 4;
  const cellWidth = Math.max(MIN_CELL, Math.floor(availableWidth / 3));
  return [verdictWidth, nameWidth, cellWidth, cellWidth, cellWidth];
}

const count = (results: readonly CheckResult[], verdict: Verdict) =>
  results.filter((each) => each.verdict === verdict).length;

export const isConformant = (results: readonly CheckResult[]): boolean =>
  count(results, 'failed') === 0;

/** The failed checks with their remedies. */
function remedies(results: readonly CheckResult[], width: number): string[] {
  const indent = '  ';
  return results
    .filter(({ verdict }) => verdict === 'failed')
    .flatMap(({ name, actual, expected, remedy }) => [
      '',
      name,
      ...[`Expected: ${expected}.`, `Actual: ${actual}.`, `Remedy: ${remedy}`].flatMap((text) =>
        wrap(text, width - indent.length).map((line) => indent + line),
      ),
    ]);
}

export function textReport(results: readonly CheckResult[], options: ReportOptions): string {
  const { url, inbox, isColored } = options;
  const width = Math.min(options.width, MAX_WIDTH);
  const paint = (text: string, verdict: Verdict) =>
    isColored ? text.replace(verdict, `\u001b[${COLORS[verdict]}m${verdict}\u001b[39m`) : text;
  const widths = widthsOf(results, width);
  const rows = results.flatMap(({ verdict, name, action, expected, actual }) => {
    const [firstLine = '', ...otherLines] = row([verdict, name, action, expected, actual], widths);
    return [paint(firstLine, verdict), ...otherLines];
  });
  const [passedCount, failedCount, skippedCount] = (['passed', 'failed', 'skipped'] as const).map(
    (verdict) => count(results, verdict),
  );
  const summary = `${passedCount} passed, ${failedCount} failed, ${skippedCount} skipped.`;
  const conclusion =
    failedCount === 0 ? 'The adapter conforms to the protocol' : 'The adapter does not conform';
  return [
    `Adapter ${removeControls(url)}, messages to ${inbox}`,
    '',
    ...row(HEAD, widths),
    ...rows,
    ...remedies(results, Math.max(width, MIN_CELL * 3)),
    '',
    `${conclusion}: ${summary}`,
    '',
  ].join('\n');
}

export const jsonReport = (results: readonly CheckResult[], { url, inbox }: ReportOptions) =>
  `${JSON.stringify({ url, inbox, isConformant: isConformant(results), checks: results }, null, 2)}\n`;
