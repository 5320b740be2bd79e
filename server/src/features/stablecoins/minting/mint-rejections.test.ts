// Every reason to reject a mint or burn before it is ordered, as scripted in the sandbox, and their
// precedence. A rejected request creates no row and no hold.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { DOLLAR, mintFixture } from '../../../../test/kit/payments/mints.ts';
import { MAX_UNITS } from './validation.ts';

const app = testApp();
let fixture: ReturnType<typeof mintFixture>;
let coin: { id: string };
let wallet: { id: string };
let bank: { id: string };

beforeAll(async () => {
  fixture = mintFixture(app);
  coin = await fixture.createCirculatingCoin(1_000);
  wallet = await fixture.createWallet();
  bank = await fixture.createBankAccount();
});
afterAll(async () => {
  expect(await fixture.findSupplyProblems()).toEqual([]);
});

const codeOf = ({ status, body }: ApiResponse) => [status, body.code];
const payoutTo = (externalAccountId: string, rail = 'WIRE') => ({
  destination: { type: 'EXTERNAL_ACCOUNT', externalAccountId, rail },
});
const debitSource = (externalAccountId: string, type = 'ACH_DEBIT') => ({
  fundingSource: { type, externalAccountId },
});
const burnFromBalance = { source: { type: 'PROVIDER_INTERNAL_BALANCE' } };
const mintFromBalance = {
  fundingSource: {
    type: 'PROVIDER_INTERNAL_BALANCE',
    sourceTokenIdentifier: 'usdc',
    cryptoNetwork: 'SPARK',
  },
};
const serviceAccount = { type: 'SERVICE_INTERNAL_ACCOUNT', accountId: 'InternalAccount:x' };
const SERVICE_ACCOUNT_ID = 'InternalAccount:00000000-0000-7000-8000-000000000001';

const requestMint = (overrides: object = {}, coinId = coin.id) =>
  fixture.mint(coinId, fixture.mintBody(wallet.id, { ...overrides }));
const requestBurn = (overrides: object = {}, coinId = coin.id) =>
  fixture.burn(coinId, fixture.burnBody(bank.id, { ...overrides }));

async function countOperations(coinId: string): Promise<number> {
  return ok(await fixture.read(`/stablecoins/${coinId}/operations`), 200).totalCount;
}

describe('the idempotency key', () => {
  it('is required, with at most 255 characters', async () => {
    const paths = [
      ['mints', fixture.mintBody(wallet.id)],
      ['burns', fixture.burnBody(bank.id)],
    ] as const;
    for (const [path, body] of paths) {
      const target = `/stablecoins/${coin.id}/${path}`;
      const responseWithoutKey = await app.call('POST', target, body);
      expect(codeOf(responseWithoutKey)).toEqual([400, 'INVALID_INPUT']);
      expect(responseWithoutKey.body.details.errors[0].field).toBe('Idempotency-Key');
      expect(codeOf(await fixture.write(target, body, 'k'.repeat(256)))).toEqual([
        400,
        'INVALID_INPUT',
      ]);
      ok(await fixture.write(target, body, 'k'.repeat(255)), 201);
    }
  });

  it('identifies one operation and one request', async () => {
    const { id } = await fixture.createCirculatingCoin(100);
    const body = fixture.burnBody(bank.id);
    const requests = Array.from({ length: 4 }, () => fixture.burn(id, body, 'once'));
    const responses = await Promise.all(requests);
    const ids = new Set(responses.map((response) => ok(response, 201).id));
    expect(ids.size).toBe(1);
    await app.advance(5_000);
    const secondBurn = ok(await fixture.burn(id, body, 'once'), 201);
    expect([...ids]).toEqual([secondBurn.id]);
    expect(secondBurn.status).toBe('CREATED');
    const remainingSupply = { circulating: 90n * DOLLAR, burning: 0n, minting: 0n };
    expect(await fixture.readSupply(id)).toEqual(remainingSupply);
    const otherBurnBody = fixture.burnBody(bank.id, { amount: '20000' });
    expect(codeOf(await fixture.burn(id, otherBurnBody, 'once'))).toEqual([409, 'CONFLICT']);
    ok(await fixture.mint(id, fixture.mintBody(wallet.id), 'once'), 201);
  });
});

