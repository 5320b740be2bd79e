// Amounts and directions of payments: limits of platforms and corridors, automatic rail selection,
// unverified wallets, and amounts that JSON numbers cannot represent.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';

const app = testApp();
let platform: TestPlatform;
beforeAll(async () => {
  platform = await app.newPlatform('Limited');
});

interface Setting {
  currencyCode: string;
  minAmount: number;
  maxAmount: number;
  enabledTransactionTypes: string[];
}

/** Runs `work` with changed settings of one currency. */
async function runWithSetting(code: string, change: Partial<Setting>, work: () => Promise<void>) {
  const callingPlatform = platform;
  const { supportedCurrencies } = ok(
    await app.call('GET', '/config', undefined, { platform: callingPlatform }),
    200,
  );
  const omitServerFields = (currencySettings: Record<string, unknown>) => {
    const { providerRequiredCustomerFields: _, ...rest } = currencySettings;
    return rest;
  };
  const originalSettings = supportedCurrencies.map(omitServerFields) as Setting[];
  const replaceSettings = (settings: Setting[]) =>
    app.call('PATCH', '/config', { supportedCurrencies: settings }, { platform: callingPlatform });
  ok(
    await replaceSettings(
      originalSettings.map((each) => (each.currencyCode === code ? { ...each, ...change } : each)),
    ),
    200,
  );
  try {
    await work();
  } finally {
    ok(await replaceSettings(originalSettings), 200);
  }
}

async function expectError(path: string, body: object, code: string, status = 400) {
  const response = await app.call('POST', path, body, { platform });
  expect([response.status, response.body.code]).toEqual([status, code]);
  return response.body;
}

const transferBody = (from: string, to: string, amount: number, overrides: object = {}) => ({
  source: { accountId: from },
  destination: { accountId: to },
  amount,
  ...overrides,
});

describe('platform limits', () => {
  it('apply to the sending side of quotes and transfers', async () => {
    const options = { platform };
    const { person, account } = await createFundedCustomer(app, 1_000_00, options);
    const eur = await createExternalAccount(app, person.id, 'EUR', '000', options);
    const usd = await createExternalAccount(app, person.id, 'USD', '000', options);
    await runWithSetting('USD', { minAmount: 20_00, maxAmount: 50_00 }, async () => {
      for (const amount of [19_99, 50_01]) {
        const body = await expectError(
          '/quotes',
          quoteBody(account.id, eur.id, amount),
          'AMOUNT_OUT_OF_RANGE',
        );
        expect(body.details).toEqual({ minAmount: 20_00, maxAmount: 50_00 });
        await expectError(
          '/transfer-out',
          transferBody(account.id, usd.id, amount),
          'AMOUNT_OUT_OF_RANGE',
        );
      }
      for (const amount of [20_00, 50_00]) {
        ok(await app.call('POST', '/quotes', quoteBody(account.id, eur.id, amount), options), 201);
        ok(
          await app.call(
            'POST',
            '/transfer-out',
            transferBody(account.id, usd.id, amount),
            options,
          ),
          201,
        );
      }
    });
  });

  it('apply to the receiving side', async () => {
    const options = { platform };
    const { person, account } = await createFundedCustomer(app, 1_000_00, options);
    const externalDestination = await createExternalAccount(app, person.id, 'EUR', '000', options);
    const internalDestination = await findInternalAccount(app, person.id, 'EUR', options);
    await runWithSetting('EUR', { minAmount: 20_00, maxAmount: 50_00 }, async () => {
      for (const target of [externalDestination, internalDestination]) {
        for (const [amount, isAccepted] of [
          [19_99, false],
          [20_00, true],
          [50_00, true],
          [50_01, false],
        ] as const) {
          const body = quoteBody(account.id, target.id, amount, {
            lockedCurrencySide: 'RECEIVING',
          });
          if (isAccepted) ok(await app.call('POST', '/quotes', body, options), 201);
          else await expectError('/quotes', body, 'AMOUNT_OUT_OF_RANGE');
        }
      }
    });
  });

  it('apply to the direction on both sides', async () => {
    const options = { platform };
    const { person, account } = await createFundedCustomer(app, 1_000_00, options);
    const eur = await findInternalAccount(app, person.id, 'EUR', options);
    const externalDestination = await createExternalAccount(app, person.id, 'USD', '000', options);
    await runWithSetting('USD', { enabledTransactionTypes: ['INCOMING'] }, async () => {
      await expectError('/quotes', quoteBody(account.id, eur.id, 100), 'INVALID_CURRENCY');
      await expectError(
        '/transfer-out',
        transferBody(account.id, externalDestination.id, 100),
        'INVALID_CURRENCY',
      );
    });
    await runWithSetting('EUR', { enabledTransactionTypes: ['OUTGOING'] }, async () => {
      await expectError('/quotes', quoteBody(account.id, eur.id, 100), 'INVALID_CURRENCY');
      const bank = await createExternalAccount(app, person.id, 'EUR', '000', options);
      ok(await app.call('POST', '/quotes', quoteBody(account.id, bank.id, 100_00), options), 201);
    });
  });
});

