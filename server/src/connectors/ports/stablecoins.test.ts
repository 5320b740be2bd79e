// Requirements for every stablecoin provider, scripted results of the sandbox provider, and the
// absence of a provider in production by default.
import { describe, expect, it } from 'vitest';
import { testEffects } from '../../../test/kit/app/effects.ts';
import { exampleOf } from '../../catalog/accounts/account-examples.ts';
import { connectorRegistry } from '../registry.ts';
import { sandboxMint } from '../sandbox/stablecoins/mint.ts';
import type { LinkedAccount, MintOrder, MintPort, ProviderLink } from './stablecoins.ts';

const SECOND_MS = 1_000;
const START = Date.UTC(2026, 0, 5);

/** A provider with its account, a token, and accounts without errors. */
interface Provider {
  name: string;
  port: MintPort;
  credentials: { clientId: string; clientSecret: string };
  token: { providerTokenIdentifier: string; networkTokenIdentifier: string; network: string };
  wallet: LinkedAccount;
  bank: LinkedAccount;
}

const PROVIDERS: readonly Provider[] = [
  {
    name: 'sandbox',
    port: sandboxMint,
    credentials: { clientId: 'client', clientSecret: 'secret' },
    token: {
      providerTokenIdentifier: 'acme-usd',
      networkTokenIdentifier: 'btkn1acme',
      network: 'SPARK',
    },
    wallet: {
      id: 'ExternalAccount:wallet',
      info: exampleOf('SPARK_WALLET'),
      rail: 'SPARK',
    },
    bank: {
      id: 'ExternalAccount:bank',
      info: exampleOf('USD_ACCOUNT'),
      rail: 'ACH_CREDIT',
    },
  },
];

/** The provider with the clock of the test and its linked accounts. */
async function fixture({ port: mint, credentials, token, wallet, bank }: Provider) {
  const clock = { now: START };
  const [providerAccountId] = await mint.accountsOf(credentials);
  const link: ProviderLink = { credentials, providerAccountId: providerAccountId as string };
  const referenceOf = async (account: LinkedAccount) => {
    const response = await mint.linkAccount(link, account);
    if (response.state !== 'linked')
      throw new Error(`The account was not linked: ${response.state}.`);
    return { ...account, reference: response.reference };
  };
  const linkedAccounts = { wallet: await referenceOf(wallet), bank: await referenceOf(bank) };
  const order = (overrides: Partial<MintOrder> = {}): MintOrder => ({
    id: 'StablecoinOperation:1',
    type: 'MINT',
    token,
    decimals: 6,
    baseCurrency: 'USD',
    amount: 1_000_000n,
    source: 'WIRE',
    rail: 'SPARK',
    to: linkedAccounts.wallet,
    description: null,
    orderedAt: clock.now,
    ...overrides,
  });
  return { mint, clock, link, linked: linkedAccounts, order, token };
}

