// The fixture for tests of mints and burns: creates and reads orders, and reads the ledger supply
// of a coin.

import { externalAccounts } from '../../../src/features/payees/external-accounts/store.ts';
import { linkOf } from '../../../src/features/stablecoins/coins/provider-accounts.ts';
import { providerAccounts } from '../../../src/features/stablecoins/store.ts';
import { supplyProblems } from '../../../src/features/stablecoins/supply/reconciliation.ts';
import { circulatingTokensAccount, issuedTokensAccount } from '../../../src/ledger/chart.ts';
import { ledgerAccounts } from '../../../src/runtime/committer/ledger-accounts.ts';
import { ok } from '../app/fixtures.ts';
import type { CallOptions, TestApp } from '../app/harness.ts';
import { stablecoinFixture } from './stablecoins.ts';

type Json = Record<string, unknown>;

/** One dollar of a coin with six decimals. */
export const DOLLAR = 1_000_000n;

/** Ledger supply of the coin of `orderBurn`: before the burn, during it, and after it. */
export const BEFORE_BURN = { circulating: 20n * DOLLAR, burning: 0n, minting: 0n };
export const PENDING = { ...BEFORE_BURN, burning: 10n * DOLLAR };
export const AFTER_BURN = { ...BEFORE_BURN, circulating: 10n * DOLLAR };

export function mintFixture(app: TestApp, options: Pick<CallOptions, 'platform'> = {}) {
  const fixture = stablecoinFixture(app, options);

  const mint = (coinId: string, body: Json, key?: string) =>
    fixture.write(`/stablecoins/${coinId}/mints`, body, key);
  const burn = (coinId: string, body: Json, key?: string) =>
    fixture.write(`/stablecoins/${coinId}/burns`, body, key);

  const mintBody = (walletId: string, overrides: Json = {}) => ({
    amount: String(100n * DOLLAR),
    fundingSource: { type: 'WIRE' },
    destination: { accountId: walletId },
    ...overrides,
  });
  const burnBody = (bankId: string, overrides: Json = {}) => ({
    amount: String(10n * DOLLAR),
    source: { type: 'EXTERNAL_ACCOUNT' },
    destination: { type: 'EXTERNAL_ACCOUNT', externalAccountId: bankId, rail: 'WIRE' },
    ...overrides,
  });

  const readOperation = async (id: string) =>
    ok(await fixture.read(`/stablecoin-operations/${id}`), 200);

  /** Ledger supply of a coin, in minor units. */
  async function readSupply(coinId: string) {
    const [circulatingAccount, issuedAccount] = await Promise.all(
      [circulatingTokensAccount(coinId), issuedTokensAccount(coinId)].map((id) =>
        app.runtime.db.read(ledgerAccounts, id),
      ),
    );
    return {
      circulating: circulatingAccount?.balance,
      burning: circulatingAccount?.held,
      minting: issuedAccount?.held,
    };
  }

  /** A coin with this circulating supply. */
  async function createCirculatingCoin(dollars: number, secret?: string) {
    const coin = await fixture.createCoin(secret === undefined ? {} : { secret });
    const wallet = await fixture.createWallet();
    const amount = String(BigInt(dollars) * DOLLAR);
    ok(await mint(coin.id, mintBody(wallet.id, { amount })), 201);
    await app.advance(5_000);
    return coin;
  }

  /** A coin with a circulating supply of 20 dollars, and a new burn order of 10. */
  async function orderBurn(bankId: string) {
    const coin = await createCirculatingCoin(20);
    const createdBurn = ok(await burn(coin.id, burnBody(bankId)), 201);
    return { coin, id: createdBurn.id as string };
  }

  /** Replaces the client secret of a linked provider account. */
  const replaceSecret = (accountId: string, clientSecret: string) =>
    app.operate(async (ctx) => {
      const row = await ctx.read(providerAccounts, accountId);
      if (!row) throw new Error(`the provider account ${accountId} does not exist`);
      const { credentials } = linkOf(ctx, row);
      const text = JSON.stringify({ ...credentials, clientSecret });
      const sealedText = ctx.vault.sealOwn(
        text,
        `stablecoin_provider_accounts ${row.id} credentials`,
      );
      ctx.update(providerAccounts, row, { credentials: sealedText });
    });

  /** Sets the status of an external account. */
  const setAccountStatus = (id: string, status: 'ACTIVE' | 'INACTIVE') =>
    app.operate(async (ctx) => {
      const row = await ctx.read(externalAccounts, id);
      if (row) ctx.update(externalAccounts, row, { status });
    });

  const findSupplyProblems = () => supplyProblems((text) => app.runtime.db.query(text));

  return {
    ...fixture,
    mint,
    burn,
    mintBody,
    burnBody,
    readOperation,
    readSupply,
    createCirculatingCoin,
    orderBurn,
    findSupplyProblems,
    replaceSecret,
    setAccountStatus,
  };
}
