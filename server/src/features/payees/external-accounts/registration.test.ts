// External accounts of customers and of the platform: registration, reads, deletion and status events.
import { beforeAll, describe, expect, it } from 'vitest';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { exampleOf } from '../../../catalog/accounts/account-examples.ts';
import { ACCOUNT_TYPE_ROWS, ACCOUNT_TYPES } from '../../../catalog/accounts/account-types.ts';
import { transitionExternalAccount } from './present.ts';
import { externalAccounts } from './store.ts';

const app = testApp();
let adaId: string;
let nextNumber = 1_000;

beforeAll(async () => {
  adaId = await createNewCustomer();
});

async function createNewCustomer(options = {}): Promise<string> {
  const body = { customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' };
  return (await app.call('POST', '/customers', body, options)).body.id;
}

const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName: 'Ada Lovelace' };
/** An unregistered US account whose number has this suffix. */
const usdAccountBody = (suffix = '000', overrides: object = {}) => ({
  currency: 'USD',
  accountInfo: {
    accountType: 'USD_ACCOUNT',
    accountNumber: `${nextNumber++}55${suffix}`,
    routingNumber: '021000021',
    beneficiary,
  },
  ...overrides,
});
const walletBody = (overrides: object = {}, info: object = {}) => ({
  currency: 'USDC',
  accountInfo: {
    accountType: 'ETHEREUM_WALLET',
    address: `0x${(nextNumber++).toString(16).padStart(40, 'a')}`,
    ...info,
  },
  ...overrides,
});

const LIST_PATHS = {
  customer: '/customers/external-accounts',
  platform: '/platform/external-accounts',
};
const add = (body: object, path = LIST_PATHS.customer, options = {}) =>
  app.call('POST', path, body, options);
const fieldsOf = (reply: { body: { details?: { errors: { field: string }[] } } }) =>
  reply.body.details?.errors.map((each) => each.field);

