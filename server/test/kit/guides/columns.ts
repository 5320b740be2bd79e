// Columns of tables in guides. A guide shows `…` for values that differ between runs. The printed
// table is formatted with columns as wide as the cells that the guide shows.

interface Cell {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const widthOf = (text: string) => [...text].length;

const textsOf = (cells: readonly Cell[]) => cells.map(({ text }) => text);

/** A cell: text between gaps of two or more spaces. */
export const cellsOf = (line: string): Cell[] =>
  [...line.matchAll(/\S+(?: \S+)*/g)].map(({ 0: text, index }) => {
    const start = widthOf(line.slice(0, index));
    return { text, start, end: start + widthOf(text) };
  });

/**
 * The column of each cell of a row, or undefined if a cell matches no next column of the first
 * line.
 */
function columnsOf(row: readonly Cell[], firstLine: readonly Cell[]): number[] | undefined {
  const columns = row.map(({ start, end }) =>
    firstLine.findIndex((cell) => cell.start === start || cell.end === end),
  );
  const isOrdered = columns.every((column, position) => column > (columns[position - 1] ?? -1));
  return isOrdered ? columns : undefined;
}

/** Consecutive lines that form a table, or a single line. */
function tablesIn(lines: readonly Cell[][]): Cell[][][] {
  const tables: Cell[][][] = [];
  for (const line of lines) {
    const [firstLine] = tables.at(-1) ?? [];
    if (firstLine && line.length > 1 && columnsOf(line, firstLine)) tables.at(-1)?.push(line);
    else tables.push([line]);
  }
  return tables;
}

/** Formats a table of these texts, with the columns of the printed table. */
function layOutTable(table: readonly Cell[][], texts: readonly string[][]): string[] {
  const [firstLine = []] = table;
  const placedCells = table.flatMap((cells, row) =>
    (columnsOf(cells, firstLine) ?? []).map((column, position) => ({
      row,
      column,
      isLeft: cells[position]?.start === firstLine[column]?.start,
      text: texts[row]?.[position] ?? '',
    })),
  );
  const columns = firstLine.map((_, column) => {
    const cells = placedCells.filter((cell) => cell.column === column);
    return {
      width: Math.max(...cells.map(({ text }) => widthOf(text))),
      isLeft: cells.every(({ isLeft }) => isLeft),
    };
  });
  const indent = ' '.repeat(firstLine[0]?.start ?? 0);
  return table.map((_, row) => {
    const line = columns.map(({ width, isLeft }, column) => {
      const text =
        placedCells.find((cell) => cell.row === row && cell.column === column)?.text ?? '';
      const gap = ' '.repeat(width - widthOf(text));
      return isLeft ? text + gap : gap + text;
    });
    return `${indent}${line.join('  ')}`.trimEnd();
  });
}

/** Joins other texts with the gaps of a line. */
const joinInPlace = (cells: readonly Cell[], texts: readonly string[]): string =>
  cells
    .map(
      ({ start }, position) =>
        ' '.repeat(start - (cells[position - 1]?.end ?? 0)) + (texts[position] ?? ''),
    )
    .join('');

/** The printed lines, laid out with the cells that the guide shows. */
export function layOut(
  printedLines: readonly string[],
  expectedLines: readonly string[],
): string[] {
  const lines = printedLines.map(cellsOf);
  const expectedTexts = expectedLines.map((line) => textsOf(cellsOf(line)));
  let lineIndex = 0;
  return tablesIn(lines).flatMap((table) => {
    const [from, to] = [lineIndex, lineIndex + table.length];
    lineIndex = to;
    const formattedLines = layOutTable(table, table.map(textsOf));
    const isTable = formattedLines.every(
      (line, row) => line === printedLines[from + row]?.trimEnd(),
    );
    const texts = expectedTexts.slice(from, to);
    return isTable
      ? layOutTable(table, texts)
      : table.map((cells, row) => joinInPlace(cells, texts[row] ?? []));
  });
}
