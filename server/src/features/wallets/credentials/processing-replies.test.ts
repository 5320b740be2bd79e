// Simulated PROCESSING replies of a platform. The client retries each operation that may return
// PROCESSING. The operation completes in the background and enforces its rules until then.
import { describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  type ClientSession,
  CODE,
  encryptOtp,
  generateKeys,
  signedHeaders,
  type WalletFixture,
  walletFixture,
} from '../../../../test/kit/wallets/embedded-wallets.ts';
import { errorOf, newPhoneNumber } from '../../../../test/kit/wallets/one-time-codes.ts';

const app = testApp();

const LAST_CREDENTIAL_ERROR = [
  400,
  'INVALID_INPUT',
  'The only credential of a wallet cannot be removed. Add another credential first.',
];

describe('operations in progress', () => {
  const SET_POLLS_SQL =
    'update platforms set wallet_polls = $2, version = version + 1 where id = $1';

  async function createSlowPlatform() {
    const platform = await app.newPlatform('Slow');
    const setProcessingReplies = (polls: number) =>
      app.runtime.db.query(SET_POLLS_SQL, [platform.id, polls]);
    const slowFixture = walletFixture(app, { platform });
    const { accountId } = await slowFixture.createWalletCustomer({
      phoneNumber: newPhoneNumber(),
    });
    return { slowFixture, setProcessingReplies, accountId };
  }

  const expectProcessing = (response: ApiResponse) =>
    expect(ok(response, 200).status).toBe('PROCESSING');

  /**
   * Requests, signs and retries until completion. Returns the last response and the number of
   * signed requests.
   */
  async function retryUntilDone(
    walletFixture: WalletFixture,
    [method, path, body]: SignedCall,
    signer: Signer,
  ) {
    const challengeBody = ok(await walletFixture.call(method, path, body), 202);
    const headers = await signedHeaders(challengeBody, signer);
    for (let requestCount = 1; ; requestCount++) {
      const response = await walletFixture.call(method, path, body, headers);
      if (response.body.status !== 'PROCESSING') return { requestCount, response };
      expectProcessing(response);
    }
  }
  type SignedCall = [method: string, path: string, body?: object];
  type Signer = Pick<ClientSession, 'privateKey'>;

  it('are repeated until they complete, for every signed operation', async () => {
    const { slowFixture, setProcessingReplies, accountId } = await createSlowPlatform();
    const firstSession = await slowFixture.openEmailSession(accountId);
    await setProcessingReplies(2);
    const additionCall: SignedCall = ['POST', '/auth/credentials', { type: 'SMS_OTP', accountId }];
    const addedReply = await retryUntilDone(slowFixture, additionCall, firstSession);
    expect([addedReply.requestCount, addedReply.response.status]).toEqual([3, 201]);

    const keys = generateKeys();
    const path = `/auth/sessions/${firstSession.session.id}`;
    const body = { clientPublicKey: keys.publicKey };
    const refreshedReply = await retryUntilDone(
      slowFixture,
      ['POST', `${path}/refresh`, body],
      firstSession,
    );
    expect([refreshedReply.requestCount, refreshedReply.response.status]).toEqual([3, 201]);

    const credentialPath = `/auth/credentials/${addedReply.response.body.id}`;
    expectProcessing(await slowFixture.call('POST', `${credentialPath}/challenge`));
    expectProcessing(await slowFixture.call('POST', `${credentialPath}/challenge`));
    const bundle = await slowFixture.requestOtpBundle(addedReply.response.body.id);
    const newKeys = generateKeys();
    const encryptedOtpBundle = await encryptOtp(CODE, bundle, newKeys.publicKey);
    const proof = { type: 'SMS_OTP', encryptedOtpBundle };
    const verifiedReply = await retryUntilDone(
      slowFixture,
      ['POST', `${credentialPath}/verify`, proof],
      newKeys,
    );
    expect([verifiedReply.requestCount, verifiedReply.response.status]).toEqual([3, 200]);

    const endedReply = await retryUntilDone(slowFixture, ['DELETE', path], keys);
    expect([endedReply.requestCount, endedReply.response.status]).toEqual([3, 204]);
    const removedReply = await retryUntilDone(slowFixture, ['DELETE', credentialPath], keys);
    expect([removedReply.requestCount, removedReply.response.status]).toEqual([3, 204]);
    expect(await slowFixture.sessionsOf(accountId)).toEqual([refreshedReply.response.body]);
    expect(await slowFixture.credentialsOf(accountId)).toHaveLength(1);
  });

  it('keep one credential if both are removed concurrently', async () => {
    const { slowFixture, setProcessingReplies } = await createSlowPlatform();
    const { accountId, email, sms, byEmail, bySms } = await slowFixture.createEmailAndSmsWallet();
    await setProcessingReplies(1);
    const removals = [];
    for (const [id, signer] of [
      [email.id, bySms],
      [sms.id, byEmail],
    ] as const) {
      const path = `/auth/credentials/${id}`;
      const headers = await signedHeaders(ok(await slowFixture.call('DELETE', path), 202), signer);
      const send = () => slowFixture.call('DELETE', path, undefined, headers);
      expectProcessing(await send());
      removals.push(send);
    }
    const responses = await Promise.all(removals.map((send) => send()));
    expect(responses.map(({ status }) => status).sort()).toEqual([204, 400]);
    expect(responses.map(errorOf)).toContainEqual(LAST_CREDENTIAL_ERROR);
    expect(await slowFixture.credentialsOf(accountId)).toHaveLength(1);
  });

  it('complete without a retry, and the added credential is listed', async () => {
    const { slowFixture, setProcessingReplies, accountId } = await createSlowPlatform();
    const signer = await slowFixture.openEmailSession(accountId);
    await setProcessingReplies(3);
    const body = { type: 'SMS_OTP', accountId };
    expectProcessing(await slowFixture.callSigned('POST', '/auth/credentials', body, signer));
    expect(await slowFixture.credentialsOf(accountId)).toHaveLength(1);
    await app.advance(60_000);
    expect((await slowFixture.credentialsOf(accountId)).map(({ type }) => type)).toEqual([
      'EMAIL_OTP',
      'SMS_OTP',
    ]);
  });
});
