// Examples of stablecoins: linking a provider, registering a token, minting and burning it.
import { describe } from 'vitest';
import { createPerson, createSparkWallet, createUsAccount } from '../kit/http/example-people.ts';
import { type ExampleRecorder, examples } from '../kit/http/examples.ts';

const keyHeader = (name: string) => ({ 'idempotency-key': name });

async function recordToken(recorder: ExampleRecorder) {
  const { record } = recorder;
  const account = await record('linkStablecoinProviderAccount', 'brale', {
    summary: 'Link an account at the provider',
    headers: keyHeader('link-brale'),
    body: {
      provider: 'BRALE',
      apiClientId: 'northwind-production',
      apiClientSecret: 'the-secret-of-the-provider',
    },
  });
  const stablecoinProviderAccountId: string = account.id;
  await record('listStablecoinProviderAccounts', 'all', { summary: 'Linked provider accounts' });
  await record('getStablecoinProviderAccount', 'one', {
    summary: 'A linked provider account',
    params: { stablecoinProviderAccountId },
  });
  const coin = await record('registerStablecoin', 'spark', {
    summary: 'A token on Spark',
    headers: keyHeader('register-nwusd'),
    body: {
      stablecoinProviderAccountId,
      providerTokenIdentifier: 'coinNWUSD-example',
      networkTokenIdentifier: 'btkn1northwindexample',
      network: 'SPARK',
    },
  });
  const params = { stablecoinId: coin.id as string };
  await record('getStablecoin', 'provisioned', { summary: 'A provisioned token', params });
  await record('listStablecoins', 'all', { summary: 'All tokens of the platform' });
  await record('requestStablecoinServiceEnablement', 'requested', {
    summary: 'Request the use of a token in accounts and payments',
    params,
  });
  await recordMintAndBurn(recorder, params);
}

async function recordMintAndBurn(recorder: ExampleRecorder, params: { stablecoinId: string }) {
  const { record, app } = recorder;
  const customer = await createPerson(recorder);
  const wallet = await createSparkWallet(recorder, customer.id);
  const bank = await createUsAccount(recorder, customer.id);
  const mintOrder = await record('createStablecoinMint', 'by-wire', {
    summary: 'Mint 100 tokens, paid by wire',
    params,
    headers: keyHeader('mint-1'),
    body: {
      amount: '100000000',
      fundingSource: { type: 'WIRE' },
      destination: { accountId: wallet.id },
    },
  });
  await app.advance(5_000);
  await record('getStablecoinOperation', 'completed', {
    summary: 'A completed mint',
    params: { stablecoinOperationId: mintOrder.id },
  });
  await record('createStablecoinMint', 'by-debit', {
    summary: 'Mint 250 tokens, paid by an ACH debit of a bank account',
    params,
    headers: keyHeader('mint-2'),
    body: {
      amount: '250000000',
      fundingSource: { type: 'ACH_DEBIT', externalAccountId: bank.id },
      destination: { accountId: wallet.id },
    },
  });
  await record('createStablecoinMint', 'by-same-day-debit', {
    summary: 'Mint 50 tokens, paid by a same-day ACH debit of a bank account',
    params,
    headers: keyHeader('mint-3'),
    body: {
      amount: '50000000',
      fundingSource: { type: 'SAME_DAY_ACH_DEBIT', externalAccountId: bank.id },
      destination: { accountId: wallet.id },
    },
  });
  await app.advance(5_000);
  await record('createStablecoinBurn', 'to-bank', {
    summary: 'Burn 10 tokens and wire the dollars to a bank account',
    params,
    headers: keyHeader('burn-1'),
    body: {
      amount: '10000000',
      source: { type: 'EXTERNAL_ACCOUNT' },
      destination: { type: 'EXTERNAL_ACCOUNT', externalAccountId: bank.id, rail: 'WIRE' },
    },
  });
  await app.advance(60_000);
  await record('listStablecoinOperations', 'all', {
    summary: 'Mints and burns of a token',
    params,
  });
}

describe('examples of stablecoins', () => {
  examples('stablecoins', { recordToken });
});
