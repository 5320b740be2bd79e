// Tables for people: columns as wide as their widest cell, numbers to the right, nothing drawn around.

export type Align = 'left' | 'right';

export interface Column {
  head: string;
  align?: Align;
}

const widthOf = (text: string) => [...text].length;

function pad(text: string, width: number, align: Align): string {
  const gap = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'right' ? gap + text : text + gap;
}

/** Rows under their heads; says so where there are none. */
export function table(columns: readonly Column[], rows: readonly string[][]): string {
  if (rows.length === 0) return 'None.\n';
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
  return pairs.map(([name, value]) => `${pad(name, width, 'left')}  ${value}\n`).join('');
}
