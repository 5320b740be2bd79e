// Tokens of a local identity provider: the accepted tokens, and the reason of each rejection.
import { createHmac } from 'node:crypto';
import { type CryptoKey, exportSPKI, importJWK } from 'jose';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { testEffects } from '../../../test/kit/app/effects.ts';
import {
  type ProviderKey,
  providerKey,
  segment,
  signToken,
  startIdentityProvider,
} from '../../../test/kit/http/identity-provider.ts';
import { httpOidc } from './tokens.ts';

const DISCOVERY = '/.well-known/openid-configuration';
const KEY_REQUESTS = [DISCOVERY, '/keys'];

const [firstProviderKey, secondProviderKey, elliptic] = await Promise.all([
  providerKey('first'),
  providerKey('second'),
  providerKey('elliptic', 'ES256'),
]);
const provider = await startIdentityProvider();
afterAll(() => provider.close());

const NO_SIGNATURE = { problem: 'rejected', reason: 'The signature of the token is invalid.' };
const NO_KEY = {
  problem: 'rejected',
  reason: 'The token is signed with a key that its issuer does not publish.',
};

function setUp(issuers: readonly string[] = [provider.issuer]) {
  const effects = testEffects();
  const notes: string[] = [];
  const { verify } = httpOidc(effects, { issuers, note: (problem) => notes.push(problem) });
  const claims = () => {
    const seconds = effects.now() / 1000;
    const user = { iss: provider.issuer, aud: 'app-1', sub: 'user-1', email: 'ada@example.com' };
    return { ...user, iat: seconds, exp: seconds + 300 };
  };
  return {
    effects,
    notes,
    claims,
    verify: (text: string) => verify(text, effects.now()),
    /** The verification result for a token signed by this key. */
    judge: async (key: ProviderKey, overrides: object = {}, header: object = {}) =>
      verify(await signToken(key, { ...claims(), ...overrides }, header), effects.now()),
    pass: (ms: number) => effects.set(effects.now() + ms),
  };
}

beforeEach(() => {
  provider.restore();
  provider.show(firstProviderKey, elliptic);
  provider.takeRequests();
});

describe('accepted tokens', () => {
  it.each([
    ['RSA', firstProviderKey],
    ['an elliptic curve', elliptic],
  ])('include a token signed with %s', async (_description, key) => {
    const { judge } = setUp();
    expect(await judge(key, { nonce: 'n' })).toEqual({
      identity: {
        ...{ issuer: provider.issuer, audience: 'app-1', subject: 'user-1' },
        ...{ email: 'ada@example.com', nonce: 'n' },
      },
    });
  });

  it('have the type of an ID token, or no type', async () => {
    const { judge } = setUp();
    for (const typ of ['JWT', 'jwt']) {
      expect(await judge(firstProviderKey, {}, { typ })).toHaveProperty('identity');
    }
  });

  it('include a token of a provider whose URL ends with a path and a slash', async () => {
    const issuer = `${provider.issuer}/users/`;
    provider.spoil(`/users${DISCOVERY}`, { issuer, jwks_uri: `${provider.issuer}/keys` });
    const { judge } = setUp([issuer]);
    expect(await judge(firstProviderKey, { iss: issuer })).toMatchObject({ identity: { issuer } });
    expect(await judge(firstProviderKey, { iss: `${provider.issuer}/users` })).toMatchObject({
      problem: 'malformed',
    });
  });
});

