// Comma-separated values as RFC 4180 wants them. A text that a person chose may begin with a sign that a
// spreadsheet takes for a formula; such a text gets an apostrophe in front, which shows it as the text it
// is. Numbers and ids are ours and stay as they are, or a negative amount would be no number any more.
import { formatAmount } from '../../catalog/currencies/money-format.ts';

/** A value that we made: an id, a number, a time, a word. Null is an empty cell. */
export const neutralized = (value: string | number | bigint | null): string =>
  value === null ? '' : String(value);

/** A text that somebody else chose. */
export const text = (value: string | null): string =>
  value !== null && /^[\s]*[=+\-@＝＋－＠]|^[\t\r\n]/.test(value) ? `'${value}` : (value ?? '');

/** An amount as an exact decimal and as the whole number of smallest units; two cells. */
export function amount(minor: bigint | null, currency: string | null): [string, string] {
  if (minor === null || currency === null) return ['', ''];
  const decimal = formatAmount({ currency, amount: minor }).replaceAll(',', '');
  return [decimal, String(minor)];
}

const quoted = (cell: string): string =>
  /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

export const csvLine = (cells: readonly string[]): string => `${cells.map(quoted).join(',')}\r\n`;

/** A head and rows as pieces of text. */
export async function* csv<R>(
  head: readonly string[],
  rows: AsyncIterable<readonly R[]>,
  cellsOf: (row: R) => readonly string[],
): AsyncGenerator<string> {
  yield csvLine(head);
  for await (const piece of rows) yield piece.map((row) => csvLine(cellsOf(row))).join('');
}
