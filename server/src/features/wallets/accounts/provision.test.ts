// Provisioning of wallets: at registration, for a currency that a customer or its platform adds,
// and for customers of an earlier version.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createCustomer,
  findInternalAccount,
  fundAccount,
  ok,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { connectorRegistry, custodyKeysOf } from '../../../connectors/registry.ts';
import { projectRoot } from '../../../runtime/config/root.ts';
import { provisionAccounts } from '../../balances/internal-accounts/index.ts';
import { changeCustomer } from '../../customers/registration/update.ts';
import { credentials, wallets } from '../store.ts';
import { openWallets, openWalletsForAccounts } from './provision.ts';

const app = testApp();

const listAccounts = async (customerId: string, query = '', platform = app.platform) => {
  const url = `/customers/internal-accounts?customerId=${customerId}&limit=100${query}`;
  return ok(await app.call('GET', url, undefined, { platform }), 200).data;
};
const walletsOf = (customerId: string, platform?: TestPlatform) =>
  listAccounts(customerId, '&type=EMBEDDED_WALLET', platform);
const rowOf = (id: string) => app.runtime.db.read(wallets, id);
const credentialsOf = (accountId: string) =>
  app.runtime.db.find(credentials, { account_id: accountId });

describe('a new customer', () => {
  it('has a wallet in addition to the balance in USDB, with a seed and a credential', async () => {
    const person = await createCustomer(app, {}, { email: 'Ada@Example.com' });
    const [wallet, ...rest] = await walletsOf(person.id);
    expect(rest).toEqual([]);
    expect(wallet).toMatchObject({
      customerId: person.id,
      status: 'ACTIVE',
      privateEnabled: false,
      balance: { amount: 0, currency: { code: 'USDB', decimals: 6 } },
    });
    const row = await rowOf(wallet.id);
    expect(row).toMatchObject({ platform_id: app.platform.id, customer_id: person.id });
    const walletIds = [row?.organization_id, row?.user_id, row?.wallet_id];
    expect(new Set(walletIds).size).toBe(3);
    for (const id of walletIds) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(await credentialsOf(wallet.id)).toMatchObject([
      {
        type: 'EMAIL_OTP',
        uniqueness_key: 'EMAIL_OTP',
        status: 'ACTIVE',
        nickname: null,
        facts: null,
      },
    ]);
    const otherCustomer = await createCustomer(app);
    const [otherWallet] = await walletsOf(otherCustomer.id);
    expect((await rowOf(otherWallet.id))?.seed).toEqual(expect.any(String));
    expect((await rowOf(otherWallet.id))?.seed).not.toBe(row?.seed);
    expect(await credentialsOf(otherWallet.id)).toEqual([]);
  });

  it('has separate addresses and balances for the wallet and the USDB account', async () => {
    const person = await createCustomer(app);
    const usdbAccounts = await listAccounts(person.id, '&currency=USDB');
    expect(usdbAccounts.map((each: { type: string }) => each.type).sort()).toEqual([
      'EMBEDDED_WALLET',
      'INTERNAL_CRYPTO',
    ]);
    const addresses = usdbAccounts.map(
      (each: { fundingPaymentInstructions: [{ accountOrWalletInfo: { address: string } }] }) =>
        each.fundingPaymentInstructions[0].accountOrWalletInfo.address,
    );
    expect(new Set(addresses).size).toBe(2);
    const [wallet] = await walletsOf(person.id);
    await fundAccount(app, wallet.id, 1_500_000);
    expect(await readBalances(app, wallet.id)).toEqual({ balance: 1_500_000, total: 1_500_000 });
    const account = await findInternalAccount(app, person.id, 'USDB');
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
  });

  it('receives a wallet only with USDB, and only one', async () => {
    const person = await createCustomer(app, {}, { currencies: ['USD'], email: 'bob@example.com' });
    expect(await walletsOf(person.id)).toEqual([]);
    const change = { customerType: 'INDIVIDUAL', currencies: ['USD', 'USDB'] };
    ok(await app.call('PATCH', `/customers/${person.id}`, change), 200);
    const [wallet] = await walletsOf(person.id);
    expect(await rowOf(wallet.id)).toMatchObject({ customer_id: person.id });
    expect(await credentialsOf(wallet.id)).toHaveLength(1);
    const body = { customerType: 'INDIVIDUAL', currencies: ['USDB', 'USD', 'EUR'] };
    ok(await app.call('PATCH', `/customers/${person.id}`, body), 200);
    expect(await walletsOf(person.id)).toHaveLength(1);
    expect(await listAccounts(person.id)).toHaveLength(4);
  });
});

it('the USDB account of a platform has no wallet', async () => {
  const url = '/platform/internal-accounts?currency=USDB';
  const platformAccounts = ok(await app.call('GET', url), 200).data;
  expect(platformAccounts).toMatchObject([{ type: 'INTERNAL_CRYPTO' }]);
  expect(platformAccounts[0]).not.toHaveProperty('privateEnabled');
});