describe('the amount', () => {
  it.each(['0', '000', '1', '9999', '10001', '123456789'])(
    '%s cannot be represented in cents',
    async (amount) => {
      const code = 'STABLECOIN_AMOUNT_NOT_REPRESENTABLE';
      expect(codeOf(await requestMint({ amount }))).toEqual([400, code]);
      expect(codeOf(await requestBurn({ amount }))).toEqual([400, code]);
    },
  );

  it.each([
    '',
    '-1',
    '1.5',
    '1e6',
    ' 10000',
    '１００００',
    String(MAX_UNITS + 10_000n),
    '9'.repeat(1_000),
  ])('%s is rejected as invalid input', async (amount) => {
    const response = await requestMint({ amount });
    expect(codeOf(response)).toEqual([400, 'INVALID_INPUT']);
    const [error] = response.body.details.errors;
    expect(error.field).toBe('amount');
    if (amount.length > 40) expect(error.message).toBe('must consist of at most 40 digits');
  });

  it('must be a string', async () => {
    const numericBody = fixture.mintBody(wallet.id, { amount: 1_000_000 });
    expect(codeOf(await fixture.mint(coin.id, numericBody))).toEqual([400, 'INVALID_INPUT']);
  });

  it('is returned without leading zeros', async () => {
    const createdMint = ok(await requestMint({ amount: '0000010000' }), 201);
    expect([createdMint.amount, createdMint.estimatedDelivery.amount]).toEqual(['10000', '1']);
  });

  it('can exceed a JSON number, up to the maximum of the ledger', async () => {
    const { id } = await fixture.createCoin();
    const amount = '3999999999999999990000';
    expect(codeOf(await requestMint({ amount }, id))).toEqual([400, 'INVALID_INPUT']);
    const max = String(MAX_UNITS);
    const createdMint = ok(await requestMint({ amount: max }, id), 201);
    expect(createdMint.amount).toBe(max);
    const secondResponse = await requestMint({ amount: '10000' }, id);
    expect(codeOf(secondResponse)).toEqual([400, 'INVALID_INPUT']);
    expect(secondResponse.body.details.errors[0].field).toBe('amount');
    expect(codeOf(await requestMint({ amount: max }, id))).toEqual([400, 'INVALID_INPUT']);
    await app.advance(5_000);
    expect(await fixture.readSupply(id)).toMatchObject({ circulating: MAX_UNITS });
    // The sum of these burns exceeds the maximum of a balance.
    const requests = Array.from({ length: 3 }, () => requestBurn({ amount: max }, id));
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 400, 400]);
    await app.advance(5_000);
    expect(await fixture.readSupply(id)).toEqual({ circulating: 0n, burning: 0n, minting: 0n });
  });
});

