// Wallet sessions: concurrent sessions, expiry, refresh and revocation.
import { beforeAll, describe, expect, it } from 'vitest';
import { findInternalAccount, ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  generateKeys,
  NO_ACTIVE_SESSION,
  openSessionKey,
  otherSessionMustSign,
  signedHeaders,
  type WalletFixture,
  walletFixture,
} from '../../../../test/kit/wallets/embedded-wallets.ts';
import { errorOf } from '../../../../test/kit/wallets/one-time-codes.ts';

const unauthorized = (reason: string) => [401, 'UNAUTHORIZED', `The Request-Id ${reason}`];
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const UNKNOWN_UUID = '00000000-0000-7000-8000-000000000000';

const app = testApp();
let fixture: WalletFixture;
let otherPlatformFixture: WalletFixture;
beforeAll(async () => {
  fixture = walletFixture(app);
  otherPlatformFixture = walletFixture(app, { platform: app.other });
});

const SESSION_NOT_FOUND = [404, 'SESSION_NOT_FOUND', 'Session not found.'];
const SESSION_ENDED = [
  401,
  'UNAUTHORIZED',
  'The session has expired or was revoked. Verify a credential to open another session.',
];
/** A wallet with this number of sessions. */
async function createWalletWithSessions(count: number, ownFixture = fixture) {
  const wallet = await ownFixture.createWalletCustomer();
  const sessions = [];
  for (let sessionNumber = 0; sessionNumber < count; sessionNumber++)
    sessions.push(await ownFixture.openEmailSession(wallet.accountId));
  return { ...wallet, sessions, ids: sessions.map(({ session }) => session.id as string) };
}

const idsOf = async (accountId: string) =>
  (await fixture.sessionsOf(accountId)).map(({ id }) => id as string);
const refreshOf = (id: string) => `/auth/sessions/${id}/refresh`;
const bodyOf = (clientPublicKey: string) => ({ clientPublicKey });

describe('listAuthSessions', () => {
  it('lists sessions that may sign now, oldest first, without keys', async () => {
    const { accountId, credential, sessions } = await createWalletWithSessions(1);
    const [session] = sessions;
    await app.advance(MINUTE);
    const keys = generateKeys();
    const nextResponse = await fixture.callSigned(
      'POST',
      refreshOf(session?.session.id),
      bodyOf(keys.uncompressedKey),
      session as (typeof sessions)[0],
    );
    const { encryptedSessionSigningKey, ...nextSession } = ok(nextResponse, 201);
    expect(encryptedSessionSigningKey).toBeTypeOf('string');
    expect(await fixture.sessionsOf(accountId)).toEqual([session?.session, nextSession]);
    expect(nextSession).toEqual({
      id: expect.stringMatching(/^Session:/),
      accountId,
      type: 'EMAIL_OTP',
      nickname: credential.nickname,
      createdAt: new Date(app.effects.now()).toISOString(),
      updatedAt: new Date(app.effects.now()).toISOString(),
      expiresAt: new Date(app.effects.now() + 15 * MINUTE).toISOString(),
    });
  });

  it('returns an empty list for accounts that are unknown, of another platform or no wallet', async () => {
    const { accountId, customer } = await createWalletWithSessions(1);
    const plainAccount = await findInternalAccount(app, customer.id, 'USD');
    for (const id of [`InternalAccount:${UNKNOWN_UUID}`, plainAccount.id]) {
      expect(await fixture.sessionsOf(id)).toEqual([]);
    }
    expect(await otherPlatformFixture.sessionsOf(accountId)).toEqual([]);
    expect(await fixture.sessionsOf(accountId)).toHaveLength(1);
  });

  it('requires the ID of an account', async () => {
    for (const query of [
      '',
      '?accountId=',
      '?accountId=x',
      `?accountId=Customer:${UNKNOWN_UUID}`,
    ]) {
      const response = await fixture.call('GET', `/auth/sessions${query}`);
      expect([query, response.status, response.body.code]).toEqual([query, 400, 'INVALID_INPUT']);
      expect(response.body.details.errors).toMatchObject([{ field: 'accountId' }]);
    }
  });

  it('excludes expired sessions to the millisecond', async () => {
    const { accountId } = await createWalletWithSessions(1);
    await app.advance(15 * MINUTE - 1);
    expect(await fixture.sessionsOf(accountId)).toHaveLength(1);
    await app.advance(1);
    expect(await fixture.sessionsOf(accountId)).toEqual([]);
  });
});

