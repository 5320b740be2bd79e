// Removal of credentials: permitted signers, revoked sessions, and the last credential of a wallet
// under concurrent removals.
import { describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  type ClientSession,
  CODE,
  encryptOtp,
  generateKeys,
  NO_ACTIVE_SESSION,
  otherSessionMustSign,
  passkeyBody,
  signedHeaders,
  walletFixture,
} from '../../../../test/kit/wallets/embedded-wallets.ts';
import { errorOf } from '../../../../test/kit/wallets/one-time-codes.ts';

const app = testApp();
const fixture = walletFixture(app);

const UNKNOWN_UUID = '00000000-0000-7000-8000-000000000000';
const CREDENTIAL_NOT_FOUND = [404, 'AUTH_METHOD_NOT_FOUND', 'Credential not found.'];
const LAST_CREDENTIAL_ERROR = [
  400,
  'INVALID_INPUT',
  'The only credential of a wallet cannot be removed. Add another credential first.',
];

const add = (body: unknown, signer: ClientSession) =>
  fixture.callSigned('POST', '/auth/credentials', body, signer);
const remove = (id: string, signer: ClientSession) =>
  fixture.callSigned('DELETE', `/auth/credentials/${id}`, undefined, signer);
const idsOf = async (accountId: string) =>
  (await fixture.credentialsOf(accountId)).map(({ id }) => id as string);

