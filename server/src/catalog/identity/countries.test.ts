// The table of countries, compared with the published lists.
import { describe, expect, it } from 'vitest';
import {
  COUNTRY_CODES,
  countryName,
  ibanLength,
  isCountry,
  scaRegion,
  withoutPostalCodes,
} from './countries.ts';

describe('countries', () => {
  it('are the 249 countries of ISO 3166-1, without duplicates', () => {
    expect(COUNTRY_CODES).toHaveLength(249);
    expect(new Set(COUNTRY_CODES).size).toBe(249);
    for (const code of COUNTRY_CODES) {
      expect(code).toMatch(/^[A-Z]{2}$/);
      expect(countryName(code)).toMatch(/^\S.*\S$/);
    }
    expect(countryName('BR')).toBe('Brazil');
    expect([isCountry('KE'), isCountry('ke'), isCountry('XK'), isCountry('')]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('with strong customer authentication are the EU-27 and three EEA states', () => {
    expect(scaRegion.size).toBe(30);
    for (const code of scaRegion) expect(isCountry(code)).toBe(true);
    expect(['DE', 'GR', 'IS', 'LI', 'NO'].every((code) => scaRegion.has(code))).toBe(true);
    expect(['GB', 'CH', 'US'].some((code) => scaRegion.has(code))).toBe(false);
  });

  it('have an IBAN length if they issue IBANs', () => {
    expect(['NO', 'DE', 'GB', 'MT', 'LC'].map(ibanLength)).toEqual([15, 22, 22, 31, 32]);
    expect(ibanLength('US')).toBeUndefined();
  });

  it('without postal codes are known countries in alphabetical order', () => {
    expect([...withoutPostalCodes].filter((code) => !isCountry(code))).toEqual([]);
    expect([...withoutPostalCodes]).toEqual([...withoutPostalCodes].sort());
    const countries = ['AE', 'HK', 'QA', 'DE', 'US', 'GB'];
    expect(countries.filter((code) => withoutPostalCodes.has(code))).toEqual(['AE', 'HK', 'QA']);
  });
});
