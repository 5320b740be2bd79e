// Account details of every account type: examples, rails, identifiers and duplicate keys.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exampleOf } from './account-examples.ts';
import {
  type Account,
  acceptsCurrency,
  beneficiaryNameOf,
  completeAccountInfo,
  debitRailOf,
  displayIdentifier,
  duplicateKeyOf,
  isSelfCustody,
  isWalletInfo,
  maskAccountInfo,
  primaryIdentifierOf,
  railsOf,
  rowOf,
  sandboxSuffixOf,
  validateAccountInfo,
} from './account-info.ts';
import { ACCOUNT_TYPE_ROWS, ACCOUNT_TYPES, type AccountType } from './account-types.ts';

const SANDBOX = { production: false };
const PRODUCTION = { production: true };
const currencyFor = (type: AccountType) => ACCOUNT_TYPE_ROWS[type].currencies[0] ?? 'JPY';

const invalidFields = (info: Account, options = SANDBOX) =>
  validateAccountInfo(info, currencyFor(info.accountType as AccountType), options).errors.map(
    (error) => error.field,
  );

const change = (type: AccountType, overrides: Record<string, unknown>): Account => {
  const details: Record<string, unknown> = { ...exampleOf(type), ...overrides };
  for (const name of Object.keys(details)) if (details[name] === undefined) delete details[name];
  return details as unknown as Account;
};

describe.each(ACCOUNT_TYPES)('%s', (type) => {
  const row = ACCOUNT_TYPE_ROWS[type];
  const example = exampleOf(type);

  it('accepts its example in both modes', () => {
    for (const options of [SANDBOX, PRODUCTION]) {
      expect(validateAccountInfo(example, currencyFor(type), options)).toEqual({
        errors: [],
        currencyMismatch: false,
      });
    }
    expect(primaryIdentifierOf(example)).not.toBe('');
    expect(displayIdentifier(example)).not.toBe('');
  });

  it('supports its own currencies only', () => {
    expect(validateAccountInfo(example, 'XXX', SANDBOX).currencyMismatch).toBe(true);
    for (const currency of row.currencies) expect(acceptsCurrency(row, currency)).toBe(true);
    const unsupportedCurrency = type === 'SWIFT_ACCOUNT' ? 'USDC' : 'NOK';
    expect(validateAccountInfo(example, unsupportedCurrency, SANDBOX).currencyMismatch).toBe(true);
  });

  it('has exactly the rails of its payment paths, and its example supports one of them', () => {
    const rails = railsOf(example);
    if (row.rails.length) expect(rails.length).toBeGreaterThan(0);
    for (const rail of rails) expect(row.rails).toContain(rail);
    for (const path of row.paths) for (const rail of path.rails) expect(row.rails).toContain(rail);
    expect(new Set(row.paths.flatMap((path) => path.rails))).toEqual(new Set(row.rails));
  });

  it('has paths with existing fields only, and at least one identifying field', () => {
    for (const path of row.paths) {
      for (const name of path.requiredFields) expect(Object.keys(row.fields)).toContain(name);
      expect(path.requiredFields.some((name) => row.fields[name]?.identifies)).toBe(true);
    }
  });

  it('has a duplicate key that depends on the currency and ignores the beneficiary', () => {
    const key = duplicateKeyOf(example, 'AAA');
    expect(duplicateKeyOf({ ...example, beneficiary: undefined, extra: 1 }, 'AAA')).toBe(key);
    expect(duplicateKeyOf(example, 'BBB')).not.toBe(key);
  });

  it('validates check digits in production only', () => {
    for (const [name, { check }] of Object.entries(row.fields)) {
      const value = example[name];
      if (!check || typeof value !== 'string') continue;
      const invalidDetails = change(type, {
        [name]: value.slice(0, -1) + (value.endsWith('7') ? '8' : '7'),
      });
      expect(invalidFields(invalidDetails, SANDBOX)).toEqual([]);
      expect(invalidFields(invalidDetails, PRODUCTION)).toContain(`accountInfo.${name}`);
    }
  });
});

