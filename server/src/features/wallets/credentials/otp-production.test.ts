// One-time codes in production, sent through a local mail server and an SMS service: the configuration of the
// platform, rate limits, and encrypted storage.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { startApp } from '../../../../test/kit/app/harness.ts';
import { testAppForEach } from '../../../../test/kit/app/test-app.ts';
import { messagesTo } from '../../../../test/kit/customers/contacts.ts';
import { type MailServer, startMailServer } from '../../../../test/kit/http/mail-server.ts';
import { type Receiver, startReceiver } from '../../../../test/kit/http/webhook-receiver.ts';
import {
  CODE,
  signedHeaders,
  type WalletFixture,
  walletFixture,
} from '../../../../test/kit/wallets/embedded-wallets.ts';
import {
  errorFieldsOf,
  errorOf,
  NO_PENDING_CODE,
  newPhoneNumber,
  otpFixture,
  WRONG_CODE,
} from '../../../../test/kit/wallets/one-time-codes.ts';

const MINUTE = 60_000;

const mailFrom = 'Codes <codes@pay.example.com>';
let mail: MailServer;
let sms: Receiver;
let fixture: WalletFixture;
let otp: ReturnType<typeof otpFixture>;
beforeEach(async () => {
  [mail, sms] = await Promise.all([startMailServer(), startReceiver()]);
});
afterEach(() => Promise.all([mail.close(), sms.close()]));
const app = testAppForEach(() => ({
  connectors: { smtpUrl: mail.url, mailFrom, smsUrl: sms.url },
}));
beforeEach(async () => {
  fixture = walletFixture(app, { platform: app.production });
  otp = otpFixture(app, fixture);
});

const readMailedCode = (): string =>
  /^(\w+) is your code/m.exec(mail.receivedMail.at(-1)?.rawText ?? '')?.[1] ?? '';

/** The bundle of a new code, and the code as received. */
async function sendOtp(id: string) {
  const bundle = await fixture.requestOtpBundle(id);
  await app.settle();
  return { bundle, code: readMailedCode() };
}

const configureWallets = async (embeddedWalletConfig: object) =>
  ok(await fixture.call('PATCH', '/config', { embeddedWalletConfig }), 200);