describe('revokeAuthCredential', () => {
  const pathOf = (id: string) => `/auth/credentials/${id}`;

  it('revokes only a credential and its sessions', async () => {
    const { accountId, email, sms, byEmail, bySms } = await fixture.createEmailAndSmsWallet();
    const secondSession = await fixture.openEmailSession(accountId);
    const { first, second } = await fixture.signedRetry(
      'DELETE',
      pathOf(email.id),
      undefined,
      bySms,
    );
    expect(first.body).toMatchObject({ type: 'EMAIL_OTP', requestId: expect.any(String) });
    expect([second.status, second.body]).toEqual([204, '']);
    expect(await idsOf(accountId)).toEqual([sms.id]);
    expect(await fixture.sessionsOf(accountId)).toEqual([bySms.session]);
    for (const revokedSession of [byEmail, secondSession]) {
      expect(errorOf(await add(passkeyBody(accountId), revokedSession))).toEqual(NO_ACTIVE_SESSION);
    }
    expect(errorOf(await fixture.call('POST', `${pathOf(email.id)}/challenge`))).toEqual(
      CREDENTIAL_NOT_FOUND,
    );
    expect(errorOf(await fixture.call('DELETE', pathOf(email.id)))).toEqual(CREDENTIAL_NOT_FOUND);
    // The credential may be added again.
    const restoredBody = ok(await add({ type: 'EMAIL_OTP', accountId }, bySms), 201);
    expect(restoredBody.id).not.toBe(email.id);
    expect(await idsOf(accountId)).toEqual([sms.id, restoredBody.id]);
  });

  it('keeps the only credential', async () => {
    const { accountId, email, sms, byEmail, bySms } = await fixture.createEmailAndSmsWallet();
    const challengeBody = ok(await fixture.call('DELETE', pathOf(sms.id)), 202);
    ok(await remove(email.id, bySms), 204);
    expect(errorOf(await fixture.call('DELETE', pathOf(sms.id)))).toEqual(LAST_CREDENTIAL_ERROR);
    const headers = await signedHeaders(challengeBody, byEmail);
    const rejectedResponse = await fixture.call('DELETE', pathOf(sms.id), undefined, headers);
    expect(errorOf(rejectedResponse)).toEqual(NO_ACTIVE_SESSION);
    expect(await idsOf(accountId)).toEqual([sms.id]);
    const wallet = await fixture.createWalletCustomer();
    expect(errorOf(await fixture.call('DELETE', pathOf(wallet.credential.id)))).toEqual(
      LAST_CREDENTIAL_ERROR,
    );
  });

  it('rejects a signature of a session of the same credential or of another wallet', async () => {
    const { accountId, email, sms, byEmail } = await fixture.createEmailAndSmsWallet();
    const otherWallet = await fixture.createEmailAndSmsWallet();
    const otherSessionError = otherSessionMustSign('a session of another credential');
    expect(errorOf(await remove(email.id, byEmail))).toEqual(otherSessionError);
    expect(errorOf(await remove(email.id, otherWallet.bySms))).toEqual(NO_ACTIVE_SESSION);
    expect(await idsOf(accountId)).toEqual([email.id, sms.id]);
  });

  it('returns the same reply for an unknown credential and a credential of another platform', async () => {
    const foreignWallet = await walletFixture(app, { platform: app.other }).createWalletCustomer();
    for (const id of [
      `AuthMethod:${UNKNOWN_UUID}`,
      foreignWallet.credential.id,
      'x',
      `Quote:${UNKNOWN_UUID}`,
    ]) {
      expect(errorOf(await fixture.call('DELETE', pathOf(id)))).toEqual(CREDENTIAL_NOT_FOUND);
    }
  });

  it('keeps one credential if the last two are removed concurrently', async () => {
    for (let round = 0; round < 5; round++) {
      const { accountId, email, sms, byEmail, bySms } = await fixture.createEmailAndSmsWallet();
      const [firstBody, secondBody] = [
        ok(await fixture.call('DELETE', pathOf(email.id)), 202),
        ok(await fixture.call('DELETE', pathOf(sms.id)), 202),
      ];
      const [headersSignedBySms, headersSignedByEmail] = [
        await signedHeaders(firstBody, bySms),
        await signedHeaders(secondBody, byEmail),
      ];
      const responses = await Promise.all([
        fixture.call('DELETE', pathOf(email.id), undefined, headersSignedBySms),
        fixture.call('DELETE', pathOf(sms.id), undefined, headersSignedByEmail),
      ]);
      expect(responses.filter(({ status }) => status === 204)).toHaveLength(1);
      const rejectedResponse = responses.find(({ status }) => status !== 204) as ApiResponse;
      // Either the session of the second request was revoked with its credential, or the credential
      // was the last one.
      expect([NO_ACTIVE_SESSION, LAST_CREDENTIAL_ERROR]).toContainEqual(errorOf(rejectedResponse));
      const remainingIds = await idsOf(accountId);
      expect(remainingIds).toHaveLength(1);
      const [session] = await fixture.sessionsOf(accountId);
      expect(session.type).toBe(remainingIds[0] === email.id ? 'EMAIL_OTP' : 'SMS_OTP');
    }
  });

  it('keeps at least one credential if all three are removed concurrently', async () => {
    const { accountId, email, sms, byEmail, bySms } = await fixture.createEmailAndSmsWallet();
    const passkey = ok(await add(passkeyBody(accountId), byEmail), 201);
    const pairs = [
      [email.id, bySms],
      [sms.id, byEmail],
      [passkey.id, byEmail],
    ] as const;
    const signedRequests = [];
    for (const [id, signer] of pairs) {
      const challengeBody = ok(await fixture.call('DELETE', pathOf(id)), 202);
      signedRequests.push({ id, headers: await signedHeaders(challengeBody, signer) });
    }
    await Promise.all(
      signedRequests.map(({ id, headers }) =>
        fixture.call('DELETE', pathOf(id), undefined, headers),
      ),
    );
    expect((await idsOf(accountId)).length).toBeGreaterThan(0);
  });

  it('leaves no session that the credential opens concurrently', async () => {
    for (let round = 0; round < 5; round++) {
      const { accountId, email, bySms } = await fixture.createEmailAndSmsWallet();
      const keys = generateKeys();
      const bundle = await fixture.requestOtpBundle(email.id);
      const body = {
        type: 'EMAIL_OTP',
        encryptedOtpBundle: await encryptOtp(CODE, bundle, keys.publicKey),
      };
      const path = `${pathOf(email.id)}/verify`;
      const openingHeaders = await signedHeaders(
        ok(await fixture.call('POST', path, body), 202),
        keys,
      );
      const removalHeaders = await signedHeaders(
        ok(await fixture.call('DELETE', pathOf(email.id)), 202),
        bySms,
      );
      const [openingResponse, removalResponse] = await Promise.all([
        fixture.call('POST', path, body, openingHeaders),
        fixture.call('DELETE', pathOf(email.id), undefined, removalHeaders),
      ]);
      expect(removalResponse.status).toBe(204);
      expect([200, 404]).toContain(openingResponse.status);
      expect(await fixture.sessionsOf(accountId)).toEqual([bySms.session]);
    }
  });
});
