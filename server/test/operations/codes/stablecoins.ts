// Error codes of stablecoins. The suffixes of secrets, tokens and accounts select the sandbox
// provider's reply.
import { ok } from '../../kit/app/fixtures.ts';
import { mintFixture } from '../../kit/payments/mints.ts';
import { type CodeFixture, type Provocation, provocation, unknownId } from './kit.ts';

type Json = Record<string, unknown>;

let counter = 0;

/** A new platform, because the linked accounts of a platform affect its other requests. */
async function openPlatform({ app }: CodeFixture) {
  return mintFixture(app, { platform: await app.newPlatform(`Coins ${++counter}`) });
}

/** A stablecoin of a linked platform. Minting succeeds unless a suffix selects an error. */
async function createCoin(
  fixture: CodeFixture,
  suffixes: { secret?: string; token?: string } = {},
) {
  const coinFixture = await openPlatform(fixture);
  const coin = await coinFixture.createCoin(suffixes);
  await fixture.app.settle();
  return { ...coinFixture, coin };
}

type FixtureWithCoin = Awaited<ReturnType<typeof createCoin>>;

const mint = async (coinFixture: FixtureWithCoin, overrides: Json = {}) =>
  coinFixture.mint(
    coinFixture.coin.id,
    coinFixture.mintBody((await coinFixture.createWallet()).id, overrides),
  );

const debitSource = (externalAccountId: string) => ({
  fundingSource: { type: 'ACH_DEBIT', externalAccountId },
});

const burn = async (coinFixture: FixtureWithCoin, source: Json, currency?: string) =>
  coinFixture.burn(
    coinFixture.coin.id,
    coinFixture.burnBody((await coinFixture.createBankAccount('000', currency)).id, { source }),
  );

/** The sandbox provider's reply, selected by the suffix of the bank account number. */
const bankProvocation = (code: Provocation['code'], suffix: string): Provocation =>
  provocation(
    code,
    `Mint by ACH_DEBIT from a bank account whose number ends in ${suffix}`,
    async (fixture) => {
      const coinFixture = await createCoin(fixture);
      return mint(coinFixture, debitSource((await coinFixture.createBankAccount(suffix)).id));
    },
  );

const linkProvocation = (code: Provocation['code'], secret: string): Provocation =>
  provocation(
    code,
    `Link a provider account with an \`apiClientSecret\` that ends in ${secret}, then register a stablecoin`,
    async (fixture) => {
      const issuer = await openPlatform(fixture);
      await issuer.createLinkedAccount(secret);
      return issuer.registerCoin();
    },
  );

const ACCOUNTS: readonly Provocation[] = [
  linkProvocation('STABLECOIN_PROVIDER_ACCOUNT_INVALID', '003'),
  linkProvocation('STABLECOIN_PROVIDER_ACCOUNT_REVOKED', '004'),
  provocation(
    'STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED',
    'Register a stablecoin without `stablecoinProviderAccountId` where two provider accounts are ' +
      'linked',
    async (fixture) => {
      const issuer = await openPlatform(fixture);
      await issuer.linkAccount();
      await issuer.linkAccount();
      return issuer.registerCoin();
    },
  ),
  provocation(
    'STABLECOIN_VERIFICATION_FAILED',
    'Link a provider account with an `apiClientSecret` that ends in 002',
    async (fixture) => (await openPlatform(fixture)).linkAccount({ apiClientSecret: 'secret-002' }),
  ),
  provocation(
    'STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND',
    'Get an unknown provider account',
    (fixture) =>
      fixture.call(
        'GET',
        `/stablecoin-provider-accounts/${unknownId('StablecoinProviderAccount')}`,
      ),
  ),
];

const COINS: readonly Provocation[] = [
  provocation('STABLECOIN_NOT_FOUND', 'Get an unknown stablecoin', ({ call }) =>
    call('GET', `/stablecoins/${unknownId('Stablecoin')}`),
  ),
  provocation(
    'STABLECOIN_SYMBOL_ALREADY_EXISTS',
    'Register two stablecoins whose identifiers have the same letters: `acme-1`, `acme-2`',
    async (fixture) => {
      const coinFixture = await createCoin(fixture);
      await coinFixture.registerCoin('000', { providerTokenIdentifier: 'acme-1' });
      return coinFixture.registerCoin('000', { providerTokenIdentifier: 'acme-2' });
    },
  ),
  provocation(
    'STABLECOIN_TOKEN_IDENTIFIER_ALREADY_EXISTS',
    'Register one `networkTokenIdentifier` twice',
    async (fixture) => {
      const coinFixture = await createCoin(fixture);
      const { networkTokenIdentifier } = coinFixture.coin;
      return coinFixture.registerCoin('000', { networkTokenIdentifier });
    },
  ),
  provocation(
    'STABLECOIN_SERVICE_ENABLEMENT_NOT_REQUESTABLE',
    'Request enablement for a stablecoin that is enabled: the `providerTokenIdentifier` ends in 006',
    async (fixture) => {
      const coinFixture = await openPlatform(fixture);
      return coinFixture.requestEnablement((await coinFixture.createEnabledCoin()).id);
    },
  ),
];

