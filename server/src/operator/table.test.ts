import { describe, expect, it } from 'vitest';
import { record, table } from './table.ts';

describe('table', () => {
  it('makes columns as wide as they need to be', () => {
    const columns = [{ head: 'NAME' }, { head: 'AMOUNT', align: 'right' as const }, { head: 'X' }];
    expect(
      table(columns, [
        ['a', '1.00', 'y'],
        ['longer', '12,345.00', ''],
      ]),
    ).toBe(['NAME       AMOUNT  X', 'a            1.00  y', 'longer  12,345.00', ''].join('\n'));
  });

  it('says when there is nothing', () => {
    expect(table([{ head: 'NAME' }], [])).toBe('None.\n');
  });
});

describe('record', () => {
  it('lines up values', () => {
    expect(
      record([
        ['A', '1'],
        ['Long', '2'],
      ]),
    ).toBe('A     1\nLong  2\n');
  });
});
