// Rows as a CSV file. A value that a spreadsheet would evaluate as a formula is marked as text.
import { fieldLabel } from '../texts/fields.ts';
import type { Column } from './column.ts';
import { decimalText, type Money } from './money.tsx';

const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^-?\d+(?:\.\d+)?$/;

const quote = (text: string): string => {
  const escapedText = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(escapedText) ? `"${escapedText.replaceAll('"', '""')}"` : escapedText;
};

const isMoney = (value: object): value is Money => 'amount' in value && 'currency' in value;

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  return isMoney(value) ? `${decimalText(value)} ${value.currency}` : JSON.stringify(value);
}

/** Returns CSV text with a header and one line for each row. */
export function csvOf(rows: readonly unknown[], columns: readonly Column<never>[]): string {
  const header = columns.map(({ name, label }) => quote(label ?? fieldLabel(name)));
  const lines = rows.map((row) =>
    columns.map(({ name, text }) =>
      quote(text ? text(row as never) : textOf((row as Record<string, unknown>)[name])),
    ),
  );
  return `${[header, ...lines].map((line) => line.join(',')).join('\r\n')}\r\n`;
}

export function download(name: string, text: string, type = 'text/csv'): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
