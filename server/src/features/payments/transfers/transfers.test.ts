// Same-currency payouts with the outcomes that the sandbox simulates, and transfers in after approval.
import { describe, expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  eventTypes,
  findInternalAccount,
  fundAccount,
  ok,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import { commandRunner } from '../../../../test/kit/app/production.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { createScaPayer } from '../../../../test/kit/sca/strong-customers.ts';
import { stageTransferIn, startTransferIn } from './index.ts';

const app = testApp();

async function transfer(suffix: string, overrides: object = {}) {
  const { person, account } = await createFundedCustomer(app);
  const target = await createExternalAccount(app, person.id, 'USD', suffix);
  const body = {
    source: { accountId: account.id },
    destination: { accountId: target.id },
    amount: 250_00,
    ...overrides,
  };
  return { person, account, target, response: await app.call('POST', '/transfer-out', body) };
}

describe('createTransferOut', () => {
  it('returns a pending transaction, which completes', async () => {
    const { account, response } = await transfer('000');
    const payment = ok(response, 201);
    expect(payment).toMatchObject({ type: 'OUTGOING', direction: 'DEBIT', status: 'PENDING' });
    expect(payment.sentAmount.amount).toBe(250_00);
    expect(payment.receivedAmount.amount).toBe(250_00);
    await app.settle();
    expect((await readBalances(app, account.id)).total).toBe(750_00);
    expect(ok(await app.call('GET', `/transactions/${payment.id}`), 200).status).toBe('COMPLETED');
  });

  const failures: [string, string, number][] = [
    ['002', 'QUOTE_EXECUTION_FAILED', 0],
    ['003', 'ACCOUNT_INVALID', 0],
    ['004', 'ACCOUNT_CANNOT_RECEIVE', 0],
    ['005', 'PAYOUT_RETURNED', 30_000],
  ];
  it.each(failures)(
    'fails for the suffix %s with %s after %i ms and refunds the payment',
    async (suffix, reason, waitMs) => {
      const { account, response } = await transfer(suffix);
      const { id } = ok(response, 201);
      await app.settle();
      if (waitMs) {
        expect(ok(await app.call('GET', `/transactions/${id}`), 200).status).toBe('PROCESSING');
        await app.advance(waitMs);
      }
      const failedTransaction = ok(await app.call('GET', `/transactions/${id}`), 200);
      expect(failedTransaction).toMatchObject({
        status: 'FAILED',
        failureReason: reason,
        refund: { status: 'COMPLETED' },
      });
      expect(await readBalances(app, account.id)).toEqual({ balance: 1_000_00, total: 1_000_00 });
      expect(await eventTypes(app, id)).toEqual(
        ['PENDING', 'PROCESSING', 'FAILED', 'REFUND_PENDING', 'REFUND_COMPLETED'].map(
          (each) => `OUTGOING_PAYMENT.${each}`,
        ),
      );
    },
  );

  it('rejects invalid requests', async () => {
    const { person, account } = await transfer('000');
    const eur = await createExternalAccount(app, person.id, 'EUR');
    const otherCustomer = await createCustomer(app);
    const otherExternalAccount = await createExternalAccount(app, otherCustomer.id, 'USD');
    const usd = await createExternalAccount(app, person.id, 'USD');
    const expectError = async (
      accountId: string,
      overrides: object,
      status: number,
      code: string,
    ) => {
      const body = {
        source: { accountId: account.id },
        destination: { accountId },
        amount: 100,
        ...overrides,
      };
      const response = await app.call('POST', '/transfer-out', body);
      expect([response.status, response.body.code]).toEqual([status, code]);
    };
    await expectError(eur.id, {}, 400, 'INVALID_CURRENCY');
    await expectError(otherExternalAccount.id, {}, 400, 'INVALID_INPUT');
    await expectError(usd.id, { amount: undefined }, 400, 'INVALID_INPUT');
    await expectError(usd.id, { amount: 5_000_00 }, 400, 'INSUFFICIENT_FUNDS');
    await expectError('ExternalAccount:unknown', {}, 404, 'ACCOUNT_NOT_FOUND');
  });

  it('rejects a payment that requires customer authorization', async () => {
    const payer = await createScaPayer(app);
    const target = await createExternalAccount(app, payer.person.id, 'EUR');
    const body = { source: { accountId: payer.eur.id }, destination: { accountId: target.id } };
    const rejectedResponse = await app.call('POST', '/transfer-out', { ...body, amount: 10_00 });
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([409, 'CONFLICT']);
    expect((await readBalances(app, payer.eur.id)).balance).toBe(1_000_00);
  });

  it('rejects an embedded wallet', async () => {
    const person = await createCustomer(app);
    const path = `/customers/internal-accounts?customerId=${person.id}&type=EMBEDDED_WALLET`;
    const [wallet] = ok(await app.call('GET', path), 200).data;
    await fundAccount(app, wallet.id, 5_000_000);
    const address = `sparkrt1${'q'.repeat(40)}`;
    const accountInfo = { accountType: 'SPARK_WALLET', address };
    const externalAccountBody = { customerId: person.id, currency: 'USDB', accountInfo };
    const externalWallet = ok(
      await app.call('POST', '/customers/external-accounts', externalAccountBody),
      201,
    );
    const body = {
      source: { accountId: wallet.id },
      destination: { accountId: externalWallet.id },
      amount: 1_000_000,
    };
    const response = await app.call('POST', '/transfer-out', body);
    expect([response.status, response.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(response.body.details.errors).toMatchObject([{ field: 'source.accountId' }]);
    expect(await readBalances(app, wallet.id)).toEqual({ balance: 5_000_000, total: 5_000_000 });
  });
});

describe('transfers of a customer without consent to the end-user terms', () => {
  it('are rejected after the operator has made the consent mandatory', async () => {
    const platform = await app.newPlatform('Terms', { regulated: false });
    const person = await createCustomer(app, { platform });
    const account = await findInternalAccount(app, person.id, 'USD', { platform });
    const externalAccount = await createExternalAccount(app, person.id, 'USD', '000', { platform });
    const result = await commandRunner(app)(['platform', 'set', platform.id, '--terms']);
    expect([result.code, result.err]).toEqual([0, '']);
    for (const [direction, from, to] of [
      ['out', account.id, externalAccount.id],
      ['in', externalAccount.id, account.id],
    ]) {
      const body = { source: { accountId: from }, destination: { accountId: to }, amount: 1_00 };
      const response = await app.call('POST', `/transfer-${direction}`, body, { platform });
      expect([response.status, response.body.code]).toEqual([403, 'END_USER_TERMS_NOT_ACCEPTED']);
    }
  });
});

describe('transfer in after approval', () => {
  it('is validated again against the current platform settings', async () => {
    const platform = await app.newPlatform('Changing');
    const person = await createCustomer(app, { platform });
    const account = await findInternalAccount(app, person.id, 'USD', { platform });
    const source = await createExternalAccount(app, person.id, 'USD', '000', { platform });
    const deps = { connectors: app.connectorsOf };
    const body = {
      source: { accountId: source.id },
      destination: { accountId: account.id },
      amount: 15_00,
    };
    const row = await app.operate((ctx) => stageTransferIn(ctx, deps, body), platform);
    const start = () => app.operate((ctx) => startTransferIn(ctx, deps, row), platform);
    const { supportedCurrencies } = ok(
      await app.call('GET', '/config', undefined, { platform }),
      200,
    );
    const change = async (overrides: object) => {
      const changedCurrencies = supportedCurrencies.map((currency: object) => ({
        ...currency,
        ...overrides,
      }));
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
    await change({ maxAmount: 14_99 });
    await expect(start()).rejects.toMatchObject({ code: 'AMOUNT_OUT_OF_RANGE' });
    await change({ enabledTransactionTypes: ['OUTGOING'] });
    await expect(start()).rejects.toMatchObject({ code: 'INVALID_CURRENCY' });
    await change({});
    expect((await start()).funds).toBe('AWAITED');
    await app.settle();
    expect((await readBalances(app, account.id, { platform })).total).toBe(15_00);
  });
});
