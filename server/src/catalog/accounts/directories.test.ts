// The lists of banks, VASPs, counterparty fields and purposes of payment.
import { describe, expect, it } from 'vitest';
import { findCurrency } from '../currencies/currencies.ts';
import { isCountry } from '../identity/countries.ts';
import { PURPOSES_OF_PAYMENT, requiresPurpose } from '../rails/purposes.ts';
import { isVasp, VASPS } from '../rails/vasps.ts';
import { ACCOUNT_TYPE_ROWS, ACCOUNT_TYPES } from './account-types.ts';
import { bankNameOfBic, INSTITUTIONS, institutions } from './banks.ts';
import { COUNTERPARTY_FIELDS } from './field-names.ts';

describe('banks', () => {
  it('are listed once per country and currency, which are known', () => {
    const keys = INSTITUTIONS.map((each) => `${each.country} ${each.currency} ${each.bankName}`);
    expect(new Set(keys).size).toBe(keys.length);
    for (const institution of INSTITUTIONS) {
      expect(isCountry(institution.country) && findCurrency(institution.currency)).toBeTruthy();
      expect(institution.bankName).toMatch(/^[ -~]{1,255}$/);
      expect(institution.displayName).not.toBe('');
    }
  });

  it('exist for every account type that requires a bank name', () => {
    for (const type of ACCOUNT_TYPES) {
      const { country, currencies, fields } = ACCOUNT_TYPE_ROWS[type];
      if (!country || !fields.bankName || fields.bankName.optional) continue;
      const names = institutions({ country, currency: currencies[0] ?? '' });
      expect([type, names.length >= 5]).toEqual([type, true]);
    }
  });

  it('are filtered by country, by currency, or by both', () => {
    expect(institutions()).toHaveLength(INSTITUTIONS.length);
    expect(institutions({ country: 'NG' }).every((each) => each.currency === 'NGN')).toBe(true);
    expect(institutions({ currency: 'USD' }).every((each) => each.country === 'SV')).toBe(true);
    expect(institutions({ country: 'NG', currency: 'USD' })).toEqual([]);
    expect(institutions({ country: 'CN' }).find((each) => each.bankName === 'AliPay')).toEqual({
      bankName: 'AliPay',
      displayName: 'Alipay',
      country: 'CN',
      currency: 'CNY',
    });
  });

  it('of Singapore have a listed name for their BIC', () => {
    const names = institutions({ country: 'SG' }).map((each) => each.bankName);
    for (const bic of ['DBSSSGSG', 'OCBCSGSGXXX', 'UOVBSGSG', 'HSBCSGSG', 'TRBUSGSG']) {
      expect(names).toContain(bankNameOfBic(bic));
    }
    expect(bankNameOfBic('DBSSHKHH')).toBeUndefined();
  });
});

describe('VASPs', () => {
  it('have unique, sorted, case-sensitive names and a URL', () => {
    const names = VASPS.map((vasp) => vasp.vaspName);
    expect(names).toEqual([...names].sort());
    expect(new Set(names).size).toBe(names.length);
    for (const { url } of VASPS) expect(url).toMatch(/^https:\/\/[a-z.]+$/);
    expect([isVasp('Kraken'), isVasp('kraken')]).toEqual([true, false]);
  });
});

describe('counterparty fields', () => {
  it('have 20 entries, as in the specification', () => {
    const names: readonly string[] = COUNTERPARTY_FIELDS;
    expect(names).toHaveLength(20);
  });

  it('require one of 14 purposes of payment for INR and none for EUR', () => {
    expect(PURPOSES_OF_PAYMENT).toHaveLength(14);
    expect([requiresPurpose('INR'), requiresPurpose('EUR')]).toEqual([true, false]);
  });
});
