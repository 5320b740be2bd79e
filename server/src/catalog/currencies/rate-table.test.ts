// Rate tables as JSON and CSV: exact fractions, times, and complete lists of errors.
import { describe, expect, it } from 'vitest';
import { scale, toDecimal } from '../../kernel/money.ts';
import { fractionOf, midRate, type RateTable, tableOfCsv, tableOfJson } from './rate-table.ts';

function tableOf(result: ReturnType<typeof tableOfJson>): RateTable {
  if ('problems' in result) throw new Error(result.problems.join('; '));
  return result.table;
}

const problems = (result: ReturnType<typeof tableOfJson>) =>
  'problems' in result ? result.problems : [];

describe('fractionOf', () => {
  it.each([
    ['0.9154', 9154n, 10_000n],
    ['17', 17n, 1n],
    ['1.10', 110n, 100n],
    ['5.6e-7', 56n, 100_000_000n],
    ['2E3', 2000n, 1n],
    ['0.123456789012345678901', 123456789012345678901n, 10n ** 21n],
  ])('parses %s', (text, num, den) => expect(fractionOf(text)).toEqual({ num, den }));

  it.each(['', '0', '0.000', '-1', '1,5', 'abc', '1.', '.5', '1e999', 'Infinity', '0x10'])(
    'rejects %j',
    (text) => expect(fractionOf(text)).toBeUndefined(),
  );
});

describe('tableOfJson', () => {
  it('preserves all digits of numbers and strings', () => {
    const table = tableOf(
      tableOfJson(
        '' +
          '{"base":"USD","at":"2026-01-05T09:00:00Z","rates":{"EUR":0.91540000000000000001,"MXN":"17.05"}}',
        true,
      ),
    );
    expect(table.at).toBe(Date.UTC(2026, 0, 5, 9));
    expect(table.perBase.get('EUR')).toEqual({ num: 91540000000000000001n, den: 10n ** 20n });
    expect(toDecimal(midRate(table, 'USD', 'MXN')!, 4)).toBe('17.05');
  });

  it('reads seconds since 1970 as a time, and ignores digits inside other strings', () => {
    const table = tableOf(
      tableOfJson('{"base":"USD","timestamp":1767603600,"note":"a 1 \\" 2","rates":{}}', true),
    );
    expect(table.at).toBe(1_767_603_600_000);
  });

  it('reports all errors together', () => {
    const text = `{"base":"XXX","at":"yesterday","rates":{"EUR":"-1","ZZZ":"2","GBP":null}}`;
    expect(problems(tableOfJson(text, true))).toEqual([
      'base must be the supported currency to which all rates refer',
      'yesterday is not a time: use ISO 8601 or seconds since 1970',
      'rates.EUR: -1 is not a decimal above zero',
      'rates.ZZZ: ZZZ is not a supported currency',
      'rates.GBP: the rate is not a number',
    ]);
  });

  it.each([['nonsense'], ['[]'], ['{"base":"USD"}'], ['{"base":"USD","rates":[]}'], ['null']])(
    'rejects %s',
    (text) => expect(problems(tableOfJson(text, false))).toHaveLength(1),
  );

  it('ignores currencies that the catalog does not contain', () => {
    const result = tableOfJson('{"base":"USD","rates":{"EUR":"0.9","XAU":"0.0005"}}', false);
    expect(result).toMatchObject({ skipped: ['rates.XAU: XAU is not a supported currency'] });
    expect(midRate(tableOf(result), 'USD', 'EUR')).toBeDefined();
  });
});

describe('tableOfCsv', () => {
  it('reads lines, comments, a header and the base', () => {
    const table = tableOf(
      tableOfCsv(
        '# manual\ncurrency,rate\nbase,USD\nat,2026-01-05\n\nEUR, 0.9154\r\nUSD,1\n',
        true,
      ),
    );
    expect([...table.perBase.keys()]).toEqual(['USD', 'EUR']);
    expect(table.at).toBe(Date.UTC(2026, 0, 5));
  });

  it('reports all invalid lines', () => {
    const text = 'base,USD\nEUR,0.9\nEUR,0.8\nabc\nGBP,0,78\nMXN,x\nUSD,2\n';
    expect(problems(tableOfCsv(text, true))).toEqual([
      'line 3: EUR is listed twice',
      'line 4: abc is not a supported currency',
      'line 5: GBP,0,78 is not a decimal above zero',
      'line 6: x is not a decimal above zero',
      'line 7: USD is listed twice',
    ]);
  });
});

describe('midRate', () => {
  const table = tableOf(tableOfCsv('base,USD\nEUR,0.9154\nJPY,157.23\nBTC,0.0000112\n', true));

  it('converts minor units of one currency to minor units of the other', () => {
    // 100.00 USD are 91.54 EUR and 15,723 JPY. 1 USD is 1,120 satoshis.
    expect(scale(10_000n, midRate(table, 'USD', 'EUR')!, 'floor')).toBe(9_154n);
    expect(scale(10_000n, midRate(table, 'USD', 'JPY')!, 'floor')).toBe(15_723n);
    expect(scale(100n, midRate(table, 'USD', 'BTC')!, 'floor')).toBe(1_120n);
    expect(scale(9_154n, midRate(table, 'EUR', 'JPY')!, 'halfUp')).toBe(15_723n);
  });

  it('has exact inverses, including those of cross rates', () => {
    for (const [from, to] of [
      ['USD', 'EUR'],
      ['EUR', 'JPY'],
      ['JPY', 'BTC'],
    ] as const) {
      const rate = midRate(table, from, to)!;
      const inverse = midRate(table, to, from)!;
      expect(rate.num * inverse.num).toBe(rate.den * inverse.den);
    }
  });

  it('is undefined for missing currencies', () => {
    expect(midRate(table, 'USD', 'GBP')).toBeUndefined();
    expect(midRate(table, 'GBP', 'USD')).toBeUndefined();
  });
});
