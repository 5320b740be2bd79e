// Lists and retrieval of internal accounts, events of status changes, and the backfill of accounts.
import { beforeAll, describe, expect, it } from 'vitest';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { FIRST_CURRENCIES } from '../../../bootstrap.ts';
import { BACKFILL_ACCOUNTS } from '../../tenancy/config/index.ts';
import { transitionInternalAccount } from './lifecycle.ts';
import { internalAccounts } from './store.ts';

const app = testApp();
let adaId: string;
let bobId: string;

const createNamedCustomer = async (name: string, overrides: object = {}) => {
  const body = { customerType: 'INDIVIDUAL', fullName: name, ...overrides };
  const reply = await app.call('POST', '/customers', body);
  expect(reply.status).toBe(201);
  return reply.body.id as string;
};

beforeAll(async () => {
  adaId = await createNamedCustomer('Ada Lovelace');
  bobId = await createNamedCustomer('Bob Kahn', { currencies: ['USD', 'EUR'] });
});

interface AccountView {
  id: string;
  customerId?: string;
  balance: { amount: number; currency: { code: string } };
  fundingPaymentInstructions: { accountOrWalletInfo: Record<string, unknown> }[];
}
const currencyCodesOf = (data: AccountView[]) =>
  data.map((each) => each.balance.currency.code).sort();
const sortTexts = (texts: readonly string[]) => [...texts].sort();
/** Currencies of the accounts of a customer. The second USDB account is the embedded wallet. */
const ALL_CURRENCIES = [...FIRST_CURRENCIES, 'USDB'];

describe('listCustomerInternalAccounts', () => {
  const listAccounts = (query: string, options = {}) =>
    app.call('GET', `/customers/internal-accounts${query}`, undefined, options);

  it('returns one account per currency, and a wallet, directly after the customer is created', async () => {
    const { status, body } = await listAccounts(`?customerId=${adaId}`);
    expect(status).toBe(200);
    expect(currencyCodesOf(body.data)).toEqual(sortTexts(ALL_CURRENCIES));
    expect(body).toMatchObject({ hasMore: false, totalCount: ALL_CURRENCIES.length });
    const wallets = body.data.filter(
      (each: AccountView & { type: string }) => each.type === 'EMBEDDED_WALLET',
    );
    expect(currencyCodesOf(wallets)).toEqual(['USDB']);
    const usd = body.data.find((each: AccountView) => each.balance.currency.code === 'USD');
    expect(usd).toMatchObject({
      customerId: adaId,
      type: 'INTERNAL_FIAT',
      status: 'ACTIVE',
      balance: { amount: 0, currency: { code: 'USD', decimals: 2 } },
      totalBalance: { amount: 0 },
    });
    expect(usd.fundingPaymentInstructions[0]).toMatchObject({
      isPlatformAccount: false,
      accountOrWalletInfo: {
        accountType: 'USD_ACCOUNT',
        paymentRails: ['ACH', 'WIRE', 'RTP', 'FEDNOW'],
      },
    });
  });

  it('filters by customer, currency and type', async () => {
    expect(currencyCodesOf((await listAccounts(`?customerId=${bobId}`)).body.data)).toEqual([
      'EUR',
      'USD',
    ]);
    const { body } = await listAccounts('?currency=USD&type=INTERNAL_FIAT');
    expect(sortTexts(body.data.map((each: AccountView) => each.customerId))).toEqual(
      sortTexts([adaId, bobId]),
    );
    expect((await listAccounts('?currency=USD&type=EMBEDDED_WALLET')).body.data).toEqual([]);
    expect((await listAccounts('?customerId=Customer:none')).body.data).toEqual([]);
  });

  it('returns every account once across pages', async () => {
    const listedIds: string[] = [];
    let cursor = '';
    do {
      const { body } = await listAccounts(`?limit=5${cursor && `&cursor=${cursor}`}`);
      listedIds.push(...body.data.map((each: AccountView) => each.id));
      cursor = body.nextCursor ?? '';
    } while (cursor);
    expect(new Set(listedIds).size).toBe(ALL_CURRENCIES.length + 2);
    expect(listedIds.length).toBe(ALL_CURRENCIES.length + 2);
  });

  it('rejects an invalid page and an unknown type', async () => {
    expect((await listAccounts('?limit=0')).status).toBe(400);
    expect((await listAccounts('?type=SAVINGS')).status).toBe(400);
    expect((await listAccounts('?cursor=nonsense')).status).toBe(400);
  });

  it('returns no account of another platform', async () => {
    expect((await listAccounts(`?customerId=${adaId}`, { platform: app.other })).body.data).toEqual(
      [],
    );
  });
});

describe('listInternalAccounts', () => {
  it('returns the same list as listCustomerInternalAccounts', async () => {
    const legacyResponse = await app.call('GET', `/internal-accounts?customerId=${bobId}`);
    const currentResponse = await app.call(
      'GET',
      `/customers/internal-accounts?customerId=${bobId}`,
    );
    expect(legacyResponse.status).toBe(200);
    expect(legacyResponse.body).toEqual(currentResponse.body);
    expect((await app.call('GET', '/internal-accounts?limit=101')).status).toBe(400);
  });
});