describe('payment paths', () => {
  const phone = '+573001234567';

  it.each([
    ['BDT_ACCOUNT', { accountNumber: undefined }, ['accountNumber']],
    ['COP_ACCOUNT', { bankAccountType: undefined }, ['bankAccountType']],
    ['COP_ACCOUNT', { accountNumber: undefined }, ['accountNumber']],
    ['EGP_ACCOUNT', { iban: undefined }, ['iban']],
    ['GHS_ACCOUNT', { accountNumber: undefined }, ['accountNumber']],
    ['INR_ACCOUNT', { vpa: undefined }, ['vpa']],
    ['INR_ACCOUNT', { vpa: undefined, accountNumber: '123456789' }, ['ifsc', 'rail']],
    ['PKR_ACCOUNT', { iban: undefined }, ['accountNumber']],
    ['SLV_ACCOUNT', { bankName: undefined }, ['bankName']],
    ['SLV_ACCOUNT', { accountNumber: undefined }, ['accountNumber']],
    ['SWIFT_ACCOUNT', { accountNumber: undefined }, ['iban']],
    ['CNY_ACCOUNT', { accountNumber: undefined }, ['accountNumber']],
  ] as const)('of %s with %o lack %o', (type, overrides, missingFields) => {
    const fieldErrors = validateAccountInfo(
      change(type, overrides),
      currencyFor(type),
      SANDBOX,
    ).errors;
    expect(fieldErrors.map((error) => error.field)).toEqual(
      missingFields.map((name) => `accountInfo.${name}`),
    );
    expect(fieldErrors[0]?.message).toMatch(/^is required/);
  });

  it.each([
    ['BDT_ACCOUNT', { accountNumber: undefined, phoneNumber: phone }, ['MOBILE_MONEY']],
    ['BDT_ACCOUNT', { phoneNumber: phone }, ['BANK_TRANSFER', 'MOBILE_MONEY']],
    ['COP_ACCOUNT', { accountNumber: undefined, phoneNumber: phone }, ['MOBILE_MONEY']],
    ['EGP_ACCOUNT', { iban: undefined, phoneNumber: phone }, ['MOBILE_MONEY']],
    ['GHS_ACCOUNT', { accountNumber: undefined, phoneNumber: phone }, ['MOBILE_MONEY']],
    ['PKR_ACCOUNT', { iban: undefined, accountNumber: '1' }, ['BANK_TRANSFER']],
    ['PKR_ACCOUNT', { iban: undefined, phoneNumber: phone }, ['MOBILE_MONEY']],
    ['SLV_ACCOUNT', { accountNumber: undefined, phoneNumber: phone }, ['MOBILE_MONEY']],
    ['INR_ACCOUNT', {}, ['UPI']],
    ['USD_ACCOUNT', {}, ['ACH', 'WIRE', 'RTP', 'FEDNOW']],
    ['SGD_ACCOUNT', {}, ['PAYNOW', 'FAST', 'BANK_TRANSFER']],
    ['SWIFT_ACCOUNT', { iban: 'AE070331234567890123456' }, ['SWIFT']],
    ['SOLANA_WALLET', {}, []],
  ] as const)('of %s with %o have the rails %o', (type, overrides, rails) => {
    const info = change(type, overrides);
    expect(invalidFields(info)).toEqual([]);
    expect(railsOf(info)).toEqual(rails);
  });

  it('of an Indian bank account have the selected rail', () => {
    const account = { vpa: undefined, accountNumber: '123456789', ifsc: 'HDFC0000001' };
    expect(railsOf(change('INR_ACCOUNT', { ...account, rail: 'NEFT' }))).toEqual(['NEFT']);
    expect(railsOf(change('INR_ACCOUNT', { ...account, rail: 'RTGS' }))).toEqual(['RTGS']);
    expect(railsOf(change('INR_ACCOUNT', { ...account, rail: 'NEFT', vpa: 'a@b' }))).toEqual([
      'UPI',
      'NEFT',
    ]);
  });

  it('are listed as alternatives in the error', () => {
    const [error] = validateAccountInfo(
      change('PKR_ACCOUNT', { iban: undefined }),
      'PKR',
      SANDBOX,
    ).errors;
    expect(error?.message).toBe('is required unless iban or phoneNumber is present');
  });
});

