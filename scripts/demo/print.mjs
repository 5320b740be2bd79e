// Output of the demonstration: short aligned lines, formatted amounts, color in a terminal only.
const hasColors = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code) => (text) => (hasColors ? `\x1b[${code}m${text}\x1b[0m` : text);
const bold = paint(1);
const green = paint(32);

const NAME_WIDTH = 12;
const TYPE_WIDTH = 35;

export const printLine = (text = '') => console.log(text);
export const printHeading = (text) => printLine(`\n${bold(text)}`);
export const printFact = (name, text) => printLine(`  ${name.padEnd(NAME_WIDTH)}${text}`);
export const printCheck = (name, text = '') =>
  printLine(`  ${green('✓')} ${`${name.padEnd(TYPE_WIDTH)}${text}`.trimEnd()}`);

/** Formats 100000 and USD as `1,000.00 USD`. The amount is passed as text, which preserves all digits. */
export function money(amount, { code, decimals }) {
  const format = new Intl.NumberFormat('en-US', { minimumFractionDigits: decimals });
  return `${format.format(`${amount}e-${decimals}`)} ${code}`;
}

/** Prints a table. `rightAligned` contains the headers of numeric columns. */
export function printTable(headers, rows, rightAligned = []) {
  const widths = headers.map((header, index) =>
    Math.max(header.length, ...rows.map((row) => row[index].length)),
  );
  const pad = (text, index) =>
    rightAligned.includes(headers[index])
      ? text.padStart(widths[index])
      : text.padEnd(widths[index]);
  for (const row of [headers, ...rows]) printLine(`  ${row.map(pad).join('  ').trimEnd()}`);
}
