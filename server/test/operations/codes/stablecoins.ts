// Codes about stablecoins: what a provider's sandbox says hangs on how secrets, tokens and accounts end.
import { ok } from '../../kit/app/fixtures.ts';
import { mintFixture } from '../../kit/payments/mints.ts';
import { type CodeFixture, nobody, type Way, way } from './kit.ts';

type Json = Record<string, unknown>;

let counter = 0;

/** A platform of its own, because what one has linked is the other's selection. */
async function open({ app }: CodeFixture) {
  return mintFixture(app, { as: await app.newPlatform(`Coins ${++counter}`) });
}

/** A coin of a platform that is linked: it can be minted unless an ending says otherwise. */
async function coined(fixture: CodeFixture, endings: { secret?: string; token?: string } = {}) {
  const at = await open(fixture);
  const coin = await at.coin(endings);
  await fixture.app.settle();
  return { ...at, coin };
}

type Coined = Awaited<ReturnType<typeof coined>>;

const mint = async (at: Coined, more: Json = {}) =>
  at.mint(at.coin.id, at.mintBody((await at.wallet()).id, more));

const debit = (externalAccountId: string) => ({
  fundingSource: { type: 'ACH_DEBIT', externalAccountId },
});

const burn = async (at: Coined, source: Json, currency?: string) =>
  at.burn(at.coin.id, at.burnBody((await at.bank('000', currency)).id, { source }));

/** How the sandbox's provider answers about a bank account by the end of its number. */
const ofBank = (code: Way['code'], suffix: string): Way =>
  way(code, `Mint by ACH_DEBIT from a bank account whose number ends in ${suffix}`, async (d) => {
    const at = await coined(d);
    return mint(at, debit((await at.bank(suffix)).id));
  });

const ofLink = (code: Way['code'], ending: string): Way =>
  way(
    code,
    `Link a provider account with an \`apiClientSecret\` that ends in ${ending}, register a coin`,
    async (fixture) => {
      const issuer = await open(fixture);
      await issuer.linked(ending);
      return issuer.register();
    },
  );

const ACCOUNTS: readonly Way[] = [
  ofLink('STABLECOIN_PROVIDER_ACCOUNT_INVALID', '003'),
  ofLink('STABLECOIN_PROVIDER_ACCOUNT_REVOKED', '004'),
  way(
    'STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED',
    'Register a coin without `stablecoinProviderAccountId` where two provider accounts are linked',
    async (fixture) => {
      const issuer = await open(fixture);
      await issuer.link();
      await issuer.link();
      return issuer.register();
    },
  ),
  way(
    'STABLECOIN_VERIFICATION_FAILED',
    'Link a provider account with an `apiClientSecret` that ends in 002',
    async (fixture) => (await open(fixture)).link({ apiClientSecret: 'secret-002' }),
  ),
  way(
    'STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND',
    'Ask for a provider account that is none',
    (fixture) =>
      fixture.call('GET', `/stablecoin-provider-accounts/${nobody('StablecoinProviderAccount')}`),
  ),
];

const COINS: readonly Way[] = [
  way('STABLECOIN_NOT_FOUND', 'Ask for a coin that is none', ({ call }) =>
    call('GET', `/stablecoins/${nobody('Stablecoin')}`),
  ),
  way(
    'STABLECOIN_SYMBOL_ALREADY_EXISTS',
    'Register two coins whose identifiers have the same letters: `acme-1`, `acme-2`',
    async (fixture) => {
      const at = await coined(fixture);
      await at.register('000', { providerTokenIdentifier: 'acme-1' });
      return at.register('000', { providerTokenIdentifier: 'acme-2' });
    },
  ),
  way(
    'STABLECOIN_TOKEN_IDENTIFIER_ALREADY_EXISTS',
    'Register one `networkTokenIdentifier` twice',
    async (fixture) => {
      const at = await coined(fixture);
      const { networkTokenIdentifier } = at.coin;
      return at.register('000', { networkTokenIdentifier });
    },
  ),
  way(
    'STABLECOIN_SERVICE_ENABLEMENT_NOT_REQUESTABLE',
    'Request the service for a coin that has it: its `providerTokenIdentifier` ends in 006',
    async (fixture) => {
      const at = await open(fixture);
      return at.request((await at.enabledCoin()).id);
    },
  ),
];

