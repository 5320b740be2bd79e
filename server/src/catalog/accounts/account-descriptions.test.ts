// Descriptions of account schemas, derived from the rows of the account-type table.
import { describe, expect, it } from 'vitest';
import {
  accountDescription,
  beneficiaryDescription,
  payInDescription,
} from './account-descriptions.ts';
import { ACCOUNT_TYPE_ROWS, type AccountType } from './account-types.ts';

const inRequest = (type: AccountType) => accountDescription(type, ACCOUNT_TYPE_ROWS[type], false);

describe('accountDescription', () => {
  it('names the fields that each rail requires, including the mandatory ones', () => {
    expect(inRequest('BRL_ACCOUNT')).toBe(
      'Details of a bank account in Brazilian Real, Brazil. Payments over `PIX` require `pixKey`, ' +
        '`pixKeyType` and `taxId`.',
    );
    expect(inRequest('PKR_ACCOUNT')).toContain(
      'Payments over `BANK_TRANSFER` require `accountNumber` and `bankName`, or `iban` and ' +
        '`bankName`. Payments over `MOBILE_MONEY` require `phoneNumber` and `bankName`.',
    );
    expect(inRequest('SWIFT_ACCOUNT')).toContain('a bank account in any fiat currency');
  });

  it('names the masked fields of a response only', () => {
    const response = accountDescription('GBP_ACCOUNT', ACCOUNT_TYPE_ROWS.GBP_ACCOUNT, true);
    expect(response).toContain('`accountNumber` is masked except for the last four characters.');
    expect(inRequest('GBP_ACCOUNT')).not.toContain('masked');
  });

  it('names the assets of a wallet and the kinds of a Lightning destination', () => {
    expect(inRequest('ETHEREUM_WALLET')).toBe(
      'Wallet on Ethereum that receives USDC or USDT at `address`.',
    );
    expect(inRequest('LIGHTNING')).toContain('`invoice`, `bolt12` and `lightningAddress`');
  });
});

describe('payInDescription', () => {
  it('names the rails and a required reference', () => {
    const row = ACCOUNT_TYPE_ROWS.DKK_ACCOUNT;
    const description =
      'Bank account in Danish Krone, Denmark, to which the payer sends the funds over `SEPA` or ' +
      '`SEPA_INSTANT`.';
    expect(payInDescription('DKK_ACCOUNT', row, false)).toBe(description);
    expect(payInDescription('DKK_ACCOUNT', row, true)).toBe(
      `${description} The transfer must include \`reference\`.`,
    );
  });
});

describe('beneficiaryDescription', () => {
  it('names required and further fields', () => {
    expect(beneficiaryDescription(ACCOUNT_TYPE_ROWS.JMD_ACCOUNT)).toBe(
      'Individual who owns an account in Jamaican Dollar, Jamaica. In addition to the name, ' +
        '`address` and `phoneNumber` are required.',
    );
    expect(beneficiaryDescription(ACCOUNT_TYPE_ROWS.COP_ACCOUNT)).toContain(
      'Optional further fields: `documentType` and `documentNumber`.',
    );
    expect(beneficiaryDescription(ACCOUNT_TYPE_ROWS.CAD_ACCOUNT)).toContain(
      'Optional further field: `registrationNumber`.',
    );
  });
});
