// Examples of stablecoins: linking a provider, registering a token, minting and burning it.
import { describe } from 'vitest';
import { bankInTheUs, createPerson, sparkWalletOf } from '../kit/http/example-people.ts';
import { examples, type Stage } from '../kit/http/examples.ts';

const key = (name: string) => ({ 'idempotency-key': name });

async function token(stage: Stage) {
  const { show } = stage;
  const account = await show('linkStablecoinProviderAccount', 'brale', {
    summary: 'Link an account at the provider',
    headers: key('link-brale'),
    body: {
      provider: 'BRALE',
      apiClientId: 'northwind-production',
      apiClientSecret: 'the-secret-of-the-provider',
    },
  });
  const stablecoinProviderAccountId: string = account.id;
  await show('listStablecoinProviderAccounts', 'all', { summary: 'Linked provider accounts' });
  await show('getStablecoinProviderAccount', 'one', {
    summary: 'A linked provider account',
    params: { stablecoinProviderAccountId },
  });
  const coin = await show('registerStablecoin', 'spark', {
    summary: 'A token on Spark',
    headers: key('register-nwusd'),
    body: {
      stablecoinProviderAccountId,
      providerTokenIdentifier: 'coinNWUSD-example',
      networkTokenIdentifier: 'btkn1northwindexample',
      network: 'SPARK',
    },
  });
  const params = { stablecoinId: coin.id as string };
  await show('getStablecoin', 'provisioned', { summary: 'A provisioned token', params });
  await show('listStablecoins', 'all', { summary: 'All tokens of the platform' });
  await show('requestStablecoinServiceEnablement', 'requested', {
    summary: 'Request the use of a token in accounts and payments',
    params,
  });
  await mintAndBurn(stage, params);
}

async function mintAndBurn(stage: Stage, params: { stablecoinId: string }) {
  const { show, app } = stage;
  const customer = await createPerson(stage);
  const wallet = await sparkWalletOf(stage, customer.id);
  const bank = await bankInTheUs(stage, customer.id);
  const minted = await show('createStablecoinMint', 'by-wire', {
    summary: 'Mint 100 tokens, paid by wire',
    params,
    headers: key('mint-1'),
    body: {
      amount: '100000000',
      fundingSource: { type: 'WIRE' },
      destination: { accountId: wallet.id },
    },
  });
  await app.advance(5_000);
  await show('getStablecoinOperation', 'completed', {
    summary: 'A completed mint',
    params: { stablecoinOperationId: minted.id },
  });
  await show('createStablecoinBurn', 'to-bank', {
    summary: 'Burn 10 tokens and wire the dollars to a bank account',
    params,
    headers: key('burn-1'),
    body: {
      amount: '10000000',
      source: { type: 'EXTERNAL_ACCOUNT' },
      destination: { type: 'EXTERNAL_ACCOUNT', externalAccountId: bank.id, rail: 'WIRE' },
    },
  });
  await app.advance(60_000);
  await show('listStablecoinOperations', 'all', { summary: 'Mints and burns of a token', params });
}

describe('examples of stablecoins', () => {
  examples('stablecoins', { token });
});
