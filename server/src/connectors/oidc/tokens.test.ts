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

const [firstProviderKey, secondProviderKey, ellipticProviderKey] = await Promise.all([
  providerKey('first'),
  providerKey('second'),
  providerKey('elliptic', 'ES256'),
]);
const provider = await startIdentityProvider();
afterAll(() => provider.close());

const INVALID_SIGNATURE = { problem: 'rejected', reason: 'The signature of the token is invalid.' };
const UNKNOWN_KEY = {
  problem: 'rejected',
  reason: 'The token is signed with a key that its issuer does not publish.',
};

function setUp(issuers: readonly string[] = [provider.issuer]) {
  const effects = testEffects();
  const problems: string[] = [];
  const { verify } = httpOidc(effects, {
    issuers,
    reportProblem: (problem) => problems.push(problem),
  });
  const claims = () => {
    const seconds = effects.now() / 1000;
    const user = { iss: provider.issuer, aud: 'app-1', sub: 'user-1', email: 'ada@example.com' };
    return { ...user, iat: seconds, exp: seconds + 300 };
  };
  return {
    effects,
    problems,
    claims,
    verify: (text: string) => verify(text, effects.now()),
    /** The verification result for a token signed by this key. */
    verifyToken: async (key: ProviderKey, overrides: object = {}, header: object = {}) =>
      verify(await signToken(key, { ...claims(), ...overrides }, header), effects.now()),
    advance: (ms: number) => effects.set(effects.now() + ms),
  };
}

beforeEach(() => {
  provider.restore();
  provider.show(firstProviderKey, ellipticProviderKey);
  provider.takeRequests();
});

describe('accepted tokens', () => {
  it.each([
    ['RSA', firstProviderKey],
    ['an elliptic curve', ellipticProviderKey],
  ])('include a token signed with %s', async (_description, key) => {
    const { verifyToken } = setUp();
    expect(await verifyToken(key, { nonce: 'n' })).toEqual({
      identity: {
        ...{ issuer: provider.issuer, audience: 'app-1', subject: 'user-1' },
        ...{ email: 'ada@example.com', nonce: 'n' },
      },
    });
  });

  it('may have the type JWT in any letter case', async () => {
    const { verifyToken } = setUp();
    for (const typ of ['JWT', 'jwt']) {
      expect(await verifyToken(firstProviderKey, {}, { typ })).toHaveProperty('identity');
    }
  });

  it('include a token of a provider whose URL ends with a path and a slash', async () => {
    const issuer = `${provider.issuer}/users/`;
    provider.spoil(`/users${DISCOVERY}`, { issuer, jwks_uri: `${provider.issuer}/keys` });
    const { verifyToken } = setUp([issuer]);
    expect(await verifyToken(firstProviderKey, { iss: issuer })).toMatchObject({
      identity: { issuer },
    });
    expect(await verifyToken(firstProviderKey, { iss: `${provider.issuer}/users` })).toMatchObject({
      problem: 'malformed',
    });
  });
});