describe('validateAccountInfo', () => {
  it('requires a PIX key in the format of its type, in production with valid check digits', () => {
    const infoOfEmailType = change('BRL_ACCOUNT', { pixKeyType: 'EMAIL' });
    expect(invalidFields(infoOfEmailType)).toEqual(['accountInfo.pixKey']);
    const infoWithSuffix = change('BRL_ACCOUNT', { pixKey: '52998224002' });
    expect([invalidFields(infoWithSuffix), invalidFields(infoWithSuffix, PRODUCTION)]).toEqual([
      [],
      ['accountInfo.pixKey'],
    ]);
    const infoWithTaxId = change('BRL_ACCOUNT', { taxId: '529982247256' });
    expect([invalidFields(infoWithTaxId), invalidFields(infoWithTaxId, PRODUCTION)]).toEqual([
      [],
      ['accountInfo.taxId'],
    ]);
  });

  it('requires a business for a Chinese bank account, and one of two wallets for a phone number', () => {
    const person = { beneficiaryType: 'INDIVIDUAL', fullName: 'A' };
    expect(invalidFields(change('CNY_ACCOUNT', { beneficiary: person }))).toEqual([
      'accountInfo.beneficiary.beneficiaryType',
    ]);
    const wallet = { accountNumber: undefined, phoneNumber: '+8613800000000', beneficiary: person };
    for (const bankName of ['AliPay', 'WechatPay']) {
      const info = change('CNY_ACCOUNT', { ...wallet, bankName });
      expect([invalidFields(info, PRODUCTION), railsOf(info)]).toEqual([[], ['MOBILE_MONEY']]);
    }
    const { errors } = validateAccountInfo(
      change('CNY_ACCOUNT', { ...wallet, bankName: 'Alipay' }),
      'CNY',
      SANDBOX,
    );
    expect(errors).toEqual([
      {
        field: 'accountInfo.bankName',
        message: 'must be AliPay or WechatPay for a phone number',
        constraint: { enum: ['AliPay', 'WechatPay'] },
      },
    ]);
  });

  it('requires exactly one Lightning destination in its format', () => {
    const infoWithoutDestination = change('LIGHTNING', { lightningAddress: undefined });
    const destinationFields = [
      'accountInfo.invoice',
      'accountInfo.bolt12',
      'accountInfo.lightningAddress',
    ];
    expect(invalidFields(infoWithoutDestination)).toEqual(destinationFields);
    expect(invalidFields(change('LIGHTNING', { bolt12: 'lno1qcp4256ypqpq' }))).toEqual(
      destinationFields.slice(1),
    );
    expect(invalidFields(change('LIGHTNING_ACCOUNT', { lightningAddress: 'amara' }))).toEqual([
      destinationFields[2],
    ]);
    const testInvoice = { lightningAddress: undefined, invoice: 'lnbcrt500u1pjqqqqqqqqqqq' };
    const invoice = change('LIGHTNING', testInvoice);
    expect([invalidFields(invoice), invalidFields(invoice, PRODUCTION)]).toEqual([
      [],
      [destinationFields[0]],
    ]);
    expect(invalidFields(change('LIGHTNING', { ...testInvoice, invoice: 'bc1q' }))).toEqual([
      destinationFields[0],
    ]);
  });

  it.each(ACCOUNT_TYPES.filter((type) => ACCOUNT_TYPE_ROWS[type].kind === 'wallet'))(
    'requires an address on the network of %s, in production with a valid checksum',
    (type) => {
      expect(invalidFields(change(type, { address: 'elsewhere' }))).toEqual([
        'accountInfo.address',
      ]);
      const addressWithSuffix = `${String(exampleOf(type).address).slice(0, -3)}002`;
      const info = change(type, { address: addressWithSuffix });
      expect([invalidFields(info), sandboxSuffixOf(info)]).toEqual([[], '002']);
      expect(invalidFields(info, PRODUCTION)).toEqual(['accountInfo.address']);
    },
  );

  it('requires a country for SWIFT, and an IBAN in countries whose banks accept only IBANs', () => {
    expect(invalidFields(change('SWIFT_ACCOUNT', { country: 'ZZ' }))).toEqual([
      'accountInfo.country',
    ]);
    const britishAccount = change('SWIFT_ACCOUNT', { country: 'GB' });
    expect([invalidFields(britishAccount), invalidFields(britishAccount, PRODUCTION)]).toEqual([
      [],
      ['accountInfo.iban'],
    ]);
    const accountWithIban = { ...britishAccount, iban: 'GB29NWBK60161331926819' };
    expect(invalidFields(accountWithIban, PRODUCTION)).toEqual([]);
    expect(
      ['USD', 'JPY', 'KWD'].every((code) => acceptsCurrency(rowOf(britishAccount), code)),
    ).toBe(true);
  });

  it('validates bank and custodian names in production only, and suggests bank names', () => {
    const infoOfUnlistedBank = change('NGN_ACCOUNT', { bankName: 'Bank of Nowhere' });
    expect(invalidFields(infoOfUnlistedBank)).toEqual([]);
    const [error] = validateAccountInfo(infoOfUnlistedBank, 'NGN', PRODUCTION).errors;
    expect(error?.field).toBe('accountInfo.bankName');
    expect(error?.constraint?.enum).toContain('Access Bank');
    expect(error?.constraint?.enum?.length).toBeLessThanOrEqual(20);
    const infoOfUnknownVasp = change('POLYGON_WALLET', { vaspName: 'Exchange of Nowhere' });
    expect([
      invalidFields(infoOfUnknownVasp),
      invalidFields(infoOfUnknownVasp, PRODUCTION),
    ]).toEqual([[], ['accountInfo.vaspName']]);
  });

  it('requires an existing country of residence of a beneficiary', () => {
    const beneficiary = { beneficiaryType: 'BUSINESS', legalName: 'A', countryOfResidence: 'ZZ' };
    expect(invalidFields(change('GBP_ACCOUNT', { beneficiary }))).toEqual([
      'accountInfo.beneficiary.countryOfResidence',
    ]);
  });

  it('requires the recommended fields of a beneficiary with `strictBeneficiary`', () => {
    const strictOptions = { production: false, strictBeneficiary: true, prefix: 'info' };
    const missingFieldsOf = (type: AccountType, beneficiary: object) =>
      validateAccountInfo(
        change(type, { beneficiary }),
        currencyFor(type),
        strictOptions,
      ).errors.map((error) => error.field.replace('info.beneficiary.', ''));
    const business = { beneficiaryType: 'BUSINESS', legalName: 'A' };
    expect(missingFieldsOf('USD_ACCOUNT', business)).toEqual(['address']);
    expect(missingFieldsOf('EUR_ACCOUNT', business)).toEqual(['address', 'registrationNumber']);
    expect(missingFieldsOf('KES_ACCOUNT', business)).toEqual(['registrationNumber', 'taxId']);
    expect(missingFieldsOf('CAD_ACCOUNT', business)).toEqual([]);
    expect(missingFieldsOf('MXN_ACCOUNT', { ...business, address: { line1: 'x' } })).toEqual([
      'address.city',
      'address.postalCode',
      'address.country',
    ]);
    expect(
      missingFieldsOf('GBP_ACCOUNT', { beneficiaryType: 'INDIVIDUAL', fullName: 'A' }),
    ).toEqual(['address']);
    expect(missingFieldsOf('BASE_WALLET', business)).toEqual([]);
  });
});

