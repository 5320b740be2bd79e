// The types of payment instructions, compared with the published specification.
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { toAjv, toOpenApi } from '../../kernel/schema.ts';
import { exampleOf } from '../accounts/account-examples.ts';
import { railsOf } from '../accounts/account-info.ts';
import { isAccountType } from '../accounts/account-types.ts';
import { CURRENCIES } from '../currencies/currencies.ts';
import { PAY_IN_TYPES, PaymentInstructions, payInTypesOf } from './payment-instructions.ts';

const ajv = new Ajv({ strict: false, allErrors: true });
formats.default(ajv);
const validate = ajv.compile(toAjv(PaymentInstructions));

function violations(accountOrWalletInfo: unknown): string[] {
  validate({ accountOrWalletInfo });
  return (validate.errors ?? [])
    .filter((error) => error.keyword !== 'if')
    .map((error) => {
      const { missingProperty = '' } = error.params as { missingProperty?: string };
      const path = error.instancePath.replace('/accountOrWalletInfo', '');
      return `${path}${missingProperty} ${error.keyword}`;
    });
}

/** Details of a pay-in type that is derived from an account type. */
function detailsOf(type: string): Record<string, unknown> {
  if (!isAccountType(type)) throw new Error(`${type} is not an account type.`);
  const { beneficiary: _, vaspName: _v, ...fields } = exampleOf(type);
  return { ...fields, paymentRails: railsOf(exampleOf(type)) };
}

describe('PaymentInstructions', () => {
  it('has the 49 pay-in types of the specification', () => {
    expect(PAY_IN_TYPES).toHaveLength(49);
    expect(new Set(PAY_IN_TYPES).size).toBe(49);
    for (const type of ['ARS_ACCOUNT', 'BITCOIN_L1', 'EMBEDDED_WALLET', 'LIGHTNING']) {
      expect(PAY_IN_TYPES).toContain(type);
    }
    for (const type of ['ILS_ACCOUNT', 'TRY_ACCOUNT', 'ARBITRUM_WALLET']) {
      expect(PAY_IN_TYPES).not.toContain(type);
    }
  });

  const derivedTypes = PAY_IN_TYPES.filter(
    (type) => /_ACCOUNT$/.test(type) && !/^(ARS|BRL|COP|INR|SWIFT)_/.test(type),
  );

  it.each(derivedTypes)('requires the rails and a reference for %s', (type) => {
    const info = detailsOf(type);
    expect(violations({ ...info, reference: 'R1' })).toEqual([]);
    expect(violations(info)).toEqual(['reference required']);
    const { paymentRails: _, ...infoWithoutRails } = info;
    expect(violations({ ...infoWithoutRails, reference: 'R1' })).toEqual(['paymentRails required']);
  });

  it('requires no reference for INR, and the account holder instead of a reference for SWIFT', () => {
    expect(violations(detailsOf('INR_ACCOUNT'))).toEqual([]);
    const swiftDetails = detailsOf('SWIFT_ACCOUNT');
    expect(violations(swiftDetails)).toEqual(['accountHolderName required']);
    const holderFields = { accountHolderName: 'Platform FBO A', bankAddress: '1 Street' };
    expect(violations({ ...swiftDetails, ...holderFields })).toEqual([]);
    expect(violations({ ...swiftDetails, ...holderFields, bankAddress: 'x'.repeat(1025) })).toEqual(
      ['/bankAddress maxLength'],
    );
    const usdDetails = {
      ...detailsOf('USD_ACCOUNT'),
      reference: 'R',
      bankAddress: 'x'.repeat(256),
    };
    expect(violations(usdDetails)).toEqual(['/bankAddress maxLength']);
  });

  it.each([
    ['BRL_ACCOUNT', { qrCode: '000201' }, 'qrCode'],
    ['COP_ACCOUNT', { paymentUrl: 'https://pay.example/1' }, 'paymentUrl'],
    ['ARS_ACCOUNT', { accountNumber: '2850590940090418135201' }, 'accountNumber'],
    ['SPARK_WALLET', { address: 'spark1', assetType: 'USDB', invoice: 'x' }, 'assetType'],
    ['LIGHTNING', { invoice: 'lnbc1' }, 'invoice'],
    ['BITCOIN_L1', { address: 'bc1q', network: 'BITCOIN' }, 'address'],
    ['EMBEDDED_WALLET', { payloadToSign: '{}' }, 'payloadToSign'],
    ['SOLANA_WALLET', { address: 'So1', assetType: 'USDT' }, 'address'],
    ['TRON_WALLET', { address: 'TR7' }, 'address'],
  ])('accepts %s with %o and requires %s', (accountType, fields, requiredField) => {
    expect(violations({ accountType, ...fields })).toEqual([]);
    const otherFields = Object.fromEntries(
      Object.entries(fields).filter(([name]) => name !== requiredField),
    );
    expect(violations({ accountType, ...otherFields })).toEqual([`${requiredField} required`]);
  });

  it.each([
    ['SOLANA_WALLET', ['USDC', 'USDT']],
    ['ETHEREUM_WALLET', ['USDC', 'USDT']],
    ['BASE_WALLET', ['USDC']],
    ['POLYGON_WALLET', ['USDC']],
    ['TRON_WALLET', ['USDT']],
    ['PLASMA_WALLET', ['USDT']],
  ])('supports for %s the assets %o', (accountType, assets) => {
    for (const assetType of ['USDC', 'USDT', 'BTC']) {
      const expectedViolations = assets.includes(assetType) ? [] : ['/assetType enum'];
      expect(violations({ accountType, address: 'a', assetType })).toEqual(expectedViolations);
    }
  });

  it('has one component per pay-in type', () => {
    const components: Record<string, unknown> = {};
    toOpenApi(PaymentInstructions, components);
    expect(Object.keys(components).filter((name) => name.endsWith('PayIn'))).toHaveLength(49);
  });
});

describe('payInTypesOf', () => {
  it('returns existing pay-in types', () => {
    for (const { code } of CURRENCIES) {
      for (const type of payInTypesOf(code)) expect(PAY_IN_TYPES).toContain(type);
    }
    expect(payInTypesOf('EUR')).toEqual(['EUR_ACCOUNT']);
    expect(payInTypesOf('USDB')).toEqual(['SPARK_WALLET']);
    expect(payInTypesOf('KES')).toEqual([]);
  });
});
