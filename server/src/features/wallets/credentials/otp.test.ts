// One-time codes as credentials of wallets, in the sandbox and over HTTP: adding and restoring a
// credential, requesting a code, and all rejections.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { messagesTo } from '../../../../test/kit/customers/contacts.ts';
import {
  signedHeaders,
  type WalletFixture,
  walletFixture,
} from '../../../../test/kit/wallets/embedded-wallets.ts';
import {
  errorFieldsOf,
  newPhoneNumber,
  otpFixture,
  readBundle,
} from '../../../../test/kit/wallets/one-time-codes.ts';
import { customers } from '../../customers/records/store.ts';

const MINUTE = 60_000;
const TYPES = ['EMAIL_OTP', 'SMS_OTP'] as const;

const app = testApp();
let fixture: WalletFixture;
let otp: ReturnType<typeof otpFixture>;
beforeAll(async () => {
  fixture = walletFixture(app);
  otp = otpFixture(app, fixture);
});

describe('createAuthCredential', () => {
  describe('adding a credential of one-time codes', () => {
    it('sends the first code after a session has signed', async () => {
      const { accountId, customer: person } = await fixture.createWalletCustomer({
        phoneNumber: newPhoneNumber(),
      });
      const session = await fixture.openEmailSession(accountId);
      const messageCountBefore = (await messagesTo(app, person.id)).length;
      const firstResponse = await otp.addCredential(accountId, 'SMS_OTP');
      expect(ok(firstResponse, 202).type).toBe('SMS_OTP');
      expect(await messagesTo(app, person.id)).toHaveLength(messageCountBefore);
      expect(JSON.parse(firstResponse.body.payloadToSign)).toMatchObject({
        type: 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER',
        parameters: {
          userPhoneNumber: person.phoneNumber,
          requestId: firstResponse.body.requestId,
        },
      });
      const headers = await signedHeaders(firstResponse.body, session);
      const path = '/auth/credentials';
      const body = { type: 'SMS_OTP', accountId };
      const addedBody = ok(await fixture.call('POST', path, body, headers), 201);
      expect(addedBody).toMatchObject({ ...body, nickname: person.phoneNumber });
      await app.settle();
      expect((await messagesTo(app, person.id)).at(-1)).toMatchObject({
        channel: 'SMS',
        kind: 'WALLET_CODE',
        status: 'KEPT',
        to: person.phoneNumber,
        text: '000000 is your code for Main. It expires in 5 minutes. Do not share it with anyone.',
      });
      const codeSubmission = await otp.submitCode(addedBody, addedBody.otpEncryptionTargetBundle);
      ok(codeSubmission.response, 202);
    });

    it('restores e-mail after its removal', async () => {
      const { otpCredentials, accountId, customer: person } = await otp.createOtpWallet();
      const session = await fixture.openOtpSession(otpCredentials.SMS_OTP);
      const path = `/auth/credentials/${otpCredentials.EMAIL_OTP.id}`;
      const { first, second } = await fixture.signedRetry('DELETE', path, undefined, session);
      expect(JSON.parse(first.body.payloadToSign)).toMatchObject({
        type: 'ACTIVITY_TYPE_UPDATE_USER_EMAIL',
        parameters: { userEmail: '' },
      });
      ok(second, 204);
      const body = { type: 'EMAIL_OTP', accountId };
      const restoration = await fixture.signedRetry('POST', '/auth/credentials', body, session);
      const { type, parameters } = JSON.parse(restoration.first.body.payloadToSign);
      expect([type, parameters.userEmail]).toEqual([
        'ACTIVITY_TYPE_UPDATE_USER_EMAIL',
        person.email,
      ]);
      expect(ok(restoration.second, 201)).toMatchObject({ ...body, nickname: person.email });
      expect(restoration.second.body.id).not.toBe(otpCredentials.EMAIL_OTP.id);
      ok(
        (
          await otp.submitCode(
            restoration.second.body,
            restoration.second.body.otpEncryptionTargetBundle,
          )
        ).response,
        202,
      );
    });

    it('rejects a second credential of each type', async () => {
      const { accountId } = await otp.createOtpWallet();
      for (const type of TYPES) {
        const code = `${type}_CREDENTIAL_ALREADY_EXISTS`;
        expect(errorFieldsOf(await otp.addCredential(accountId, type))).toEqual([400, code]);
      }
    });

    it('adds one credential for two concurrent signed requests', async () => {
      const { accountId } = await fixture.createWalletCustomer({ phoneNumber: newPhoneNumber() });
      const session = await fixture.openEmailSession(accountId);
      const body = { type: 'SMS_OTP', accountId };
      const addResponses = await Promise.all([
        otp.addCredential(accountId, 'SMS_OTP'),
        otp.addCredential(accountId, 'SMS_OTP'),
      ]);
      const responses = await Promise.all(
        addResponses.map(async (each) =>
          fixture.call('POST', '/auth/credentials', body, await signedHeaders(each.body, session)),
        ),
      );
      const outcomes = responses.map(({ status, body: { code } }) => [status, code]).sort();
      expect(outcomes).toEqual([
        [201, undefined],
        [400, 'SMS_OTP_CREDENTIAL_ALREADY_EXISTS'],
      ]);
    });

    it.each(TYPES)('requires a contact on file for %s', async (type) => {
      const body = type === 'EMAIL_OTP' ? { email: undefined, phoneNumber: newPhoneNumber() } : {};
      const { accountId } = await fixture.createWalletCustomer(body);
      const rejectedResponse = await otp.addCredential(accountId, type);
      expect(errorFieldsOf(rejectedResponse)).toEqual([400, 'INVALID_INPUT', 'type']);
      expect(rejectedResponse.body.reason).toMatch(/no (e-mail address|telephone number) on file/);
    });

    it('takes effect immediately, without a code, if it is the first', async () => {
      const { accountId, customer: person } = await fixture.createWalletCustomer({
        email: undefined,
        phoneNumber: newPhoneNumber(),
      });
      const addedBody = ok(await otp.addCredential(accountId, 'SMS_OTP'), 201);
      expect(addedBody).not.toHaveProperty('otpEncryptionTargetBundle');
      expect(await messagesTo(app, person.id)).toEqual([]);
      expect((await fixture.openOtpSession(addedBody)).session.type).toBe('SMS_OTP');
    });

    it('is rejected if the contact differs from the signed contact', async () => {
      const { accountId, customer: person } = await fixture.createWalletCustomer({
        phoneNumber: newPhoneNumber(),
      });
      const session = await fixture.openEmailSession(accountId);
      const firstBody = ok(await otp.addCredential(accountId, 'SMS_OTP'), 202);
      const patch = { customerType: 'INDIVIDUAL', phoneNumber: newPhoneNumber() };
      ok(await fixture.call('PATCH', `/customers/${person.id}`, patch), 200);
      const headers = await signedHeaders(firstBody, session);
      const body = { type: 'SMS_OTP', accountId };
      const rejectedResponse = await fixture.call('POST', '/auth/credentials', body, headers);
      expect(errorFieldsOf(rejectedResponse)).toEqual([409, 'CONFLICT']);
      expect(await fixture.credentialsOf(accountId)).toHaveLength(1);
    });
  });
});

