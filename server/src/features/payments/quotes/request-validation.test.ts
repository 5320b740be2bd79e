// Request validation of quotes, executions, transfers and deposits, and the errors for sandbox and
// production platforms and across platforms.
import { describe, expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  findInternalAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import type { CallOptions } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { systemAccount } from '../../../ledger/chart.ts';

const app = testApp();

type FieldErrors = { field: string }[];

async function rejectedFieldsOf(path: string, body: unknown, options: CallOptions = {}) {
  const response = await app.call('POST', path, body, options);
  expect([response.status, response.body.code]).toEqual([400, 'INVALID_INPUT']);
  return (response.body.details.errors as FieldErrors).map((each) => each.field).sort();
}

async function expectError(
  path: string,
  body: unknown,
  [status, code]: [number, string],
  overrides = {},
) {
  const response = await app.call('POST', path, body, overrides);
  expect([response.status, response.body.code]).toEqual([status, code]);
}

/** Values that are not valid amounts in minor units. */
const INVALID_AMOUNTS = [
  0,
  -1,
  1.5,
  '100',
  null,
  true,
  [100],
  { amount: 100 },
  9_000_000_000_000_001,
  2 ** 53 + 2,
  1e300,
];

describe('createQuote', () => {
  it.each([null, 7, 'InternalAccount:x'])(
    'rejects properties of another party type: %j',
    async (id) => {
      const baseBody = quoteBody('', '', 100_00);
      const source = { sourceType: 'REALTIME_FUNDING', currency: 'USD', accountId: id };
      const umaDestination = {
        destinationType: 'UMA_ADDRESS',
        umaAddress: '$a@b.example',
        accountId: id,
      };
      const umaBody = { ...baseBody, source, destination: umaDestination };
      expect(await rejectedFieldsOf('/quotes', umaBody)).toEqual([
        'destination.accountId',
        'source.accountId',
      ]);
      const mixedDestination = { ...baseBody.destination, umaAddress: id };
      expect(
        await rejectedFieldsOf('/quotes', { ...baseBody, destination: mixedDestination }),
      ).toEqual(['destination.umaAddress']);
    },
  );

  it('reports every invalid field in one response', async () => {
    const body = {
      source: { sourceType: 'ACCOUNT', accountId: 7, customerId: {} },
      destination: { destinationType: 'ACCOUNT', paymentRail: 'UNKNOWN' },
      lockedCurrencySide: 'BOTH',
      lockedCurrencyAmount: 1.5,
      lookupId: 1,
      immediatelyExecute: 'yes',
      description: 'x'.repeat(256),
      remittanceInformation: `${'x'.repeat(81)}é`,
      purposeOfPayment: 'UNKNOWN',
      platformFeeOverride: { platformFixedFee: { amount: -1, currency: 1 } },
      scaFactor: 'UNKNOWN',
      senderCustomerInfo: [],
    };
    expect(await rejectedFieldsOf('/quotes', body)).toEqual([
      'description',
      'destination.accountId',
      'destination.paymentRail',
      'immediatelyExecute',
      'lockedCurrencyAmount',
      'lockedCurrencySide',
      'lookupId',
      'platformFeeOverride.platformFixedFee.amount',
      'platformFeeOverride.platformFixedFee.currency',
      'platformFeeOverride.platformVariableFeeBps',
      'purposeOfPayment',
      'remittanceInformation',
      'scaFactor',
      'senderCustomerInfo',
      'source.accountId',
      'source.customerId',
    ]);
    expect(
      await rejectedFieldsOf('/quotes', { source: {}, destination: { destinationType: 'BANK' } }),
    ).toEqual([
      'destination.destinationType',
      'lockedCurrencyAmount',
      'lockedCurrencySide',
      'source.sourceType',
    ]);
    const railError = (await app.call('POST', '/quotes', body)).body.details.errors.find(
      (each: { field: string }) => each.field === 'destination.paymentRail',
    );
    expect(railError.constraint.enum).toContain('SEPA');
  });

  it('accepts integers in minor units only', async () => {
    const { person, account } = await createFundedCustomer(app);
    const target = await createExternalAccount(app, person.id, 'EUR');
    for (const amount of INVALID_AMOUNTS) {
      const body = quoteBody(account.id, target.id, amount as number);
      expect(await rejectedFieldsOf('/quotes', body)).toEqual(['lockedCurrencyAmount']);
    }
    const text = JSON.stringify(quoteBody(account.id, target.id, 12_345)).replace(
      'Amount":12345',
      'Amount":1.2345e4',
    );
    ok(await app.call('POST', '/quotes', JSON.parse(text)), 201);
  });

  it('returns 404 for accounts and customers of another platform in any field', async () => {
    const { person, account } = await createFundedCustomer(app);
    const target = await createExternalAccount(app, person.id, 'EUR');
    const platform = app.other;
    const otherCustomer = await createFundedCustomer(app, 1_000_00, { platform });
    const foreignExternalAccount = await createExternalAccount(
      app,
      otherCustomer.person.id,
      'EUR',
      '000',
      { platform },
    );
    const platformAccount = await findInternalAccount(app, null, 'USD');
    const notFoundError: [number, string] = [404, 'ACCOUNT_NOT_FOUND'];
    await expectError(
      '/quotes',
      quoteBody(otherCustomer.account.id, target.id, 100_00),
      notFoundError,
    );
    await expectError(
      '/quotes',
      quoteBody(account.id, foreignExternalAccount.id, 100_00),
      notFoundError,
    );
    await expectError(
      '/quotes',
      quoteBody(account.id, otherCustomer.account.id, 100_00),
      notFoundError,
    );
    for (const customerId of [otherCustomer.person.id, 'Customer:unknown', '']) {
      const source = { sourceType: 'ACCOUNT', accountId: platformAccount.id, customerId };
      const body = quoteBody(platformAccount.id, target.id, 100_00, { source });
      await expectError('/quotes', body, [404, 'CUSTOMER_NOT_FOUND']);
    }
    const transferBody = (from: string, to: string) => ({
      source: { accountId: from },
      destination: { accountId: to },
      amount: 100,
    });
    await expectError(
      '/transfer-out',
      transferBody(otherCustomer.account.id, target.id),
      notFoundError,
    );
    await expectError(
      '/transfer-out',
      transferBody(account.id, foreignExternalAccount.id),
      notFoundError,
    );
    await expectError(
      `/sandbox/internal-accounts/${otherCustomer.account.id}/fund`,
      { amount: 1 },
      notFoundError,
    );
  });

  it('rejects accounts of a deleted customer', async () => {
    const { account } = await createFundedCustomer(app);
    const payee = await createCustomer(app);
    const payeeBalance = await findInternalAccount(app, payee.id, 'EUR');
    const payeeBank = await createExternalAccount(app, payee.id, 'EUR');
    ok(await app.call('DELETE', `/customers/${payee.id}`), 200);
    for (const target of [payeeBalance, payeeBank]) {
      await expectError('/quotes', quoteBody(account.id, target.id, 100_00), [
        410,
        'CUSTOMER_DELETED',
      ]);
    }
    await expectError('/quotes', quoteBody(payeeBalance.id, account.id, 100_00), [
      410,
      'CUSTOMER_DELETED',
    ]);
    const bank = await createExternalAccount(app, null, 'EUR');
    const transferRequest = {
      source: { accountId: payeeBalance.id },
      destination: { accountId: bank.id },
      amount: 100_00,
    };
    await expectError('/transfer-out', transferRequest, [410, 'CUSTOMER_DELETED']);
  });

  it('rejects a customer who is not approved', async () => {
    const unapprovedCustomer = await createCustomer(app, {}, { fullName: 'Waiting Person001' });
    const account = await findInternalAccount(app, unapprovedCustomer.id, 'USD');
    const bank = await createExternalAccount(app, unapprovedCustomer.id, 'USD');
    const notReadyError: [number, string] = [403, 'USER_NOT_READY'];
    await expectError('/quotes', quoteBody(account.id, bank.id, 100_00), notReadyError);
    const transferRequest = {
      source: { accountId: account.id },
      destination: { accountId: bank.id },
      amount: 100_00,
    };
    await expectError('/transfer-out', transferRequest, notReadyError);
    const platformAccount = await findInternalAccount(app, null, 'USD');
    const source = {
      sourceType: 'ACCOUNT',
      accountId: platformAccount.id,
      customerId: unapprovedCustomer.id,
    };
    await expectError(
      '/quotes',
      quoteBody(platformAccount.id, bank.id, 100_00, { source }),
      notReadyError,
    );
  });

  it('rejects inactive accounts', async () => {
    const { person, account } = await createFundedCustomer(app);
    const eur = await findInternalAccount(app, person.id, 'EUR');
    const quote = ok(await app.call('POST', '/quotes', quoteBody(account.id, eur.id, 100_00)), 201);
    const setAccountStatus = (id: string, status: string) =>
      app.runtime.db.query('update internal_accounts set status = $2 where id = $1', [id, status]);
    for (const [id, field] of [
      [account.id, 'source.accountId'],
      [eur.id, 'destination.accountId'],
    ]) {
      for (const inactiveStatus of ['PENDING', 'FROZEN', 'FAILED', 'CLOSED']) {
        await setAccountStatus(id, inactiveStatus);
        expect(await rejectedFieldsOf('/quotes', quoteBody(account.id, eur.id, 100_00))).toEqual([
          field,
        ]);
        await expectError(`/quotes/${quote.id}/execute`, undefined, [400, 'INVALID_INPUT']);
      }
      await setAccountStatus(id, 'ACTIVE');
    }
    ok(await app.call('POST', `/quotes/${quote.id}/execute`), 200);
  });
});

describe('createTransferOut', () => {
  it('reports every invalid field in one response, including the amount', async () => {
    const body = {
      source: {},
      destination: { accountId: 1, paymentRail: 'X' },
      remittanceInformation: 1,
    };
    expect(await rejectedFieldsOf('/transfer-out', body)).toEqual([
      'amount',
      'destination.accountId',
      'destination.paymentRail',
      'remittanceInformation',
      'source.accountId',
    ]);
    const { person, account } = await createFundedCustomer(app);
    const target = await createExternalAccount(app, person.id, 'USD');
    const accounts = { source: { accountId: account.id }, destination: { accountId: target.id } };
    for (const amount of INVALID_AMOUNTS) {
      expect(await rejectedFieldsOf('/transfer-out', { ...accounts, amount })).toEqual(['amount']);
    }
  });

  it('accepts an internal source and an external destination only', async () => {
    const { person, account } = await createFundedCustomer(app);
    const target = await createExternalAccount(app, person.id, 'USD');
    const eur = await findInternalAccount(app, person.id, 'EUR');
    const transferBody = (from: string, to: string) => ({
      source: { accountId: from, customerId: 12 },
      destination: { accountId: to, currency: 'USD' },
      amount: 100_00,
    });
    expect(await rejectedFieldsOf('/transfer-out', transferBody(target.id, target.id))).toEqual([
      'source.accountId',
    ]);
    expect(await rejectedFieldsOf('/transfer-out', transferBody(account.id, eur.id))).toEqual([
      'destination.accountId',
    ]);
    const platformAccount = await findInternalAccount(app, null, 'USD');
    expect(
      await rejectedFieldsOf('/transfer-out', transferBody(platformAccount.id, target.id)),
    ).toEqual(['destination.accountId']);
    const bodyWithWrongRail = { ...transferBody(account.id, target.id) };
    Object.assign(bodyWithWrongRail.destination, { paymentRail: 'PIX' });
    expect(await rejectedFieldsOf('/transfer-out', bodyWithWrongRail)).toEqual([
      'destination.paymentRail',
    ]);
    const platformBank = await createExternalAccount(app, null, 'USD');
    ok(await app.call('POST', '/transfer-out', transferBody(account.id, platformBank.id)), 201);
  });

  it('is idempotent for one key', async () => {
    const { person, account } = await createFundedCustomer(app);
    const target = await createExternalAccount(app, person.id, 'USD');
    const headers = { 'idempotency-key': 'rent' };
    const body = {
      source: { accountId: account.id },
      destination: { accountId: target.id },
      amount: 100_00,
    };
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => app.call('POST', '/transfer-out', body, { headers })),
    );
    expect(new Set(responses.map((each) => each.body.id)).size).toBe(1);
    expect((await readBalances(app, account.id)).balance).toBe(900_00);
    const otherBody = { ...body, amount: 200_00 };
    await expectError('/transfer-out', otherBody, [409, 'DUPLICATE_PAY_REQUEST'], { headers });
  });
});