describe('rejected tokens', () => {
  it('include a token that was changed, or signed with another key', async () => {
    const { verifyToken, verify, claims } = setUp();
    const [header, , signature] = (await signToken(firstProviderKey, claims())).split('.');
    const otherClaims = segment({ ...claims(), sub: 'user-2' });
    expect(await verify(`${header}.${otherClaims}.${signature}`)).toEqual(INVALID_SIGNATURE);
    const otherKey = { ...secondProviderKey, jwk: { ...secondProviderKey.jwk, kid: 'first' } };
    expect(await verifyToken(otherKey)).toEqual(INVALID_SIGNATURE);
    expect(await verify(`${header}.${segment(claims())}.`)).toMatchObject({ problem: 'rejected' });
    expect(await verify(`${header}.${segment(claims())}.sandbox`)).toEqual(INVALID_SIGNATURE);
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
    const { verifyToken } = setUp();
    expect(await verifyToken(ellipticProviderKey, {}, { kid: 'first' })).toEqual(UNKNOWN_KEY);
    const { kid: _, ...publicKey } = secondProviderKey.jwk;
    expect(await verifyToken(secondProviderKey, {}, { kid: 'first', jwk: publicKey })).toEqual(
      INVALID_SIGNATURE,
    );
    expect(await verifyToken(secondProviderKey, {}, { jku: 'https://evil.example/keys' })).toEqual(
      UNKNOWN_KEY,
    );
  });

  it('include a token of another type, or with an unsupported critical header', async () => {
    const { verifyToken, verify, claims } = setUp();
    for (const typ of ['at+jwt', 'logout+jwt', '', 1]) {
      const text = `${segment({ alg: 'RS256', kid: 'first', typ })}.${segment(claims())}.x`;
      const reason = 'The typ of the token must be JWT.';
      expect(await verify(text)).toEqual({ problem: 'rejected', reason });
    }
    const reason = 'The crit of the token is not supported.';
    expect(await verifyToken(firstProviderKey, {}, { crit: ['b64'], b64: true })).toEqual({
      problem: 'rejected',
      reason,
    });
  });

  it('include a token without a key ID if there are several keys', async () => {
    const { verifyToken } = setUp();
    provider.show(firstProviderKey, secondProviderKey);
    expect(await verifyToken(firstProviderKey, {}, { kid: undefined })).toEqual(INVALID_SIGNATURE);
  });

  it('include an old token and a token of an unsupported issuer, without a request', async () => {
    const { verifyToken, effects } = setUp();
    expect(await verifyToken(firstProviderKey, { iat: effects.now() / 1000 - 61 })).toEqual({
      problem: 'rejected',
      reason: 'The token is too old, because its iat is over 60 s ago.',
    });
    expect(await verifyToken(firstProviderKey, { iss: 'https://id.example.com' })).toEqual({
      problem: 'malformed',
      reason: 'is from an unsupported issuer',
    });
    expect(provider.takeRequests()).toEqual([]);
  });
});

describe('the keys of a provider', () => {
  it('are cached for five minutes', async () => {
    const { verifyToken, advance } = setUp();
    await verifyToken(firstProviderKey);
    expect(provider.takeRequests()).toEqual(KEY_REQUESTS);
    advance(5 * 60_000 - 1);
    expect(await verifyToken(firstProviderKey)).toHaveProperty('identity');
    expect(provider.takeRequests()).toEqual([]);
    // A key that the provider has removed is accepted for at most five minutes.
    provider.show(secondProviderKey);
    advance(1);
    expect(await verifyToken(firstProviderKey)).toEqual(UNKNOWN_KEY);
    expect(provider.takeRequests()).toEqual(KEY_REQUESTS);
  });

  it('are fetched once for concurrent requests', async () => {
    const { verifyToken } = setUp();
    const verdicts = await Promise.all([1, 2, 3, 4].map(() => verifyToken(firstProviderKey)));
    for (const verdict of verdicts) expect(verdict).toHaveProperty('identity');
    expect(provider.takeRequests()).toEqual(KEY_REQUESTS);
  });

  it('are fetched again for an unknown key, at a limited rate', async () => {
    const { verifyToken, advance } = setUp();
    await verifyToken(firstProviderKey);
    provider.show(firstProviderKey, secondProviderKey);
    advance(30_000);
    provider.takeRequests();
    expect(await verifyToken(secondProviderKey)).toHaveProperty('identity');
    expect(provider.takeRequests()).toEqual(KEY_REQUESTS);
    const unknownKeyResult = (kid: string) => verifyToken(secondProviderKey, {}, { kid });
    for (const kid of ['a', 'b', 'c']) expect(await unknownKeyResult(kid)).toEqual(UNKNOWN_KEY);
    expect(provider.takeRequests()).toEqual([]);
    advance(29_999);
    expect(await unknownKeyResult('d')).toEqual(UNKNOWN_KEY);
    expect(provider.takeRequests()).toEqual([]);
    advance(1);
    expect(await Promise.all([unknownKeyResult('e'), unknownKeyResult('f')])).toEqual([
      UNKNOWN_KEY,
      UNKNOWN_KEY,
    ]);
    expect(provider.takeRequests()).toEqual(KEY_REQUESTS);
  });

  it('verify tokens of this provider only', async () => {
    const otherProvider = await startIdentityProvider([secondProviderKey]);
    const { verifyToken } = setUp([provider.issuer, otherProvider.issuer]);
    expect(await verifyToken(secondProviderKey, { iss: otherProvider.issuer })).toHaveProperty(
      'identity',
    );
    expect(await verifyToken(secondProviderKey)).toEqual(UNKNOWN_KEY);
    await otherProvider.close();
  });
});

