// Layout of tables and records.
import { describe, expect, it } from 'vitest';
import { record, table } from './table.ts';

/** Texts that could control a terminal, imitate an output line, or reverse a line. */
const CONTROL_TEXTS = [
  ['Shop\u001b[2J\u001b]0;x\u0007!', 'Shop\ufffd[2J\ufffd]0;x\ufffd!'],
  ['Shop\nState\r\n\tACTIVE\rgone', 'Shop State  ACTIVE gone'],
  ['\u009b31m\u0085\u007f\u0000.', '\ufffd31m \ufffd\ufffd.'],
  ['\u202etxt.\u2066x\u2069', '\ufffdtxt.\ufffdx\ufffd'],
  ['Čaffè 🍰 שלום', 'Čaffè 🍰 שלום'],
] as const;

describe('table', () => {
  it('makes columns as wide as their content', () => {
    const columns = [
      { heading: 'NAME' },
      { heading: 'AMOUNT', align: 'right' as const },
      { heading: 'X' },
    ];
    expect(
      table(columns, [
        ['a', '1.00', 'y'],
        ['longer', '12,345.00', ''],
      ]),
    ).toBe(['NAME       AMOUNT  X', 'a            1.00  y', 'longer  12,345.00', ''].join('\n'));
  });

  it('prints None without rows', () => {
    expect(table([{ heading: 'NAME' }], [])).toBe('None.\n');
  });

  it.each(CONTROL_TEXTS)('neutralizes control characters, case %#', (text, printedText) =>
    expect(table([{ heading: 'N' }, { heading: 'X' }], [['a', text]])).toBe(
      `N  X\na  ${printedText}\n`,
    ),
  );
});

describe('record', () => {
  it('aligns values', () => {
    expect(
      record([
        ['A', '1'],
        ['Long', '2'],
      ]),
    ).toBe('A     1\nLong  2\n');
  });

  it.each(CONTROL_TEXTS)('neutralizes control characters, case %#', (text, printedText) =>
    expect(record([['A', text]])).toBe(`A  ${printedText}\n`),
  );
});