describe('createCustomerExternalAccount', () => {
  it('registers a bank account with its rails and the checked name', async () => {
    const request = usdAccountBody('000', {
      customerId: adaId,
      platformAccountId: 'mine-1',
      ownershipType: 'FIRST_PARTY',
    });
    const { status, body } = await add(request);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      customerId: adaId,
      status: 'ACTIVE',
      currency: 'USD',
      platformAccountId: 'mine-1',
      ownershipType: 'FIRST_PARTY',
      defaultUmaDepositAccount: false,
      beneficiaryVerificationStatus: 'MATCHED',
      beneficiaryVerifiedData: { fullName: 'Ada Lovelace' },
      accountInfo: { ...request.accountInfo, paymentRails: ['ACH', 'WIRE', 'RTP', 'FEDNOW'] },
    });
    expect((await app.call('GET', `${LIST_PATHS.customer}/${body.id}`)).body).toEqual(body);
    expect(await app.events()).not.toContainEqual(expect.objectContaining({ subject: body.id }));
  });

  it.each([
    ['102', 'NOT_MATCHED', undefined],
    ['103', 'PARTIAL_MATCH', 'A. Lovelace'],
    ['104', 'PENDING', undefined],
    ['106', 'UNSUPPORTED', undefined],
    ['107', 'CHECKED_BY_RECEIVING_FI', undefined],
  ])(
    'returns the verification result of suffix %s',
    async (suffix, verificationStatus, fullName) => {
      const { status, body } = await add(usdAccountBody(suffix, { customerId: adaId }));
      expect(status).toBe(201);
      expect(body.status).toBe('ACTIVE');
      expect(body.beneficiaryVerificationStatus).toBe(verificationStatus);
      expect(body.beneficiaryVerifiedData?.fullName).toBe(fullName);
    },
  );

  it('rejects an account that does not exist at the institution', async () => {
    const { status, body } = await add(usdAccountBody('105', { customerId: adaId }));
    expect([status, body.code]).toEqual([400, 'INVALID_BANK_ACCOUNT']);
  });

  it('reports every invalid field of accountInfo', async () => {
    const { accountInfo } = usdAccountBody();
    const invalidInfo = {
      ...accountInfo,
      routingNumber: '12',
      beneficiary: { beneficiaryType: 'INDIVIDUAL' },
    };
    const reply = await add({ currency: 'USD', accountInfo: invalidInfo });
    expect([reply.status, reply.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(reply)).toEqual(
      expect.arrayContaining(['accountInfo.routingNumber', 'accountInfo.beneficiary.fullName']),
    );
    const incompleteInfo = { accountType: 'INR_ACCOUNT', beneficiary };
    expect(fieldsOf(await add({ currency: 'INR', accountInfo: incompleteInfo }))).toEqual([
      'accountInfo.vpa',
    ]);
    expect(fieldsOf(await add({ currency: 'USD', accountInfo: { accountType: 'X' } }))).toEqual([
      'accountInfo.accountType',
    ]);
  });

  it('rejects a currency that the account type does not support', async () => {
    const { status, body } = await add(usdAccountBody('000', { currency: 'EUR' }));
    expect([status, body.code]).toEqual([400, 'INVALID_CURRENCY']);
  });

  it('rejects a duplicate of the same owner until the first is deleted', async () => {
    const eurAccountBody = (text: string, owner: object) => ({
      ...owner,
      currency: 'EUR',
      accountInfo: {
        accountType: 'EUR_ACCOUNT',
        iban: text,
        beneficiary: { ...beneficiary, countryOfResidence: 'DE' },
      },
    });
    const [text, ownerFields] = ['FR7630006000011234567890189', { customerId: adaId }];
    const firstResponse = await add(eurAccountBody(text, ownerFields));
    expect(firstResponse.status).toBe(201);
    const secondResponse = await add(eurAccountBody(text, ownerFields));
    expect([secondResponse.status, secondResponse.body.code]).toEqual([
      409,
      'DUPLICATE_EXTERNAL_ACCOUNT',
    ]);
    expect(secondResponse.headers['x-should-retry']).toBe('false');
    expect((await add(eurAccountBody(text, {}))).status).toBe(201);
    expect(
      (await add(eurAccountBody(text, { customerId: await createNewCustomer() }))).status,
    ).toBe(201);
    expect(
      (await app.call('DELETE', `${LIST_PATHS.customer}/${firstResponse.body.id}`)).status,
    ).toBe(204);
    expect((await add(eurAccountBody(text, ownerFields))).status).toBe(201);
  });

  it('accepts one of several concurrent duplicates', async () => {
    const duplicate = usdAccountBody('000', { customerId: adaId });
    const replies = await Promise.all([add(duplicate), add(duplicate), add(duplicate)]);
    expect(replies.map((each) => each.status).sort()).toEqual([201, 409, 409]);
  });

  it('makes the newest account the default for UMA deposits', async () => {
    const customerId = await createNewCustomer();
    const createDefaultAccount = () =>
      add(usdAccountBody('000', { customerId, defaultUmaDepositAccount: true }));
    const firstAccount = (await createDefaultAccount()).body;
    expect(firstAccount.defaultUmaDepositAccount).toBe(true);
    const secondAccount = (await createDefaultAccount()).body;
    const readDefaultFlag = async (id: string) =>
      (await app.call('GET', `${LIST_PATHS.customer}/${id}`)).body.defaultUmaDepositAccount;
    expect([
      await readDefaultFlag(firstAccount.id),
      await readDefaultFlag(secondAccount.id),
    ]).toEqual([false, true]);
    await app.call('DELETE', `${LIST_PATHS.customer}/${secondAccount.id}`);
    expect((await createDefaultAccount()).status).toBe(201);
    const unownedResponse = await add(usdAccountBody('000', { defaultUmaDepositAccount: true }));
    expect(fieldsOf(unownedResponse)).toEqual(['defaultUmaDepositAccount']);
  });

  it('keeps one default under concurrent registrations', async () => {
    const customerId = await createNewCustomer();
    const requestDefaultAccount = () =>
      add(usdAccountBody('000', { customerId, defaultUmaDepositAccount: true }));
    const replies = await Promise.all(Array.from({ length: 8 }, requestDefaultAccount));
    for (const { status } of replies) expect([201, 409]).toContain(status);
    const { body } = await app.call('GET', `${LIST_PATHS.customer}?customerId=${customerId}`);
    const defaultAccounts = body.data.filter(
      (each: { defaultUmaDepositAccount: boolean }) => each.defaultUmaDepositAccount,
    );
    expect(defaultAccounts).toHaveLength(1);
  });

  it('accepts only existing customers of the platform', async () => {
    const foreignCustomerId = await createNewCustomer({ platform: app.other });
    for (const customerId of [foreignCustomerId, 'Customer:x']) {
      const { status, body } = await add(usdAccountBody('000', { customerId }));
      expect([status, body.code]).toEqual([404, 'CUSTOMER_NOT_FOUND']);
    }
    const customerId = await createNewCustomer();
    await app.call('DELETE', `/customers/${customerId}`);
    const { status, body } = await add(usdAccountBody('000', { customerId }));
    expect([status, body.code]).toEqual([410, 'CUSTOMER_DELETED']);
  });

  it('validates check digits and performs no name check in production', async () => {
    const platform = app.production;
    const { accountInfo, currency } = usdAccountBody();
    const invalidBody = { currency, accountInfo: { ...accountInfo, routingNumber: '123456789' } };
    expect((await add(invalidBody)).status).toBe(201);
    expect(fieldsOf(await add(invalidBody, LIST_PATHS.customer, { platform }))).toEqual([
      'accountInfo.routingNumber',
    ]);
    const validResponse = await add({ currency, accountInfo }, LIST_PATHS.customer, {
      platform,
    });
    expect(validResponse.status).toBe(201);
    expect(validResponse.body.beneficiaryVerificationStatus).toBe('UNSUPPORTED');
  });

  it('registers a wallet without a name check and without fields of other account types', async () => {
    const { status, body } = await add(
      walletBody({ customerId: adaId }, { paymentRails: ['ACH'] }),
    );
    expect(status).toBe(201);
    expect(body.status).toBe('ACTIVE');
    expect(body.beneficiaryVerificationStatus).toBeUndefined();
    expect(Object.keys(body.accountInfo).sort()).toEqual(['accountType', 'address']);
    expect(fieldsOf(await add(walletBody({}, { address: '0x12' })))).toEqual([
      'accountInfo.address',
    ]);
    expect(fieldsOf(await add(walletBody({}, { vaspName: 'Unlisted' })))).toEqual([
      'accountInfo.vaspName',
    ]);
  });

  it('replays the first reply for one idempotency key', async () => {
    const request = usdAccountBody('000', { customerId: adaId });
    const headers = { 'idempotency-key': 'one' };
    const firstResponse = await add(request, LIST_PATHS.customer, { headers });
    const secondResponse = await add(request, LIST_PATHS.customer, { headers });
    expect(secondResponse.status).toBe(201);
    expect(secondResponse.body).toEqual(firstResponse.body);
    expect(secondResponse.headers['idempotency-replayed']).toBe('true');
  });

  it('requires a proof of own wallets if counterparties must be identified', async () => {
    const platform = await app.newPlatform('Travel rule');
    const { body: config } = await app.call('GET', '/config', undefined, { platform });
    const supportedCurrencies = config.supportedCurrencies.map(
      (currency: { currencyCode: string }) =>
        currency.currencyCode === 'USDC'
          ? { ...currency, requiredCounterpartyFields: [{ name: 'FULL_NAME', mandatory: true }] }
          : currency,
    );
    expect((await app.call('PATCH', '/config', { supportedCurrencies }, { platform })).status).toBe(
      200,
    );
    const addWallet = (ownershipType: string, info = {}) =>
      add(walletBody({ ownershipType }, info), LIST_PATHS.customer, { platform });
    expect((await addWallet('FIRST_PARTY')).body.status).toBe('PENDING_OWNERSHIP_VERIFICATION');
    expect((await addWallet('FIRST_PARTY', { vaspName: 'Kraken' })).body.status).toBe('ACTIVE');
    expect(fieldsOf(await addWallet('THIRD_PARTY'))).toEqual(['accountInfo.beneficiary']);
    expect(fieldsOf(await add(walletBody(), LIST_PATHS.customer, { platform }))).toEqual([
      'ownershipType',
    ]);
  });
});

