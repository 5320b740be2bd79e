// Payee discovery of UMA addresses and external accounts, and its use by quotes.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  accountInfos,
  createCustomer,
  createExternalAccount,
  ok,
} from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { checkOffer, missingPayerData, offerOf, payeeDiscoveryOf } from './index.ts';

const HOST = 'sandbox.uma.money';

const app = testApp();
let firstCustomer: { id: string; umaAddress: string };
let secondCustomer: { id: string; umaAddress: string };
beforeAll(async () => {
  firstCustomer = await createCustomer(app);
  secondCustomer = await createCustomer(app);
});

interface DiscoveryQuery {
  platform?: TestPlatform;
  senderUmaAddress?: string;
  customerId?: string;
}

function requestDiscovery(path: string, { platform = app.platform, ...query }: DiscoveryQuery) {
  const params = new URLSearchParams(query as Record<string, string>).toString();
  return app.call('GET', `${path}${params && `?${params}`}`, undefined, { platform });
}
const discoverUma = (address: string, query: DiscoveryQuery = {}) =>
  requestDiscovery(`/receiver/uma/${encodeURIComponent(address)}`, query);
const discoverAccount = (id: string, query: DiscoveryQuery = {}) =>
  requestDiscovery(`/receiver/external-account/${id}`, query);

const codeOf = (response: { status: number; body: { code: string } }) => [
  response.status,
  response.body.code,
];
const countRows = async () => {
  const [row] = await app.runtime.db.query('select count(*)::int4 as n from payee_discoveries', []);
  return row?.n as number;
};