describe('production platform', () => {
  it('has no sandbox connectors', async () => {
    const options = { platform: app.production };
    const usd = await findInternalAccount(app, null, 'USD', options);
    const eur = await findInternalAccount(app, null, 'EUR', options);
    const bank = ok(
      await app.call(
        'POST',
        '/platform/external-accounts',
        {
          currency: 'USD',
          accountInfo: {
            accountType: 'USD_ACCOUNT',
            accountNumber: '123456000',
            routingNumber: '021000021',
            beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' },
          },
        },
        options,
      ),
      201,
    );
    await expectError(
      `/sandbox/internal-accounts/${usd.id}/fund`,
      { amount: 1 },
      [403, 'FORBIDDEN'],
      options,
    );
    const btc = await findInternalAccount(app, null, 'BTC', options);
    const lightning = ok(
      await app.call(
        'POST',
        '/platform/external-accounts',
        {
          currency: 'BTC',
          accountInfo: { accountType: 'LIGHTNING', lightningAddress: 'ada@example.com' },
        },
        options,
      ),
      201,
    );
    const transferRequest = {
      source: { accountId: btc.id },
      destination: { accountId: lightning.id },
      amount: 1_000,
    };
    await expectError('/transfer-out', transferRequest, [501, 'NOT_IMPLEMENTED'], options);
    const realtimeSource = { sourceType: 'REALTIME_FUNDING', currency: 'USD' };
    const request = { ...quoteBody(usd.id, bank.id, 100_00), source: realtimeSource };
    await expectError('/quotes', request, [501, 'NOT_IMPLEMENTED'], options);
    const noRateError: [number, string] = [400, 'QUOTE_RATE_UNAVAILABLE'];
    await expectError('/quotes', quoteBody(usd.id, eur.id, 100_00), noRateError, options);
    const person = await createCustomer(app, options);
    expect(person.kycStatus).toBe('UNVERIFIED');
    const otherInternalAccount = await findInternalAccount(app, person.id, 'USD', options);
    const notReadyError: [number, string] = [403, 'USER_NOT_READY'];
    await expectError(
      '/quotes',
      quoteBody(otherInternalAccount.id, usd.id, 100_00),
      notReadyError,
      options,
    );
  });

  it('posts payments between internal accounts', async () => {
    const options = { platform: app.production };
    const usd = await findInternalAccount(app, null, 'USD', options);
    const person = await createCustomer(app, options);
    const otherInternalAccount = await findInternalAccount(app, person.id, 'USD', options);
    await app.operate(async (ctx) => {
      ctx.transfer({
        transactionId: ctx.id('Transaction'),
        step: 'deposit',
        debit: systemAccount('production', 'rail_in_transit', 'USD'),
        credit: usd.id,
        currency: 'USD',
        amount: 500_00n,
      });
    }, app.production);
    const body = quoteBody(usd.id, otherInternalAccount.id, 100_00, { immediatelyExecute: true });
    expect(ok(await app.call('POST', '/quotes', body, options), 201).status).toBe('COMPLETED');
    expect((await readBalances(app, usd.id, options)).total).toBe(400_00);
    expect((await readBalances(app, otherInternalAccount.id, options)).total).toBe(100_00);
    const foreignInternalAccount = await findInternalAccount(app, null, 'USD');
    await expectError(
      '/quotes',
      quoteBody(usd.id, foreignInternalAccount.id, 1_00),
      [404, 'ACCOUNT_NOT_FOUND'],
      options,
    );
  });
});
