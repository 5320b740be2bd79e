// Reference rates and corridors between all supported currencies.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scale } from '../../kernel/money.ts';
import { ACCOUNT_TYPE_ROWS, ACCOUNT_TYPES } from '../accounts/account-types.ts';
import { corridors, destinationsOf, payoutRailsOf } from './corridors.ts';
import { CURRENCIES } from './currencies.ts';
import { referenceRate } from './reference-rates.ts';

const codes = CURRENCIES.map((currency) => currency.code);
const anyCode = fc.constantFrom(...codes);
const rateOf = (from: string, to: string) => {
  const rate = referenceRate(from, to);
  if (!rate) throw new Error(`No reference rate from ${from} to ${to}.`);
  return rate;
};

describe('referenceRate', () => {
  it('exists between all supported currencies only', () => {
    for (const from of codes) for (const to of codes) expect(referenceRate(from, to)).toBeDefined();
    expect(referenceRate('USD', 'XXX')).toBeUndefined();
    expect(referenceRate('XXX', 'USD')).toBeUndefined();
  });

  it.each([
    ['USD', 'EUR', 99_500n, 91_540n],
    ['USD', 'MXN', 99_500n, 1_716_375n],
    ['USD', 'BTC', 99_500n, 828_835n],
    ['USD', 'INR', 10_000n, 825_000n],
    ['USD', 'USDC', 100n, 1_000_000n],
    ['USD', 'VND', 100n, 26_000n],
    ['USD', 'KWD', 100n, 306n],
    ['BTC', 'USD', 100_000_000n, 12_004_800n],
  ])('converts %s to %s: %s is %s', (from, to, sentAmount, receivedAmount) => {
    expect(scale(sentAmount, rateOf(from, to), 'floor')).toBe(receivedAmount);
  });

  it('is 1 to the same currency, has an exact inverse, and is consistent with cross rates', () => {
    fc.assert(
      fc.property(anyCode, anyCode, anyCode, (a, b, c) => {
        const [ab, ba, bc, ac] = [rateOf(a, b), rateOf(b, a), rateOf(b, c), rateOf(a, c)];
        expect([ba.num, ba.den]).toEqual([ab.den, ab.num]);
        expect(ab.num * bc.num * ac.den).toBe(ab.den * bc.den * ac.num);
        if (a === b) expect(ab).toEqual({ num: 1n, den: 1n });
        expect(ab.num > 0n && ab.den > 0n).toBe(true);
      }),
    );
  });
});

describe('corridors', () => {
  it('exist for every currency and rail of the account types', () => {
    for (const type of ACCOUNT_TYPES) {
      const row = ACCOUNT_TYPE_ROWS[type];
      for (const currency of row.currencies) {
        const rails = corridors('USD', currency).map((corridor) => corridor.rail);
        expect(rails.length).toBeGreaterThan(0);
        for (const rail of row.rails) expect(rails).toContain(rail);
      }
    }
    expect(corridors('USD', 'BTC').map((corridor) => corridor.rail)).toEqual([null]);
    expect(corridors('USD', 'XXX')).toEqual([]);
    expect(corridors('XXX', 'EUR')).toEqual([]);
  });

  it('have plausible limits in the sending currency', () => {
    for (const from of codes) {
      for (const to of ['EUR', 'KES', 'BTC', 'USD']) {
        for (const { minSending, maxSending } of corridors(from, to)) {
          expect(minSending > 0n).toBe(true);
          expect(maxSending > minSending * 1000n).toBe(true);
          expect(maxSending <= 9_000_000_000_000_000n).toBe(true);
        }
      }
    }
  });

  it.each([
    ['USD', 'SPEI', 'MXN', 100n, 1_000_000_000n],
    ['EUR', 'SPEI', 'MXN', 92n, 920_000_000n],
    ['MXN', 'SEPA', 'EUR', 1800n, 17_000_000_000n],
    ['USD', 'MOBILE_MONEY', 'KES', 100n, 1_000_000n],
  ])('limit payments of %s over %s to %s', (from, rail, to, min, max) => {
    const matchingCorridor = corridors(from, to).find((corridor) => corridor.rail === rail);
    expect([matchingCorridor?.minSending, matchingCorridor?.maxSending]).toEqual([min, max]);
  });

  it('determine the destination currencies and payout rails', () => {
    expect(destinationsOf('USD')).toContain('EUR');
    expect(destinationsOf('USD')).not.toContain('USD');
    expect(payoutRailsOf('EUR')).toEqual(['SEPA', 'SEPA_INSTANT', 'SWIFT']);
    expect(payoutRailsOf('MXN')).toEqual(['SPEI']);
    expect(payoutRailsOf('ARS')).toEqual([]);
  });
});