describe('lookupUma', () => {
  it.each([
    ['$success.usd', 'USD', 1, 1_00, 100_000_00],
    ['$success.eur', 'EUR', 0.92, 1_00, 100_000_00],
    ['$success.mxn', 'MXN', 17.25, 10_00, 2_000_000_00],
    ['$pending.long.usd', 'USD', 1, 1_00, 100_000_00],
    ['$fail.compliance.usd', 'USD', 1, 1_00, 100_000_00],
  ])('finds %s', async (name, code, estimatedExchangeRate, min, max) => {
    const body = ok(await discoverUma(`${name}@${HOST}`, { customerId: firstCustomer.id }), 200);
    expect(body).toMatchObject({
      receiverUmaAddress: `${name}@${HOST}`,
      supportedCurrencies: [{ currency: { code }, estimatedExchangeRate, min, max }],
      requiredPayerDataFields: [
        { name: 'FULL_NAME', mandatory: true },
        { name: 'BIRTH_DATE', mandatory: false },
        { name: 'COUNTRY_OF_RESIDENCE', mandatory: false },
      ],
    });
    expect(body.lookupId).toMatch(/^Lookup:[0-9a-f-]{36}$/);
  });

  it.each([
    ['$non.existent.usd', 404, 'UMA_NOT_FOUND'],
    ['$unknown', 404, 'UMA_NOT_FOUND'],
    ['$error.unsupported-uma-version', 412, 'UNSUPPORTED_UMA_VERSION'],
    ['$error.lnurlp-request-failed', 424, 'LNURLP_REQUEST_FAILED'],
    ['$error.counterparty-pubkey-fetch-error', 424, 'COUNTERPARTY_PUBKEY_FETCH_ERROR'],
    ['$error.no-compatible-uma-version', 424, 'NO_COMPATIBLE_UMA_VERSION'],
    ['$error.lookup-request-failed', 400, 'LOOKUP_REQUEST_FAILED'],
    ['$error.parse-lnurlp-response-error', 400, 'PARSE_LNURLP_RESPONSE_ERROR'],
    ['$error.cert-chain-invalid', 400, 'CERT_CHAIN_INVALID'],
    ['$error.cert-chain-expired', 400, 'CERT_CHAIN_EXPIRED'],
    ['$error.invalid-pubkey-format', 400, 'INVALID_PUBKEY_FORMAT'],
    ['$error.invalid-nonce', 400, 'INVALID_NONCE'],
    ['$error.invalid-timestamp', 400, 'INVALID_TIMESTAMP'],
    ['$error.counterparty-not-allowed', 403, 'COUNTERPARTY_NOT_ALLOWED'],
  ])('returns the error of %s', async (name, status, code) => {
    const rowCount = await countRows();
    expect(codeOf(await discoverUma(`${name}@${HOST}`))).toEqual([status, code]);
    expect(await countRows()).toBe(rowCount);
  });

  it('accepts each sandbox host, any letter case, and an unencoded dollar sign', async () => {
    const discovery = ok(await discoverUma('$Success.EUR@Sandbox.Northwind.uma.money'), 200);
    expect(discovery.receiverUmaAddress).toBe('$success.eur@sandbox.northwind.uma.money');
    const rawResponse = await app.call('GET', `/receiver/uma/$success.usd@${HOST}`);
    expect(rawResponse.status).toBe(200);
  });

  it('accepts a customer by ID or address, or the platform as sender', async () => {
    const readSender = async (query: DiscoveryQuery) => {
      const { lookupId } = ok(await discoverUma(`$success.usd@${HOST}`, query), 200);
      const [row] = await app.runtime.db.query(
        'select sender, customer_id from payee_discoveries where id = $1',
        [lookupId],
      );
      return row;
    };
    const firstSender = { sender: firstCustomer.umaAddress, customer_id: firstCustomer.id };
    expect(await readSender({ customerId: firstCustomer.id })).toEqual(firstSender);
    expect(await readSender({ senderUmaAddress: firstCustomer.umaAddress.toUpperCase() })).toEqual(
      firstSender,
    );
    const { id: customerId, umaAddress: senderUmaAddress } = firstCustomer;
    expect(await readSender({ customerId, senderUmaAddress })).toEqual(firstSender);
    const platformSender = await readSender({});
    expect(platformSender?.customer_id).toBeNull();
    expect(platformSender?.sender).toMatch(/^\$p-[0-9a-f]{12}@/);
  });

  it('rejects an unknown, deleted or contradictory sender', async () => {
    const to = `$success.usd@${HOST}`;
    const otherCustomer = await createCustomer(app, { platform: app.other });
    const unknownAddress = { senderUmaAddress: '$absent@example.com' };
    expect(codeOf(await discoverUma(to, unknownAddress))).toEqual([404, 'USER_NOT_FOUND']);
    const unknownSender = { senderUmaAddress: otherCustomer.umaAddress };
    expect(codeOf(await discoverUma(to, unknownSender))).toEqual([404, 'USER_NOT_FOUND']);
    const foreignSender = { customerId: otherCustomer.id };
    expect(codeOf(await discoverUma(to, foreignSender))).toEqual([404, 'CUSTOMER_NOT_FOUND']);
    const contradictorySender = {
      customerId: secondCustomer.id,
      senderUmaAddress: firstCustomer.umaAddress,
    };
    expect(codeOf(await discoverUma(to, contradictorySender))).toEqual([400, 'INVALID_INPUT']);
    const deletedCustomer = await createCustomer(app);
    ok(await app.call('DELETE', `/customers/${deletedCustomer.id}`), 200);
    expect(codeOf(await discoverUma(to, { customerId: deletedCustomer.id }))).toEqual([
      410,
      'CUSTOMER_DELETED',
    ]);
    const deletedSender = { senderUmaAddress: deletedCustomer.umaAddress };
    expect(codeOf(await discoverUma(to, deletedSender))).toEqual([404, 'USER_NOT_FOUND']);
  });

  it.each([
    'success',
    'success@x.example',
    '$@x.example',
    '$a@',
    '$a b@x.example',
    '$a@-x',
    '$a@x.',
  ])('rejects the address %s', async (address) => {
    const response = await discoverUma(address);
    expect(codeOf(response)).toEqual([400, 'INVALID_UMA_ADDRESS']);
  });

  it('reports every invalid address in one response', async () => {
    const { body } = await discoverUma('nope', { senderUmaAddress: 'neither' });
    expect(body.code).toBe('INVALID_UMA_ADDRESS');
    expect(body.details.errors.map((each: { field: string }) => each.field)).toEqual([
      'receiverUmaAddress',
      'senderUmaAddress',
    ]);
  });

  it('rejects the sender as receiver', async () => {
    const response = await discoverUma(firstCustomer.umaAddress, { customerId: firstCustomer.id });
    expect(codeOf(response)).toEqual([400, 'SELF_PAYMENT']);
  });

  it('rejects a blocked provider and accepts an allowed provider', async () => {
    const blockedResponse = await discoverUma('$success.usd@blockvale.example');
    expect(codeOf(blockedResponse)).toEqual([403, 'COUNTERPARTY_NOT_ALLOWED']);
    expect((await discoverUma('$success.usd@montera.example')).status).toBe(200);
  });

  it('reports an unreachable host', async () => {
    const response = await discoverUma('$ada@uma.example');
    expect(codeOf(response)).toEqual([424, 'LNURLP_REQUEST_FAILED']);
  });

  it('returns 501 in production without a connector', async () => {
    const response = await discoverUma(`$success.usd@${HOST}`, { platform: app.production });
    expect(codeOf(response)).toEqual([501, 'NOT_IMPLEMENTED']);
  });
});