describe('corridor limits', () => {
  it('apply to same-currency transfers', async () => {
    const { person, account } = await createFundedCustomer(app, 1_000_00, { platform });
    const usd = await createExternalAccount(app, person.id, 'USD', '000', { platform });
    await expectError('/transfer-out', transferBody(account.id, usd.id, 99), 'AMOUNT_OUT_OF_RANGE');
    const excessiveTransferBody = transferBody(account.id, usd.id, 100_000_000_01);
    const body = await expectError(
      '/transfer-out',
      excessiveTransferBody,
      'TRANSACTION_SIZE_LIMIT_EXCEEDED',
    );
    expect(body.details).toEqual({ min: 1_00, max: 100_000_000_00 });
  });

  it('restrict the automatic selection to rails that support the amount', async () => {
    const options = { platform };
    const { person, account } = await createFundedCustomer(app, 1_000_00, options);
    const usd = await createExternalAccount(app, person.id, 'USD', '000', options);
    const createTransaction = async (amount: number, paymentRail?: string) => {
      const body = quoteBody(account.id, usd.id, amount, {
        destination: { destinationType: 'ACCOUNT', accountId: usd.id, paymentRail },
      });
      const { transactionId } = ok(await app.call('POST', '/quotes', body, options), 201);
      const path = `/transactions/${transactionId}`;
      return ok(await app.call('GET', path, undefined, options), 200);
    };
    expect(await createTransaction(100_00)).toMatchObject({
      paymentRail: 'RTP',
      railSelectionMode: 'AUTO',
      expectedSettlementAt: null,
      settlementTimelineSeconds: 10,
    });
    const wirePayment = await createTransaction(10_000_000_01);
    expect(wirePayment).toMatchObject({ paymentRail: 'WIRE', railSelectionMode: 'AUTO' });
    const achPayment = await createTransaction(100_00, 'ACH');
    expect(achPayment).toMatchObject({
      paymentRail: 'ACH',
      railSelectionMode: 'MANUAL',
      settlementTimelineSeconds: 86_400,
    });
    expect(Date.parse(achPayment.expectedSettlementAt) - Date.parse(achPayment.createdAt)).toBe(
      86_400_000,
    );
    await expectError(
      '/quotes',
      quoteBody(account.id, usd.id, 10_000_000_01, {
        destination: { destinationType: 'ACCOUNT', accountId: usd.id, paymentRail: 'RTP' },
      }),
      'TRANSACTION_SIZE_LIMIT_EXCEEDED',
    );
  });

  it('require a purpose for payments in INR', async () => {
    const options = { platform };
    const person = await createCustomer(app, options);
    const account = await findInternalAccount(app, person.id, 'INR', options);
    await fundAccount(app, account.id, 100_000, options);
    const inr = ok(
      await app.call(
        'POST',
        '/customers/external-accounts',
        {
          customerId: person.id,
          currency: 'INR',
          accountInfo: {
            accountType: 'INR_ACCOUNT',
            vpa: 'asha@upi',
            beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Asha Rao' },
          },
        },
        options,
      ),
      201,
    );
    for (const [path, body] of [
      ['/quotes', quoteBody(account.id, inr.id, 50_000)],
      ['/transfer-out', transferBody(account.id, inr.id, 50_000)],
    ] as const) {
      const errorBody = await expectError(path, body, 'MISSING_MANDATORY_USER_INFO');
      expect(errorBody.details.errors[0].field).toBe('purposeOfPayment');
      const bodyWithPurpose = { ...body, purposeOfPayment: 'FAMILY_SUPPORT' };
      ok(await app.call('POST', path, bodyWithPurpose, options), 201);
    }
  });
});

