// OIDC credentials in the sandbox, where the signature of a token is not verified: their addition,
// sessions, removal and rejections.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { nonceOf, segment } from '../../../../test/kit/http/identity-provider.ts';
import {
  generateKeys,
  type Keys,
  openSessionKey,
  signedHeaders,
  walletFixture,
} from '../../../../test/kit/wallets/embedded-wallets.ts';

const MINUTE = 60_000;

const app = testApp();
const fixture = walletFixture(app);

const nowInSeconds = () => app.effects.now() / 1000;
let userCount = 0;

/** Claims of a new user. */
const createClaims = (overrides: object = {}) => ({
  iss: 'https://accounts.google.com',
  aud: 'app-1.example.com',
  sub: `user-${++userCount}`,
  email: `user-${userCount}@example.com`,
  ...overrides,
});

const tokenOf = (claims: object) => {
  const validTimes = { iat: nowInSeconds() - 1, exp: nowInSeconds() + 300 };
  return `${segment({ alg: 'RS256', typ: 'JWT' })}.${segment({ ...validTimes, ...claims })}.dummy`;
};

const credentialBody = (accountId: string, claims: object) => ({
  type: 'OAUTH',
  accountId,
  oidcToken: tokenOf(claims),
});
const create = (accountId: string, claims: object) =>
  fixture.call('POST', '/auth/credentials', credentialBody(accountId, claims));

/** A wallet whose owner has no e-mail address, so that the identity is its first credential. */
async function createWalletOfIdentity(claims: object = createClaims()) {
  const { accountId } = await fixture.createWalletCustomer({ email: undefined });
  const credential = ok(await create(accountId, claims), 201);
  return { accountId, claims, credential, id: credential.id as string };
}

function prove(id: string, claims: object, key: string, headers?: Record<string, string>) {
  const oidcToken = tokenOf({ nonce: nonceOf(key), ...claims });
  const body = { type: 'OAUTH', oidcToken, clientPublicKey: key };
  return fixture.call('POST', `/auth/credentials/${id}/verify`, body, headers);
}

/** Expects exactly this status, code and reason. */
function expectRejection({ status, body }: ApiResponse, ...expected: [number, string, string]) {
  expect([status, body.code, body.reason]).toEqual(expected);
}