describe('lookupUma of a customer of this server', () => {
  const currencyCodesOf = (body: { supportedCurrencies: { currency: { code: string } }[] }) =>
    body.supportedCurrencies.map((each) => each.currency.code);

  it('returns the currencies of the open accounts of the customer', async () => {
    const body = ok(
      await discoverUma(secondCustomer.umaAddress, { customerId: firstCustomer.id }),
      200,
    );
    expect(body.receiverUmaAddress).toBe(secondCustomer.umaAddress);
    expect(currencyCodesOf(body)).toEqual(expect.arrayContaining(['USD', 'EUR', 'BTC']));
    const btcOffer = body.supportedCurrencies.find(
      (each: { currency: { code: string } }) => each.currency.code === 'BTC',
    );
    expect(btcOffer.estimatedExchangeRate).toBeCloseTo(1 / 120_048, 12);
    const row = await app.operate((ctx) => payeeDiscoveryOf(ctx, body.lookupId));
    expect(row.receiver_customer_id).toBe(secondCustomer.id);
  });

  it('applies the settings and the required fields of the platform of the customer', async () => {
    const platform = await app.newPlatform('Own settings');
    const otherCustomer = await createCustomer(app, { platform });
    const requiredFields = [
      { name: 'FULL_NAME', mandatory: false },
      { name: 'EMAIL', mandatory: true },
    ];
    const { supportedCurrencies: currencies } = ok(
      await app.call('GET', '/config', undefined, { platform }),
      200,
    );
    const supportedCurrencies = currencies.map((currency: { currencyCode: string }) => ({
      currencyCode: currency.currencyCode,
      minAmount: currency.currencyCode === 'EUR' ? 5_00 : 0,
      maxAmount: currency.currencyCode === 'GBP' ? 0 : 9_000_00,
      requiredCounterpartyFields:
        currency.currencyCode === 'EUR' ? requiredFields : [requiredFields[0]],
      enabledTransactionTypes: currency.currencyCode === 'USD' ? ['OUTGOING'] : ['INCOMING'],
    }));
    ok(await app.call('PATCH', '/config', { supportedCurrencies }, { platform }), 200);
    const body = ok(await discoverUma(otherCustomer.umaAddress), 200);
    expect(currencyCodesOf(body)).not.toContain('USD');
    expect(currencyCodesOf(body)).not.toContain('GBP');
    const [firstOffer] = body.supportedCurrencies;
    expect(firstOffer).toMatchObject({ currency: { code: 'EUR' }, min: 5_00, max: 9_000_00 });
    expect(body.supportedCurrencies[1].min).toBe(1);
    expect(body.requiredPayerDataFields).toEqual(requiredFields);
  });

  it('lists the currency of the default UMA account first', async () => {
    const receiver = await createCustomer(app);
    const info = { currency: 'MXN', accountInfo: accountInfos.MXN!('000') };
    const body = { ...info, customerId: receiver.id, defaultUmaDepositAccount: true };
    ok(await app.call('POST', '/customers/external-accounts', body), 201);
    expect(currencyCodesOf(ok(await discoverUma(receiver.umaAddress), 200))[0]).toBe('MXN');
  });

  it('returns 404 for a pending, deleted or unknown customer, and 501 in production', async () => {
    const pendingCustomer = await createCustomer(app, { platform: app.unregulated });
    expect(codeOf(await discoverUma(pendingCustomer.umaAddress))).toEqual([404, 'UMA_NOT_FOUND']);
    const deletedCustomer = await createCustomer(app);
    ok(await app.call('DELETE', `/customers/${deletedCustomer.id}`), 200);
    expect(codeOf(await discoverUma(deletedCustomer.umaAddress))).toEqual([404, 'UMA_NOT_FOUND']);
    const host = firstCustomer.umaAddress.split('@')[1];
    expect(codeOf(await discoverUma(`$unknown.user@${host}`))).toEqual([404, 'UMA_NOT_FOUND']);
    const productionResponse = await discoverUma(firstCustomer.umaAddress, {
      platform: app.production,
    });
    expect(codeOf(productionResponse)).toEqual([501, 'NOT_IMPLEMENTED']);
  });

  it('returns 400 if no rate to a currency of the receiver is available', async () => {
    const platform = await app.newPlatform('No rates', {
      environment: 'production',
      regulated: false,
    });
    const receiver = await createCustomer(app, { platform });
    await app.runtime.db.query(
      "update customers set status = 'APPROVED', version = version + 1 where id = $1",
      [receiver.id],
    );
    const config = ok(await app.call('GET', '/config', undefined, { platform }), 200);
    // A payment in one currency needs no rate, so USD can only be sent.
    const supportedCurrencies = config.supportedCurrencies.map(
      (each: { currencyCode: string }) => ({
        ...each,
        enabledTransactionTypes: [each.currencyCode === 'USD' ? 'OUTGOING' : 'INCOMING'],
      }),
    );
    ok(await app.call('PATCH', '/config', { supportedCurrencies }, { platform }), 200);
    const response = await discoverUma(receiver.umaAddress, { platform });
    expect(codeOf(response)).toEqual([400, 'QUOTE_RATE_UNAVAILABLE']);
  });

  it('resolves scripted addresses of the sandbox before addresses of customers', async () => {
    const platform = await app.newPlatform('Sandbox domain');
    ok(await app.call('PATCH', '/config', { umaDomain: HOST }, { platform }), 200);
    const otherCustomer = await createCustomer(
      app,
      { platform },
      { umaAddress: `$success.eur@${HOST}` },
    );
    expect(otherCustomer.umaAddress).toBe(`$success.eur@${HOST}`);
    expect(currencyCodesOf(ok(await discoverUma(`$success.eur@${HOST}`), 200))).toEqual(['EUR']);
  });
});

