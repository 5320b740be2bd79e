// Plain-text tables without borders. A column is as wide as its widest cell, and is aligned to the
// left or to the right.

type Align = 'left' | 'right';

interface Column {
  heading: string;
  align?: Align;
}

/**
 * A string on one line without effect on a terminal. Many strings are written by third parties, such as a
 * merchant's descriptor. They must not send control sequences, imitate output lines, or reverse the
 * direction of adjacent text.
 */
export const withoutControlCharacters = (text: string): string =>
  text
    .replace(/\r\n|[\t\n\v\f\r\u0085]/g, ' ')
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');

const widthOf = (text: string) => [...text].length;

function pad(text: string, width: number, align: Align): string {
  const gap = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'right' ? gap + text : text + gap;
}

/** Rows under their headings, or `None.` without rows. A string is a heading aligned left. */
export function table(
  columnsOrHeadings: readonly (Column | string)[],
  rows: readonly string[][],
): string {
  if (rows.length === 0) return 'None.\n';
  const columns = columnsOrHeadings.map(
    (each): Column => (typeof each === 'string' ? { heading: each } : each),
  );
  const cells = rows.map((row) => row.map(withoutControlCharacters));
  const widths = columns.map(({ heading }, index) =>
    Math.max(widthOf(heading), ...cells.map((row) => widthOf(row[index] ?? ''))),
  );
  const lineOf = (row: readonly string[]) =>
    columns
      .map(({ align = 'left' }, index) => pad(row[index] ?? '', widths[index] as number, align))
      .join('  ')
      .trimEnd();
  return `${[columns.map(({ heading }) => heading), ...cells].map(lineOf).join('\n')}\n`;
}

/** A single record: names and values, one per line. */
export function record(pairs: readonly (readonly [string, string])[]): string {
  const width = Math.max(...pairs.map(([name]) => widthOf(name)));
  return pairs
    .map(([name, value]) => `${pad(name, width, 'left')}  ${withoutControlCharacters(value)}\n`)
    .join('');
}