describe.each(PROVIDERS)('the provider of stablecoins: $name', (provider) => {
  it('returns the same account for the same credentials', async () => {
    const { mint, link } = await fixture(provider);
    const secondAccountIds = await mint.accountsOf(provider.credentials);
    expect(secondAccountIds).toEqual([link.providerAccountId]);
  });

  it('describes a token', async () => {
    const { mint, link, token } = await fixture(provider);
    const response = await mint.token(link, token, null);
    expect(response.state).toBe('found');
    const providerToken = response.state === 'found' ? response.token : undefined;
    expect(providerToken?.symbol).toMatch(/^[A-Z0-9]{1,10}$/);
    expect(providerToken?.name).not.toBe('');
    expect(providerToken?.decimals).toBeGreaterThanOrEqual(2);
    expect(providerToken?.supply).toBeGreaterThanOrEqual(0n);
  });

  it('links an account once, and distinguishes two accounts', async () => {
    const { mint, link, linked } = await fixture(provider);
    expect(await mint.linkAccount(link, provider.bank)).toEqual({
      state: 'linked',
      reference: linked.bank.reference,
    });
    expect(linked.wallet.reference).not.toBe(linked.bank.reference);
  });

  it('rejects an account that its rail does not support', async () => {
    const { mint, link } = await fixture(provider);
    const rejection = { state: 'rejected', problem: 'NOT_SUPPORTED' };
    expect(await mint.linkAccount(link, { ...provider.bank, rail: 'SPARK' })).toEqual(rejection);
    expect(await mint.linkAccount(link, { ...provider.wallet, rail: 'WIRE' })).toEqual(rejection);
  });

  it('returns the wire instructions of a mint and their expiry', async () => {
    const { mint, link, order } = await fixture(provider);
    const response = await mint.prepare(link, order());
    expect(response).toMatchObject({
      state: 'accepted',
      fundingInstructions: { rail: 'WIRE', valueType: 'USD' },
      estimatedDelivery: { rail: 'SPARK', amount: '100', currency: 'USD' },
    });
    expect(response.state === 'accepted' && response.expiresAt).toBeGreaterThan(START);
  });

  it('returns no funding instructions for a mint by ACH debit', async () => {
    const { mint, link, order, linked } = await fixture(provider);
    const response = await mint.prepare(link, order({ source: 'ACH_DEBIT', from: linked.bank }));
    expect(response.state).toBe('accepted');
    expect(response).not.toHaveProperty('fundingInstructions');
    expect(response).not.toHaveProperty('expiresAt');
  });

  it('returns a separate funding address for each burn', async () => {
    const { mint, link, order, linked } = await fixture(provider);
    const burn = {
      type: 'BURN',
      source: 'EXTERNAL_ACCOUNT',
      rail: 'WIRE',
      to: linked.bank,
    } as const;
    const responses = await Promise.all(
      ['1', '2'].map((id) => mint.prepare(link, order({ ...burn, id }))),
    );
    const addresses = responses.map((each) =>
      each.state === 'accepted' ? each.fundingInstructions?.address : undefined,
    );
    expect(addresses[0]).toBeTruthy();
    expect(new Set(addresses).size).toBe(2);
  });

  it('returns the first result to a repeated order', async () => {
    const { mint, link, order } = await fixture(provider);
    const firstProgress = await mint.submit(link, order());
    expect(await mint.submit(link, order())).toEqual(firstProgress);
  });

  it('completes an order, and returns the time of the next check until then', async () => {
    const { mint, link, order, clock } = await fixture(provider);
    const states: string[] = [];
    let progress = await mint.submit(link, order());
    for (let turn = 0; turn < 10; turn++) {
      if (progress.state === 'unlinked') throw new Error('The provider account is unlinked.');
      states.push(progress.state);
      expect(progress.providerStatus).not.toBe('');
      if (progress.checkAfterMs === undefined) break;
      expect(progress.checkAfterMs).toBeGreaterThan(0);
      clock.now += progress.checkAfterMs;
      progress = await mint.check(link, order({ orderedAt: START }), clock.now);
    }
    expect(states).toEqual(['funding', 'processing', 'completed']);
  });
});

