// Sandbox funding: currencies, holds, limits and rejections.
import { describe, expect, it } from 'vitest';
import {
  createCustomer,
  findInternalAccount,
  fundAccount,
  ok,
  readBalances,
} from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';

const app = testApp();

const fundPathOf = (id: string) => `/sandbox/internal-accounts/${id}/fund`;

describe('sandboxFundInternalAccount', () => {
  it.each(['USD', 'EUR', 'BTC', 'USDC', 'USDB'])('funds an account in %s', async (currency) => {
    const person = await createCustomer(app);
    const account = await findInternalAccount(app, person.id, currency);
    const response = await fundAccount(app, account.id, 12_345);
    const { balance, totalBalance, ...rest } = account;
    expect(response).toEqual({
      ...rest,
      balance: { ...balance, amount: 12_345 },
      totalBalance: { ...totalBalance, amount: 12_345 },
    });
    const secondResponse = await fundAccount(app, account.id, 5);
    expect(secondResponse.balance.amount).toBe(12_350);
  });

  it("funds the platform's own account in a transaction of the platform", async () => {
    const platformAccount = await findInternalAccount(app, null, 'GBP');
    await fundAccount(app, platformAccount.id, 100_000_000_000);
    expect(await readBalances(app, platformAccount.id)).toEqual({ balance: 1e11, total: 1e11 });
    const { data } = ok(
      await app.call('GET', `/transactions?accountIdentifier=${platformAccount.id}`),
      200,
    );
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({
      type: 'INCOMING',
      direction: 'CREDIT',
      status: 'COMPLETED',
      customerId: app.platform.id,
      platformCustomerId: app.platform.id,
      source: { sourceType: 'REALTIME_FUNDING', currency: 'GBP' },
      destination: { destinationType: 'ACCOUNT', accountId: platformAccount.id, currency: 'GBP' },
      settledAt: data[0].createdAt,
      reconciliationInstructions: { reference: expect.stringMatching(/^RH/) },
    });
    expect(data[0]).not.toHaveProperty('quoteId');
  });

  it.each(['001', '002', '003'])(
    'rejects funding for a customer with the name suffix %s',
    async (suffix) => {
      const body = { customerType: 'INDIVIDUAL', fullName: `Ada Lovelace ${suffix}` };
      const { id } = ok(await app.call('POST', '/customers', body), 201);
      const account = await findInternalAccount(app, id, 'USD');
      const rejectedResponse = await app.call('POST', fundPathOf(account.id), { amount: 1 });
      expect(rejectedResponse).toMatchObject({ status: 403, body: { code: 'USER_NOT_READY' } });
      expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    },
  );

  it('holds a deposit of an undeclared wallet until it is declared', async () => {
    const person = await createCustomer(app);
    const account = await findInternalAccount(app, person.id, 'USDC');
    const address = '0x52908400098527886E0F7030069857D2E4169EE7';
    const fundFrom = async (payerAccountIdentifier: string) => {
      const body = { amount: 40, pendingReason: 'COUNTERPARTY_DECLARATION_REQUIRED' };
      return ok(
        await app.call('POST', fundPathOf(account.id), { ...body, payerAccountIdentifier }),
        200,
      );
    };
    await fundAccount(app, account.id, 2);
    const response = await fundFrom(address);
    expect([response.balance.amount, response.totalBalance.amount]).toEqual([2, 42]);
    expect(await readBalances(app, account.id)).toEqual({ balance: 2, total: 42 });
    await fundFrom('0xde709f2102306220921060314715629080e2fb77');
    const pendingPath = `/transactions?accountIdentifier=${account.id}&status=PENDING`;
    const listPending = async () => ok(await app.call('GET', pendingPath), 200).data;
    expect(await listPending()).toMatchObject([
      { pendingReason: 'COUNTERPARTY_DECLARATION_REQUIRED' },
      {
        pendingReason: 'COUNTERPARTY_DECLARATION_REQUIRED',
        source: { sourceType: 'REALTIME_FUNDING', accountIdentifier: address },
      },
    ]);
    const accountInfo = { accountType: 'ETHEREUM_WALLET', address, vaspName: 'Coinbase' };
    const wallet = { customerId: person.id, currency: 'USDC', accountInfo };
    ok(await app.call('POST', '/customers/external-accounts', wallet), 201);
    await app.settle();
    expect(await readBalances(app, account.id)).toEqual({ balance: 42, total: 82 });
    await app.advance(30 * 86_400_000);
    expect(await listPending()).toEqual([]);
    expect(await readBalances(app, account.id)).toEqual({ balance: 42, total: 42 });
    const { data } = ok(await app.call('GET', `${pendingPath.replace('PENDING', 'FAILED')}`), 200);
    expect(data).toMatchObject([
      { failureReason: 'COLLECTION_FAILED', refund: { status: 'COMPLETED' } },
    ]);
  });

  it('rejects invalid hold reasons and senders', async () => {
    const platformAccount = await findInternalAccount(app, null, 'GBP');
    const body = { amount: 1, pendingReason: 'BECAUSE', payerAccountIdentifier: '' };
    const response = await app.call('POST', fundPathOf(platformAccount.id), body);
    expect([response.status, response.body.code]).toEqual([400, 'INVALID_INPUT']);
    const fields = response.body.details.errors.map((each: { field: string }) => each.field);
    expect(fields.sort()).toEqual(['payerAccountIdentifier', 'pendingReason']);
  });

  it('rejects amounts other than integers from 1 to 100,000,000,000', async () => {
    const platformAccount = await findInternalAccount(app, null, 'MXN');
    for (const amount of [0, -1, 1.5, '1', null, 100_000_000_001, undefined]) {
      const response = await app.call('POST', fundPathOf(platformAccount.id), { amount });
      expect([response.status, response.body.code]).toEqual([400, 'INVALID_INPUT']);
      expect(response.body.details.errors.map((each: { field: string }) => each.field)).toEqual([
        'amount',
      ]);
    }
  });

  it('funds once per Idempotency-Key, even for concurrent requests', async () => {
    const person = await createCustomer(app);
    const account = await findInternalAccount(app, person.id, 'USD');
    const headers = { 'idempotency-key': 'fund-once' };
    const responses = await Promise.all(
      Array.from({ length: 20 }, () =>
        app.call('POST', fundPathOf(account.id), { amount: 7 }, { headers }),
      ),
    );
    expect(new Set(responses.map((each) => each.status))).toEqual(new Set([200]));
    expect((await readBalances(app, account.id)).total).toBe(7);
    const otherResponse = await app.call(
      'POST',
      fundPathOf(account.id),
      { amount: 8 },
      { headers },
    );
    expect([otherResponse.status, otherResponse.body.code]).toEqual([409, 'DUPLICATE_PAY_REQUEST']);
  });

  it('adds up concurrent deposits', async () => {
    const person = await createCustomer(app);
    const account = await findInternalAccount(app, person.id, 'USD');
    await Promise.all(Array.from({ length: 50 }, (_, i) => fundAccount(app, account.id, i + 1)));
    expect((await readBalances(app, account.id)).total).toBe(1_275);
  });

  it('rejects unusable accounts, deleted customers, production and missing permissions', async () => {
    const person = await createCustomer(app);
    const account = await findInternalAccount(app, person.id, 'USD');
    const expectRejection = async (id: string, status: number, code: string, options = {}) => {
      const response = await app.call('POST', fundPathOf(id), { amount: 1 }, options);
      expect([response.status, response.body.code]).toEqual([status, code]);
    };
    const setStatus = (to: string) =>
      app.runtime.db.query('update internal_accounts set status = $2 where id = $1', [
        account.id,
        to,
      ]);
    for (const inactiveStatus of ['PENDING', 'FROZEN', 'FAILED', 'CLOSED']) {
      await setStatus(inactiveStatus);
      await expectRejection(account.id, 400, 'INVALID_INPUT');
    }
    await setStatus('ACTIVE');
    ok(await app.call('DELETE', `/customers/${person.id}`), 200);
    await expectRejection(account.id, 410, 'CUSTOMER_DELETED');
    await expectRejection(account.id.replace('Internal', 'External'), 404, 'ACCOUNT_NOT_FOUND');
    const platformAccount = await findInternalAccount(app, null, 'USD', {
      platform: app.production,
    });
    await expectRejection(platformAccount.id, 403, 'FORBIDDEN', { platform: app.production });
    const viewer = await app.tokenWith(['VIEW', 'MANAGE']);
    await expectRejection(platformAccount.id, 403, 'FORBIDDEN', { platform: viewer });
  });
});
