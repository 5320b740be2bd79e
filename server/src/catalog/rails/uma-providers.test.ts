// The table of UMA providers: unique names and valid identifiers.
import { describe, expect, it } from 'vitest';
import { isLei } from '../accounts/checks.ts';
import { findCurrency } from '../currencies/currencies.ts';
import { isCountry } from '../identity/countries.ts';
import { UMA_PROVIDERS } from './uma-providers.ts';

describe('UMA providers', () => {
  it('have unique names, domains and identifiers', () => {
    for (const key of ['name', 'domain', 'lei'] as const) {
      const values = UMA_PROVIDERS.map((each) => each[key]);
      expect(new Set(values).size).toBe(values.length);
    }
    expect(UMA_PROVIDERS.length).toBeGreaterThan(5);
  });

  it('have existing countries and currencies', () => {
    for (const { regions, currencies } of UMA_PROVIDERS) {
      expect(regions.filter((code) => !isCountry(code))).toEqual([]);
      expect(currencies.filter((code) => !findCurrency(code))).toEqual([]);
    }
  });

  it('have identifiers with valid check digits', () => {
    for (const { lei } of UMA_PROVIDERS) expect([lei, isLei(lei)]).toEqual([lei, true]);
    expect(isLei('000000SANDBOXUMA0166')).toBe(false);
    expect(isLei('000000SANDBOXUMA016')).toBe(false);
  });

  it('include allowed and blocked providers', () => {
    expect(new Set(UMA_PROVIDERS.map((each) => each.isAllowed))).toEqual(new Set([true, false]));
  });
});