describe('an unavailable provider', () => {
  const otherIssuerDocument = () => ({
    issuer: 'https://id.example.com',
    jwks_uri: `${provider.issuer}/keys`,
  });
  const documentWithKeysAt = (jwks_uri: unknown) => ({ issuer: provider.issuer, jwks_uri });

  it.each([
    ['returns a document of another issuer', DISCOVERY, otherIssuerDocument],
    [
      'returns a document without an issuer',
      DISCOVERY,
      () => ({ jwks_uri: `${provider.issuer}/keys` }),
    ],
    ['returns a document without a URL of keys', DISCOVERY, () => documentWithKeysAt(undefined)],
    [
      'returns an http URL of keys on another host',
      DISCOVERY,
      () => documentWithKeysAt('http://id.example.com/keys'),
    ],
    ['returns a file URL of keys', DISCOVERY, () => documentWithKeysAt('file:///etc/passwd')],
    ['returns null as its document', DISCOVERY, () => (reply) => reply.end('null')],
    ['returns HTML as its document', DISCOVERY, () => (reply) => reply.end('<html>')],
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
      const { verifyToken, problems, advance } = setUp();
      provider.spoil(path, response());
      provider.spoil('/more', { keys: [firstProviderKey.jwk] });
      await expect(verifyToken(firstProviderKey)).rejects.toThrow('is unavailable');
      expect(problems).toEqual([
        `The identity provider ${provider.issuer} does not return its keys.`,
      ]);
      expect(provider.takeRequests()).not.toContain('/more');
      // The provider is called again only after a pause.
      provider.restore();
      await expect(verifyToken(firstProviderKey)).rejects.toThrow('less than 5 s ago');
      expect(provider.takeRequests()).toEqual([]);
      advance(5_000);
      expect(await verifyToken(firstProviderKey)).toHaveProperty('identity');
    },
  );

  it('causes an error at the timeout if it does not respond', async () => {
    const { verifyToken } = setUp();
    provider.spoil('/keys', () => {});
    await expect(verifyToken(firstProviderKey)).rejects.toThrow('is unavailable');
  }, 10_000);

  it('causes an error immediately for an unknown key, and after five minutes for a cached one', async () => {
    const closedProvider = await startIdentityProvider([firstProviderKey]);
    const { verifyToken, advance } = setUp([closedProvider.issuer]);
    const ownClaims = { iss: closedProvider.issuer };
    expect(await verifyToken(firstProviderKey, ownClaims)).toHaveProperty('identity');
    await closedProvider.close();
    advance(60_000);
    expect(await verifyToken(firstProviderKey, ownClaims)).toHaveProperty('identity');
    await expect(verifyToken(secondProviderKey, ownClaims)).rejects.toThrow('is unavailable');
    expect(await verifyToken(firstProviderKey, ownClaims)).toHaveProperty('identity');
    advance(240_000);
    await expect(verifyToken(firstProviderKey, ownClaims)).rejects.toThrow('is unavailable');
  });
});
