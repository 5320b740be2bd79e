// Codes about stablecoins: what a provider's sandbox says hangs on how secrets, tokens and accounts end.
import { customer, externalAccount, ok } from '../fixtures.ts';
import type { TestPlatform } from '../harness.ts';
import { sparkWallet } from '../wallets.ts';
import { type CodeDesk, nobody, type Way, way } from './kit.ts';

type Json = Record<string, unknown>;

let counter = 0;

/** A platform of its own, because what one has linked is the other's selection. */
async function open({ app, post, call, operator }: CodeDesk, secret = 'secret') {
  const as = await app.newPlatform(`Coins ${++counter}`);
  const key = () => ({ 'idempotency-key': `codes-${++counter}` });
  const write = (path: string, body: Json) => post(path, body, { as, headers: key() });
  const link = (apiClientSecret = secret, more: Json = {}) =>
    write('/stablecoin-provider-accounts', {
      provider: 'BRALE',
      apiClientId: `client-${++counter}`,
      apiClientSecret,
      ...more,
    });
  /** Letters for a symbol that nobody has yet. */
  const letters = () =>
    [...String(++counter)].map((digit) => 'abcdefghij'.charAt(Number(digit))).join('');
  const register = (ending = '000', more: Json = {}) =>
    write('/stablecoins', {
      providerTokenIdentifier: `coin${letters()}-${ending}`,
      networkTokenIdentifier: `btkn1codes${++counter}000`,
      network: 'SPARK',
      ...more,
    });
  return { as, app, call, operator, write, link, register };
}

type Issuer = Awaited<ReturnType<typeof open>>;

/** A coin that can be minted, of a platform that is linked. */
async function coined(desk: CodeDesk, { secret = 'secret', ending = '000' } = {}) {
  const issuer = await open(desk, secret);
  ok(await desk.app.call('GET', '/config', undefined, { as: issuer.as }), 200);
  const linked = await issuer.link();
  const coin = await issuer.register(ending);
  await desk.app.settle();
  return { ...issuer, linked: linked.body, coin: coin.body };
}

/** A customer's wallet that takes tokens. */
async function wallet({ app, as }: { app: CodeDesk['app']; as: TestPlatform }) {
  const { id: customerId } = await customer(app, { as });
  const accountInfo = {
    accountType: 'SPARK_WALLET',
    address: sparkWallet(BigInt(9_000 + ++counter)).address,
  };
  const body = { customerId, currency: 'USDB', accountInfo };
  return ok(await app.call('POST', '/customers/external-accounts', body, { as }), 201).id;
}

/** A customer's bank account in dollars. */
async function bank({ app, as }: Issuer, suffix = '000', currency = 'USD') {
  const { id } = await customer(app, { as });
  return (await externalAccount(app, id, currency, suffix, { as })).id as string;
}

type Coined = Awaited<ReturnType<typeof coined>>;

async function mint(at: Coined, more: Json = {}) {
  return at.write(`/stablecoins/${at.coin.id}/mints`, {
    amount: '1000000',
    fundingSource: { type: 'WIRE' },
    destination: { accountId: await wallet(at) },
    ...more,
  });
}

const debit = (externalAccountId: string) => ({
  fundingSource: { type: 'ACH_DEBIT', externalAccountId },
});

async function burn(at: Coined, source: Json, suffix = '000', currency = 'USD') {
  return at.write(`/stablecoins/${at.coin.id}/burns`, {
    amount: '1000000',
    source,
    destination: {
      type: 'EXTERNAL_ACCOUNT',
      externalAccountId: await bank(at, suffix, currency),
      rail: 'WIRE',
    },
  });
}

/** How the sandbox's provider answers about a bank account by the end of its number. */
const ofBank = (code: Way['code'], suffix: string): Way =>
  way(code, `Mint by ACH_DEBIT from a bank account whose number ends in ${suffix}`, async (d) => {
    const at = await coined(d);
    return mint(at, debit(await bank(at, suffix)));
  });

const ofLink = (code: Way['code'], ending: string): Way =>
  way(
    code,
    `Link a provider account with an \`apiClientSecret\` that ends in ${ending}, register a coin`,
    async (desk) => {
      const issuer = await open(desk, `secret-${ending}`);
      ok(await issuer.app.call('GET', '/config', undefined, { as: issuer.as }), 200);
      await issuer.link();
      return issuer.register();
    },
  );

const ACCOUNTS: readonly Way[] = [
  ofLink('STABLECOIN_PROVIDER_ACCOUNT_INVALID', '003'),
  ofLink('STABLECOIN_PROVIDER_ACCOUNT_REVOKED', '004'),
  way(
    'STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED',
    'Register a coin without `stablecoinProviderAccountId` where two provider accounts are linked',
    async (desk) => {
      const issuer = await open(desk);
      await issuer.link();
      await issuer.link();
      return issuer.register();
    },
  ),
  way(
    'STABLECOIN_VERIFICATION_FAILED',
    'Link a provider account with an `apiClientSecret` that ends in 002',
    async (desk) => (await open(desk)).link('secret-002'),
  ),
  way('STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND', 'Ask for a provider account that is none', (desk) =>
    desk.call('GET', `/stablecoin-provider-accounts/${nobody('StablecoinProviderAccount')}`),
  ),
];