describe('amounts', () => {
  it('are limited to the largest safe integer on both sides', async () => {
    const options = { platform };
    const person = await createCustomer(app, options);
    const btc = await findInternalAccount(app, person.id, 'BTC', options);
    const ngn = await findInternalAccount(app, person.id, 'NGN', options);
    const nearLimitAmount = 9_000_000_000_000_000;
    await expectError('/quotes', quoteBody(btc.id, ngn.id, nearLimitAmount), 'AMOUNT_OUT_OF_RANGE');
    const receivingLock = { lockedCurrencySide: 'RECEIVING' };
    await expectError(
      '/quotes',
      quoteBody(ngn.id, btc.id, nearLimitAmount, receivingLock),
      'AMOUNT_OUT_OF_RANGE',
    );
  });

  it('have an accurate exchange rate for currencies of very different value', async () => {
    const options = { platform };
    const person = await createCustomer(app, options);
    const btc = await findInternalAccount(app, person.id, 'BTC', options);
    const ngn = await findInternalAccount(app, person.id, 'NGN', options);
    const quote = ok(
      await app.call('POST', '/quotes', quoteBody(btc.id, ngn.id, 100_000), options),
      201,
    );
    const majorUnits = (quote.totalSendingAmount - quote.feesIncluded) / 1e8;
    const exactRate = majorUnits / (quote.totalReceivingAmount / 100);
    expect(Math.abs(quote.exchangeRate / exactRate - 1)).toBeLessThan(0.0005);
  });
});

describe('unverified wallet', () => {
  it('is paid up to a thousand euros, at creation and at execution', async () => {
    const options = { platform };
    const person = await createCustomer(app, options);
    const usdc = await findInternalAccount(app, person.id, 'USDC', options);
    await fundAccount(app, usdc.id, 10_000_000_000, options);
    const wallet = ok(
      await app.call(
        'POST',
        '/customers/external-accounts',
        {
          customerId: person.id,
          currency: 'USDC',
          accountInfo: {
            accountType: 'ETHEREUM_WALLET',
            address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
          },
        },
        options,
      ),
      201,
    );
    const setStatus = (status: string) =>
      app.runtime.db.query('update external_accounts set status = $2 where id = $1', [
        wallet.id,
        status,
      ]);
    const largeQuote = ok(
      await app.call('POST', '/quotes', quoteBody(usdc.id, wallet.id, 1_100_000_000), options),
      201,
    );
    for (const unverifiedStatus of ['PENDING_OWNERSHIP_VERIFICATION', 'UNVERIFIED']) {
      await setStatus(unverifiedStatus);
      const quote = ok(
        await app.call('POST', '/quotes', quoteBody(usdc.id, wallet.id, 1_086_000_000), options),
        201,
      );
      ok(await app.call('POST', `/quotes/${quote.id}/execute`, undefined, options), 200);
      await expectError(
        '/quotes',
        quoteBody(usdc.id, wallet.id, 1_090_000_000),
        'EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED',
      );
      await expectError(
        '/transfer-out',
        transferBody(usdc.id, wallet.id, 1_090_000_000),
        'EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED',
      );
      await expectError(
        `/quotes/${largeQuote.id}/execute`,
        {},
        'EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED',
      );
    }
    for (const unusableStatus of ['PENDING', 'UNDER_REVIEW', 'INACTIVE']) {
      await setStatus(unusableStatus);
      await expectError('/quotes', quoteBody(usdc.id, wallet.id, 100_000_000), 'INVALID_RECEIVER');
      await expectError(`/quotes/${largeQuote.id}/execute`, {}, 'INVALID_RECEIVER');
    }
    await setStatus('ACTIVE');
    ok(await app.call('POST', `/quotes/${largeQuote.id}/execute`, undefined, options), 200);
  });
});
