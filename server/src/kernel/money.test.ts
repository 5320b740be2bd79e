// Arithmetic, rounding and comparison of amounts and rates.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  add,
  type ConversionRate,
  convert,
  isLess,
  type Money,
  scale,
  smallerOf,
  subtract,
  sum,
} from './money.ts';

const usd = (amount: bigint): Money => ({ currency: 'USD', amount });
const eur = (amount: bigint): Money => ({ currency: 'EUR', amount });

const EUR_PER_USD: ConversionRate = { from: 'USD', to: 'EUR', num: 92n, den: 100n };

describe('Money', () => {
  it('adds and subtracts amounts of one currency', () => {
    expect(add(usd(1_00n), usd(25n))).toEqual(usd(1_25n));
    expect(subtract(usd(1_00n), usd(1_25n))).toEqual(usd(-25n));
  });

  it('compares amounts of one currency', () => {
    expect(isLess(usd(1n), usd(2n))).toBe(true);
    expect(isLess(usd(2n), usd(2n))).toBe(false);
    expect(smallerOf(usd(3n), usd(2n))).toEqual(usd(2n));
    expect(smallerOf(usd(2n), usd(3n))).toEqual(usd(2n));
  });

  it('sums amounts and returns zero for an empty list', () => {
    expect(sum('USD', [usd(1n), usd(2n), usd(3n)])).toEqual(usd(6n));
    expect(sum('USD', [])).toEqual(usd(0n));
  });

  it('converts with the specified rounding', () => {
    expect(convert(usd(101n), EUR_PER_USD, 'floor')).toEqual(eur(92n));
    expect(convert(usd(101n), EUR_PER_USD, 'ceil')).toEqual(eur(93n));
    expect(convert(usd(101n), EUR_PER_USD, 'halfUp')).toEqual(eur(93n));
  });

  it.each<[string, () => unknown]>([
    ['a sum of two amounts', () => add(usd(1n), eur(1n))],
    ['a difference', () => subtract(usd(1n), eur(1n))],
    ['a comparison', () => isLess(usd(1n), eur(1n))],
    ['the smaller of two amounts', () => smallerOf(eur(1n), usd(1n))],
    ['a sum of several amounts', () => sum('USD', [usd(1n), eur(1n)])],
    ['a sum in another currency', () => sum('USD', [eur(1n)])],
    ['a conversion at the rate of another currency', () => convert(eur(1n), EUR_PER_USD, 'ceil')],
  ])('rejects mixed currencies in %s', (_, calculate) => {
    expect(calculate).toThrow(
      expect.objectContaining({
        name: 'CurrencyMismatch',
        currencies: expect.arrayContaining(['USD', 'EUR']),
      }),
    );
  });

  const amount = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }).map(usd);
  const positive = fc.bigInt({ min: 1n, max: 10n ** 12n });
  const rate = fc.record({
    from: fc.constant('USD'),
    to: fc.constant('EUR'),
    num: positive,
    den: positive,
  });

  it('adds in any order and reverses an addition by subtraction', () => {
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        expect(subtract(add(a, b), b)).toEqual(a);
        expect(add(a, b)).toEqual(add(b, a));
        expect(sum('USD', [a, b])).toEqual(add(a, b));
      }),
    );
  });

  it('orders any two amounts', () => {
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        const isEqual = a.amount === b.amount;
        expect([isLess(a, b), isLess(b, a), isEqual].filter(Boolean)).toHaveLength(1);
        expect(isLess(smallerOf(a, b), a) || isLess(smallerOf(a, b), b)).toBe(!isEqual);
      }),
    );
  });

  it('converts like `scale` with at most one unit between floor and ceil', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), rate, (units, appliedRate) => {
        const [floor, ceil] = (['floor', 'ceil'] as const).map((each) =>
          convert(usd(units), appliedRate, each),
        );
        expect(floor).toEqual(eur(scale(units, appliedRate, 'floor')));
        const difference = subtract(ceil as Money, floor as Money).amount;
        expect(difference === 0n || difference === 1n).toBe(true);
      }),
    );
  });

  it('rejects every pair of different currencies', () => {
    const mixedPair = fc.tuple(amount, fc.bigInt().map(eur));
    const operations = [add, subtract, isLess, smallerOf];
    fc.assert(
      fc.property(mixedPair, ([a, b]) => {
        for (const operation of operations) {
          expect(() => operation(a, b)).toThrow(
            expect.objectContaining({ name: 'CurrencyMismatch' }),
          );
        }
      }),
    );
  });
});
