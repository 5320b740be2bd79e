// Tables for people: columns as wide as their widest cell, numbers to the right, nothing drawn around.

type Align = 'left' | 'right';

interface Column {
  head: string;
  align?: Align;
}

/**
 * A text on one line that does nothing to a terminal. Many come from outside, such as what a merchant calls
 * itself: they must neither drive it, nor look like lines of ours, nor turn around what stands beside them.
 */
const harmless = (text: string): string =>
  text
    .replace(/\r\n|[\t\n\v\f\r\u0085]/g, ' ')
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');

const widthOf = (text: string) => [...text].length;

function pad(text: string, width: number, align: Align): string {
  const gap = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'right' ? gap + text : text + gap;
}

/** Rows under their heads; says so where there are none. */
export function table(columns: readonly Column[], args: readonly string[][]): string {
  if (args.length === 0) return 'None.\n';
  const rows = args.map((row) => row.map(harmless));
  const widths = columns.map(({ head }, at) =>
    Math.max(widthOf(head), ...rows.map((row) => widthOf(row[at] ?? ''))),
  );
  const line = (cells: readonly string[]) =>
    columns
      .map(({ align = 'left' }, at) => pad(cells[at] ?? '', widths[at] as number, align))
      .join('  ')
      .trimEnd();
  return `${[columns.map(({ head }) => head), ...rows].map(line).join('\n')}\n`;
}

/** One thing: its names and values below each other. */
export function record(pairs: readonly (readonly [string, string])[]): string {
  const width = Math.max(...pairs.map(([name]) => widthOf(name)));
  return pairs.map(([name, value]) => `${pad(name, width, 'left')}  ${harmless(value)}\n`).join('');
}
