// The currencies that are offered in a region, and the customer data that each currency requires.
import { describe, expect, it } from 'vitest';
import { COUNTERPARTY_FIELDS } from '../accounts/field-names.ts';
import { CURRENCIES } from './currencies.ts';
import { isOfferedIn, isRegion, providerRequiredCustomerFields, regionsOf } from './offers.ts';

describe('offers', () => {
  it('include all currencies in a region without restrictions', () => {
    expect(CURRENCIES.every(({ code }) => isOfferedIn('US', code))).toBe(true);
    expect(regionsOf('USD')).not.toContain('KP');
  });

  it('exclude currencies that are prohibited in a region', () => {
    expect(isOfferedIn('DE', 'USDT')).toBe(false);
    expect(isOfferedIn('EU', 'USDT')).toBe(false);
    expect(isOfferedIn('DE', 'USDC')).toBe(true);
    expect(isOfferedIn('CN', 'BTC')).toBe(false);
    expect(isOfferedIn('CN', 'CNY')).toBe(true);
    expect(isOfferedIn('KP', 'USD')).toBe(false);
    expect(isOfferedIn('US', 'XYZ')).toBe(false);
    expect(regionsOf('USDT')).not.toContain('FR');
    expect(regionsOf('USDT')).toContain('US');
  });

  it('are defined for ISO countries and the EU', () => {
    expect(['US', 'EU', 'NO', 'XX', 'us', ''].map(isRegion)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('require only fields of the specification', () => {
    const requiredFields = CURRENCIES.flatMap(({ code }) => providerRequiredCustomerFields(code));
    expect(requiredFields.every((name) => COUNTERPARTY_FIELDS.includes(name))).toBe(true);
    expect(providerRequiredCustomerFields('INR')).toEqual(['FULL_NAME']);
    expect(providerRequiredCustomerFields('USD')).toEqual([]);
  });
});