describe('refreshAuthSession', () => {
  it('requests a signature that names the new key, without a type', async () => {
    const { ids } = await createWalletWithSessions(1);
    const { publicKey } = generateKeys();
    const firstResponse = await fixture.call(
      'POST',
      refreshOf(ids[0] as string),
      bodyOf(publicKey),
    );
    expect(ok(firstResponse, 202)).toEqual({
      payloadToSign: expect.any(String),
      requestId: expect.stringMatching(/^Request:/),
      expiresAt: new Date(app.effects.now() + 5 * MINUTE).toISOString(),
    });
    expect(JSON.parse(firstResponse.body.payloadToSign)).toEqual({
      type: 'ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2',
      organizationId: expect.any(String),
      timestampMs: String(app.effects.now()),
      parameters: { targetPublicKey: publicKey, requestId: firstResponse.body.requestId },
    });
  });

  it('opens a session of the same credential with the submitted key', async () => {
    const { accountId, ids, sessions } = await createWalletWithSessions(1);
    const keys = generateKeys();
    const path = refreshOf(ids[0] as string);
    const { second } = await fixture.signedRetry(
      'POST',
      path,
      bodyOf(keys.publicKey),
      sessions[0] ?? '',
    );
    const nextSession = ok(second, 201);
    expect(nextSession).not.toHaveProperty('encryptedSessionSigningKey');
    expect(await idsOf(accountId)).toEqual([ids[0], nextSession.id]);
    const body = bodyOf(generateKeys().publicKey);
    ok(await fixture.callSigned('POST', refreshOf(nextSession.id), body, keys), 201);
    // The previous session remains valid until it expires, and signs with its own key.
    ok(
      await fixture.callSigned('POST', path, bodyOf(generateKeys().publicKey), sessions[0] ?? ''),
      201,
    );
  });

  it('seals a new key to a submitted uncompressed key', async () => {
    const { sessions, ids } = await createWalletWithSessions(1);
    const keys = generateKeys();
    const path = refreshOf(ids[0] as string);
    const nextSession = ok(
      await fixture.callSigned('POST', path, bodyOf(keys.uncompressedKey), sessions[0] ?? ''),
      201,
    );
    const ownSessionKey = openSessionKey(nextSession.encryptedSessionSigningKey, keys.privateKey);
    expect(ownSessionKey.publicKey).not.toBe(keys.publicKey);
    const refreshBody = () => bodyOf(generateKeys().publicKey);
    ok(
      await fixture.callSigned('POST', refreshOf(nextSession.id), refreshBody(), ownSessionKey),
      201,
    );
    const wrongResponse = await fixture.callSigned(
      'POST',
      refreshOf(nextSession.id),
      refreshBody(),
      keys,
    );
    expect(errorOf(wrongResponse)).toEqual(NO_ACTIVE_SESSION);
  });

  it('requires the second request to match the first', async () => {
    const { sessions, ids } = await createWalletWithSessions(2);
    const [firstId, secondId] = ids as [string, string];
    const [signer] = sessions as [(typeof sessions)[0]];
    const [body, otherBody] = [bodyOf(generateKeys().publicKey), bodyOf(generateKeys().publicKey)];
    const changedResponse = await fixture.signedRetry('POST', refreshOf(firstId), body, signer, {
      change: otherBody,
    });
    expect(errorOf(changedResponse.second).slice(0, 2)).toEqual([
      401,
      'WALLET_SIGNATURE_BODY_MISMATCH',
    ]);
    const headers = await signedHeaders(changedResponse.first.body, signer);
    const otherSessionResponse = await fixture.call('POST', refreshOf(secondId), body, headers);
    expect(errorOf(otherSessionResponse)).toEqual(unauthorized('belongs to another request.'));
    ok(await fixture.call('POST', refreshOf(firstId), body, headers), 201);
    const replayedResponse = await fixture.call('POST', refreshOf(firstId), body, headers);
    expect(errorOf(replayedResponse)).toEqual(
      unauthorized('was already used. Send the first request again to repeat the operation.'),
    );
  });

  it('must be signed by the session itself', async () => {
    const { sessions, ids } = await createWalletWithSessions(2);
    const otherWallet = await createWalletWithSessions(1);
    const body = bodyOf(generateKeys().publicKey);
    const refreshForError = async (
      signer: (typeof sessions)[0] | ReturnType<typeof generateKeys>,
    ) => errorOf(await fixture.callSigned('POST', refreshOf(ids[0] as string), body, signer));
    expect(await refreshForError(sessions[1] as (typeof sessions)[0])).toEqual(
      otherSessionMustSign('the session that is refreshed'),
    );
    for (const signer of [otherWallet.sessions[0] as (typeof sessions)[0], generateKeys()]) {
      expect(await refreshForError(signer)).toEqual(NO_ACTIVE_SESSION);
    }
    expect(await idsOf((sessions[0] as (typeof sessions)[0]).session.accountId)).toEqual(ids);
  });

  it('returns the same reply for an unknown session and a session of another platform', async () => {
    const foreignWallet = await createWalletWithSessions(1, otherPlatformFixture);
    const body = bodyOf(generateKeys().publicKey);
    for (const id of [
      `Session:${UNKNOWN_UUID}`,
      foreignWallet.ids[0] as string,
      'x',
      `Quote:${UNKNOWN_UUID}`,
    ]) {
      expect(errorOf(await fixture.call('POST', refreshOf(id), body))).toEqual(SESSION_NOT_FOUND);
    }
  });

  it('rejects an expired or revoked session on the unsigned and the signed request', async () => {
    const { sessions, ids } = await createWalletWithSessions(2);
    const [firstSession, revokedSession] = sessions as [(typeof sessions)[0], (typeof sessions)[0]];
    const body = bodyOf(generateKeys().publicKey);
    const challenge = ok(await fixture.call('POST', refreshOf(ids[1] as string), body), 202);
    const pendingChallenge = ok(await fixture.call('POST', refreshOf(ids[0] as string), body), 202);
    ok(
      await fixture.callSigned('DELETE', `/auth/sessions/${ids[1]}`, undefined, revokedSession),
      204,
    );
    expect(errorOf(await fixture.call('POST', refreshOf(ids[1] as string), body))).toEqual(
      SESSION_ENDED,
    );
    const lateSignedHeaders = await signedHeaders(challenge, revokedSession);
    const secondResponse = await fixture.call(
      'POST',
      refreshOf(ids[1] as string),
      body,
      lateSignedHeaders,
    );
    expect(errorOf(secondResponse)).toEqual(NO_ACTIVE_SESSION);

    await app.advance(5 * MINUTE);
    const expiredSignedHeaders = await signedHeaders(pendingChallenge, firstSession);
    const expiredRefresh = await fixture.call(
      'POST',
      refreshOf(ids[0] as string),
      body,
      expiredSignedHeaders,
    );
    expect(errorOf(expiredRefresh)).toEqual(
      unauthorized('has expired. Send the first request again.'),
    );
    await app.advance(8 * MINUTE);
    const lastChallenge = ok(await fixture.call('POST', refreshOf(ids[0] as string), body), 202);
    await app.advance(2 * MINUTE);
    expect(errorOf(await fixture.call('POST', refreshOf(ids[0] as string), body))).toEqual(
      SESSION_ENDED,
    );
    const lastSignedHeaders = await signedHeaders(lastChallenge, firstSession);
    const expiredResponse = await fixture.call(
      'POST',
      refreshOf(ids[0] as string),
      body,
      lastSignedHeaders,
    );
    expect(errorOf(expiredResponse)).toEqual(NO_ACTIVE_SESSION);
  });

  it('rejects an invalid key and the key of an existing session', async () => {
    const { sessions, ids } = await createWalletWithSessions(1);
    const { publicKey, uncompressedKey } = sessions[0] as (typeof sessions)[0];
    const path = refreshOf(ids[0] as string);
    const invalidPoint = `02${'f'.repeat(64)}`;
    const formatMessage =
      'must be a P-256 public key in hex: 130 digits that start with 04, or 66 that start with 02 or 03';
    const usedMessage = 'already belongs to a session of the wallet';
    for (const [key, message] of [
      ['', formatMessage],
      ['x', formatMessage],
      [publicKey.slice(2), formatMessage],
      [invalidPoint, 'must be a point of P-256'],
      [publicKey, usedMessage],
      [uncompressedKey, usedMessage],
    ] as const) {
      const response = await fixture.call('POST', path, bodyOf(key));
      expect([key, response.status, response.body.code]).toEqual([key, 400, 'INVALID_INPUT']);
      expect(response.body.details.errors).toMatchObject([{ field: 'clientPublicKey', message }]);
    }
    expect((await fixture.call('POST', path, {})).status).toBe(400);
  });

  it('rejects a key that another session used between the two requests', async () => {
    const { accountId, sessions, ids } = await createWalletWithSessions(1);
    const keys = generateKeys();
    const [path, body] = [refreshOf(ids[0] as string), bodyOf(keys.publicKey)];
    const challenge = ok(await fixture.call('POST', path, body), 202);
    await fixture.openEmailSession(accountId, keys);
    const headers = await signedHeaders(challenge, sessions[0] ?? '');
    const response = await fixture.call('POST', path, body, headers);
    expect(errorOf(response).slice(0, 2)).toEqual([400, 'INVALID_INPUT']);
  });

  it('extends sessions for 12 hours at most', async () => {
    const { accountId, sessions } = await createWalletWithSessions(1);
    const limitAt = app.effects.now() + 12 * HOUR;
    let [currentSession] = sessions as [(typeof sessions)[0]];
    while (app.effects.now() + 14 * MINUTE < limitAt) {
      await app.advance(14 * MINUTE);
      const keys = generateKeys();
      const path = refreshOf(currentSession.session.id);
      const session = ok(
        await fixture.callSigned('POST', path, bodyOf(keys.publicKey), currentSession),
        201,
      );
      currentSession = { session, ...keys };
      expect(Date.parse(session.expiresAt)).toBe(
        Math.min(app.effects.now() + 15 * MINUTE, limitAt),
      );
    }
    await app.advance(limitAt - app.effects.now());
    expect(await fixture.sessionsOf(accountId)).toEqual([]);
    const body = bodyOf(generateKeys().publicKey);
    expect(errorOf(await fixture.call('POST', refreshOf(currentSession.session.id), body))).toEqual(
      SESSION_ENDED,
    );
  });
});