describe('the scripted stablecoin provider', () => {
  const providerWithSuffix = (suffix: string) =>
    fixture({
      ...(PROVIDERS[0] as Provider),
      credentials: { clientId: 'client', clientSecret: `secret-${suffix}` },
    });
  const tokenIdentifiers = (id: string, network = 'btkn1acme') => ({
    providerTokenIdentifier: id,
    networkTokenIdentifier: network,
    network: 'SPARK',
  });

  it('returns no account or two accounts for scripted secrets', async () => {
    const { mint } = await providerWithSuffix('');
    expect(await mint.accountsOf({ clientId: 'c', clientSecret: 's-002' })).toEqual([]);
    const twoAccounts = await mint.accountsOf({ clientId: 'c', clientSecret: 's-005' });
    expect(new Set(twoAccounts).size).toBe(2);
  });

  it.each([
    ['acme-usd-005', 'ACMEUSD', 'Acme USD'],
    ['international-settlement', 'INTERNATIO', 'International Settlement'],
    ['000', 'TOKEN', 'Token'],
  ])('derives from the token identifier %s the symbol %s', async (id, symbol, displayName) => {
    const { mint, link } = await providerWithSuffix('');
    expect(await mint.token(link, tokenIdentifiers(id), null)).toMatchObject({
      token: { symbol, name: displayName, decimals: 6, baseCurrency: 'USD', supply: 0n },
    });
  });

  it.each([
    ['x-001', 'PROVISIONING'],
    ['x-002', 'REJECTED'],
    ['x-003', 'FAILED'],
    ['x-006', 'PROVISIONED'],
    ['x', 'PROVISIONED'],
  ])('reports the token %s with the status %s', async (id, issuance) => {
    const { mint, link } = await providerWithSuffix('');
    const response = await mint.token(link, tokenIdentifiers(id), null);
    expect(response).toMatchObject({ state: 'found', token: { issuance } });
    expect(response.state === 'found' && response.token.checkAfterMs).toBeNull();
  });

  it('reports a missing or mismatching token, or is unavailable', async () => {
    const { mint, link } = await providerWithSuffix('');
    expect(await mint.token(link, tokenIdentifiers('x-004'), null)).toEqual({ state: 'absent' });
    expect(await mint.token(link, tokenIdentifiers('x', 'b-002'), null)).toEqual({
      state: 'mismatch',
    });
    await expect(mint.token(link, tokenIdentifiers('x-007'), null)).rejects.toThrow(
      'is unavailable',
    );
  });

  it('issues a token after a delay', async () => {
    const { mint, link, clock } = await providerWithSuffix('');
    const states = [];
    for (const afterMs of [0, 15 * SECOND_MS, 30 * SECOND_MS]) {
      clock.now = START + afterMs;
      const response = await mint.token(link, tokenIdentifiers('x-005'), clock.now - START);
      if (response.state === 'found')
        states.push([response.token.issuance, response.token.checkAfterMs]);
    }
    expect(states).toEqual([
      ['PENDING_REVIEW', 15 * SECOND_MS],
      ['PROVISIONING', 15 * SECOND_MS],
      ['PROVISIONED', null],
    ]);
  });

  it.each([
    ['003', 'INVALID'],
    ['004', 'REVOKED'],
  ])('rejects the client of the secret %s once it is linked', async (suffix, expectedReason) => {
    const port = sandboxMint;
    const credentials = { clientId: 'c', clientSecret: suffix };
    const [providerAccountId = ''] = await port.accountsOf(credentials);
    expect(providerAccountId).not.toBe('');
    const link = { credentials, providerAccountId };
    expect(await port.token(link, tokenIdentifiers('x'), null)).toEqual({
      state: 'unlinked',
      reason: expectedReason,
    });
    const { wallet } = PROVIDERS[0] as Provider;
    expect(await port.linkAccount(link, wallet)).toEqual({
      state: 'unlinked',
      reason: expectedReason,
    });
  });

  it.each([
    ['006', 'no-source'],
    ['009', 'unlinked'],
    ['010', 'unlinked'],
    ['', 'accepted'],
  ])('replies to an order from the balance under the secret %s with %s', async (suffix, state) => {
    const { mint, link, order } = await providerWithSuffix(suffix);
    const response = await mint.prepare(link, order({ source: 'PROVIDER_INTERNAL_BALANCE' }));
    expect(response.state).toBe(state);
  });

  it('is unavailable for orders or for all calls with scripted secrets', async () => {
    const { mint, link, order } = await providerWithSuffix('007');
    await expect(mint.prepare(link, order())).rejects.toThrow('is unavailable');
    const credentials = { clientId: 'c', clientSecret: '008' };
    await expect(mint.accountsOf(credentials)).rejects.toThrow('is unavailable');
  });

  const bankAccount = (suffix: string): LinkedAccount => ({
    ...(PROVIDERS[0] as Provider).bank,
    info: {
      ...exampleOf('USD_ACCOUNT'),
      accountNumber: `123456789${suffix}`,
    },
  });

  it.each([
    ['201', 'LINK_FAILED'],
    ['202', 'LINK_METHOD_REQUIRED'],
    ['203', 'NOT_LINKED'],
    ['204', 'PROVIDER_LINK_REQUIRED'],
    ['205', 'PROVIDER_LINK_FAILED'],
  ])('rejects a bank account with the suffix %s: %s', async (suffix, problem) => {
    const { mint, link } = await providerWithSuffix('');
    const response = await mint.linkAccount(link, bankAccount(suffix));
    expect(response).toEqual({ state: 'rejected', problem });
  });

  it('rejects or fails an order by the suffix of its bank account', async () => {
    const { mint, link, order } = await providerWithSuffix('');
    const orderSource = async (suffix: string) => {
      const response = await mint.linkAccount(link, bankAccount(suffix));
      const reference = response.state === 'linked' ? response.reference : '';
      return { from: { id: bankAccount(suffix).id, rail: 'ACH_DEBIT', reference } };
    };
    const rejectedOrder = order({ source: 'ACH_DEBIT', ...(await orderSource('206')) });
    expect((await mint.prepare(link, rejectedOrder)).state).toBe('rejected');
    const failingOrder = order({ source: 'ACH_DEBIT', ...(await orderSource('003')) });
    expect(await mint.check(link, failingOrder, START + 5 * SECOND_MS)).toEqual({
      state: 'failed',
      reason: 'PROVIDER_TRANSFER_FAILED',
      providerStatus: 'failed',
    });
  });

  it.each([
    ['001', 6 * 86_400 * SECOND_MS, 'funding'],
    ['001', 7 * 86_400 * SECOND_MS, 'expired'],
    ['003', 5 * SECOND_MS, 'failed'],
    ['004', 5 * SECOND_MS, 'failed'],
    ['005', 29 * SECOND_MS, 'processing'],
    ['005', 30 * SECOND_MS, 'completed'],
    ['none', 4 * SECOND_MS, 'processing'],
  ])(
    'reports for the description suffix %s after %d ms the state %s',
    async (suffix, afterMs, state) => {
      const { mint, link, order } = await providerWithSuffix('');
      const progress = await mint.check(
        link,
        order({ description: `a ${suffix}` }),
        START + afterMs,
      );
      expect(progress.state).toBe(state);
    },
  );
});

it('a stablecoin provider is absent in production', () => {
  const connectors = connectorRegistry(testEffects());
  expect(connectors('production').mint).toBeUndefined();
  expect(connectors('sandbox').mint).toBeDefined();
});