describe('createAuthCredential', () => {
  describe('adding an identity', () => {
    it('requires the signature of a session and returns the identity', async () => {
      const { accountId } = await fixture.createWalletCustomer();
      const session = await fixture.openEmailSession(accountId);
      const claims = createClaims();
      const body = credentialBody(accountId, claims);
      const firstResponse = await fixture.call('POST', '/auth/credentials', body);
      expect(ok(firstResponse, 202).type).toBe('OAUTH');
      const { type, parameters } = JSON.parse(firstResponse.body.payloadToSign);
      expect(type).toBe('ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS');
      expect(parameters).toEqual({
        oauthProviders: [{ oidcToken: body.oidcToken, providerName: 'Google' }],
        requestId: firstResponse.body.requestId,
        userId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      // Signing may take longer than the validity of the token.
      app.effects.set(app.effects.now() + 4 * MINUTE);
      const headers = await signedHeaders(firstResponse.body, session);
      const addedCredential = ok(
        await fixture.call('POST', '/auth/credentials', body, headers),
        201,
      );
      expect(addedCredential).toEqual({
        id: expect.stringMatching(/^AuthMethod:/),
        accountId,
        type: 'OAUTH',
        nickname: claims.email,
        createdAt: new Date(app.effects.now()).toISOString(),
        updatedAt: new Date(app.effects.now()).toISOString(),
      });
      const listedCredentials = await fixture.credentialsOf(accountId);
      expect(listedCredentials.map((each) => each.type)).toEqual(['EMAIL_OTP', 'OAUTH']);
      expect(listedCredentials[1]).toEqual(addedCredential);
      const keys = generateKeys();
      ok(await prove(addedCredential.id, claims, keys.publicKey), 200);
    });

    it('succeeds immediately for the first credential, named by its subject', async () => {
      const claims = createClaims({ email: undefined, iss: 'https://appleid.apple.com' });
      const { credential } = await createWalletOfIdentity(claims);
      expect(credential).toMatchObject({ type: 'OAUTH', nickname: claims.sub });
    });

    it('succeeds once per identity and wallet, for every spelling of the issuer', async () => {
      const { accountId, claims } = await createWalletOfIdentity();
      const CONFLICT = [409, 'CONFLICT', 'The wallet already has this credential.'] as const;
      expectRejection(await create(accountId, claims), ...CONFLICT);
      expectRejection(
        await create(accountId, { ...claims, iss: 'accounts.google.com' }),
        ...CONFLICT,
      );
      expectRejection(
        await create(accountId, { ...claims, aud: ['app-1.example.com'] }),
        ...CONFLICT,
      );
      // Another audience, user or provider is a different identity.
      for (const otherClaims of [
        { aud: 'app-2' },
        { sub: 'x' },
        { iss: 'https://appleid.apple.com' },
      ]) {
        ok(await create(accountId, { ...claims, ...otherClaims }), 202);
      }
      // Several wallets can have the same identity.
      await createWalletOfIdentity(claims);
    });

    it('requested twice for one identity succeeds once', async () => {
      const { accountId } = await fixture.createWalletCustomer();
      const session = await fixture.openEmailSession(accountId);
      const body = credentialBody(accountId, createClaims());
      const pendingRequests = [1, 2].map(() => fixture.call('POST', '/auth/credentials', body));
      const challenges = (await Promise.all(pendingRequests)).map((each) => ok(each, 202));
      const headers = await Promise.all(
        challenges.map((requestedChallenge) => signedHeaders(requestedChallenge, session)),
      );
      const responses = await Promise.all(
        headers.map((each) => fixture.call('POST', '/auth/credentials', body, each)),
      );
      expect(responses.map(({ status }) => status).sort()).toEqual([201, 409]);
      const conflict = responses.find(({ status }) => status === 409) as ApiResponse;
      expectRejection(conflict, 409, 'CONFLICT', 'The wallet already has this credential.');
      expect(await fixture.credentialsOf(accountId)).toHaveLength(2);
    });

    it('requested twice concurrently for the first identity succeeds once', async () => {
      const { accountId } = await fixture.createWalletCustomer({ email: undefined });
      const claims = createClaims();
      const responses = await Promise.all([1, 2].map(() => create(accountId, claims)));
      expect(responses.map(({ status }) => status).sort()).toEqual([201, 409]);
      expect(await fixture.credentialsOf(accountId)).toHaveLength(1);
    });

    const tokenRejection = (reason: string) =>
      [400, 'INVALID_INPUT', `oidcToken: ${reason}`] as const;
    const unauthorizedError = (reason: string) => [401, 'UNAUTHORIZED', reason] as const;
    it.each([
      [
        'another provider',
        { iss: 'https://id.example.com' },
        tokenRejection('is from an unsupported issuer'),
      ],
      [
        'two audiences',
        { aud: ['a', 'b'] },
        unauthorizedError('The aud of the token must be a single audience.'),
      ],
      [
        'no subject',
        { sub: '' },
        unauthorizedError('The sub of the token must have 1 to 255 characters.'),
      ],
      [
        'an iat 61 s ago',
        { iat: () => nowInSeconds() - 61 },
        unauthorizedError('The token is too old, because its iat is over 60 s ago.'),
      ],
      [
        'an issue time in the future',
        { iat: () => nowInSeconds() + 6 },
        unauthorizedError('The iat of the token is in the future.'),
      ],
      [
        'an expiry in the past',
        { exp: () => nowInSeconds() },
        unauthorizedError('The token has expired.'),
      ],
      [
        'no expiry',
        { exp: () => null },
        unauthorizedError('The exp of the token is not a number.'),
      ],
    ])('is rejected for a token with %s', async (_description, input, expectedRejection) => {
      const claims = Object.fromEntries(
        Object.entries(input).map(([name, each]) => [
          name,
          each instanceof Function ? each() : each,
        ]),
      );
      const { accountId } = await fixture.createWalletCustomer();
      const [status, code, reason] = expectedRejection;
      expectRejection(await create(accountId, createClaims(claims)), status, code, reason);
    });

    it.each(['sandbox-valid-oidc-token', 'a.b', 'a.b.c', ''])(
      'is rejected for the text "%s"',
      async (oidcToken) => {
        const { accountId } = await fixture.createWalletCustomer();
        const response = await fixture.call('POST', '/auth/credentials', {
          ...credentialBody(accountId, createClaims()),
          oidcToken,
        });
        expectRejection(response, ...tokenRejection('is not a JSON Web Token'));
        expect(response.body.details.errors[0].field).toBe('oidcToken');
        expect(await fixture.credentialsOf(accountId)).toHaveLength(1);
      },
    );
  });
});

describe('verifyAuthCredential', () => {
  describe('a session of an identity', () => {
    /**
     * Expects that the key can sign for the wallet. The key signs the addition of another identity.
     */
    async function expectKeySigns(accountId: string, key: Keys | { privateKey: string }) {
      const body = credentialBody(accountId, createClaims());
      ok(await fixture.callSigned('POST', '/auth/credentials', body, key), 201);
    }

    it('has its own key, sealed to an uncompressed key of the client', async () => {
      const { accountId, id, claims, credential } = await createWalletOfIdentity();
      const client = generateKeys();
      const session = ok(await prove(id, claims, client.uncompressedKey), 200);
      expect(session).toEqual({
        ...credential,
        id: expect.stringMatching(/^Session:/),
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
        expiresAt: new Date(app.effects.now() + 15 * MINUTE).toISOString(),
        encryptedSessionSigningKey: expect.any(String),
      });
      const openedKeys = openSessionKey(session.encryptedSessionSigningKey, client.privateKey);
      expect(openedKeys.publicKey).not.toBe(client.publicKey);
      await expectKeySigns(accountId, openedKeys);
      expect(JSON.stringify(await fixture.sessionsOf(accountId))).not.toContain('SigningKey');
    });

    it('uses a compressed key of the client, in upper or lower case', async () => {
      const { accountId, id, claims } = await createWalletOfIdentity();
      const client = generateKeys();
      const session = ok(await prove(id, claims, client.publicKey.toUpperCase()), 200);
      expect(session).not.toHaveProperty('encryptedSessionSigningKey');
      await expectKeySigns(accountId, client);
    });

    it('is opened in one request, which ignores signature headers', async () => {
      const { id, claims } = await createWalletOfIdentity();
      const headers: Record<string, string>[] = [
        { 'request-id': 'Request:nonsense' },
        { 'service-wallet-signature': 'nonsense' },
      ];
      for (const each of headers) {
        ok(await prove(id, claims, generateKeys().publicKey, each), 200);
      }
    });

    const key = generateKeys().publicKey;
    const mismatchReason = (claim: string) =>
      `The ${claim} of the token differs from the registered value.`;
    const NONCE_REASON = 'The nonce of the token is not the SHA-256 of clientPublicKey in hex.';
    const TOKEN_TOO_OLD = 'The token is too old, because its iat is over 60 s ago.';
    it.each([
      ['another user', { sub: 'another-user' }, mismatchReason('sub')],
      ['another app', { aud: 'app-2' }, mismatchReason('aud')],
      ['another provider', { iss: 'https://appleid.apple.com' }, mismatchReason('iss')],
      ['no nonce', { nonce: undefined }, NONCE_REASON],
      ['the key itself as nonce', { nonce: key }, NONCE_REASON],
      ['the nonce of another key', { nonce: nonceOf(generateKeys().publicKey) }, NONCE_REASON],
      [
        'the nonce of the same key in upper case',
        { nonce: nonceOf(key.toUpperCase()) },
        NONCE_REASON,
      ],
      [
        "the nonce of the key's bytes",
        { nonce: createHash('sha256').update(Buffer.from(key, 'hex')).digest('hex') },
        NONCE_REASON,
      ],
      ['an iat 61 s ago', { iat: () => nowInSeconds() - 61 }, TOKEN_TOO_OLD],
      [
        'an issue time in the future',
        { iat: () => nowInSeconds() + 6 },
        'The iat of the token is in the future.',
      ],
      ['an expiry in the past', { exp: () => nowInSeconds() }, 'The token has expired.'],
    ])('is rejected for a token with %s', async (_description, input, reason) => {
      const changedClaims = Object.fromEntries(
        Object.entries(input).map(([name, each]) => [
          name,
          each instanceof Function ? each() : each,
        ]),
      );
      const { accountId, id, claims } = await createWalletOfIdentity();
      expectRejection(
        await prove(id, { ...claims, ...changedClaims }, key),
        401,
        'UNAUTHORIZED',
        reason,
      );
      expect(await fixture.sessionsOf(accountId)).toEqual([]);
      ok(await prove(id, claims, key), 200);
    });

    it('is rejected for a malformed request, without counting a failure', async () => {
      const { id, claims } = await createWalletOfIdentity();
      const offCurve = `02${'f'.repeat(64)}`;
      const OFF_CURVE_MESSAGE = 'clientPublicKey: must be a point of P-256';
      expectRejection(await prove(id, claims, offCurve), 400, 'INVALID_INPUT', OFF_CURVE_MESSAGE);
      const path = `/auth/credentials/${id}/verify`;
      const body = { type: 'OAUTH', oidcToken: 'sandbox-valid-oidc-token', clientPublicKey: key };
      for (let attempt = 0; attempt < 12; attempt++) {
        const response = await fixture.call('POST', path, body);
        expectRejection(response, 400, 'INVALID_INPUT', 'oidcToken: is not a JSON Web Token');
      }
      const otherType = { type: 'EMAIL_OTP', encryptedOtpBundle: '{}' };
      expect((await fixture.call('POST', path, otherType)).status).toBe(400);
      expect(
        (await fixture.call('POST', path, { ...body, clientPublicKey: undefined })).status,
      ).toBe(400);
      ok(await prove(id, claims, key), 200);
    });

    it('is opened once per token, even after it was revoked', async () => {
      const { accountId, id, claims } = await createWalletOfIdentity();
      const client = generateKeys();
      const oidcToken = tokenOf({ ...claims, nonce: nonceOf(client.publicKey) });
      const body = { type: 'OAUTH', oidcToken, clientPublicKey: client.publicKey };
      const path = `/auth/credentials/${id}/verify`;
      const responses = await Promise.all([1, 2].map(() => fixture.call('POST', path, body)));
      const [openedStatus, rejectedStatus] = responses.map(({ status }) => status).sort();
      // The second request finds either the used key or the used token, depending on timing.
      expect([openedStatus, [400, 401].includes(rejectedStatus as number)]).toEqual([200, true]);
      const USED_KEY_MESSAGE = 'clientPublicKey: already belongs to a session of the wallet';
      expectRejection(
        await fixture.call('POST', path, body),
        400,
        'INVALID_INPUT',
        USED_KEY_MESSAGE,
      );
      const [session] = await fixture.sessionsOf(accountId);
      ok(
        await fixture.callSigned('DELETE', `/auth/sessions/${session.id}`, undefined, client),
        204,
      );
      const USED_TOKEN_MESSAGE =
        'A token for this key was already used. Obtain a token for a new key.';
      expectRejection(
        await fixture.call('POST', path, body),
        401,
        'UNAUTHORIZED',
        USED_TOKEN_MESSAGE,
      );
      expect(await fixture.sessionsOf(accountId)).toEqual([]);
      app.effects.set(app.effects.now() + 2 * MINUTE);
      ok(await prove(id, claims, client.publicKey), 200);
    });

    it('is limited to ten failures per hour, without locking out valid tokens', async () => {
      const { id, claims } = await createWalletOfIdentity();
      const proveWrongSubject = () => prove(id, { ...claims, sub: 'x' }, generateKeys().publicKey);
      for (let attempt = 0; attempt < 10; attempt++) {
        expect((await proveWrongSubject()).status).toBe(401);
        app.effects.set(app.effects.now() + MINUTE);
      }
      const limitedResponse = await proveWrongSubject();
      expect(limitedResponse.status).toBe(429);
      expect(limitedResponse.body.code).toBe('RATE_LIMITED');
      expect(limitedResponse.headers['retry-after']).toBe(String(50 * 60));
      ok(await prove(id, claims, generateKeys().publicKey), 200);
      app.effects.set(app.effects.now() + 50 * MINUTE);
      expect((await proveWrongSubject()).status).toBe(401);
      expect((await proveWrongSubject()).status).toBe(429);
    });

    it('is limited to ten failures even for concurrent requests', async () => {
      const { id, claims } = await createWalletOfIdentity();
      const proveWrongSubject = () => prove(id, { ...claims, sub: 'x' }, generateKeys().publicKey);
      const responses = await Promise.all(Array.from({ length: 14 }, proveWrongSubject));
      const statuses = responses.map(({ status }) => status).sort();
      expect(statuses).toEqual([...Array(10).fill(401), ...Array(4).fill(429)]);
    });

    it('cannot be requested with a challenge or by another platform', async () => {
      const { id, claims } = await createWalletOfIdentity();
      const challengeResponse = await fixture.call('POST', `/auth/credentials/${id}/challenge`, {});
      expect([challengeResponse.status, challengeResponse.body.code]).toEqual([
        400,
        'INVALID_INPUT',
      ]);
      const body = {
        type: 'OAUTH',
        oidcToken: tokenOf({ ...claims, nonce: nonceOf(key) }),
        clientPublicKey: key,
      };
      const path = `/auth/credentials/${id}/verify`;
      const response = await app.call('POST', path, body, { platform: app.other });
      expect([response.status, response.body.code]).toEqual([404, 'AUTH_METHOD_NOT_FOUND']);
    });
  });
});

describe('revokeAuthCredential', () => {
  describe('removing an identity', () => {
    it('requires the signature of another session, and the identity can be added again', async () => {
      const { accountId } = await fixture.createWalletCustomer();
      const emailSession = await fixture.openEmailSession(accountId);
      const claims = createClaims();
      const body = credentialBody(accountId, claims);
      const { id } = ok(
        await fixture.callSigned('POST', '/auth/credentials', body, emailSession),
        201,
      );
      const client = generateKeys();
      ok(await prove(id, claims, client.publicKey), 200);
      const path = `/auth/credentials/${id}`;
      const ownSessionResponse = await fixture.callSigned('DELETE', path, undefined, client);
      expect(ownSessionResponse.status).toBe(401);
      const { first, second } = await fixture.signedRetry('DELETE', path, undefined, emailSession);
      ok(second, 204);
      const { type, parameters } = JSON.parse(first.body.payloadToSign);
      expect(type).toBe('ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS');
      expect(parameters).toEqual({
        providerIds: [id],
        requestId: first.body.requestId,
        userId: expect.any(String),
      });
      expect(await fixture.sessionsOf(accountId)).toHaveLength(1);
      const deletedResponse = await prove(id, claims, generateKeys().publicKey);
      expect([deletedResponse.status, deletedResponse.body.code]).toEqual([
        404,
        'AUTH_METHOD_NOT_FOUND',
      ]);
      ok(
        await fixture.callSigned(
          'POST',
          '/auth/credentials',
          credentialBody(accountId, claims),
          emailSession,
        ),
        201,
      );
    });
  });
});

it('the server stores identities only encrypted', async () => {
  const claims = createClaims({ sub: 'SUBJECT-IN-CLEAR', email: 'clear@secret.example' });
  const { accountId, id } = await createWalletOfIdentity(claims);
  ok(await prove(id, claims, generateKeys().publicKey), 200);
  const requestBody = credentialBody(accountId, createClaims({ sub: 'OTHER-IN-CLEAR' }));
  ok(await fixture.call('POST', '/auth/credentials', requestBody), 202);
  const token = requestBody.oidcToken.split('.')[1] as string;
  for (const table of [
    'credentials',
    'wallet_sessions',
    'wallet_requests',
    'attempt_limits',
    'events',
  ]) {
    const rows = await app.runtime.db.query<{ row: string }>(
      `select t::text as row from ${table} t`,
    );
    const text = rows.map(({ row }) => row).join('\n');
    expect(text).not.toMatch(/IN-CLEAR|clear@secret|app-1\.example/);
    expect(text).not.toContain(token);
  }
  expect(app.log.join('\n')).not.toMatch(/IN-CLEAR|clear@secret|eyJ/);
});
