// Layout of tables at several widths of the terminal, and the texts, details and colors of values.
import { describe, expect, it } from 'vitest';
import { detailLines } from './details.ts';
import { hasColors, stylesOf } from './style.ts';
import { type Column, columnsOf, fitColumns, layOut } from './table.ts';
import { shortText } from './values.ts';

const plainStyles = stylesOf(false);
const column = (title: string, text: string, minWidth = 12): Column => ({
  title,
  texts: [text],
  minWidth,
});

describe('a table', () => {
  const idColumn = column('ID', 'x'.repeat(45), 45);
  const nameColumn = column('NAME', 'y'.repeat(30));
  const otherColumn = column('OTHER', 'z'.repeat(30));

  it('first shortens texts, then omits the last columns', () => {
    expect(fitColumns([idColumn, nameColumn, otherColumn], 120)).toEqual([45, 30, 30]);
    expect(fitColumns([idColumn, nameColumn, otherColumn], 100)).toEqual([45, 21, 30]);
    expect(fitColumns([idColumn, nameColumn, otherColumn], 70)).toEqual([45, 23]);
    expect(fitColumns([idColumn, nameColumn], 50)).toEqual([45]);
    expect(layOut([idColumn, nameColumn], 60, plainStyles)).toEqual([
      `${'ID'.padEnd(45)}  NAME`,
      `${'x'.repeat(45)}  ${'y'.repeat(12)}…`,
    ]);
  });

  it('has two lines for each row on a narrow terminal', () => {
    const widestColumn = { ...idColumn, minWidth: Number.POSITIVE_INFINITY };
    expect(layOut([widestColumn, nameColumn, otherColumn], 60, plainStyles)).toEqual([
      'ID',
      `  ${'NAME'.padEnd(26)}  OTHER`,
      'x'.repeat(45),
      `  ${'y'.repeat(25)}…  ${'z'.repeat(30)}`,
    ]);
    expect(layOut([widestColumn, nameColumn, otherColumn], 100, plainStyles)[0]).toMatch(
      /^ID +NAME +OTHER$/,
    );
  });

  it('shows complete texts without a terminal', () => {
    expect(layOut([idColumn, nameColumn, otherColumn], undefined, plainStyles)[1]).toHaveLength(
      109,
    );
  });

  it('shows the most informative columns, and omits objects and empty fields', () => {
    const items = [
      { updatedAt: 'x', fullName: 'Ada', empty: null, inner: { a: 1 }, id: '1', status: 'OPEN' },
      { updatedAt: 'x', fullName: 'Grace', id: '2', status: 'OPEN', extra: [1, 2] },
    ];
    const titles = columnsOf(items).map(({ title }) => title);
    expect(titles).toEqual(['ID', 'FULL NAME', 'STATUS', 'EXTRA']);
  });
});

it.each([
  [{ amount: 25000, currency: { code: 'USD', decimals: 2 } }, '250.00 USD'],
  [{ amount: -5, currency: { code: 'USD', decimals: 2 } }, '-0.05 USD'],
  [{ amount: 7, currency: { code: 'JPY', decimals: 0 } }, '7 JPY'],
  [{ amount: 7, currency: { code: 'X' } }, '7 X'],
  ['2026-11-26T17:20:45.123Z', '2026-11-26 17:20:45'],
  [['a', 'b'], 'a, b'],
  [[{ a: 1 }], undefined],
  [null, ''],
  [false, 'false'],
])('shortText shows %j as %s', (value, text) => {
  expect(shortText(value)).toBe(text);
});

it('detailLines indents nested fields and numbers the items of a list', () => {
  const keys = [{ id: 'k' }, { id: 'l', none: null }];
  const lines = detailLines(
    { id: '1', name: 'Ada', address: { city: 'Portland' }, keys },
    plainStyles,
  );
  expect(lines).toEqual([
    ...['id    1', 'name  Ada', 'address', '  city  Portland'],
    ...['keys 1', '  id  k', 'keys 2', '  id    l'],
  ]);
  expect(detailLines(5, plainStyles)).toEqual(['5']);
});

it('hasColors is true on a terminal, unless an environment variable overrides it', () => {
  expect(hasColors({ isTTY: true }, {})).toBe(true);
  expect(hasColors({ isTTY: true }, { NO_COLOR: '1' })).toBe(false);
  expect(hasColors({ isTTY: true }, { TERM: 'dumb' })).toBe(false);
  expect(hasColors({}, {})).toBe(false);
  expect(hasColors({}, { FORCE_COLOR: '1' })).toBe(true);
});