describe('existing customers', () => {
  /** Deletes all wallets without funds, which simulates customers of an earlier version. */
  async function deleteWallets() {
    await app.settle();
    const { db } = app.runtime;
    const emptyAccounts = await db.query('select id from ledger_accounts where balance = 0', []);
    const ids = emptyAccounts.map(({ id }) => id);
    for (const sql of [
      `delete from ledger_accounts where id in (select id from wallets) and id = any($1)`,
      `delete from internal_accounts where id in (select id from wallets) and id = any($1)`,
      'delete from credentials where account_id = any($1)',
      'delete from wallets where id = any($1)',
    ]) {
      await db.query(sql, [ids]);
    }
  }

  it('receive a wallet when their platform adds USDB, with an event', async () => {
    const platform = await app.newPlatform('Late');
    const config = ok(await app.call('GET', '/config', undefined, { platform }), 200);
    type SupportedCurrency = { currencyCode: string };
    const otherCurrencies = config.supportedCurrencies.filter(
      (each: SupportedCurrency) => each.currencyCode !== 'USDB',
    );
    const setCurrencies = (supportedCurrencies: unknown) =>
      app.call('PATCH', '/config', { supportedCurrencies }, { platform });
    ok(await setCurrencies(otherCurrencies), 200);
    const person = await createCustomer(app, { platform }, { email: 'late@example.com' });
    expect(await walletsOf(person.id, platform)).toEqual([]);
    ok(await setCurrencies(config.supportedCurrencies), 200);
    await app.settle();
    const [wallet] = await walletsOf(person.id, platform);
    expect(wallet).toMatchObject({ status: 'ACTIVE', privateEnabled: false });
    expect(await rowOf(wallet.id)).toMatchObject({
      customer_id: person.id,
      platform_id: platform.id,
    });
    expect(await credentialsOf(wallet.id)).toMatchObject([{ type: 'EMAIL_OTP' }]);
    const events = (await app.events()).filter((each) => each.subject === wallet.id);
    expect(events).toMatchObject([{ type: 'INTERNAL_ACCOUNT.STATUS_UPDATED' }]);
    expect(events[0]?.data.privateEnabled).toBe(false);
  });

  it('receive one wallet if the currency is requested while the job runs', async () => {
    const person = await createCustomer(
      app,
      {},
      { currencies: ['USD'], email: 'both@example.com' },
    );
    const connectors = connectorRegistry(app.effects, {
      custodyKeys: custodyKeysOf(app.runtime.vault),
    });
    const body = { customerType: 'INDIVIDUAL', currencies: ['USD', 'USDB'] } as const;
    const input: unknown = { params: { customerId: person.id }, query: {}, headers: {}, body };
    const deps: Parameters<typeof changeCustomer>[1] = {
      connectors,
      openWallets: (ctx, ...rest) => openWallets(ctx, { connectors }, ...rest),
    };
    let attempts = 0;
    const response = await app.operate(async (ctx) => {
      const changedCustomer = await changeCustomer(
        ctx,
        deps,
        input as Parameters<typeof changeCustomer>[2],
      );
      if (++attempts > 1) return changedCustomer;
      const provision = {
        customerId: person.id,
        currencies: ['USDB'],
        funding: undefined,
      } as const;
      await app.operate((concurrentCtx) =>
        openWalletsForAccounts(
          concurrentCtx,
          { connectors },
          provisionAccounts(concurrentCtx, provision),
        ),
      );
      return changedCustomer;
    });
    expect([attempts, response]).toMatchObject([2, { status: 200 }]);
    expect(await walletsOf(person.id)).toHaveLength(1);
    expect(await listAccounts(person.id)).toHaveLength(3);
  });

  it('receive one wallet from repeated runs of the migration job', async () => {
    const earlyCustomer = await createCustomer(app, {}, { email: 'early@example.com' });
    const deletedCustomer = await createCustomer(app);
    ok(await app.call('DELETE', `/customers/${deletedCustomer.id}`), 200);
    await deleteWallets();
    expect(await walletsOf(earlyCustomer.id)).toEqual([]);
    const file = path.join(projectRoot(), 'server/migrations/0026_wallets.sql');
    const sql = readFileSync(file, 'utf8');
    const jobSql = sql.slice(sql.indexOf('insert into jobs'));
    expect(jobSql).toContain('from platforms');
    for (const _ of [1, 2]) {
      await app.runtime.db.query(jobSql);
      await app.settle();
      const [wallet, ...rest] = await walletsOf(earlyCustomer.id);
      expect(rest).toEqual([]);
      expect(wallet).toMatchObject({ status: 'ACTIVE', privateEnabled: false });
      expect((await rowOf(wallet.id))?.seed).toEqual(expect.any(String));
      expect(await credentialsOf(wallet.id)).toMatchObject([
        { type: 'EMAIL_OTP', status: 'ACTIVE' },
      ]);
    }
    expect(await walletsOf(deletedCustomer.id)).toEqual([]);
  });
});