describe('challengeAuthCredential', () => {
  describe('requesting a code', () => {
    it.each(TYPES)('returns a new encryption key on each request for %s', async (type) => {
      const { otpCredentials } = await otp.createOtpWallet();
      otp.advance(MINUTE);
      const challenge = ok(await otp.requestChallenge(otpCredentials[type].id), 200);
      const { otpEncryptionTargetBundle: bundle, ...rest } = challenge;
      const updatedAt = new Date(app.effects.now()).toISOString();
      expect(rest).toEqual({ ...otpCredentials[type], updatedAt });
      const secondResponse = await fixture.call(
        'POST',
        `/auth/credentials/${otpCredentials[type].id}/challenge`,
        {},
      );
      const nextBundle = ok(secondResponse, 200).otpEncryptionTargetBundle;
      expect(readBundle(bundle).targetPublic).toMatch(/^04[0-9a-f]{128}$/);
      expect(readBundle(nextBundle).targetPublic).not.toBe(readBundle(bundle).targetPublic);
      expect(readBundle(nextBundle).organizationId).toBe(readBundle(bundle).organizationId);
    });

    it('is limited to 60 requests per minute in the sandbox', async () => {
      const { credential } = await fixture.createWalletCustomer();
      for (let index = 0; index < 60; index++) ok(await otp.requestChallenge(credential.id), 200);
      otp.advance(20_000);
      const rejectedResponse = await otp.requestChallenge(credential.id);
      expect(errorFieldsOf(rejectedResponse)).toEqual([429, 'RATE_LIMITED']);
      expect(rejectedResponse.headers['retry-after']).toBe('40');
      otp.advance(40_000);
      ok(await otp.requestChallenge(credential.id), 200);
    });

    it('is rejected if the contact was removed', async () => {
      const { credential, customer: person } = await fixture.createWalletCustomer();
      await app.operate(async (ctx) => {
        const row = await ctx.read(customers, person.id);
        if (row) ctx.update(customers, row, { email: null });
      });
      const rejectedResponse = await otp.requestChallenge(credential.id);
      expect(errorFieldsOf(rejectedResponse)).toEqual([400, 'INVALID_INPUT', 'type']);
      expect(rejectedResponse.body.reason).toContain('no e-mail address on file');
    });

    it('requires an existing credential of the platform', async () => {
      const { credential } = await fixture.createWalletCustomer();
      const otherPlatformFixture = walletFixture(app, { platform: app.other });
      for (const path of ['challenge', 'verify']) {
        const body = path === 'verify' ? { type: 'EMAIL_OTP', encryptedOtpBundle: '{}' } : {};
        const rejectedResponse = await otherPlatformFixture.call(
          'POST',
          `/auth/credentials/${credential.id}/${path}`,
          body,
        );
        expect(errorFieldsOf(rejectedResponse)).toEqual([404, 'AUTH_METHOD_NOT_FOUND']);
      }
    });
  });
});
