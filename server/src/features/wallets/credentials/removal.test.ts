// Removing credentials: who may sign for it, what ends with one, and that a wallet never loses its last,
// however many are removed at once.
import { describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { Answer } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  CODE,
  drawKeys,
  encryptOtp,
  type HeldSession,
  NOT_ALLOWED,
  notYours,
  passkeyBody,
  signedHeaders,
  walletDesk,
} from '../../../../test/kit/wallets/embedded-wallets.ts';
import { verdict } from '../../../../test/kit/wallets/one-time-codes.ts';

const app = testApp();
const desk = walletDesk(app);

const NOBODY = '00000000-0000-7000-8000-000000000000';
const NO_CREDENTIAL = [404, 'AUTH_METHOD_NOT_FOUND', 'No such credential.'];
const ONLY_ONE = [400, 'INVALID_INPUT', 'The only credential of a wallet cannot be removed.'];

const add = (body: unknown, signer: HeldSession) =>
  desk.signed('POST', '/auth/credentials', body, signer);
const remove = (id: string, signer: HeldSession) =>
  desk.signed('DELETE', `/auth/credentials/${id}`, undefined, signer);
const idsOf = async (accountId: string) =>
  (await desk.credentialsOf(accountId)).map(({ id }) => id as string);

describe('revokeAuthCredential', () => {
  const pathOf = (id: string) => `/auth/credentials/${id}`;

  it('ends a credential and its sessions, and no other', async () => {
    const { accountId, email, sms, byEmail, bySms } = await desk.twoWays();
    const again = await desk.emailSession(accountId);
    const { first, second } = await desk.signedRetry('DELETE', pathOf(email.id), undefined, bySms);
    expect(first.body).toMatchObject({ type: 'EMAIL_OTP', requestId: expect.any(String) });
    expect([second.status, second.body]).toEqual([204, '']);
    expect(await idsOf(accountId)).toEqual([sms.id]);
    expect(await desk.sessionsOf(accountId)).toEqual([bySms.session]);
    for (const ended of [byEmail, again]) {
      expect(verdict(await add(passkeyBody(accountId), ended))).toEqual(NOT_ALLOWED);
    }
    expect(verdict(await desk.call('POST', `${pathOf(email.id)}/challenge`))).toEqual(
      NO_CREDENTIAL,
    );
    expect(verdict(await desk.call('DELETE', pathOf(email.id)))).toEqual(NO_CREDENTIAL);
    // It may be added again.
    const back = ok(await add({ type: 'EMAIL_OTP', accountId }, bySms), 201);
    expect(back.id).not.toBe(email.id);
    expect(await idsOf(accountId)).toEqual([sms.id, back.id]);
  });

  it('keeps the only credential, on both requests', async () => {
    const { accountId, email, sms, byEmail, bySms } = await desk.twoWays();
    const asked = ok(await desk.call('DELETE', pathOf(sms.id)), 202);
    ok(await remove(email.id, bySms), 204);
    expect(verdict(await desk.call('DELETE', pathOf(sms.id)))).toEqual(ONLY_ONE);
    const headers = await signedHeaders(asked, byEmail);
    const late = await desk.call('DELETE', pathOf(sms.id), undefined, headers);
    expect(verdict(late)).toEqual(NOT_ALLOWED);
    expect(await idsOf(accountId)).toEqual([sms.id]);
    const alone = await desk.customerWithWallet();
    expect(verdict(await desk.call('DELETE', pathOf(alone.credential.id)))).toEqual(ONLY_ONE);
  });

  it('takes no signature of a session of that very credential, or of another wallet', async () => {
    const { accountId, email, sms, byEmail } = await desk.twoWays();
    const other = await desk.twoWays();
    const instead = notYours('a session of another credential');
    expect(verdict(await remove(email.id, byEmail))).toEqual(instead);
    expect(verdict(await remove(email.id, other.bySms))).toEqual(NOT_ALLOWED);
    expect(await idsOf(accountId)).toEqual([email.id, sms.id]);
  });

  it('answers an unknown credential and that of another platform alike', async () => {
    const foreign = await walletDesk(app, { as: app.other }).customerWithWallet();
    for (const id of [`AuthMethod:${NOBODY}`, foreign.credential.id, 'x', `Quote:${NOBODY}`]) {
      expect(verdict(await desk.call('DELETE', pathOf(id)))).toEqual(NO_CREDENTIAL);
    }
  });

  it('leaves one when the last two are removed at once', async () => {
    for (let round = 0; round < 5; round++) {
      const { accountId, email, sms, byEmail, bySms } = await desk.twoWays();
      const [first, second] = [
        ok(await desk.call('DELETE', pathOf(email.id)), 202),
        ok(await desk.call('DELETE', pathOf(sms.id)), 202),
      ];
      const [bySmsSigned, byEmailSigned] = [
        await signedHeaders(first, bySms),
        await signedHeaders(second, byEmail),
      ];
      const answers = await Promise.all([
        desk.call('DELETE', pathOf(email.id), undefined, bySmsSigned),
        desk.call('DELETE', pathOf(sms.id), undefined, byEmailSigned),
      ]);
      expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
      const refused = answers.find(({ status }) => status !== 204) as Answer;
      // The second signed with a session that had just ended with its credential, or came for the last.
      expect([NOT_ALLOWED, ONLY_ONE]).toContainEqual(verdict(refused));
      const left = await idsOf(accountId);
      expect(left).toHaveLength(1);
      const [session] = await desk.sessionsOf(accountId);
      expect(session.type).toBe(left[0] === email.id ? 'EMAIL_OTP' : 'SMS_OTP');
    }
  });

  it('leaves one when all three are removed at once, whoever signs', async () => {
    const { accountId, email, sms, byEmail, bySms } = await desk.twoWays();
    const passkey = ok(await add(passkeyBody(accountId), byEmail), 201);
    const pairs = [
      [email.id, bySms],
      [sms.id, byEmail],
      [passkey.id, byEmail],
    ] as const;
    const signed = [];
    for (const [id, signer] of pairs) {
      const asked = ok(await desk.call('DELETE', pathOf(id)), 202);
      signed.push({ id, headers: await signedHeaders(asked, signer) });
    }
    await Promise.all(
      signed.map(({ id, headers }) => desk.call('DELETE', pathOf(id), undefined, headers)),
    );
    expect((await idsOf(accountId)).length).toBeGreaterThan(0);
  });

  it('leaves no session that the credential opens in the same instant', async () => {
    for (let round = 0; round < 5; round++) {
      const { accountId, email, bySms } = await desk.twoWays();
      const keys = drawKeys();
      const bundle = await desk.otpBundle(email.id);
      const body = {
        type: 'EMAIL_OTP',
        encryptedOtpBundle: await encryptOtp(CODE, bundle, keys.publicKey),
      };
      const path = `${pathOf(email.id)}/verify`;
      const opening = await signedHeaders(ok(await desk.call('POST', path, body), 202), keys);
      const ending = await signedHeaders(
        ok(await desk.call('DELETE', pathOf(email.id)), 202),
        bySms,
      );
      const [opened, ended] = await Promise.all([
        desk.call('POST', path, body, opening),
        desk.call('DELETE', pathOf(email.id), undefined, ending),
      ]);
      expect(ended.status).toBe(204);
      expect([200, 404]).toContain(opened.status);
      expect(await desk.sessionsOf(accountId)).toEqual([bySms.session]);
    }
  });
});
