// Instructions from the operator's collection accounts, and the references in them.
import { describe, expect, it } from 'vitest';
import {
  accountIdOfReference,
  accountReference,
} from '../../catalog/accounts/account-reference.ts';
import { PaymentInstructions } from '../../catalog/rails/payment-instructions.ts';
import { fieldErrors } from '../../kernel/contract/validate.ts';
import { parseCollectionAccounts } from './collection.ts';
import { manualFunding } from './funding.ts';

const validate = (value: unknown) => fieldErrors(PaymentInstructions, value, 'body');
const parse = (value: unknown) =>
  parseCollectionAccounts(JSON.stringify(value), 'funding.json', validate);

const usdAccount = {
  accountOrWalletInfo: {
    accountType: 'USD_ACCOUNT',
    accountNumber: '000123456789',
    routingNumber: '021000021',
    bankName: 'First Bank',
    accountHolderName: 'Example Payments Inc.',
    paymentRails: ['ACH', 'WIRE'],
  },
  instructionsNotes: 'Wires before noon arrive the same day.',
};
const eurAccount = {
  accountOrWalletInfo: {
    accountType: 'EUR_ACCOUNT',
    iban: 'DE89370400440532013000',
    swiftCode: 'COBADEFF',
    paymentRails: ['SEPA', 'SEPA_INSTANT'],
  },
};

const accountId = 'InternalAccount:018f0000-0000-7000-8000-0123456789ab';
const otherAccountId = 'InternalAccount:018f0000-0000-7000-8000-0123456789ac';

describe('manualFunding', () => {
  const port = manualFunding(parse({ USD: [usdAccount], EUR: [eurAccount] }));
  const fundedAccount = { accountId, currency: 'USD', owner: 'customer' as const };

  it('returns the collection account with the reference of each account', () => {
    const [firstInstruction] = port.instructions(fundedAccount);
    expect(firstInstruction).toEqual({
      ...usdAccount,
      isPlatformAccount: false,
      accountOrWalletInfo: {
        ...usdAccount.accountOrWalletInfo,
        reference: 'RA018F0000000070008000' + '0123456789AB',
      },
    });
    expect(validate(firstInstruction)).toEqual([]);
    expect(port.instructions(fundedAccount)).toEqual([firstInstruction]);
    const [secondInstruction] = port.instructions({
      ...fundedAccount,
      accountId: otherAccountId,
      owner: 'platform',
    });
    expect(secondInstruction?.accountOrWalletInfo.reference).not.toBe(
      firstInstruction?.accountOrWalletInfo.reference,
    );
    expect(secondInstruction?.isPlatformAccount).toBe(true);
    expect(port.instructions({ ...fundedAccount, currency: 'GBP' })).toEqual([]);
  });

  it('returns instructions of a payment only for rails that settle within minutes', async () => {
    const payment = {
      transactionId: 'Transaction:1',
      reference: 'RH1',
      amount: 1_234_56n,
      owner: 'customer' as const,
      at: 0,
      expiresAt: Date.UTC(2026, 0, 5, 9, 15),
    };
    expect(port.forPayment?.({ ...payment, currency: 'USD' })).toEqual([]);
    const [eurInstruction] = (await port.forPayment?.({ ...payment, currency: 'EUR' })) ?? [];
    expect(eurInstruction?.accountOrWalletInfo).toMatchObject({
      iban: 'DE89370400440532013000',
      reference: 'RH1',
      paymentRails: ['SEPA_INSTANT'],
    });
    expect(eurInstruction?.instructionsNotes).toMatch(
      /^Send exactly 1234\.56 EUR by 2026-01-05T09:15:00\S*Z, with the reference RH1, /,
    );
    expect(validate(eurInstruction)).toEqual([]);
    const rails = ['ACH', 'WIRE', 'RTP'];
    const info = { ...usdAccount.accountOrWalletInfo, paymentRails: rails };
    const extendedPort = manualFunding(
      parse({ USD: [{ ...usdAccount, accountOrWalletInfo: info }] }),
    );
    const [usdInstruction] =
      (await extendedPort.forPayment?.({ ...payment, currency: 'USD' })) ?? [];
    expect(usdInstruction?.accountOrWalletInfo.paymentRails).toEqual(['RTP']);
    expect(usdInstruction?.instructionsNotes).toContain(usdAccount.instructionsNotes);
    // The instructions of the account are unchanged.
    expect(extendedPort.instructions(fundedAccount)[0]?.accountOrWalletInfo.paymentRails).toEqual(
      rails,
    );
  });
});

describe('references', () => {
  it('identify the account regardless of spaces and letter case', () => {
    const reference = accountReference(accountId);
    expect(reference).toHaveLength(34);
    expect(accountIdOfReference(reference)).toBe(accountId);
    expect(accountIdOfReference(` ${reference.toLowerCase().replace(/(.{4})/g, '$1 ')}`)).toBe(
      accountId,
    );
    for (const invalidReference of ['', 'RA12', reference.replace('RA', 'RH'), `${reference}0`]) {
      expect(accountIdOfReference(invalidReference)).toBeUndefined();
    }
  });
});

describe('parseCollectionAccounts', () => {
  it('reports all errors together', () => {
    const invalidTable = {
      ZZZ: [usdAccount],
      GBP: usdAccount,
      USD: [
        { accountOrWalletInfo: { ...usdAccount.accountOrWalletInfo, routingNumber: '12' } },
        { accountOrWalletInfo: { ...usdAccount.accountOrWalletInfo, reference: 'MINE' } },
        {},
      ],
      USDC: [{ accountOrWalletInfo: { accountType: 'BASE_WALLET', address: '0x0' } }],
      BTC: [{ accountOrWalletInfo: { accountType: 'BITCOIN_L1', address: 'bc1q' } }],
    };
    const errorMessage = (() => {
      try {
        return String(parse(invalidTable));
      } catch (thrown) {
        return (thrown as Error).message;
      }
    })();
    expect(errorMessage).toContain('The collection accounts in funding.json cannot be used: ');
    for (const expectedProblem of [
      'ZZZ is not a supported currency',
      'GBP must be a list',
      'USD.0.accountOrWalletInfo.routingNumber',
      'USD.1 must not contain a reference',
      'USD.2 must be an object with accountOrWalletInfo',
      'USDC.0',
      'BTC.0: BITCOIN_L1 has no reference field',
    ]) {
      expect(errorMessage).toContain(expectedProblem);
    }
    expect(() => parseCollectionAccounts('{', 'funding.json', validate)).toThrow(
      'funding.json is not JSON.',
    );
    expect(() => parse([])).toThrow('must be an object with a list of accounts per currency');
  });
});