describe('lookupExternalAccount', () => {
  it('returns the currency of the account within the limits of its rails', async () => {
    const payeeAccount = await createExternalAccount(app, firstCustomer.id, 'EUR');
    const body = ok(await discoverAccount(payeeAccount.id, { customerId: firstCustomer.id }), 200);
    expect(body).toMatchObject({
      accountId: payeeAccount.id,
      supportedCurrencies: [
        { currency: { code: 'EUR', decimals: 2 }, estimatedExchangeRate: 0.92, min: 92 },
      ],
      requiredPayerDataFields: [],
    });
    // The maximum of SEPA is ten million dollars.
    expect(body.supportedCurrencies[0].max).toBe(920_000_000);
    const row = await app.operate((ctx) => payeeDiscoveryOf(ctx, body.lookupId));
    expect(row).toMatchObject({
      kind: 'ACCOUNT',
      receiver: payeeAccount.id,
      customer_id: firstCustomer.id,
    });
  });

  it('requires a purpose of payment for INR', async () => {
    const info = {
      currency: 'INR',
      accountInfo: {
        accountType: 'INR_ACCOUNT',
        vpa: 'grace@bank',
        beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' },
      },
    };
    const createdExternalAccount = ok(
      await app.call('POST', '/customers/external-accounts', {
        ...info,
        customerId: firstCustomer.id,
      }),
      201,
    );
    expect(
      ok(await discoverAccount(createdExternalAccount.id), 200).requiredPayerDataFields,
    ).toEqual([{ name: 'PURPOSE_OF_PAYMENT', mandatory: true }]);
  });

  it('applies the settings of the platform', async () => {
    const platform = await app.newPlatform('Own limits');
    const payeeAccount = await createExternalAccount(app, null, 'EUR', '000', { platform });
    const setEurLimits = async (minAmount: number, maxAmount: number) => {
      const { supportedCurrencies } = ok(
        await app.call('GET', '/config', undefined, { platform }),
        200,
      );
      const changedCurrencies = supportedCurrencies.map((each: { currencyCode: string }) =>
        each.currencyCode === 'EUR' ? { ...each, minAmount, maxAmount } : each,
      );
      ok(
        await app.call(
          'PATCH',
          '/config',
          { supportedCurrencies: changedCurrencies },
          { platform },
        ),
        200,
      );
    };
    await setEurLimits(5_00, 50_00);
    const [offer] = ok(
      await discoverAccount(payeeAccount.id, { platform }),
      200,
    ).supportedCurrencies;
    expect(offer).toMatchObject({ min: 5_00, max: 50_00 });
    await setEurLimits(1, 10);
    expect(codeOf(await discoverAccount(payeeAccount.id, { platform }))).toEqual([
      400,
      'LOOKUP_REQUEST_FAILED',
    ]);
  });

  it('returns the same 404 for accounts that are unknown, deleted or of another platform', async () => {
    const otherPlatformAccount = await createExternalAccount(app, null, 'EUR', '000', {
      platform: app.other,
    });
    const ownExternalAccount = await createExternalAccount(app, firstCustomer.id, 'EUR');
    ok(await app.call('DELETE', `/customers/external-accounts/${ownExternalAccount.id}`), 204);
    for (const id of [otherPlatformAccount.id, ownExternalAccount.id, 'unknown']) {
      expect(codeOf(await discoverAccount(id))).toEqual([404, 'ACCOUNT_NOT_FOUND']);
    }
  });

  it('rejects an account that cannot be paid', async () => {
    const payeeAccount = await createExternalAccount(app, firstCustomer.id, 'EUR');
    await app.runtime.db.query("update external_accounts set status = 'INACTIVE' where id = $1", [
      payeeAccount.id,
    ]);
    expect(codeOf(await discoverAccount(payeeAccount.id))).toEqual([400, 'INVALID_RECEIVER']);
  });

  it('validates the sender like lookupUma', async () => {
    const payeeAccount = await createExternalAccount(app, firstCustomer.id, 'EUR');
    const invalidResponse = await discoverAccount(payeeAccount.id, { senderUmaAddress: 'ada' });
    expect(codeOf(invalidResponse)).toEqual([400, 'INVALID_UMA_ADDRESS']);
    const absentSenderResponse = await discoverAccount(payeeAccount.id, {
      senderUmaAddress: '$absent@example.com',
    });
    expect(codeOf(absentSenderResponse)).toEqual([404, 'USER_NOT_FOUND']);
    const unknownCustomerResponse = await discoverAccount(payeeAccount.id, {
      customerId: '4294967296',
    });
    expect(codeOf(unknownCustomerResponse)).toEqual([404, 'CUSTOMER_NOT_FOUND']);
    const deletedCustomer = await createCustomer(app);
    ok(await app.call('DELETE', `/customers/${deletedCustomer.id}`), 200);
    const deletedCustomerResponse = await discoverAccount(payeeAccount.id, {
      customerId: deletedCustomer.id,
    });
    expect(codeOf(deletedCustomerResponse)).toEqual([410, 'CUSTOMER_DELETED']);
  });

  it('reports a missing rate and a missing rail', async () => {
    const platform = app.production;
    const createPlatformAccount = async (accountInfo: object, currency: string) => {
      const body = { currency, accountInfo };
      return ok(await app.call('POST', '/platform/external-accounts', body, { platform }), 201);
    };
    const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' };
    const iban = 'DE89370400440532013000';
    const eurAccount = {
      accountType: 'EUR_ACCOUNT',
      iban,
      beneficiary: { ...beneficiary, countryOfResidence: 'DE' },
    };
    const bankAccount = await createPlatformAccount(eurAccount, 'EUR');
    expect(codeOf(await discoverAccount(bankAccount.id, { platform }))).toEqual([
      400,
      'QUOTE_RATE_UNAVAILABLE',
    ]);
    const lightningWallet = { accountType: 'LIGHTNING', lightningAddress: 'grace@wallet.example' };
    const wallet = await createPlatformAccount(lightningWallet, 'BTC');
    expect(codeOf(await discoverAccount(wallet.id, { platform }))).toEqual([
      501,
      'NOT_IMPLEMENTED',
    ]);
  });
});