describe('the coin', () => {
  it.each(['001', '002', '003', '005'])('with identifier …%s is not provisioned', async (token) => {
    const { id } = await fixture.createCoin({ token });
    const code = 'STABLECOIN_NOT_PROVISIONED';
    expect(codeOf(await requestMint({}, id))).toEqual([400, code]);
    expect(codeOf(await requestBurn({ amount: '1' }, id))).toEqual([400, code]);
  });

  it('of another platform is not found', async () => {
    const otherPlatformFixture = mintFixture(app, { platform: app.other });
    for (const id of [coin.id, 'x', wallet.id]) {
      const expectedError = [404, 'STABLECOIN_NOT_FOUND'];
      expect(codeOf(await otherPlatformFixture.mint(id, fixture.mintBody(wallet.id)))).toEqual(
        expectedError,
      );
      expect(codeOf(await otherPlatformFixture.burn(id, fixture.burnBody(bank.id)))).toEqual(
        expectedError,
      );
      expect(codeOf(await otherPlatformFixture.read(`/stablecoins/${id}/operations`))).toEqual(
        expectedError,
      );
    }
  });

  it.each([
    ['003', 'INVALID'],
    ['004', 'REVOKED'],
  ])('whose provider account has the secret suffix %s is rejected: %s', async (suffix, status) => {
    // Valid when it is linked and registered, and invalid afterwards.
    const { id, stablecoinProviderAccountId: accountId } = await fixture.createCoin();
    await fixture.replaceSecret(accountId, `secret-${suffix}`);
    const expectedError = [400, `STABLECOIN_PROVIDER_ACCOUNT_${status}`];
    expect(codeOf(await requestMint({}, id))).toEqual(expectedError);
    const account = ok(await fixture.read(`/stablecoin-provider-accounts/${accountId}`), 200);
    expect(account.status).toBe(status);
    expect(codeOf(await requestBurn({ amount: '1' }, id))).toEqual(expectedError);
    expect(await countOperations(id)).toBe(0);
  });

  it('has a provider in the sandbox only', async () => {
    const productionFixture = mintFixture(app, { platform: app.production });
    expect(codeOf(await productionFixture.mint(coin.id, fixture.mintBody(wallet.id)))).toEqual([
      501,
      'NOT_IMPLEMENTED',
    ]);
    expect((await productionFixture.burn(coin.id, fixture.burnBody(bank.id))).status).toBe(501);
  });
});

describe('an account with the service', () => {
  it('is rejected while the service does not operate the coin', async () => {
    const expectedError = [400, 'STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED'];
    expect(codeOf(await requestMint({ fundingSource: serviceAccount }))).toEqual(expectedError);
    expect(codeOf(await requestMint({ destination: { accountId: SERVICE_ACCOUNT_ID } }))).toEqual(
      expectedError,
    );
    expect(codeOf(await requestBurn({ source: serviceAccount }))).toEqual(expectedError);
  });

  it('is not supported once the service operates the coin', async () => {
    const { id } = await fixture.createEnabledCoin();
    const expectedError = [400, 'STABLECOIN_OPERATION_NOT_SUPPORTED'];
    expect(codeOf(await requestMint({ fundingSource: serviceAccount }, id))).toEqual(expectedError);
    expect(
      codeOf(await requestMint({ destination: { accountId: SERVICE_ACCOUNT_ID } }, id)),
    ).toEqual(expectedError);
    expect(codeOf(await requestBurn({ source: serviceAccount }, id))).toEqual([
      400,
      'STABLECOIN_BURN_SOURCE_NOT_SUPPORTED',
    ]);
  });
});

describe('a balance at the provider', () => {
  it('is rejected as funding', async () => {
    expect(codeOf(await requestMint(mintFromBalance))).toEqual([
      400,
      'STABLECOIN_OPERATION_NOT_SUPPORTED',
    ]);
  });

  it('must exist', async () => {
    const { id } = await fixture.createCoin({ secret: '006' });
    const expectedError = [400, 'STABLECOIN_PROVIDER_SOURCE_NOT_LINKED'];
    expect(codeOf(await requestMint(mintFromBalance, id))).toEqual(expectedError);
    expect(codeOf(await requestBurn(burnFromBalance, id))).toEqual(expectedError);
  });
});