describe('rejected tokens', () => {
  it('include a token that was changed, or signed with another key', async () => {
    const { judge, verify, claims } = setUp();
    const [header, , signature] = (await signToken(firstProviderKey, claims())).split('.');
    const otherClaims = segment({ ...claims(), sub: 'user-2' });
    expect(await verify(`${header}.${otherClaims}.${signature}`)).toEqual(NO_SIGNATURE);
    const otherKey = { ...secondProviderKey, jwk: { ...secondProviderKey.jwk, kid: 'first' } };
    expect(await judge(otherKey)).toEqual(NO_SIGNATURE);
    expect(await verify(`${header}.${segment(claims())}.`)).toMatchObject({ problem: 'rejected' });
    expect(await verify(`${header}.${segment(claims())}.sandbox`)).toEqual(NO_SIGNATURE);
  });

  it('include a token without a signature, or with an HMAC under the public key', async () => {
    const { verify, claims } = setUp();
    const reason = 'The alg of the token must be RS256 or ES256.';
    for (const alg of ['none', 'None', 'PS256', 'RS1', 7, undefined]) {
      const text = `${segment({ alg, kid: 'first' })}.${segment(claims())}.x`;
      expect(await verify(text)).toEqual({ problem: 'rejected', reason });
    }
    const pem = await exportSPKI((await importJWK(firstProviderKey.jwk)) as CryptoKey);
    const signedText = `${segment({ alg: 'HS256', kid: 'first' })}.${segment(claims())}`;
    const mac = createHmac('sha256', pem).update(signedText).digest('base64url');
    expect(await verify(`${signedText}.${mac}`)).toEqual({ problem: 'rejected', reason });
    expect(provider.takeRequests()).toEqual([]);
  });

  it('include a token with a key of another type, or with a key inside the token', async () => {
    const { judge } = setUp();
    expect(await judge(elliptic, {}, { kid: 'first' })).toEqual(NO_KEY);
    const { kid: _, ...publicKey } = secondProviderKey.jwk;
    expect(await judge(secondProviderKey, {}, { kid: 'first', jwk: publicKey })).toEqual(
      NO_SIGNATURE,
    );
    expect(await judge(secondProviderKey, {}, { jku: 'https://evil.example/keys' })).toEqual(
      NO_KEY,
    );
  });

  it('include a token of another type, or with an unsupported critical header', async () => {
    const { judge, verify, claims } = setUp();
    for (const typ of ['at+jwt', 'logout+jwt', '', 1]) {
      const text = `${segment({ alg: 'RS256', kid: 'first', typ })}.${segment(claims())}.x`;
      const reason = 'The typ of the token must be JWT.';
      expect(await verify(text)).toEqual({ problem: 'rejected', reason });
    }
    const reason = 'The crit of the token is not supported.';
    expect(await judge(firstProviderKey, {}, { crit: ['b64'], b64: true })).toEqual({
      problem: 'rejected',
      reason,
    });
  });

  it('include a token without a key ID if there are several keys', async () => {
    const { judge } = setUp();
    provider.show(firstProviderKey, secondProviderKey);
    expect(await judge(firstProviderKey, {}, { kid: undefined })).toEqual(NO_SIGNATURE);
  });

  it('include an expired token and a token of an unknown provider, without a request', async () => {
    const { judge, effects } = setUp();
    expect(await judge(firstProviderKey, { iat: effects.now() / 1000 - 61 })).toEqual({
      problem: 'rejected',
      reason: 'The token is too old: iat is over 60 s ago.',
    });
    expect(await judge(firstProviderKey, { iss: 'https://id.example.com' })).toEqual({
      problem: 'malformed',
      reason: 'is from an unsupported issuer',
    });
    expect(provider.takeRequests()).toEqual([]);
  });
});

describe('the keys of a provider', () => {
  it('are cached for five minutes', async () => {
    const { judge, pass } = setUp();
    await judge(firstProviderKey);
    expect(provider.takeRequests()).toEqual(KEY_REQUESTS);
    pass(5 * 60_000 - 1);
    expect(await judge(firstProviderKey)).toHaveProperty('identity');
    expect(provider.takeRequests()).toEqual([]);
    // A key that the provider has removed is accepted for at most five minutes.
    provider.show(secondProviderKey);
    pass(1);
    expect(await judge(firstProviderKey)).toEqual(NO_KEY);
    expect(provider.takeRequests()).toEqual(KEY_REQUESTS);
  });

  it('are fetched once for concurrent requests', async () => {
    const { judge } = setUp();
    const verdicts = await Promise.all([1, 2, 3, 4].map(() => judge(firstProviderKey)));
    for (const verdict of verdicts) expect(verdict).toHaveProperty('identity');
    expect(provider.takeRequests()).toEqual(KEY_REQUESTS);
  });

  it('are fetched again for an unknown key, at a limited rate', async () => {
    const { judge, pass } = setUp();
    await judge(firstProviderKey);
    provider.show(firstProviderKey, secondProviderKey);
    pass(30_000);
    provider.takeRequests();
    expect(await judge(secondProviderKey)).toHaveProperty('identity');
    expect(provider.takeRequests()).toEqual(KEY_REQUESTS);
    const unknownKeyResult = (kid: string) => judge(secondProviderKey, {}, { kid });
    for (const kid of ['a', 'b', 'c']) expect(await unknownKeyResult(kid)).toEqual(NO_KEY);
    expect(provider.takeRequests()).toEqual([]);
    pass(29_999);
    expect(await unknownKeyResult('d')).toEqual(NO_KEY);
    expect(provider.takeRequests()).toEqual([]);
    pass(1);
    expect(await Promise.all([unknownKeyResult('e'), unknownKeyResult('f')])).toEqual([
      NO_KEY,
      NO_KEY,
    ]);
    expect(provider.takeRequests()).toEqual(KEY_REQUESTS);
  });

  it('verify tokens of this provider only', async () => {
    const otherIssuer = await startIdentityProvider([secondProviderKey]);
    const { judge } = setUp([provider.issuer, otherIssuer.issuer]);
    expect(await judge(secondProviderKey, { iss: otherIssuer.issuer })).toHaveProperty('identity');
    expect(await judge(secondProviderKey)).toEqual(NO_KEY);
    await otherIssuer.close();
  });
});

