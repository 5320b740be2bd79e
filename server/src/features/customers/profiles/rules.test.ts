// Rules between the fields of a customer, with the errors that they report.
import { describe, expect, it } from 'vitest';
import { checkDigitErrors, customerErrors, updateErrors } from './rules.ts';

const fieldsOf = (customer: unknown) => customerErrors(customer).map((error) => error.field);
const individualBody = (overrides: object) => ({
  customerType: 'INDIVIDUAL',
  fullName: 'Ada Lovelace',
  ...overrides,
});
const businessBody = (overrides: object, customerFields: object = {}) => ({
  customerType: 'BUSINESS',
  businessInfo: {
    legalName: 'Acme & Sons',
    country: 'US',
    taxId: '12-3456789',
    incorporatedOn: '2020-02-29',
    ...overrides,
  },
  ...customerFields,
});

describe('customerErrors', () => {
  it('accepts minimal customers', () => {
    expect(fieldsOf(individualBody({}))).toEqual([]);
    expect(fieldsOf(businessBody({}))).toEqual([]);
  });

  it.each([
    'José García Márquez',
    "O'Neil-Smith, Jr.",
    'Élise d’Aubigné',
    'Test User 001',
    '山田太郎',
    'नरेंद्र शर्मा',
  ])('accepts the name %s', (fullName) => {
    expect(fieldsOf(individualBody({ fullName }))).toEqual([]);
  });

  it.each(['Ada  Lovelace', 'Ada <b>', 'Ada\tLovelace', ' Ada', 'Ada@home', 'Ada_Lovelace'])(
    'rejects the name %j',
    (fullName) => {
      expect(fieldsOf(individualBody({ fullName }))).toEqual(['fullName']);
    },
  );

  it('requires type and number together, in the format of the type', () => {
    expect(fieldsOf(individualBody({ idType: 'SSN', identifier: '123-45-6789' }))).toEqual([]);
    expect(fieldsOf(individualBody({ idType: 'ITIN', identifier: '912-70-1234' }))).toEqual([]);
    expect(fieldsOf(individualBody({ idType: 'ITIN', identifier: '812-70-1234' }))).toEqual([
      'identifier',
    ]);
    expect(fieldsOf(individualBody({ idType: 'SSN' }))).toEqual(['identifier']);
    expect(fieldsOf(individualBody({ identifier: '123-45-6789' }))).toEqual(['idType']);
    expect(fieldsOf(individualBody({ idType: 'EIN', identifier: '12-3456789' }))).toEqual([
      'idType',
    ]);
    const [error] = customerErrors(individualBody({ idType: 'SSN', identifier: '123456789' }));
    expect(error?.constraint).toEqual({ format: 'us-ssn', pattern: '^\\d{3}-\\d{2}-\\d{4}$' });
  });

  const germanTaxId = {
    idType: 'NON_US_TAX_ID',
    identifier: '86 095 742 719',
    countryOfIssuance: 'DE',
  };

  it('validates a national number by the format of its country', () => {
    expect(fieldsOf(individualBody(germanTaxId))).toEqual([]);
    expect(fieldsOf(individualBody({ ...germanTaxId, identifier: '86095742719' }))).toEqual([]);
    expect(fieldsOf(individualBody({ ...germanTaxId, countryOfIssuance: undefined }))).toEqual([
      'countryOfIssuance',
    ]);
    for (const countryOfIssuance of ['US', 'GU', 'XX']) {
      expect(fieldsOf(individualBody({ ...germanTaxId, countryOfIssuance }))).toEqual([
        'countryOfIssuance',
      ]);
    }
    const [error] = customerErrors(individualBody({ ...germanTaxId, identifier: '123-45-6789' }));
    expect(error).toEqual({
      field: 'identifier',
      constraint: { pattern: '^[1-9]\\d{10}$' },
      message:
        'is not a well-formed Steuerliche Identifikationsnummer (IdNr.) of Germany, ' +
        'such as 86 095 742 719',
    });
    const maskedIdentity = { ...germanTaxId, countryOfIssuance: 'NG', identifier: '***6789' };
    expect(fieldsOf(individualBody(maskedIdentity))).toEqual(['identifier']);
    expect(fieldsOf(individualBody({ idType: 'constructor', identifier: 'x' }))).toEqual([
      'idType',
    ]);
  });

  it('validates check digits separately from the format', () => {
    expect(checkDigitErrors(germanTaxId)).toEqual([]);
    expect(checkDigitErrors({ ...germanTaxId, identifier: '86095742718' })).toEqual([
      { field: 'identifier', message: 'has invalid check digits' },
    ]);
    expect(checkDigitErrors({ idType: 'SSN', identifier: '123-45-6789' })).toEqual([]);
    expect(checkDigitErrors({ idType: 'NON_US_TAX_ID' }, 'personalInfo.')).toEqual([]);
  });

  it('requires the issuing country US for US numbers', () => {
    const errorFieldsWith = (countryOfIssuance: string) =>
      fieldsOf(individualBody({ idType: 'SSN', identifier: '123-45-6789', countryOfIssuance }));
    expect(errorFieldsWith('US')).toEqual([]);
    expect(errorFieldsWith('DE')).toEqual(['countryOfIssuance']);
  });

  it('requires a description for OTHER', () => {
    const bodyWithoutDescriptions = individualBody({
      sourceOfFundsCategories: ['SALARY', 'OTHER'],
      sourceOfWealthCategories: ['OTHER'],
      purposeOfAccount: 'OTHER',
      purposeOfAccountOtherDescription: '  ',
    });
    expect(fieldsOf(bodyWithoutDescriptions)).toEqual([
      'sourceOfFundsOtherDescription',
      'sourceOfWealthOtherDescription',
      'purposeOfAccountOtherDescription',
    ]);
    expect(fieldsOf(businessBody({ purposeOfAccount: 'OTHER' }))).toEqual([
      'businessInfo.purposeOfAccountOtherDescription',
    ]);
    expect(fieldsOf(individualBody({ sourceOfFundsCategories: ['SALARY'] }))).toEqual([]);
  });

  it('validates tax numbers by the country of registration', () => {
    expect(fieldsOf(businessBody({ taxId: '123-45-6789' }))).toEqual([]);
    expect(fieldsOf(businessBody({ taxId: '123456789' }))).toEqual(['businessInfo.taxId']);
    expect(fieldsOf(businessBody({ country: 'DE', taxId: 'DE123456789' }))).toEqual([]);
    expect(fieldsOf(businessBody({ country: 'DE', taxId: '   ' }))).toEqual(['businessInfo.taxId']);
  });

  it('reports every invalid country', () => {
    const customer = businessBody(
      { country: 'XX', countriesOfOperation: ['US', 'QQ'], expectedCounterpartyCountries: ['ZZ'] },
      { address: { line1: 'a', postalCode: 'b', country: 'YY' } },
    );
    expect(fieldsOf(customer)).toEqual([
      'address.country',
      'businessInfo.country',
      'businessInfo.countriesOfOperation',
      'businessInfo.expectedCounterpartyCountries',
    ]);
    expect(fieldsOf(individualBody({ nationality: 'XX' }))).toEqual(['nationality']);
  });

  it('limits the length of address lines', () => {
    const longLine = 'x'.repeat(256);
    const address = {
      line1: longLine,
      line2: longLine,
      city: longLine,
      state: longLine,
      postalCode: longLine,
    };
    expect(fieldsOf(individualBody({ address: { ...address, country: 'US' } }))).toEqual([
      ...['address.line1', 'address.line2', 'address.city', 'address.state', 'address.postalCode'],
    ]);
    expect(
      fieldsOf(individualBody({ address: { line1: 'x'.repeat(255), country: 'US' } })),
    ).toEqual([]);
  });

  it.each([null, undefined, 3, 'x', [], {}, { businessInfo: 7, address: [], fullName: {} }])(
    'accepts any body shape: %j',
    (body) => {
      expect(customerErrors(body)).toEqual([]);
      expect(updateErrors(body)).toEqual([]);
    },
  );
});

describe('updateErrors', () => {
  it('rejects two contacts in one update', () => {
    const contacts = { customerType: 'INDIVIDUAL', email: 'a@b.example', phoneNumber: null };
    expect(updateErrors(contacts).map((error) => error.field)).toEqual(['email', 'phoneNumber']);
    expect(updateErrors({ customerType: 'INDIVIDUAL', email: 'a@b.example' })).toEqual([]);
  });

  it('skips rules that require the complete customer', () => {
    expect(updateErrors({ customerType: 'INDIVIDUAL', idType: 'SSN' })).toEqual([]);
    expect(updateErrors({ customerType: 'INDIVIDUAL', idType: 'EIN' })).toHaveLength(1);
  });
});