describe('listPlatformInternalAccounts', () => {
  it('returns the accounts of the platform, filtered by currency and type', async () => {
    const { status, body } = await app.call('GET', '/platform/internal-accounts');
    expect(status).toBe(200);
    expect(currencyCodesOf(body.data)).toEqual(sortTexts(FIRST_CURRENCIES));
    for (const each of body.data) expect(each.customerId).toBeUndefined();
    expect(body.data[0].fundingPaymentInstructions[0]).toMatchObject({ isPlatformAccount: true });
    const bitcoinList = await app.call('GET', '/platform/internal-accounts?currency=BTC');
    expect(currencyCodesOf(bitcoinList.body.data)).toEqual(['BTC']);
    const cryptoList = await app.call('GET', '/platform/internal-accounts?type=INTERNAL_CRYPTO');
    expect(currencyCodesOf(cryptoList.body.data)).toEqual(['BTC', 'USDB', 'USDC', 'USDT']);
    expect((await app.call('GET', '/platform/internal-accounts?type=X')).status).toBe(400);
  });

  it('returns no funding instructions without a connector', async () => {
    const platform = app.production;
    const { body } = await app.call('GET', '/platform/internal-accounts', undefined, {
      platform,
    });
    expect(body.data.length).toBe(FIRST_CURRENCIES.length);
    for (const each of body.data) expect(each.fundingPaymentInstructions).toEqual([]);
  });
});

describe('getInternalAccountById', () => {
  it('returns an account of the caller and the same 404 for every other ID', async () => {
    const { body } = await app.call('GET', `/customers/internal-accounts?customerId=${bobId}`);
    const path = `/internal-accounts/${body.data[0].id}`;
    expect((await app.call('GET', path)).body).toEqual(body.data[0]);
    const foreignResponse = await app.call('GET', path, undefined, { platform: app.other });
    const malformedResponse = await app.call('GET', '/internal-accounts/x');
    expect(foreignResponse.status).toBe(404);
    expect(foreignResponse.body.code).toBe('ACCOUNT_NOT_FOUND');
    expect(malformedResponse.body).toEqual(foreignResponse.body);
  });
});

describe('status change', () => {
  it('emits an event with the committed balance', async () => {
    const { body } = await app.call('GET', `/customers/internal-accounts?customerId=${bobId}`);
    const { id } = body.data[0];
    await app.operate(async (ctx) => {
      const row = await ctx.read(internalAccounts, id);
      if (row) transitionInternalAccount(ctx, row, 'freeze');
    });
    expect((await app.call('GET', `/internal-accounts/${id}`)).body.status).toBe('FROZEN');
    const events = (await app.events()).filter((each) => each.subject === id);
    expect(events).toMatchObject([
      {
        type: 'INTERNAL_ACCOUNT.STATUS_UPDATED',
        data: { status: 'FROZEN' },
        balance: 0n,
        held: 0n,
      },
    ]);
  });
});

describe('accounts.backfill', () => {
  const listAccounts = async (customerId: string) =>
    (await app.call('GET', `/customers/internal-accounts?customerId=${customerId}&limit=100`)).body
      .data as (AccountView & { status: string })[];

  it('opens accounts for existing customers in batches', async () => {
    const earlyIds = [];
    for (let index = 0; index < 51; index++)
      earlyIds.push(await createNamedCustomer(`Early ${index}`));
    const deletedId = earlyIds.pop() as string;
    expect((await app.call('DELETE', `/customers/${deletedId}`)).status).toBe(200);
    const { body: config } = await app.call('GET', '/config');
    const supportedCurrencies = [
      ...config.supportedCurrencies,
      { ...config.supportedCurrencies[0], currencyCode: 'KES' },
    ];
    const eventCountBefore = (await app.events()).length;
    expect((await app.call('PATCH', '/config', { supportedCurrencies })).status).toBe(200);
    await app.advance(1_000);
    for (const id of [adaId, ...earlyIds]) {
      const kesAccounts = (await listAccounts(id)).filter(
        (each) => each.balance.currency.code === 'KES',
      );
      expect(kesAccounts).toMatchObject([{ status: 'ACTIVE' }]);
    }
    expect(currencyCodesOf(await listAccounts(bobId))).toEqual(['EUR', 'USD']);
    const platformResponse = await app.call('GET', '/platform/internal-accounts?currency=KES');
    expect(platformResponse.body.data).toHaveLength(1);
    const events = (await app.events())
      .slice(eventCountBefore)
      .filter((each) => each.type.startsWith('INTERNAL'));
    expect(new Set(events.map((each) => each.type))).toEqual(
      new Set(['INTERNAL_ACCOUNT.STATUS_UPDATED']),
    );
    expect(events).toHaveLength(51);
  });

  it('is idempotent', async () => {
    const accountsBefore = await listAccounts(adaId);
    await app.operate(async (ctx) => {
      ctx.later(BACKFILL_ACCOUNTS, { platformId: app.platform.id, currencies: ['KES', 'USD'] });
    });
    await app.advance(1_000);
    expect(await listAccounts(adaId)).toEqual(accountsBefore);
  });
});
