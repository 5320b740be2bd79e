// Output of the demonstration: short aligned lines, formatted amounts, color in a terminal only.
const colorful = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code) => (text) => (colorful ? `\x1b[${code}m${text}\x1b[0m` : text);
const bold = paint(1);
const green = paint(32);

const NAME_WIDTH = 12;
const TYPE_WIDTH = 35;

export const line = (text = '') => console.log(text);
export const heading = (text) => line(`\n${bold(text)}`);
export const fact = (name, text) => line(`  ${name.padEnd(NAME_WIDTH)}${text}`);
export const tick = (name, text = '') =>
  line(`  ${green('✓')} ${`${name.padEnd(TYPE_WIDTH)}${text}`.trimEnd()}`);

/** `100000` and USD: `1,000.00 USD`. Exact, because the decimal point is placed in the text. */
export function money(amount, { code, decimals }) {
  const format = new Intl.NumberFormat('en-US', { minimumFractionDigits: decimals });
  return `${format.format(`${amount}e-${decimals}`)} ${code}`;
}

/** A table; `right` names the numeric columns. */
export function table(heads, rows, rightAligned = []) {
  const widths = heads.map((head, index) =>
    Math.max(head.length, ...rows.map((row) => row[index].length)),
  );
  const pad = (text, at) =>
    rightAligned.includes(heads[at]) ? text.padStart(widths[at]) : text.padEnd(widths[at]);
  for (const row of [heads, ...rows]) line(`  ${row.map(pad).join('  ').trimEnd()}`);
}