describe('account types', () => {
  it.each(ACCOUNT_TYPES)('%s can be registered in sandbox and production', async (type) => {
    const currency = ACCOUNT_TYPE_ROWS[type].currencies[0] ?? 'USD';
    for (const platform of [app.platform, app.production]) {
      const customerId = await createNewCustomer({ platform });
      const accountInfo = exampleOf(type);
      const { status, body } = await add(
        { customerId, currency, accountInfo },
        LIST_PATHS.customer,
        {
          platform,
        },
      );
      expect(status, JSON.stringify(body)).toBe(201);
      expect(body.accountInfo).toMatchObject(JSON.parse(JSON.stringify(accountInfo)));
    }
  });
});

describe('createPlatformExternalAccount', () => {
  it('creates an account of the platform, ignoring other owner fields', async () => {
    const request = usdAccountBody('000', { customerId: adaId, defaultUmaDepositAccount: true });
    const { status, body } = await add(request, LIST_PATHS.platform);
    expect(status).toBe(201);
    expect(body.customerId).toBeUndefined();
    expect(body.defaultUmaDepositAccount).toBe(false);
    expect((await add(request, LIST_PATHS.platform)).status).toBe(409);
    expect((await add({ ...request, currency: 'MXN' }, LIST_PATHS.platform)).status).toBe(400);
  });
});

