import { describe, expect, it } from 'vitest';
import { checkDigitErrors, customerErrors, updateErrors } from './rules.ts';

const fieldsOf = (customer: unknown) => customerErrors(customer).map((error) => error.field);
const person = (more: object) => ({
  customerType: 'INDIVIDUAL',
  fullName: 'Ada Lovelace',
  ...more,
});
const firm = (more: object, rest: object = {}) => ({
  customerType: 'BUSINESS',
  businessInfo: {
    legalName: 'Acme & Sons',
    country: 'US',
    taxId: '12-3456789',
    incorporatedOn: '2020-02-29',
    ...more,
  },
  ...rest,
});

describe('customerErrors', () => {
  it('finds nothing wrong with plain customers', () => {
    expect(fieldsOf(person({}))).toEqual([]);
    expect(fieldsOf(firm({}))).toEqual([]);
  });

  it.each([
    'José García Márquez',
    "O'Neil-Smith, Jr.",
    'Élise d’Aubigné',
    'Test User 001',
    '山田太郎',
    'नरेंद्र शर्मा',
  ])('admits the name %s', (fullName) => {
    expect(fieldsOf(person({ fullName }))).toEqual([]);
  });

  it.each(['Ada  Lovelace', 'Ada <b>', 'Ada\tLovelace', ' Ada', 'Ada@home', 'Ada_Lovelace'])(
    'refuses the name %j',
    (fullName) => {
      expect(fieldsOf(person({ fullName }))).toEqual(['fullName']);
    },
  );

  it('wants identity numbers in the shape of their type, and both together', () => {
    expect(fieldsOf(person({ idType: 'SSN', identifier: '123-45-6789' }))).toEqual([]);
    expect(fieldsOf(person({ idType: 'ITIN', identifier: '912-70-1234' }))).toEqual([]);
    expect(fieldsOf(person({ idType: 'ITIN', identifier: '812-70-1234' }))).toEqual(['identifier']);
    expect(fieldsOf(person({ idType: 'SSN' }))).toEqual(['identifier']);
    expect(fieldsOf(person({ identifier: '123-45-6789' }))).toEqual(['idType']);
    expect(fieldsOf(person({ idType: 'EIN', identifier: '12-3456789' }))).toEqual(['idType']);
    const [error] = customerErrors(person({ idType: 'SSN', identifier: '123456789' }));
    expect(error?.constraint).toEqual({ format: 'us-ssn', pattern: '^\\d{3}-\\d{2}-\\d{4}$' });
  });

  const german = { idType: 'NON_US_TAX_ID', identifier: '86 095 742 719', countryOfIssuance: 'DE' };

  it('judges the number of another country by the shape of that country', () => {
    expect(fieldsOf(person(german))).toEqual([]);
    expect(fieldsOf(person({ ...german, identifier: '86095742719' }))).toEqual([]);
    expect(fieldsOf(person({ ...german, countryOfIssuance: undefined }))).toEqual([
      'countryOfIssuance',
    ]);
    for (const countryOfIssuance of ['US', 'GU', 'XX']) {
      expect(fieldsOf(person({ ...german, countryOfIssuance }))).toEqual(['countryOfIssuance']);
    }
    const [error] = customerErrors(person({ ...german, identifier: '123-45-6789' }));
    expect(error).toEqual({
      field: 'identifier',
      constraint: { pattern: '^[1-9]\\d{10}$' },
      message:
        'is not a well-formed Steuerliche Identifikationsnummer (IdNr.) of Germany, ' +
        'such as 86 095 742 719',
    });
    const masked = { ...german, countryOfIssuance: 'NG', identifier: '***6789' };
    expect(fieldsOf(person(masked))).toEqual(['identifier']);
    expect(fieldsOf(person({ idType: 'constructor', identifier: 'x' }))).toEqual(['idType']);
  });

  it('judges check digits apart from shapes', () => {
    expect(checkDigitErrors(german)).toEqual([]);
    expect(checkDigitErrors({ ...german, identifier: '86095742718' })).toEqual([
      { field: 'identifier', message: 'has check digits that do not match the rest' },
    ]);
    expect(checkDigitErrors({ idType: 'SSN', identifier: '123-45-6789' })).toEqual([]);
    expect(checkDigitErrors({ idType: 'NON_US_TAX_ID' }, 'personalInfo.')).toEqual([]);
  });

  it('knows the issuing country of identity numbers', () => {
    const with_ = (countryOfIssuance: string) =>
      fieldsOf(person({ idType: 'SSN', identifier: '123-45-6789', countryOfIssuance }));
    expect(with_('US')).toEqual([]);
    expect(with_('DE')).toEqual(['countryOfIssuance']);
  });

  it('wants words where OTHER was chosen', () => {
    const lacking = person({
      sourceOfFundsCategories: ['SALARY', 'OTHER'],
      sourceOfWealthCategories: ['OTHER'],
      purposeOfAccount: 'OTHER',
      purposeOfAccountOtherDescription: '  ',
    });
    expect(fieldsOf(lacking)).toEqual([
      'sourceOfFundsOtherDescription',
      'sourceOfWealthOtherDescription',
      'purposeOfAccountOtherDescription',
    ]);
    expect(fieldsOf(firm({ purposeOfAccount: 'OTHER' }))).toEqual([
      'businessInfo.purposeOfAccountOtherDescription',
    ]);
    expect(fieldsOf(person({ sourceOfFundsCategories: ['SALARY'] }))).toEqual([]);
  });

  it('checks tax numbers by the country of registration', () => {
    expect(fieldsOf(firm({ taxId: '123-45-6789' }))).toEqual([]);
    expect(fieldsOf(firm({ taxId: '123456789' }))).toEqual(['businessInfo.taxId']);
    expect(fieldsOf(firm({ country: 'DE', taxId: 'DE123456789' }))).toEqual([]);
    expect(fieldsOf(firm({ country: 'DE', taxId: '   ' }))).toEqual(['businessInfo.taxId']);
  });

  it('names every country that is none', () => {
    const customer = firm(
      { country: 'XX', countriesOfOperation: ['US', 'QQ'], expectedCounterpartyCountries: ['ZZ'] },
      { address: { line1: 'a', postalCode: 'b', country: 'YY' } },
    );
    expect(fieldsOf(customer)).toEqual([
      'address.country',
      'businessInfo.country',
      'businessInfo.countriesOfOperation',
      'businessInfo.expectedCounterpartyCountries',
    ]);
    expect(fieldsOf(person({ nationality: 'XX' }))).toEqual(['nationality']);
  });

  it('bounds every line of an address', () => {
    const long = 'x'.repeat(256);
    const address = { line1: long, line2: long, city: long, state: long, postalCode: long };
    expect(fieldsOf(person({ address: { ...address, country: 'US' } }))).toEqual([
      ...['address.line1', 'address.line2', 'address.city', 'address.state', 'address.postalCode'],
    ]);
    expect(fieldsOf(person({ address: { line1: 'x'.repeat(255), country: 'US' } }))).toEqual([]);
  });

  it.each([null, undefined, 3, 'x', [], {}, { businessInfo: 7, address: [], fullName: {} }])(
    'survives the body %j',
    (body) => {
      expect(customerErrors(body)).toEqual([]);
      expect(updateErrors(body)).toEqual([]);
    },
  );
});

describe('updateErrors', () => {
  it('refuses two contacts at once', () => {
    const both = { customerType: 'INDIVIDUAL', email: 'a@b.example', phoneNumber: null };
    expect(updateErrors(both).map((error) => error.field)).toEqual(['email', 'phoneNumber']);
    expect(updateErrors({ customerType: 'INDIVIDUAL', email: 'a@b.example' })).toEqual([]);
  });

  it('leaves to the whole customer what only it can tell', () => {
    expect(updateErrors({ customerType: 'INDIVIDUAL', idType: 'SSN' })).toEqual([]);
    expect(updateErrors({ customerType: 'INDIVIDUAL', idType: 'EIN' })).toHaveLength(1);
  });
});
