// The request schema of each account type, and the errors that the union of them reports.
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { toAjv, toOpenApi } from '../../kernel/schema.ts';
import { exampleOf } from './account-examples.ts';
import { maskAccountInfo, railsOf } from './account-info.ts';
import { accountInfoCreateSchema, accountInfoSchema } from './account-schemas.ts';
import { ACCOUNT_TYPE_ROWS, ACCOUNT_TYPES } from './account-types.ts';

const ajv = new Ajv({ strict: false, allErrors: true });
formats.default(ajv);
const isRequest = ajv.compile(toAjv(accountInfoCreateSchema));
const isResponse = ajv.compile(toAjv(accountInfoSchema));

/** Invalid fields, each with the violated keyword. */
function violations(value: unknown): string[] {
  isRequest(value);
  return (isRequest.errors ?? [])
    .filter((error) => error.keyword !== 'if')
    .map((error) => {
      const { missingProperty } = error.params as { missingProperty?: string };
      const path = error.instancePath + (missingProperty ? `/${missingProperty}` : '');
      return `${path.slice(1).replaceAll('/', '.')} ${error.keyword}`;
    });
}

describe.each(ACCOUNT_TYPES)('%s', (type) => {
  const row = ACCOUNT_TYPE_ROWS[type];
  const example = exampleOf(type);

  it('accepts its example in requests, and with its rails in responses', () => {
    expect(violations(example)).toEqual([]);
    const hasRails = row.kind === 'bank' || row.kind === 'mobile';
    const response = { ...example, ...(hasRails ? { paymentRails: railsOf(example) } : {}) };
    expect([isResponse(response), isResponse.errors]).toEqual([true, null]);
    expect([isResponse(maskAccountInfo(response)), isResponse.errors]).toEqual([true, null]);
    if (hasRails) expect(isResponse(example)).toBe(false);
  });

  it('ignores unknown fields', () => {
    expect(violations({ ...example, accountCategory: 'X', paymentRails: 7 })).toEqual([]);
  });

  it('reports each missing required field, and only that field', () => {
    const hasRails = row.kind === 'bank' || row.kind === 'mobile';
    const requiredFields = [
      ...Object.keys(row.fields).filter((name) => !row.fields[name]?.optional),
      ...(hasRails ? ['beneficiary'] : []),
    ];
    for (const name of requiredFields) {
      const { [name]: _removed, ...exampleWithoutField } = example;
      expect(violations(exampleWithoutField)).toEqual([`${name} required`]);
    }
  });

  it('rejects an invalid value in every field', () => {
    for (const [name, { schema }] of Object.entries(row.fields)) {
      if (schema.pattern) expect(violations({ ...example, [name]: '?' }).join()).toContain(name);
      if (schema.enum) expect(violations({ ...example, [name]: '?' })).toEqual([`${name} enum`]);
      if (schema.minLength) expect(violations({ ...example, [name]: '' }).join()).toContain(name);
      if (schema.maxLength) {
        const tooLongValue = '1'.repeat(schema.maxLength + 1);
        expect(violations({ ...example, [name]: tooLongValue }).join()).toContain(
          `${name} maxLength`,
        );
      }
      expect(violations({ ...example, [name]: 12 }).join()).toContain(`${name} type`);
    }
  });

  it('requires the beneficiary fields of its row', () => {
    if (row.kind === 'lightning') return;
    const beneficiaryViolations = (fields: object) =>
      violations({ ...example, beneficiary: fields });
    const requiredFields =
      row.kind === 'wallet' ? ['countryOfResidence'] : (row.individual?.required ?? []);
    expect(beneficiaryViolations({ beneficiaryType: 'INDIVIDUAL' }).sort()).toEqual(
      ['fullName', ...requiredFields].map((name) => `beneficiary.${name} required`).sort(),
    );
    expect(beneficiaryViolations({ beneficiaryType: 'BUSINESS' })).toEqual([
      'beneficiary.legalName required',
    ]);
    expect(beneficiaryViolations({ beneficiaryType: 'ROBOT' })).toEqual([
      'beneficiary.beneficiaryType enum',
    ]);
    expect(beneficiaryViolations({ fullName: 'A' })).toEqual([
      'beneficiary.beneficiaryType required',
    ]);
  });
});

describe('the union', () => {
  it('reports only the type if it is unknown or missing', () => {
    expect(violations({ accountType: 'US_ACCOUNT' })).toEqual(['accountType enum']);
    expect(violations({ accountType: 'CLABE' })).toEqual(['accountType enum']);
    expect(violations({})).toEqual(['accountType required']);
  });

  it('requires the additional fields of the specification for an individual', () => {
    const types = ACCOUNT_TYPES.filter((type) => ACCOUNT_TYPE_ROWS[type].individual?.required);
    expect(
      types.map((type) => [type, ACCOUNT_TYPE_ROWS[type].individual?.required?.join()]),
    ).toEqual([
      ['AED_ACCOUNT', 'address'],
      ['EUR_ACCOUNT', 'countryOfResidence'],
      ['GTQ_ACCOUNT', 'countryOfResidence,phoneNumber'],
      ['JMD_ACCOUNT', 'address,phoneNumber'],
    ]);
    const colombianAccount = { ...exampleOf('COP_ACCOUNT') };
    const invalidBeneficiary = {
      ...(colombianAccount.beneficiary as object),
      documentType: 'XX',
      documentNumber: '',
    };
    expect(violations({ ...colombianAccount, beneficiary: invalidBeneficiary })).toEqual([
      'beneficiary.documentType enum',
      'beneficiary.documentNumber minLength',
    ]);
  });

  it('validates the optional fields of a beneficiary', () => {
    const beneficiary = {
      beneficiaryType: 'INDIVIDUAL',
      fullName: 'A',
      birthDate: '31.12.1990',
      nationality: 'usa',
      email: 'unknown',
      phoneNumber: '12',
      address: { line1: '', country: 'US' },
    };
    expect(violations({ ...exampleOf('MXN_ACCOUNT'), beneficiary }).sort()).toEqual([
      'beneficiary.address.line1 minLength',
      'beneficiary.address.postalCode required',
      'beneficiary.birthDate format',
      'beneficiary.email format',
      'beneficiary.nationality pattern',
      'beneficiary.phoneNumber pattern',
    ]);
  });

  it('has a component for each type, and wallets use the component of responses', () => {
    const components: Record<string, Record<string, unknown>> = {};
    toOpenApi(accountInfoCreateSchema, components);
    toOpenApi(accountInfoSchema, components);
    const { mapping } = (
      components.ExternalAccountInput as { discriminator: { mapping: Record<string, string> } }
    ).discriminator;
    expect(Object.keys(mapping)).toEqual(ACCOUNT_TYPES);
    expect(components.UsdAccountInput?.examples).toEqual([exampleOf('USD_ACCOUNT')]);
    expect(components.SolanaWalletInfo).toBeDefined();
    expect(components.SolanaWalletInput).toBeUndefined();
    expect(components.KesAccountInput?.title).toBe('Mobile wallet in Kenyan Shilling, Kenya');
  });
});