describe('an unavailable provider', () => {
  const otherIssuerDocument = () => ({
    issuer: 'https://id.example.com',
    jwks_uri: `${provider.issuer}/keys`,
  });
  const keysAt = (jwks_uri: unknown) => ({ issuer: provider.issuer, jwks_uri });

  it.each([
    ['returns a document of another issuer', DISCOVERY, otherIssuerDocument],
    [
      'returns a document without an issuer',
      DISCOVERY,
      () => ({ jwks_uri: `${provider.issuer}/keys` }),
    ],
    ['returns a document without a URL of keys', DISCOVERY, () => keysAt(undefined)],
    [
      'returns an http URL of keys on another host',
      DISCOVERY,
      () => keysAt('http://id.example.com/keys'),
    ],
    ['returns a file URL of keys', DISCOVERY, () => keysAt('file:///etc/passwd')],
    ['returns null as its document', DISCOVERY, () => (reply) => reply.end('null')],
    ['returns a page as its document', DISCOVERY, () => (reply) => reply.end('<html>')],
    ['returns 404', DISCOVERY, () => (reply) => reply.writeHead(404).end('{}')],
    ['returns 503 for its keys', '/keys', () => (reply) => reply.writeHead(503).end('{}')],
    ['returns no set of keys', '/keys', () => ({ keys: 'none' })],
    ['closes the connection', '/keys', () => (reply) => reply.destroy()],
    [
      'redirects the request for its keys',
      '/keys',
      () => (reply) => reply.writeHead(302, { location: `${provider.issuer}/more` }).end(),
    ],
    [
      'sends a response that is too long',
      '/keys',
      () => (reply) => {
        reply.write('{"keys":[],"more":"');
        for (let chunk = 0; chunk < 10; chunk++) reply.write('x'.repeat(100_000));
        reply.end('"}');
      },
    ],
  ] as [string, string, () => Parameters<typeof provider.spoil>[1]][])(
    'causes an error instead of a rejection if it %s',
    async (_description, path, response) => {
      const { judge, notes, pass } = setUp();
      provider.spoil(path, response());
      provider.spoil('/more', { keys: [firstProviderKey.jwk] });
      await expect(judge(firstProviderKey)).rejects.toThrow('is unavailable');
      expect(notes).toEqual([`The identity provider ${provider.issuer} does not return its keys.`]);
      expect(provider.takeRequests()).not.toContain('/more');
      // The provider is called again only after a pause.
      provider.restore();
      await expect(judge(firstProviderKey)).rejects.toThrow('less than 5 s ago');
      expect(provider.takeRequests()).toEqual([]);
      pass(5_000);
      expect(await judge(firstProviderKey)).toHaveProperty('identity');
    },
  );

  it('is reported at the timeout if it does not respond', async () => {
    const { judge } = setUp();
    provider.spoil('/keys', () => {});
    await expect(judge(firstProviderKey)).rejects.toThrow('is unavailable');
  }, 10_000);

  it('is reported immediately for an unknown key, and after five minutes for a cached one', async () => {
    const deletedIssuer = await startIdentityProvider([firstProviderKey]);
    const { judge, pass } = setUp([deletedIssuer.issuer]);
    const ownClaims = { iss: deletedIssuer.issuer };
    expect(await judge(firstProviderKey, ownClaims)).toHaveProperty('identity');
    await deletedIssuer.close();
    pass(60_000);
    expect(await judge(firstProviderKey, ownClaims)).toHaveProperty('identity');
    await expect(judge(secondProviderKey, ownClaims)).rejects.toThrow('is unavailable');
    expect(await judge(firstProviderKey, ownClaims)).toHaveProperty('identity');
    pass(240_000);
    await expect(judge(firstProviderKey, ownClaims)).rejects.toThrow('is unavailable');
  });
});