describe('a code in production', () => {
  it('opens a session, unlike the sandbox code', async () => {
    const { credential, customer: person } = await fixture.createWalletCustomer();
    const { bundle, code } = await sendOtp(credential.id);
    expect(mail.receivedMail).toHaveLength(1);
    expect(mail.receivedMail[0]).toMatchObject({
      from: 'codes@pay.example.com',
      to: [person.email],
    });
    expect(mail.receivedMail[0]?.rawText).toContain('From: Notifications <codes@pay.example.com>');
    expect(mail.receivedMail[0]?.rawText).not.toMatch(/^Reply-To:/im);
    expect(mail.receivedMail[0]?.rawText).toContain('Subject: Your code for Production');
    expect(code).toMatch(/^\d{6}$/);
    if (code !== CODE) {
      expect(errorOf((await otp.submitCode(credential, bundle)).response)).toEqual(WRONG_CODE);
    }
    const { response, keys, sealed } = await otp.submitCode(credential, bundle, { code });
    const challengeBody = ok(response, 202);
    const sandboxHeaders = {
      'service-wallet-signature': 'sandbox-valid-signature',
      'request-id': challengeBody.requestId,
    };
    expect(errorFieldsOf(await otp.verifyBundle(credential, sealed, sandboxHeaders))).toEqual([
      401,
      'WALLET_SIGNATURE_MALFORMED',
    ]);
    ok(await otp.verifyBundle(credential, sealed, await signedHeaders(challengeBody, keys)), 200);
  });

  it('is sent as a text message for an SMS credential', async () => {
    const {
      accountId,
      credential,
      customer: person,
    } = await fixture.createWalletCustomer({
      phoneNumber: newPhoneNumber(),
    });
    const { bundle, code } = await sendOtp(credential.id);
    const firstSubmission = await otp.submitCode(credential, bundle, { code });
    const headers = await signedHeaders(ok(firstSubmission.response, 202), firstSubmission.keys);
    ok(await otp.verifyBundle(credential, firstSubmission.sealed, headers), 200);
    const body = { type: 'SMS_OTP', accountId };
    const addedCredential = ok(
      await fixture.callSigned('POST', '/auth/credentials', body, firstSubmission.keys),
      201,
    );
    await app.settle();
    const { to, text, ...rest } = JSON.parse(sms.arrivals.at(-1)?.body ?? '{}');
    expect([to, Object.keys(rest)]).toEqual([person.phoneNumber, ['id']]);
    const smsSubmission = await otp.submitCode(
      addedCredential,
      addedCredential.otpEncryptionTargetBundle,
      {
        code: text.slice(0, 6),
      },
    );
    ok(smsSubmission.response, 202);
    // The code sent with the credential counts toward the limit.
    expect(errorFieldsOf(await otp.requestChallenge(addedCredential.id))).toEqual([
      429,
      'RATE_LIMITED',
    ]);
  });

  it('is created and sent with the settings of the platform', async () => {
    await configureWallets({
      appName: 'Käse & Söhne',
      otpLength: 12,
      alphanumeric: true,
      expirationSeconds: 90,
      sendFromEmailSenderName: 'Our "Bank"\r\nBcc: eve@example.org',
      replyToEmailAddress: 'help@bank.example.com',
    });
    const { credential } = await fixture.createWalletCustomer();
    const { bundle, code } = await sendOtp(credential.id);
    expect(code).toMatch(/^[2-9A-HJKMNP-Z]{12}$/);
    const rawMail = mail.receivedMail[0]?.rawText ?? '';
    expect(rawMail).toMatch(
      /^From: "Our \\"Bank\\" Bcc: eve@example\.org" <codes@pay\.example\.com>\r$/m,
    );
    expect(rawMail).not.toMatch(/^Bcc:/m);
    expect(mail.receivedMail[0]?.to).toHaveLength(1);
    expect(rawMail).toContain('Reply-To: help@bank.example.com');
    expect(rawMail.replaceAll('=\r\n', '')).toContain('It expires in 90 seconds.');
    // Input as users type it.
    const { response } = await otp.submitCode(credential, bundle, {
      code: ` ${code.toLowerCase()}`,
    });
    ok(response, 202);
    otp.advance(MINUTE);
    await configureWallets({ otpLength: 4, alphanumeric: false });
    const nextOtp = await sendOtp(credential.id);
    expect(nextOtp.code).toMatch(/^\d{4}$/);
    otp.advance(90_000);
    const lateSubmission = await otp.submitCode(credential, nextOtp.bundle, { code: nextOtp.code });
    expect(errorOf(lateSubmission.response)).toEqual(NO_PENDING_CODE);
  });

  it('is sent at most every 30 seconds, and five times in 15 minutes', async () => {
    const { credential, customer: person } = await fixture.createWalletCustomer();
    const concurrentResponses = await Promise.all(
      Array.from({ length: 8 }, () => otp.requestChallenge(credential.id)),
    );
    expect(concurrentResponses.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array(7).fill(429),
    ]);
    for (let index = 1; index < 5; index++) {
      otp.advance(29_500);
      const earlyResponse = await otp.requestChallenge(credential.id);
      expect(errorFieldsOf(earlyResponse)).toEqual([429, 'RATE_LIMITED']);
      expect(earlyResponse.headers['retry-after']).toBe('1');
      otp.advance(500);
      ok(await otp.requestChallenge(credential.id), 200);
    }
    otp.advance(MINUTE);
    const rejectedResponse = await otp.requestChallenge(credential.id);
    expect(rejectedResponse.headers['retry-after']).toBe(String(12 * 60));
    otp.advance(12 * MINUTE);
    ok(await otp.requestChallenge(credential.id), 200);
    expect(await messagesTo(app, person.id)).toHaveLength(6);
  });

  it('is subject to the same limits after the credential is removed and added again', async () => {
    const walletCustomer = await fixture.createWalletCustomer({ phoneNumber: newPhoneNumber() });
    const { accountId, credential } = walletCustomer;
    const { bundle, code } = await sendOtp(credential.id);
    const { response, keys, sealed } = await otp.submitCode(credential, bundle, { code });
    ok(
      await otp.verifyBundle(credential, sealed, await signedHeaders(ok(response, 202), keys)),
      200,
    );
    const add = () => fixture.signedRetry('POST', '/auth/credentials', body, keys);
    const body = { type: 'SMS_OTP', accountId };
    for (let index = 0; index < 5; index++) {
      const { id } = ok((await add()).second, 201);
      const removedResponse = await fixture.callSigned(
        'DELETE',
        `/auth/credentials/${id}`,
        undefined,
        keys,
      );
      expect(removedResponse.status).toBe(204);
      const { first, second: limitedResponse } = await add();
      expect(errorFieldsOf(limitedResponse)).toEqual([429, 'RATE_LIMITED']);
      expect(limitedResponse.headers['retry-after']).toBe(index < 4 ? '30' : String(13 * 60));
      otp.advance(30_000);
      if (index > 0) continue;
      // A signed request is valid as soon as another code may be sent.
      const secondResponse = await otp.addCredential(
        accountId,
        'SMS_OTP',
        await signedHeaders(first.body, keys),
      );
      const path = `/auth/credentials/${ok(secondResponse, 201).id}`;
      expect((await fixture.callSigned('DELETE', path, undefined, keys)).status).toBe(204);
      otp.advance(30_000);
      index += 1;
    }
    expect(await messagesTo(app, walletCustomer.customer.id)).toHaveLength(6);
  });

  it('is replaced by the next code', async () => {
    const { credential } = await fixture.createWalletCustomer();
    const firstOtp = await sendOtp(credential.id);
    otp.advance(30_000);
    const secondOtp = await sendOtp(credential.id);
    if (firstOtp.code !== secondOtp.code) {
      const { response } = await otp.submitCode(credential, secondOtp.bundle, {
        code: firstOtp.code,
      });
      expect(errorOf(response)).toEqual(WRONG_CODE);
    }
    ok(
      (await otp.submitCode(credential, secondOtp.bundle, { code: secondOtp.code })).response,
      202,
    );
  });

  it('appears in the e-mail only', async () => {
    await configureWallets({ otpLength: 12, alphanumeric: true });
    const { credential } = await fixture.createWalletCustomer();
    const { bundle, code } = await sendOtp(credential.id);
    ok((await otp.submitCode(credential, bundle, { code })).response, 202);
    const { db } = app.runtime;
    const tables = ['codes', 'otp_targets', 'messages', 'wallet_requests', 'events', 'jobs'];
    const storedRows = await Promise.all(
      tables.map((each) => db.query(`select to_json(t)::text as row from ${each} t`, [])),
    );
    expect(storedRows.flat().length).toBeGreaterThan(1);
    for (const storedText of [app.log.join('\n'), JSON.stringify(storedRows)]) {
      expect(storedText).not.toContain(code);
    }
    // The code and its key are deleted after use.
    expect(storedRows[0]).toEqual([]);
    expect(storedRows[1]).toEqual([]);
  });

  it('is rejected with 501 if no provider is configured', async () => {
    const appWithoutProviders = await startApp();
    const productionFixture = walletFixture(appWithoutProviders, {
      platform: appWithoutProviders.production,
    });
    const otpWithoutProviders = otpFixture(appWithoutProviders, productionFixture);
    const { credential, accountId } = await productionFixture.createWalletCustomer({
      phoneNumber: newPhoneNumber(),
    });
    for (const response of [
      await otpWithoutProviders.requestChallenge(credential.id),
      await otpWithoutProviders.addCredential(accountId, 'SMS_OTP'),
    ]) {
      expect(errorFieldsOf(response)).toEqual([501, 'NOT_IMPLEMENTED']);
    }
    await appWithoutProviders.close();
  });
});