const COINS: readonly Way[] = [
  way('STABLECOIN_NOT_FOUND', 'Ask for a coin that is none', ({ call }) =>
    call('GET', `/stablecoins/${nobody('Stablecoin')}`),
  ),
  way(
    'STABLECOIN_SYMBOL_ALREADY_EXISTS',
    'Register two coins whose identifiers have the same letters: `acme-1`, `acme-2`',
    async (desk) => {
      const at = await coined(desk);
      await at.register('000', { providerTokenIdentifier: 'acme-1' });
      return at.register('000', { providerTokenIdentifier: 'acme-2' });
    },
  ),
  way(
    'STABLECOIN_TOKEN_IDENTIFIER_ALREADY_EXISTS',
    'Register one `networkTokenIdentifier` twice',
    async (desk) => {
      const at = await coined(desk);
      const { networkTokenIdentifier } = at.coin;
      return at.register('000', { networkTokenIdentifier });
    },
  ),
  way(
    'STABLECOIN_SERVICE_ENABLEMENT_NOT_REQUESTABLE',
    'Request the service for a coin that has it: its `providerTokenIdentifier` ends in 006',
    async (desk) => {
      const at = await coined(desk, { ending: '006' });
      const path = `/stablecoins/${at.coin.id}/request-service-enablement`;
      ok(await desk.app.call('POST', path, undefined, { as: at.as }), 200);
      await desk.app.settle();
      return desk.post(path, undefined, { as: at.as });
    },
  ),
];

const OPERATIONS: readonly Way[] = [
  way('CONFLICT', 'Mint another amount under one `Idempotency-Key`', async (desk) => {
    const at = await coined(desk);
    const options = { as: at.as, headers: { 'idempotency-key': 'codes-mint' } };
    const destination = { accountId: await wallet(at) };
    const order = (amount: string) =>
      desk.post(
        `/stablecoins/${at.coin.id}/mints`,
        { amount, fundingSource: { type: 'WIRE' }, destination },
        options,
      );
    await order('1000000');
    return order('2000000');
  }),
  way('STABLECOIN_OPERATION_NOT_FOUND', 'Ask for a mint or burn that is none', ({ call }) =>
    call('GET', `/stablecoin-operations/${nobody('StablecoinOperation')}`),
  ),
  way(
    'STABLECOIN_NOT_PROVISIONED',
    'Mint a coin whose `providerTokenIdentifier` ends in 001, which stays PROVISIONING',
    async (desk) => mint(await coined(desk, { ending: '001' })),
  ),
  way('STABLECOIN_AMOUNT_NOT_REPRESENTABLE', 'Mint a tenth of a cent', async (desk) =>
    mint(await coined(desk), { amount: '1000' }),
  ),
  way(
    'STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED',
    'Mint out of an internal account before the service is enabled',
    async (desk) =>
      mint(await coined(desk), {
        fundingSource: {
          type: 'SERVICE_INTERNAL_ACCOUNT',
          accountId: nobody('InternalAccount'),
        },
      }),
  ),
  way(
    'STABLECOIN_OPERATION_NOT_SUPPORTED',
    'Mint out of the balance at the provider, which is reserved',
    async (desk) =>
      mint(await coined(desk), {
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
    async (desk) =>
      mint(await coined(desk, { secret: 'secret-006' }), {
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
    async (desk) => {
      const at = await coined(desk, { ending: '006' });
      const path = `/stablecoins/${at.coin.id}/request-service-enablement`;
      ok(await desk.app.call('POST', path, undefined, { as: at.as }), 200);
      await desk.app.settle();
      return burn(at, { type: 'SERVICE_INTERNAL_ACCOUNT', accountId: nobody('InternalAccount') });
    },
  ),
  way('STABLECOIN_PROVIDER_ERROR', 'Burn more than circulates of a coin', async (desk) =>
    burn(await coined(desk), { type: 'EXTERNAL_ACCOUNT' }),
  ),
  ofBank('STABLECOIN_PROVIDER_ERROR', '206'),
  way(
    'SERVICE_UNAVAILABLE',
    'Mint where the `apiClientSecret` ends in 007: the provider does not answer',
    async (desk) => mint(await coined(desk, { secret: 'secret-007' })),
  ),
];

const EXTERNAL: readonly Way[] = [
  way(
    'STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND',
    'Mint to an external account that is none',
    async (desk) =>
      mint(await coined(desk), { destination: { accountId: nobody('ExternalAccount') } }),
  ),
  way(
    'STABLECOIN_EXTERNAL_ACCOUNT_NOT_SUPPORTED',
    'Burn to a bank account in euros',
    async (desk) => burn(await coined(desk), { type: 'EXTERNAL_ACCOUNT' }, '000', 'EUR'),
  ),
  ofBank('STABLECOIN_EXTERNAL_ACCOUNT_LINK_FAILED', '201'),
  ofBank('STABLECOIN_EXTERNAL_ACCOUNT_LINK_METHOD_REQUIRED', '202'),
  ofBank('STABLECOIN_EXTERNAL_ACCOUNT_NOT_LINKED', '203'),
  ofBank('STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_REQUIRED', '204'),
  ofBank('STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_FAILED', '205'),
];

export const STABLECOINS: readonly Way[] = [...ACCOUNTS, ...COINS, ...OPERATIONS, ...EXTERNAL];