describe('sandboxSuffixOf', () => {
  it.each([
    ['USD_ACCOUNT', { accountNumber: '000123-002' }, '002'],
    ['GBP_ACCOUNT', { accountNumber: '12345005' }, '005'],
    ['MXN_ACCOUNT', { clabeNumber: '032180000118359003' }, '003'],
    ['EUR_ACCOUNT', { iban: 'DE89370400440532013102' }, '102'],
    ['INR_ACCOUNT', { vpa: 'name.002@okbank' }, '002'],
    ['BRL_ACCOUNT', { pixKey: 'name007@host.example', pixKeyType: 'EMAIL' }, '007'],
    ['KES_ACCOUNT', { phoneNumber: '+254712345004' }, '004'],
    ['LIGHTNING', { lightningAddress: 'user.006@wallet.example' }, '006'],
    ['BASE_WALLET', { address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Be003' }, '003'],
    ['BDT_ACCOUNT', { accountNumber: undefined, phoneNumber: '+8801700000002' }, '002'],
  ] as const)('of %s with %o is %s', (type, overrides, suffix) => {
    expect(sandboxSuffixOf(change(type, overrides))).toBe(suffix);
  });

  it('returns the last three digits of any account number', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{4,20}$/), (accountNumber) => {
        expect(sandboxSuffixOf(change('USD_ACCOUNT', { accountNumber }))).toBe(
          accountNumber.slice(-3),
        );
      }),
    );
  });
});

