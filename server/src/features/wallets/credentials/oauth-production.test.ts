// Identities in production, with a local identity provider. Signatures are verified, and sandbox tokens are
// rejected. An unavailable provider does not count as a failure.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  type IdentityProvider,
  nonceOf,
  type ProviderKey,
  providerKey,
  signToken,
  startIdentityProvider,
} from '../../../../test/kit/http/identity-provider.ts';
import {
  generateKeys,
  openSessionKey,
  type WalletFixture,
  walletFixture,
} from '../../../../test/kit/wallets/embedded-wallets.ts';

const MINUTE = 60_000;

let fixture: WalletFixture;
let provider: IdentityProvider;
let key: ProviderKey;
beforeAll(async () => {
  [key, provider] = await Promise.all([providerKey('one'), startIdentityProvider()]);
});
afterAll(() => provider.close());
const app = testApp(() => ({ connectors: { oidcIssuers: [provider.issuer] } }));
beforeAll(async () => {
  fixture = walletFixture(app, { platform: app.production });
});
beforeEach(() => {
  provider.restore();
  provider.show(key);
  // Discards all cached keys of the provider.
  app.effects.set(app.effects.now() + 10 * MINUTE);
});

let userCount = 0;
const createClaims = () => ({ iss: provider.issuer, aud: 'shop', sub: `user-${++userCount}` });
const signTokenBy = (signer: ProviderKey, claims: object, header?: object) => {
  const seconds = app.effects.now() / 1000;
  return signToken(signer, { iat: seconds, exp: seconds + 300, ...claims }, header);
};

async function createCredential(accountId: string, claims: object, signer = key) {
  const body = { type: 'OAUTH', accountId, oidcToken: await signTokenBy(signer, claims) };
  return { body, response: await fixture.call('POST', '/auth/credentials', body) };
}

async function createWalletOfIdentity() {
  const claims = createClaims();
  const { accountId } = await fixture.createWalletCustomer({ email: undefined });
  const { response } = await createCredential(accountId, claims);
  return { accountId, claims, id: ok(response, 201).id as string };
}

async function prove(id: string, claims: object, clientPublicKey: string, signer = key) {
  const oidcToken = await signTokenBy(signer, { nonce: nonceOf(clientPublicKey), ...claims });
  const body = { type: 'OAUTH', oidcToken, clientPublicKey };
  return fixture.call('POST', `/auth/credentials/${id}/verify`, body);
}

describe('an identity in production', () => {
  it('opens sessions that sign for the wallet', async () => {
    const { accountId, claims, id } = await createWalletOfIdentity();
    const client = generateKeys();
    const session = ok(await prove(id, claims, client.uncompressedKey), 200);
    const openedKeys = openSessionKey(session.encryptedSessionSigningKey, client.privateKey);
    const { body, response } = await createCredential(accountId, createClaims());
    expect(JSON.parse(ok(response, 202).payloadToSign).parameters.oauthProviders).toEqual([
      { oidcToken: body.oidcToken, providerName: new URL(provider.issuer).host },
    ]);
    ok(await fixture.callSigned('POST', '/auth/credentials', body, openedKeys), 201);
    expect(await fixture.credentialsOf(accountId)).toHaveLength(2);
  });

  it('is verified with the current keys of the provider', async () => {
    const { claims, id } = await createWalletOfIdentity();
    const nextKey = await providerKey('two', 'ES256');
    const NO_KEY = 'The token is signed with a key that its issuer does not publish.';
    const unpublishedKeyResponse = await prove(id, claims, generateKeys().publicKey, nextKey);
    expect([unpublishedKeyResponse.status, unpublishedKeyResponse.body.reason]).toEqual([
      401,
      NO_KEY,
    ]);
    provider.show(nextKey);
    app.effects.set(app.effects.now() + MINUTE);
    ok(await prove(id, claims, generateKeys().publicKey, nextKey), 200);
    const oldKeyResponse = await prove(id, claims, generateKeys().publicKey);
    expect([oldKeyResponse.status, oldKeyResponse.body.code, oldKeyResponse.body.reason]).toEqual([
      401,
      'UNAUTHORIZED',
      NO_KEY,
    ]);
  });

  it('must contain the nonce of the session key', async () => {
    const { claims, id } = await createWalletOfIdentity();
    const response = await prove(id, { ...claims, nonce: 'x' }, generateKeys().publicKey);
    const reason = 'The nonce of the token is not the SHA-256 of clientPublicKey in hex.';
    expect([response.status, response.body.reason]).toEqual([401, reason]);
  });
});

describe('a token in production', () => {
  it('is rejected with the sandbox signature', async () => {
    const { accountId, claims, id } = await createWalletOfIdentity();
    const client = generateKeys().publicKey;
    const validToken = await signTokenBy(key, { ...claims, nonce: nonceOf(client) });
    const oidcToken = validToken.replace(/[^.]+$/, 'dummy');
    const reason = 'The signature of the token is invalid.';
    const verifyBody = { type: 'OAUTH', oidcToken, clientPublicKey: client };
    for (const [path, body] of [
      ['/auth/credentials', { type: 'OAUTH', accountId, oidcToken }],
      [`/auth/credentials/${id}/verify`, verifyBody],
    ] as const) {
      const { status, body: reply } = await fixture.call('POST', path, body);
      expect([status, reply.code, reply.reason]).toEqual([401, 'UNAUTHORIZED', reason]);
    }
    // The rejected token does not affect a valid token.
    ok(await prove(id, claims, client), 200);
  });

  it('counts as a failed attempt if it is forged', async () => {
    const { claims, id } = await createWalletOfIdentity();
    const forgerKey = await providerKey('one');
    for (let attempt = 0; attempt < 10; attempt++) {
      expect((await prove(id, claims, generateKeys().publicKey, forgerKey)).status).toBe(401);
    }
    expect((await prove(id, claims, generateKeys().publicKey, forgerKey)).status).toBe(429);
    ok(await prove(id, claims, generateKeys().publicKey), 200);
  });

  it('cannot be verified while its provider does not respond, without counting a failure', async () => {
    const { accountId, claims, id } = await createWalletOfIdentity();
    app.effects.set(app.effects.now() + 10 * MINUTE);
    provider.spoil('/keys', (reply: { destroy(): void }) => reply.destroy());
    const UNAVAILABLE = [
      503,
      'SERVICE_UNAVAILABLE',
      'The identity provider does not respond. Retry later.',
    ];
    const { response } = await createCredential(accountId, createClaims());
    expect([response.status, response.body.code, response.body.reason]).toEqual(UNAVAILABLE);
    for (let attempt = 0; attempt < 12; attempt++) {
      const { status, body } = await prove(id, claims, generateKeys().publicKey);
      expect([status, body.code, body.reason]).toEqual(UNAVAILABLE);
    }
    expect(app.log.join('\n')).toContain(
      `The identity provider ${provider.issuer} does not return its keys.`,
    );
    provider.restore();
    app.effects.set(app.effects.now() + MINUTE);
    ok(await prove(id, claims, generateKeys().publicKey), 200);
  });

  it('of an unconfigured provider is rejected', async () => {
    const { accountId } = await fixture.createWalletCustomer({ email: undefined });
    const { response } = await createCredential(accountId, {
      ...createClaims(),
      iss: `${provider.issuer}/`,
    });
    expect([response.status, response.body.reason]).toEqual([
      400,
      'oidcToken: is from an unsupported issuer',
    ]);
  });
});