describe('an external account', () => {
  it('must exist and belong to this platform', async () => {
    const otherPlatformFixture = mintFixture(app, { platform: app.other });
    const expectedError = [404, 'STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND'];
    const [otherPlatformWallet, otherPlatformBank] = [
      await otherPlatformFixture.createWallet(),
      await otherPlatformFixture.createBankAccount(),
    ];
    const deletedWallet = await fixture.createWallet('platform');
    const path = `/platform/external-accounts/${deletedWallet.id}`;
    expect((await app.call('DELETE', path)).status).toBe(204);
    const walletOfDeletedCustomer = await fixture.createWallet();
    expect(
      (await app.call('DELETE', `/customers/${walletOfDeletedCustomer.customerId}`)).status,
    ).toBe(200);
    for (const accountId of [
      'x',
      otherPlatformWallet.id,
      deletedWallet.id,
      coin.id,
      walletOfDeletedCustomer.id,
    ]) {
      expect(codeOf(await requestMint({ destination: { accountId } }))).toEqual(expectedError);
    }
    for (const id of ['x', otherPlatformBank.id, SERVICE_ACCOUNT_ID]) {
      expect(codeOf(await requestBurn(payoutTo(id)))).toEqual(expectedError);
      expect(codeOf(await requestMint(debitSource(id)))).toEqual(expectedError);
    }
  });

  it('can belong to the platform itself', async () => {
    const { id: accountId } = await fixture.createWallet('platform');
    ok(await requestMint({ destination: { accountId } }), 201);
  });

  it('is debited only by a debit funding source', async () => {
    const { id } = await fixture.createBankAccount();
    for (const externalAccountId of [id, 'x']) {
      const createdMint = ok(await requestMint(debitSource(externalAccountId, 'WIRE')), 201);
      expect(createdMint.source).toEqual({ type: 'WIRE' });
    }
    const linksSql = 'select id from stablecoin_links where account_id = $1';
    expect(await app.runtime.db.query(linksSql, [id])).toEqual([]);
  });

  it('must support the use and be active', async () => {
    const euroAccount = await fixture.createBankAccount('000', 'EUR');
    const rejections = [
      requestMint({ destination: { accountId: bank.id } }),
      requestMint(debitSource(wallet.id)),
      requestMint(debitSource(euroAccount.id, 'SAME_DAY_ACH_DEBIT')),
      requestBurn(payoutTo(wallet.id)),
      requestBurn(payoutTo(euroAccount.id, 'ACH_CREDIT')),
    ];
    const disabledAccount = await fixture.createBankAccount();
    await fixture.setAccountStatus(disabledAccount.id, 'INACTIVE');
    const disabledWallet = await fixture.createWallet();
    await fixture.setAccountStatus(disabledWallet.id, 'INACTIVE');
    rejections.push(
      requestBurn(payoutTo(disabledAccount.id)),
      requestMint(debitSource(disabledAccount.id)),
      requestMint({ destination: { accountId: disabledWallet.id } }),
    );
    for (const response of await Promise.all(rejections)) {
      expect(codeOf(response)).toEqual([400, 'STABLECOIN_EXTERNAL_ACCOUNT_NOT_SUPPORTED']);
    }
  });

  it.each([
    ['201', 'LINK_FAILED'],
    ['202', 'LINK_METHOD_REQUIRED'],
    ['203', 'NOT_LINKED'],
    ['204', 'PROVIDER_LINK_REQUIRED'],
    ['205', 'PROVIDER_LINK_FAILED'],
  ])('whose number has the suffix %s is rejected: %s', async (suffix, problem) => {
    const { id } = await fixture.createBankAccount(suffix);
    const expectedError = [400, `STABLECOIN_EXTERNAL_ACCOUNT_${problem}`];
    expect(codeOf(await requestBurn(payoutTo(id)))).toEqual(expectedError);
    const response = await requestMint(debitSource(id));
    expect(codeOf(response)).toEqual(expectedError);
    expect(response.body.details).toEqual({ externalAccountId: id });
  });

  it('is registered with the provider once per use, including concurrently', async () => {
    const { id } = await fixture.createBankAccount();
    const requests = [1, 2, 3].map(() => requestBurn(payoutTo(id)));
    for (const response of await Promise.all([...requests, requestMint(debitSource(id))]))
      ok(response, 201);
    const links = await app.runtime.db.query(
      'select id from stablecoin_links where account_id = $1 order by id',
      [id],
    );
    const uses = links.map((link) => String(link.id).split(' ').at(-1));
    expect(uses).toEqual(['ACH_DEBIT', 'WIRE']);
  });
});