describe('duplicateKeyOf', () => {
  const isSameAccount = (type: AccountType, a: object, b: object) =>
    duplicateKeyOf(change(type, { ...a }), 'X') === duplicateKeyOf(change(type, { ...b }), 'X');

  it.each([
    [
      'EUR_ACCOUNT',
      { iban: 'FR1420041010050500013M02606' },
      { iban: 'FR1420041010050500013m02606' },
    ],
    ['EUR_ACCOUNT', { swiftCode: 'COBADEFF' }, {}],
    ['HKD_ACCOUNT', { swiftCode: 'HSBCHKHHXXX' }, { swiftCode: 'HSBCHKHH', bankName: 'HSBC' }],
    ['BASE_WALLET', {}, { address: '0xf46cb43c4ad46f9b2bc42d68fea74429c1c6b5fa' }],
    ['NGN_ACCOUNT', { bankName: ' access  bank' }, { bankName: 'Access Bank' }],
    ['USD_ACCOUNT', { bankAccountType: 'SAVINGS', intermediaryRoutingNumber: '021000021' }, {}],
    ['BRL_ACCOUNT', { pixKey: 'A@b.co' }, { pixKey: 'a@B.co' }],
    ['IDR_ACCOUNT', { phoneNumber: '+6281200000000' }, {}],
  ] as const)('of %s is equal for %o and %o', (type, a, b) => {
    expect(isSameAccount(type, a, b)).toBe(true);
  });

  it.each([
    ['USD_ACCOUNT', { routingNumber: '011401533' }, {}],
    ['GBP_ACCOUNT', { sortCode: '200001' }, {}],
    ['CAD_ACCOUNT', { branchCode: '00013' }, {}],
    ['NGN_ACCOUNT', { bankName: 'Access Bank' }, { bankName: 'Zenith Bank' }],
    ['KES_ACCOUNT', { provider: 'AIRTEL' }, {}],
    ['XOF_ACCOUNT', { region: 'CI' }, {}],
    ['SOLANA_WALLET', { address: 'epjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' }, {}],
    ['INR_ACCOUNT', { vpa: 'other@okbank' }, {}],
  ] as const)('of %s differs for %o and %o', (type, a, b) => {
    expect(isSameAccount(type, a, b)).toBe(false);
  });

  it('is equal for both Lightning account types', () => {
    const info = exampleOf('LIGHTNING');
    const key = duplicateKeyOf(info, 'BTC');
    expect(duplicateKeyOf({ ...info, accountType: 'LIGHTNING_ACCOUNT' }, 'BTC')).toBe(key);
    expect(key).toBe('BTC|LIGHTNING|lightningAddress=amara@wallet.example');
  });
});

describe('derived values', () => {
  it('include a short identifier', () => {
    expect(displayIdentifier(exampleOf('USD_ACCOUNT'))).toBe('****6789');
    expect(displayIdentifier(exampleOf('INR_ACCOUNT'))).toBe('a***@okbank');
    expect(displayIdentifier(exampleOf('BASE_WALLET'))).toBe('0xF46c…b5FA');
  });

  it('include masked details with the length and last four characters of sensitive values', () => {
    const maskedInfo = maskAccountInfo(exampleOf('USD_ACCOUNT'));
    expect(maskedInfo).toMatchObject({ accountNumber: '*****6789', routingNumber: '021000021' });
    expect(maskAccountInfo(exampleOf('BASE_WALLET'))).toEqual(exampleOf('BASE_WALLET'));
    expect(maskAccountInfo(exampleOf('BRL_ACCOUNT'))).toMatchObject({
      pixKey: '*******4725',
      taxId: '*******4725',
    });
  });

  it('include the bank name of a Singapore BIC only', () => {
    const accountWithoutBank = change('SGD_ACCOUNT', {
      bankName: undefined,
      swiftCode: 'OCBCSGSGXXX',
    });
    expect(completeAccountInfo(accountWithoutBank)).toMatchObject({ bankName: 'OCBC Bank' });
    const infoOfUnknownBank = change('SGD_ACCOUNT', { bankName: undefined, swiftCode: 'ABCDSGSG' });
    expect(completeAccountInfo(infoOfUnknownBank)).toBe(infoOfUnknownBank);
    const completeInfo = exampleOf('SGD_ACCOUNT');
    expect(completeAccountInfo(completeInfo)).toBe(completeInfo);
    expect(completeAccountInfo(exampleOf('EUR_ACCOUNT'))).toEqual(exampleOf('EUR_ACCOUNT'));
  });

  it('include beneficiary name, wallet, custody and debit rail', () => {
    expect(beneficiaryNameOf(exampleOf('EUR_ACCOUNT'))).toBe('Lukas Weber');
    expect(beneficiaryNameOf(exampleOf('CNY_ACCOUNT'))).toBe('Suzhou Lantern Textiles Co., Ltd.');
    expect(beneficiaryNameOf(exampleOf('BASE_WALLET'))).toBeUndefined();
    expect([isWalletInfo(exampleOf('LIGHTNING')), isWalletInfo(exampleOf('EUR_ACCOUNT'))]).toEqual([
      true,
      false,
    ]);
    expect(isSelfCustody(exampleOf('BASE_WALLET'))).toBe(true);
    expect(isSelfCustody(exampleOf('POLYGON_WALLET'))).toBe(false);
    expect(isSelfCustody(exampleOf('LIGHTNING'))).toBe(false);
    expect(ACCOUNT_TYPES.filter((type) => debitRailOf(exampleOf(type)))).toEqual(['USD_ACCOUNT']);
    expect(() => rowOf({ accountType: 'NOPE' })).toThrow('NOPE');
  });
});