describe('getPlatformExternalAccountById', () => {
  it('returns only accounts of the owner in the path', async () => {
    const customerAccount = (await add(usdAccountBody('000', { customerId: adaId }))).body;
    const platformAccount = (await add(usdAccountBody())).body;
    const readStatus = async (path: string, id: string, options = {}) => {
      const reply = await app.call('GET', `${path}/${id}`, undefined, options);
      if (reply.status === 404) expect(reply.body.code).toBe('ACCOUNT_NOT_FOUND');
      return reply.status;
    };
    expect(await readStatus(LIST_PATHS.customer, customerAccount.id)).toBe(200);
    expect(await readStatus(LIST_PATHS.platform, customerAccount.id)).toBe(404);
    expect(await readStatus(LIST_PATHS.platform, platformAccount.id)).toBe(200);
    expect(await readStatus(LIST_PATHS.customer, platformAccount.id)).toBe(404);
    expect(await readStatus(LIST_PATHS.customer, customerAccount.id, { platform: app.other })).toBe(
      404,
    );
    expect(await readStatus(LIST_PATHS.platform, 'x')).toBe(404);
  });
});

describe('getCustomerExternalAccountById', () => {
  it('masks numbers for read-only tokens', async () => {
    const { body } = await add(usdAccountBody('789', { customerId: adaId }));
    const viewToken = await app.tokenWith(['VIEW']);
    const maskedResponse = await app.call('GET', `${LIST_PATHS.customer}/${body.id}`, undefined, {
      platform: viewToken,
    });
    const accountNumber = body.accountInfo.accountNumber as string;
    expect(maskedResponse.body.accountInfo.accountNumber).toBe(
      '*'.repeat(accountNumber.length - 4) + accountNumber.slice(-4),
    );
    const payerToken = await app.tokenWith(['VIEW', 'TRANSACT']);
    const path = `${LIST_PATHS.customer}/${body.id}`;
    expect((await app.call('GET', path, undefined, { platform: payerToken })).body).toEqual(body);
    expect((await add(usdAccountBody(), LIST_PATHS.customer, { platform: viewToken })).status).toBe(
      403,
    );
  });
});