describe('the provider', () => {
  it('can reject the order', async () => {
    const { id } = await fixture.createBankAccount('206');
    const response = await requestBurn(payoutTo(id));
    expect(codeOf(response)).toEqual([400, 'STABLECOIN_PROVIDER_ERROR']);
    expect(response.body.reason).toContain('sandbox');
    expect(codeOf(await requestMint(debitSource(id)))).toEqual([400, 'STABLECOIN_PROVIDER_ERROR']);
  });

  it('receives no burn order above the circulating supply', async () => {
    const { id } = await fixture.createCirculatingCoin(5);
    const amount = String(5n * DOLLAR + 10_000n);
    expect(codeOf(await requestBurn({ amount }, id))).toEqual([400, 'STABLECOIN_PROVIDER_ERROR']);
    ok(await requestBurn({ amount: String(5n * DOLLAR) }, id), 201);
    expect(codeOf(await requestBurn({ amount: '10000' }, id))).toEqual([
      400,
      'STABLECOIN_PROVIDER_ERROR',
    ]);
  });

  it('allows a retry of the key after it did not respond', async () => {
    const { id, stablecoinProviderAccountId: accountId } = await fixture.createCoin({
      secret: '007',
    });
    const body = fixture.mintBody(wallet.id);
    const response = await fixture.mint(id, body, 'unavailable');
    expect(codeOf(response)).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(response.headers['retry-after']).toBe('5');
    const loggedError = app.log
      .map((line) => JSON.parse(line))
      .find((each) => each.level === 'warn');
    expect(loggedError.err.cause.message).toBe(
      'The stablecoin provider of the sandbox is unavailable.',
    );
    expect((await requestBurn({}, id)).status).toBe(503);
    expect(await countOperations(id)).toBe(0);
    await fixture.replaceSecret(accountId, 'secret-000');
    ok(await fixture.mint(id, body, 'unavailable'), 201);
  });
});

describe('a request', () => {
  it('reports errors in the order coin, amount, source, external accounts, provider', async () => {
    const { id } = await fixture.createCoin({ token: '001' });
    const invalidBody = {
      amount: '1',
      fundingSource: serviceAccount,
      destination: { accountId: 'x' },
    };
    const codes = [
      await requestMint(invalidBody, id),
      await requestMint(invalidBody),
      await requestMint({ ...invalidBody, amount: '10000' }),
      await requestMint({
        ...invalidBody,
        amount: '10000',
        ...debitSource((await fixture.createBankAccount('201')).id),
      }),
      await requestMint(debitSource((await fixture.createBankAccount('201')).id)),
    ].map((response) => response.body.code);
    expect(codes).toEqual([
      'STABLECOIN_NOT_PROVISIONED',
      'STABLECOIN_AMOUNT_NOT_REPRESENTABLE',
      'STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED',
      'STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND',
      'STABLECOIN_EXTERNAL_ACCOUNT_LINK_FAILED',
    ]);
  });

  it('is rejected with INVALID_INPUT if it does not match the schema', async () => {
    for (const extraFields of [
      { fundingSource: { type: 'CASH' } },
      { fundingSource: { type: 'ACH_DEBIT' } },
      { destination: {} },
      { description: 'x'.repeat(1_025) },
    ]) {
      expect(codeOf(await requestMint(extraFields))).toEqual([400, 'INVALID_INPUT']);
    }
    for (const extraFields of [{ source: { type: 'CASH' } }, payoutTo(bank.id, 'CHEQUE')]) {
      expect(codeOf(await requestBurn(extraFields))).toEqual([400, 'INVALID_INPUT']);
    }
  });

  it('requires TRANSACT', async () => {
    const callerToken = await app.tokenWith(['VIEW', 'MANAGE']);
    const headers = { 'idempotency-key': 'permission' };
    const path = `/stablecoins/${coin.id}/mints`;
    const response = await app.call('POST', path, fixture.mintBody(wallet.id), {
      platform: callerToken,
      headers,
    });
    expect(codeOf(response)).toEqual([403, 'FORBIDDEN']);
  });
});