const OPERATIONS: readonly Provocation[] = [
  provocation('CONFLICT', 'Mint another amount under one `Idempotency-Key`', async (fixture) => {
    const coinFixture = await createCoin(fixture);
    const body = coinFixture.mintBody((await coinFixture.createWallet()).id);
    ok(await coinFixture.mint(coinFixture.coin.id, body, 'codes-mint'), 201);
    return coinFixture.mint(coinFixture.coin.id, { ...body, amount: '2000000' }, 'codes-mint');
  }),
  provocation('STABLECOIN_OPERATION_NOT_FOUND', 'Get an unknown mint or burn', ({ call }) =>
    call('GET', `/stablecoin-operations/${unknownId('StablecoinOperation')}`),
  ),
  provocation(
    'STABLECOIN_NOT_PROVISIONED',
    'Mint a stablecoin that remains PROVISIONING: the `providerTokenIdentifier` ends in 001',
    async (fixture) => mint(await createCoin(fixture, { token: '001' })),
  ),
  provocation('STABLECOIN_AMOUNT_NOT_REPRESENTABLE', 'Mint a tenth of a cent', async (fixture) =>
    mint(await createCoin(fixture), { amount: '1000' }),
  ),
  provocation(
    'STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED',
    'Mint from an internal account before the service is enabled',
    async (fixture) =>
      mint(await createCoin(fixture), {
        fundingSource: {
          type: 'SERVICE_INTERNAL_ACCOUNT',
          accountId: unknownId('InternalAccount'),
        },
      }),
  ),
  provocation(
    'STABLECOIN_OPERATION_NOT_SUPPORTED',
    'Mint from the balance at the provider, which is not supported',
    async (fixture) =>
      mint(await createCoin(fixture), {
        fundingSource: {
          type: 'PROVIDER_INTERNAL_BALANCE',
          sourceTokenIdentifier: 'usdc',
          cryptoNetwork: 'SOLANA',
        },
      }),
  ),
  provocation(
    'STABLECOIN_PROVIDER_SOURCE_NOT_LINKED',
    'Mint without a balance account at the provider: the `apiClientSecret` ends in 006',
    async (fixture) =>
      mint(await createCoin(fixture, { secret: '006' }), {
        fundingSource: {
          type: 'PROVIDER_INTERNAL_BALANCE',
          sourceTokenIdentifier: 'usdc',
          cryptoNetwork: 'SOLANA',
        },
      }),
  ),
  provocation(
    'STABLECOIN_BURN_SOURCE_NOT_SUPPORTED',
    'Burn from an internal account of a token that is enabled for the service',
    async (fixture) => {
      const coinFixture = await openPlatform(fixture);
      return burn(
        { ...coinFixture, coin: await coinFixture.createEnabledCoin() },
        { type: 'SERVICE_INTERNAL_ACCOUNT', accountId: unknownId('InternalAccount') },
      );
    },
  ),
  provocation(
    'STABLECOIN_PROVIDER_ERROR',
    'Burn more than the circulating supply',
    async (fixture) => burn(await createCoin(fixture), { type: 'EXTERNAL_ACCOUNT' }),
  ),
  bankProvocation('STABLECOIN_PROVIDER_ERROR', '206'),
  provocation(
    'SERVICE_UNAVAILABLE',
    'Mint while the provider does not respond: the `apiClientSecret` ends in 007',
    async (fixture) => mint(await createCoin(fixture, { secret: '007' })),
  ),
];

const EXTERNAL_ACCOUNTS: readonly Provocation[] = [
  provocation(
    'STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND',
    'Mint to an unknown external account',
    async (fixture) =>
      mint(await createCoin(fixture), { destination: { accountId: unknownId('ExternalAccount') } }),
  ),
  provocation(
    'STABLECOIN_EXTERNAL_ACCOUNT_NOT_SUPPORTED',
    'Burn to a bank account in EUR',
    async (fixture) => burn(await createCoin(fixture), { type: 'EXTERNAL_ACCOUNT' }, 'EUR'),
  ),
  bankProvocation('STABLECOIN_EXTERNAL_ACCOUNT_LINK_FAILED', '201'),
  bankProvocation('STABLECOIN_EXTERNAL_ACCOUNT_LINK_METHOD_REQUIRED', '202'),
  bankProvocation('STABLECOIN_EXTERNAL_ACCOUNT_NOT_LINKED', '203'),
  bankProvocation('STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_REQUIRED', '204'),
  bankProvocation('STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_FAILED', '205'),
];

export const STABLECOINS: readonly Provocation[] = [
  ...ACCOUNTS,
  ...COINS,
  ...OPERATIONS,
  ...EXTERNAL_ACCOUNTS,
];