describe('listCustomerExternalAccounts', () => {
  it('lists, filters and pages', async () => {
    const customerId = await createNewCustomer();
    const ids: string[] = [];
    for (const body of [
      usdAccountBody('000', { customerId }),
      walletBody({ customerId }),
      usdAccountBody('001', { customerId }),
    ]) {
      ids.push((await add(body)).body.id);
    }
    const list = (query: string) =>
      app.call('GET', `${LIST_PATHS.customer}?customerId=${customerId}${query}`);
    const idsOf = (data: { id: string }[]) => data.map((each) => each.id);
    expect(idsOf((await list('')).body.data).sort()).toEqual([...ids].sort());
    expect(idsOf((await list('&currency=USDC')).body.data)).toEqual([ids[1]]);
    const firstPage = (await list('&limit=2')).body;
    expect(firstPage).toMatchObject({ hasMore: true, totalCount: 3 });
    const secondPage = (await list(`&limit=2&cursor=${firstPage.nextCursor}`)).body;
    expect(idsOf([...firstPage.data, ...secondPage.data]).sort()).toEqual([...ids].sort());
    expect((await list('&limit=x')).status).toBe(400);
    const allAccounts = (await app.call('GET', `${LIST_PATHS.customer}?limit=100`)).body.data;
    for (const each of allAccounts) expect(each.customerId).toBeDefined();
  });
});

describe('listPlatformExternalAccounts', () => {
  it('excludes the accounts of customers', async () => {
    const { body } = await add(usdAccountBody(), LIST_PATHS.platform);
    const { status, body: list } = await app.call(
      'GET',
      `${LIST_PATHS.platform}?currency=USD&limit=100`,
    );
    expect(status).toBe(200);
    expect(list.data).toContainEqual(body);
    for (const each of list.data) expect(each.customerId).toBeUndefined();
    expect((await app.call('GET', `${LIST_PATHS.platform}?limit=0`)).status).toBe(400);
  });
});

describe.each([
  ['deleteCustomerExternalAccountById', LIST_PATHS.customer],
  ['deletePlatformExternalAccountById', LIST_PATHS.platform],
])('%s', (_operation, accounts) => {
  it('deletes an account permanently', async () => {
    const ownerFields = accounts === LIST_PATHS.customer ? { customerId: adaId } : {};
    const { id } = (await add(usdAccountBody('000', ownerFields), accounts)).body;
    const path = `${accounts}/${id}`;
    const deletedResponse = await app.call('DELETE', path);
    expect([deletedResponse.status, deletedResponse.body]).toEqual([204, '']);
    expect((await app.call('GET', path)).status).toBe(404);
    expect((await app.call('DELETE', path)).status).toBe(404);
    const filter = accounts === LIST_PATHS.customer ? `&customerId=${adaId}` : '';
    const { body } = await app.call('GET', `${accounts}?limit=100${filter}`);
    expect(body.data.map((each: { id: string }) => each.id)).not.toContain(id);
  });
});

describe('deleteCustomerExternalAccountById', () => {
  it('rejects a trusted account', async () => {
    const { id } = (await add(usdAccountBody('000', { customerId: adaId }))).body;
    await app.operate(async (ctx) => {
      const row = await ctx.read(externalAccounts, id);
      if (row) ctx.update(externalAccounts, row, { trusted_at: ctx.now });
    });
    const { status, body } = await app.call('DELETE', `${LIST_PATHS.customer}/${id}`);
    expect([status, body.code]).toEqual([409, 'BENEFICIARY_TRUSTED']);
  });
});

describe('status change', () => {
  it('emits an event with the complete account', async () => {
    const { body } = await add(usdAccountBody('000', { customerId: adaId }));
    await app.operate(async (ctx) => {
      const row = await ctx.read(externalAccounts, body.id);
      if (row) transitionExternalAccount(ctx, row, 'review');
    });
    const events = (await app.events()).filter((each) => each.subject === body.id);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      type: 'EXTERNAL_ACCOUNT.STATUS_UPDATED',
      data: { ...body, status: 'UNDER_REVIEW', updatedAt: expect.any(String) },
    });
  });
});