const OPERATIONS: readonly Way[] = [
  way('CONFLICT', 'Mint another amount under one `Idempotency-Key`', async (fixture) => {
    const at = await coined(fixture);
    const body = at.mintBody((await at.wallet()).id);
    ok(await at.mint(at.coin.id, body, 'codes-mint'), 201);
    return at.mint(at.coin.id, { ...body, amount: '2000000' }, 'codes-mint');
  }),
  way('STABLECOIN_OPERATION_NOT_FOUND', 'Ask for a mint or burn that is none', ({ call }) =>
    call('GET', `/stablecoin-operations/${nobody('StablecoinOperation')}`),
  ),
  way(
    'STABLECOIN_NOT_PROVISIONED',
    'Mint a coin whose `providerTokenIdentifier` ends in 001, which stays PROVISIONING',
    async (fixture) => mint(await coined(fixture, { token: '001' })),
  ),
  way('STABLECOIN_AMOUNT_NOT_REPRESENTABLE', 'Mint a tenth of a cent', async (fixture) =>
    mint(await coined(fixture), { amount: '1000' }),
  ),
  way(
    'STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED',
    'Mint out of an internal account before the service is enabled',
    async (fixture) =>
      mint(await coined(fixture), {
        fundingSource: {
          type: 'SERVICE_INTERNAL_ACCOUNT',
          accountId: nobody('InternalAccount'),
        },
      }),
  ),
  way(
    'STABLECOIN_OPERATION_NOT_SUPPORTED',
    'Mint out of the balance at the provider, which is reserved',
    async (fixture) =>
      mint(await coined(fixture), {
        fundingSource: {
          type: 'PROVIDER_INTERNAL_BALANCE',
          sourceTokenIdentifier: 'usdc',
          cryptoNetwork: 'SOLANA',
        },
      }),
  ),
  way(
    'STABLECOIN_PROVIDER_SOURCE_NOT_LINKED',
    'Mint out of the balance at the provider where the `apiClientSecret` ends in 006: there is none',
    async (fixture) =>
      mint(await coined(fixture, { secret: '006' }), {
        fundingSource: {
          type: 'PROVIDER_INTERNAL_BALANCE',
          sourceTokenIdentifier: 'usdc',
          cryptoNetwork: 'SOLANA',
        },
      }),
  ),
  way(
    'STABLECOIN_BURN_SOURCE_NOT_SUPPORTED',
    'Burn out of an internal account once the service is enabled, which is reserved',
    async (fixture) => {
      const at = await open(fixture);
      return burn(
        { ...at, coin: await at.enabledCoin() },
        { type: 'SERVICE_INTERNAL_ACCOUNT', accountId: nobody('InternalAccount') },
      );
    },
  ),
  way('STABLECOIN_PROVIDER_ERROR', 'Burn more than circulates of a coin', async (fixture) =>
    burn(await coined(fixture), { type: 'EXTERNAL_ACCOUNT' }),
  ),
  ofBank('STABLECOIN_PROVIDER_ERROR', '206'),
  way(
    'SERVICE_UNAVAILABLE',
    'Mint where the `apiClientSecret` ends in 007: the provider does not answer',
    async (fixture) => mint(await coined(fixture, { secret: '007' })),
  ),
];

const EXTERNAL: readonly Way[] = [
  way(
    'STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND',
    'Mint to an external account that is none',
    async (fixture) =>
      mint(await coined(fixture), { destination: { accountId: nobody('ExternalAccount') } }),
  ),
  way(
    'STABLECOIN_EXTERNAL_ACCOUNT_NOT_SUPPORTED',
    'Burn to a bank account in euros',
    async (fixture) => burn(await coined(fixture), { type: 'EXTERNAL_ACCOUNT' }, 'EUR'),
  ),
  ofBank('STABLECOIN_EXTERNAL_ACCOUNT_LINK_FAILED', '201'),
  ofBank('STABLECOIN_EXTERNAL_ACCOUNT_LINK_METHOD_REQUIRED', '202'),
  ofBank('STABLECOIN_EXTERNAL_ACCOUNT_NOT_LINKED', '203'),
  ofBank('STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_REQUIRED', '204'),
  ofBank('STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_FAILED', '205'),
];

export const STABLECOINS: readonly Way[] = [...ACCOUNTS, ...COINS, ...OPERATIONS, ...EXTERNAL];