describe('revokeAuthSession', () => {
  const pathOf = (id: string) => `/auth/sessions/${id}`;

  it('is signed by any session of the wallet, itself included', async () => {
    const { accountId, sessions, ids } = await createWalletWithSessions(3);
    const [firstSession, secondSession, thirdSession] = sessions as [
      (typeof sessions)[0],
      (typeof sessions)[0],
      (typeof sessions)[0],
    ];
    const otherRetry = await fixture.signedRetry(
      'DELETE',
      pathOf(ids[0] as string),
      undefined,
      secondSession,
    );
    expect(otherRetry.first.body).toEqual({
      type: 'EMAIL_OTP',
      payloadToSign: expect.any(String),
      requestId: expect.stringMatching(/^Request:/),
      expiresAt: new Date(app.effects.now() + 5 * MINUTE).toISOString(),
    });
    expect(JSON.parse(otherRetry.first.body.payloadToSign)).toMatchObject({
      type: 'ACTIVITY_TYPE_DELETE_API_KEYS',
      parameters: { apiKeyIds: [expect.any(String)], userId: expect.any(String) },
    });
    expect([otherRetry.second.status, otherRetry.second.body]).toEqual([204, '']);
    expect(await idsOf(accountId)).toEqual(ids.slice(1));
    ok(await fixture.callSigned('DELETE', pathOf(ids[2] as string), undefined, thirdSession), 204);
    expect(await idsOf(accountId)).toEqual([ids[1]]);
    // A revoked session cannot sign.
    const response = await fixture.callSigned(
      'DELETE',
      pathOf(ids[1] as string),
      undefined,
      firstSession,
    );
    expect(errorOf(response)).toEqual(NO_ACTIVE_SESSION);
    // The credential is unchanged.
    await fixture.openEmailSession(accountId);
  });

  it('names the key of the session in the payload to sign', async () => {
    const { ids } = await createWalletWithSessions(2);
    const challengeResponses = await Promise.all(
      ids.map((id) => fixture.call('DELETE', pathOf(id))),
    );
    const apiKeyIds = challengeResponses.map(
      ({ body }) => JSON.parse(body.payloadToSign).parameters.apiKeyIds[0],
    );
    expect(new Set(apiKeyIds).size).toBe(2);
  });

  it('returns SESSION_NOT_FOUND for an unknown, foreign, revoked or expired session', async () => {
    const foreignWallet = await createWalletWithSessions(1, otherPlatformFixture);
    const { sessions, ids } = await createWalletWithSessions(2);
    const [firstSession, secondSession] = sessions as [(typeof sessions)[0], (typeof sessions)[0]];
    const challenge = ok(await fixture.call('DELETE', pathOf(ids[0] as string)), 202);
    ok(await fixture.callSigned('DELETE', pathOf(ids[0] as string), undefined, firstSession), 204);
    for (const id of [
      `Session:${UNKNOWN_UUID}`,
      foreignWallet.ids[0] as string,
      'x',
      ids[0] as string,
    ]) {
      expect(errorOf(await fixture.call('DELETE', pathOf(id)))).toEqual(SESSION_NOT_FOUND);
    }
    const lateSignedHeaders = await signedHeaders(challenge, secondSession);
    const secondResponse = await fixture.call(
      'DELETE',
      pathOf(ids[0] as string),
      undefined,
      lateSignedHeaders,
    );
    expect(errorOf(secondResponse)).toEqual(SESSION_NOT_FOUND);
    await app.advance(15 * MINUTE);
    expect(errorOf(await fixture.call('DELETE', pathOf(ids[1] as string)))).toEqual(
      SESSION_NOT_FOUND,
    );
  });

  it('accepts the signed request with and without a body', async () => {
    const { sessions, ids } = await createWalletWithSessions(1);
    const challenge = ok(await fixture.call('DELETE', pathOf(ids[0] as string), {}), 202);
    const headers = await signedHeaders(challenge, sessions[0] ?? '');
    ok(await fixture.call('DELETE', pathOf(ids[0] as string), undefined, headers), 204);
  });

  it('rejects a query parameter with a NUL character', async () => {
    const { ids } = await createWalletWithSessions(1);
    const response = await fixture.call('DELETE', `${pathOf(ids[0] as string)}?x=%00`);
    expect(errorOf(response).slice(0, 2)).toEqual([400, 'INVALID_INPUT']);
  });

  it('rejects a signature of another wallet', async () => {
    const { accountId, ids } = await createWalletWithSessions(1);
    const otherWallet = await createWalletWithSessions(1);
    const response = await fixture.callSigned(
      'DELETE',
      pathOf(ids[0] as string),
      undefined,
      otherWallet.sessions[0] ?? '',
    );
    expect(errorOf(response)).toEqual(NO_ACTIVE_SESSION);
    expect(await idsOf(accountId)).toEqual(ids);
  });

  it('rejects the request ID of another platform', async () => {
    const { accountId, sessions, ids } = await createWalletWithSessions(1);
    const challenge = ok(await fixture.call('DELETE', pathOf(ids[0] as string)), 202);
    const headers = await signedHeaders(challenge, sessions[0] ?? '');
    const response = await otherPlatformFixture.call(
      'DELETE',
      pathOf(ids[0] as string),
      undefined,
      headers,
    );
    expect(errorOf(response)).toEqual(
      unauthorized('is unknown. Use the requestId of the first reply.'),
    );
    expect(await idsOf(accountId)).toEqual(ids);
  });

  it('takes effect once for concurrent identical requests', async () => {
    const { sessions, ids } = await createWalletWithSessions(2);
    const path = pathOf(ids[0] as string);
    const challenge = ok(await fixture.call('DELETE', path), 202);
    const headers = await signedHeaders(challenge, sessions[1] ?? '');
    const responses = await Promise.all(
      [1, 2, 3].map(() => fixture.call('DELETE', path, undefined, headers)),
    );
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([204, 401, 401]);
  });

  it('follows a concurrent refresh of the session or rejects it', async () => {
    for (let round = 0; round < 5; round++) {
      const { accountId, sessions, ids } = await createWalletWithSessions(2);
      const [firstSession, secondSession] = sessions as [
        (typeof sessions)[0],
        (typeof sessions)[0],
      ];
      const body = bodyOf(generateKeys().publicKey);
      const [refreshPath, revokePath] = [refreshOf(ids[0] as string), pathOf(ids[0] as string)];
      const headers = await signedHeaders(
        ok(await fixture.call('POST', refreshPath, body), 202),
        firstSession,
      );
      const revocationHeaders = await signedHeaders(
        ok(await fixture.call('DELETE', revokePath), 202),
        secondSession,
      );
      const [refreshResponse, revocationResponse] = await Promise.all([
        fixture.call('POST', refreshPath, body, headers),
        fixture.call('DELETE', revokePath, undefined, revocationHeaders),
      ]);
      expect(revocationResponse.status).toBe(204);
      const remainingIds = (await idsOf(accountId)).filter((id) => id !== ids[1]);
      if (refreshResponse.status === 201) expect(remainingIds).toEqual([refreshResponse.body.id]);
      else {
        expect([401, remainingIds.length]).toEqual([refreshResponse.status, 0]);
      }
    }
  });
});
