// The fixture for tests of stablecoins: a platform linked to the sandbox provider, its tokens, and
// external accounts for mints and burns. Symbols and identifiers are unique and have no sandbox
// suffix.
import { createCustomer, createExternalAccount, ok } from '../app/fixtures.ts';
import type { ApiResponse, CallOptions, TestApp } from '../app/harness.ts';
import { sparkWallet } from '../wallets/chain-wallets.ts';

type Json = Record<string, unknown>;

let counter = 0;

/** Unique letters for a token. */
const nextLetters = () =>
  [...String(++counter)].map((digit) => 'ABCDEFGHIJ'.charAt(+digit)).join('');

/** `platform` is the issuing platform. Defaults to the main platform. */
export function stablecoinFixture(app: TestApp, { platform }: Pick<CallOptions, 'platform'> = {}) {
  const read = (path: string) => app.call('GET', path, undefined, { platform });

  /** A write with a new idempotency key, or with `key`. */
  const write = (path: string, body: Json, key = `stablecoin-${++counter}`): Promise<ApiResponse> =>
    app.call('POST', path, body, { platform, headers: { 'idempotency-key': key } });

  const linkBody = (overrides: Json = {}) => ({
    provider: 'BRALE',
    apiClientId: `client-${++counter}`,
    apiClientSecret: `secret-${counter}-000`,
    ...overrides,
  });
  const linkAccount = (overrides: Json = {}) =>
    write('/stablecoin-provider-accounts', linkBody(overrides));

  /** Body of a registration. `ownSuffix` is the suffix of the provider's identifier. */
  const tokenBody = (ownSuffix = '000', overrides: Json = {}) => ({
    providerTokenIdentifier: `coin${nextLetters()}-${ownSuffix}`,
    networkTokenIdentifier: `btkn1test${++counter}000`,
    network: 'SPARK',
    ...overrides,
  });
  const registerCoin = (ownSuffix?: string, overrides: Json = {}) =>
    write('/stablecoins', tokenBody(ownSuffix, overrides));

  /** A linked provider account whose secret ends in `ownSuffix`. */
  const createLinkedAccount = async (ownSuffix = '000') =>
    ok(await linkAccount({ apiClientSecret: `secret-${++counter}-${ownSuffix}` }), 201);

  /**
   * A token of a new provider account. Its status is PROVISIONED unless a suffix selects another.
   */
  async function createCoin({ secret = '000', token = '000' } = {}) {
    const { id: stablecoinProviderAccountId } = await createLinkedAccount(secret);
    return ok(await registerCoin(token, { stablecoinProviderAccountId }), 201);
  }

  const requestEnablement = (coinId: string) =>
    app.call('POST', `/stablecoins/${coinId}/request-service-enablement`, undefined, { platform });

  /** A token that is enabled for the service. */
  async function createEnabledCoin(secret?: string) {
    const { id } = await createCoin({ token: '006', ...(secret === undefined ? {} : { secret }) });
    ok(await requestEnablement(id), 200);
    await app.settle();
    return ok(await read(`/stablecoins/${id}`), 200);
  }

  /** An ACTIVE Spark wallet of a customer or of the platform. */
  async function createWallet(owner?: 'platform') {
    const isProduction =
      platform && 'environment' in platform && platform.environment === 'production';
    const network = isProduction ? 'spark' : 'sparkrt';
    const { address } = sparkWallet(BigInt(5_000_000 + ++counter), network);
    const accountInfo = { accountType: 'SPARK_WALLET', address };
    const body = { currency: 'USDB', accountInfo };
    if (owner)
      return ok(await app.call('POST', '/platform/external-accounts', body, { platform }), 201);
    const { id: customerId } = await createCustomer(app, { platform });
    const ownedAccount = { ...body, customerId };
    return ok(
      await app.call('POST', '/customers/external-accounts', ownedAccount, { platform }),
      201,
    );
  }

  /** A bank account of a customer whose number ends in `suffix`. */
  async function createBankAccount(suffix = '000', currency = 'USD') {
    const { id } = await createCustomer(app, { platform });
    return createExternalAccount(app, id, currency, suffix, { platform });
  }

  return {
    get platform() {
      return platform ?? app.platform;
    },
    ...{
      read,
      write,
      linkBody,
      linkAccount,
      createLinkedAccount,
      tokenBody,
      registerCoin,
      createCoin,
    },
    ...{ requestEnablement, createEnabledCoin, createWallet, createBankAccount },
  };
}

/** The fixture for a new platform without a linked account. */
export async function newFixture(app: TestApp) {
  const platform = await app.newPlatform(`Issuer ${++counter}`);
  return { ...stablecoinFixture(app, { platform }), platform };
}

/** The fixture for a new platform with one linked account. */
export async function linkedFixture(app: TestApp) {
  const fixture = await newFixture(app);
  return { ...fixture, account: await fixture.createLinkedAccount() };
}