describe('payee discovery', () => {
  const createDiscovery = async () =>
    ok(await discoverUma(`$success.usd@${HOST}`), 200).lookupId as string;

  it('is valid for ten minutes and for its platform only', async () => {
    const id = await createDiscovery();
    const find = (platform?: TestPlatform, discoveryId = id) =>
      app.operate((ctx) => payeeDiscoveryOf(ctx, discoveryId), platform ?? app.platform);
    expect(await find()).toMatchObject({ kind: 'UMA', receiver: `$success.usd@${HOST}` });
    const notFoundError = { code: 'LOOKUP_REQUEST_NOT_FOUND' };
    await expect(find(app.other)).rejects.toMatchObject(notFoundError);
    await expect(find(undefined, 'nonsense')).rejects.toMatchObject(notFoundError);
    await app.advance(10 * 60_000 - 1);
    expect((await find()).id).toBe(id);
    await app.advance(1);
    await expect(find()).rejects.toMatchObject(notFoundError);
  });

  it('is deleted after expiry', async () => {
    const id = await createDiscovery();
    await app.advance(30 * 60_000);
    const remainingRows = await app.runtime.db.query(
      'select 1 from payee_discoveries where id = $1',
      [id],
    );
    expect(remainingRows).toEqual([]);
  });

  it('returns limits and the missing counterparty fields', async () => {
    const row = await app.operate(async (ctx) => payeeDiscoveryOf(ctx, await createDiscovery()));
    const offer = offerOf(row);
    expect(offer).toEqual({ currency: 'USD', min: 1_00n, max: 100_000_00n });
    expect(offerOf(row, 'USD')).toEqual(offer);
    expect(() => offerOf(row, 'EUR')).toThrow(
      expect.objectContaining({ code: 'INVALID_CURRENCY' }),
    );
    const usd = (amount: bigint) => ({ currency: 'USD', amount });
    const outOfRangeError = expect.objectContaining({ code: 'AMOUNT_OUT_OF_RANGE' });
    expect(() => checkOffer(offer, usd(99n))).toThrow(outOfRangeError);
    expect(() => checkOffer(offer, usd(100_000_01n))).toThrow(outOfRangeError);
    checkOffer(offer, usd(1_00n));
    expect(missingPayerData(row, {})).toEqual(['FULL_NAME']);
    expect(missingPayerData(row, { FULL_NAME: '' })).toEqual(['FULL_NAME']);
    expect(missingPayerData(row, { FULL_NAME: 'Ada' })).toEqual([]);
  });
});
