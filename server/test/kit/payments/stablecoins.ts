// A fixture for tests of stablecoins: a platform that is linked to the sandbox's provider, its tokens, and
// accounts outside for both ends of a mint or burn. Every symbol and identifier is used once, and none
// ends by chance in what scripts the sandbox.
import { customer, externalAccount, ok } from '../app/fixtures.ts';
import type { Answer, CallOptions, TestApp } from '../app/harness.ts';
import { sparkWallet } from '../wallets/chain-wallets.ts';

type Json = Record<string, unknown>;

let counter = 0;

/** Letters that no other token has. */
const letters = () => [...String(++counter)].map((digit) => 'ABCDEFGHIJ'.charAt(+digit)).join('');

/** `as` is the platform that issues; the main one unless said. */
export function stablecoinFixture(app: TestApp, { as }: Pick<CallOptions, 'as'> = {}) {
  const read = (path: string) => app.call('GET', path, undefined, { as });

  /** A write under a key of its own, or under the one given. */
  const write = (path: string, body: Json, key = `stablecoin-${++counter}`): Promise<Answer> =>
    app.call('POST', path, body, { as, headers: { 'idempotency-key': key } });

  const linkBody = (more: Json = {}) => ({
    provider: 'BRALE',
    apiClientId: `client-${++counter}`,
    apiClientSecret: `secret-${counter}-000`,
    ...more,
  });
  const link = (more: Json = {}) => write('/stablecoin-provider-accounts', linkBody(more));

  /** What a token is registered by; `ending` ends the provider's identifier. */
  const tokenBody = (ending = '000', more: Json = {}) => ({
    providerTokenIdentifier: `coin${letters()}-${ending}`,
    networkTokenIdentifier: `btkn1test${++counter}000`,
    network: 'SPARK',
    ...more,
  });
  const register = (ending?: string, more: Json = {}) =>
    write('/stablecoins', tokenBody(ending, more));

  /** A linked provider account whose secret ends in `ending`. */
  const linked = async (ending = '000') =>
    ok(await link({ apiClientSecret: `secret-${++counter}-${ending}` }), 201);

  /** A token of a provider account of its own; PROVISIONED unless an ending says otherwise. */
  async function coin({ secret = '000', token = '000' } = {}) {
    const { id: stablecoinProviderAccountId } = await linked(secret);
    return ok(await register(token, { stablecoinProviderAccountId }), 201);
  }

  const request = (coinId: string) =>
    app.call('POST', `/stablecoins/${coinId}/request-service-enablement`, undefined, { as });

  /** A token that the service uses. */
  async function enabledCoin(secret?: string) {
    const { id } = await coin({ token: '006', ...(secret === undefined ? {} : { secret }) });
    ok(await request(id), 200);
    await app.settle();
    return ok(await read(`/stablecoins/${id}`), 200);
  }

  /** An active Spark wallet of a customer, or the platform's own. */
  async function wallet(of?: 'platform') {
    const accountInfo = {
      accountType: 'SPARK_WALLET',
      address: sparkWallet(BigInt(5_000_000 + ++counter)).address,
    };
    const body = { currency: 'USDB', accountInfo };
    if (of) return ok(await app.call('POST', '/platform/external-accounts', body, { as }), 201);
    const { id: customerId } = await customer(app, { as });
    const owned = { ...body, customerId };
    return ok(await app.call('POST', '/customers/external-accounts', owned, { as }), 201);
  }

  /** A bank account of a customer, in dollars unless said, whose number ends in `suffix`. */
  async function bank(suffix = '000', currency = 'USD') {
    const { id } = await customer(app, { as });
    return externalAccount(app, id, currency, suffix, { as });
  }

  return {
    get as() {
      return as ?? app.platform;
    },
    ...{ read, write, linkBody, link, linked, tokenBody, register, coin },
    ...{ request, enabledCoin, wallet, bank },
  };
}

/** The fixture of a new platform that has linked nothing yet. */
export async function freshFixture(app: TestApp) {
  const as = await app.newPlatform(`Issuer ${++counter}`);
  return { ...stablecoinFixture(app, { as }), as };
}

/** The same, with one account linked. */
export async function linkedFixture(app: TestApp) {
  const fixture = await freshFixture(app);
  return { ...fixture, account: await fixture.linked() };
}
