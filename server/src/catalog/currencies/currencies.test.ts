// The table of currencies, compared with ISO 4217.
import { describe, expect, it } from 'vitest';
import { CURRENCIES, currencyOf, currencyView, findCurrency, isFiat } from './currencies.ts';

describe('currencies', () => {
  it('have the exponents of ISO 4217, and the ledger units of digital assets', () => {
    const codesWithoutDecimals = ['JPY', 'KRW', 'RWF', 'UGX', 'VND', 'XAF', 'XOF'];
    const decimalsOf: Record<string, number> = { KWD: 3, BTC: 8, USDC: 6, USDT: 6, USDB: 6 };
    for (const { code, decimals } of CURRENCIES) {
      expect([code, decimals]).toEqual([
        code,
        codesWithoutDecimals.includes(code) ? 0 : (decimalsOf[code] ?? 2),
      ]);
    }
  });

  it('have a unique upper-case code, a name and a symbol', () => {
    expect(new Set(CURRENCIES.map((each) => each.code)).size).toBe(CURRENCIES.length);
    for (const currency of CURRENCIES) {
      expect(currency.code).toMatch(/^[A-Z]{3,4}$/);
      expect(currency.name && currency.symbol).toBeTruthy();
    }
  });

  it('are found by code, and unknown codes are rejected', () => {
    expect(currencyView('EUR')).toEqual({ code: 'EUR', name: 'Euro', symbol: '€', decimals: 2 });
    expect(currencyOf('BTC').kind).toBe('crypto');
    expect(findCurrency('SLV')).toBeUndefined();
    expect(() => currencyOf('XXX')).toThrow('XXX');
    expect([isFiat('USD'), isFiat('USDC'), isFiat('nope')]).toEqual([true, false, false]);
  });
});
