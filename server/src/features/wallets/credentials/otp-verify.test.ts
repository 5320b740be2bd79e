// Verification of one-time codes and signing for the session, in the sandbox, over HTTP and with
// the client libraries, with all rejections.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { walletCrypto } from '../../../../test/kit/wallets/client-libraries.ts';
import {
  CODE,
  encryptOtp,
  generateKeys,
  signedHeaders,
  type WalletFixture,
  walletFixture,
} from '../../../../test/kit/wallets/embedded-wallets.ts';
import {
  encryptTo,
  errorFieldsOf,
  errorOf,
  NO_PENDING_CODE,
  type OtpType,
  otpFixture,
  WRONG_CODE,
} from '../../../../test/kit/wallets/one-time-codes.ts';
import { connectorRegistry } from '../../../connectors/registry.ts';
import { customers } from '../../customers/records/store.ts';
import { revokeCredentialWithSessions } from '../accounts/credentials.ts';
import { credentials } from '../store.ts';
import { dropOtp } from './otp.ts';

const MINUTE = 60_000;
const TYPES: [OtpType, string, string][] = [
  ['EMAIL_OTP', 'email', 'OTP_TYPE_EMAIL'],
  ['SMS_OTP', 'phoneNumber', 'OTP_TYPE_SMS'],
];

// Clients compare the expiry of a token with their clock. The wallet library uses the real time.
const app = testApp({ start: Date.now() });
let fixture: WalletFixture;
let otp: ReturnType<typeof otpFixture>;
beforeAll(async () => {
  fixture = walletFixture(app);
  otp = otpFixture(app, fixture);
});

describe('verifyAuthCredential', () => {
  describe('submitting a code', () => {
    it.each(TYPES)(
      'returns a token to sign, and a session for the signature: %s',
      async (type, field, verification) => {
        const wallet = await otp.createOtpWallet();
        const credential = wallet.otpCredentials[type];
        const { response, keys, sealed } = await otp.submitCode(
          credential,
          await fixture.requestOtpBundle(credential.id),
        );
        const { payloadToSign, requestId, expiresAt, ...rest } = ok(response, 202);
        expect(rest).toEqual({ type });
        const { vault } = app.runtime;
        const custodyKeys = { seal: vault.sealOwn, open: vault.openOwn, derive: vault.derive };
        const { custody } = connectorRegistry(app.effects, { custodyKeys })('sandbox');
        const pinnedKey = custody?.publicKeys().tokens;
        expect(await walletCrypto.verifyOtpVerificationToken(payloadToSign, pinnedKey)).toEqual({
          id: expect.stringMatching(/^Otp:/),
          jti: requestId,
          sub: expect.any(String),
          verification_type: verification,
          contact: wallet.customer[field],
          organization_id: expect.any(String),
          public_key: keys.publicKey,
          iat: Math.floor(app.effects.now() / 1000),
          exp: String(Date.parse(expiresAt)),
        });
        const headers = await signedHeaders(response.body, keys);
        const session = ok(await otp.verifyBundle(credential, sealed, headers), 200);
        expect(session).toMatchObject({ type, accountId: wallet.accountId });
        expect(session.id).toMatch(/^Session:/);
        expect(session.nickname).toBe(wallet.customer[field]);
        expect(Date.parse(session.expiresAt)).toBe(app.effects.now() + 15 * MINUTE);
        expect(session).not.toHaveProperty('encryptedSessionSigningKey');
        expect(await fixture.sessionsOf(wallet.accountId)).toContainEqual(session);
        // The key encrypted with the code is the key of the session from now on.
        const path = `/auth/sessions/${wallet.session.session.id}`;
        ok(await fixture.callSigned('DELETE', path, undefined, keys), 204);
      },
    );

    it('accepts a compressed or an uncompressed key in a bundle', async () => {
      const { credential, accountId } = await fixture.createWalletCustomer();
      for (const form of ['publicKey', 'uncompressedKey'] as const) {
        const keys = generateKeys();
        const plainJson = JSON.stringify({ otp_code: CODE, public_key: keys[form] });
        const sealedText = encryptTo(await fixture.requestOtpBundle(credential.id), plainJson);
        const signableBody = ok(await otp.verifyBundle(credential, sealedText), 202);
        ok(
          await otp.verifyBundle(credential, sealedText, await signedHeaders(signableBody, keys)),
          200,
        );
      }
      expect(await fixture.sessionsOf(accountId)).toHaveLength(2);
    });

    it('invalidates a code after five wrong attempts, and permits ten attempts per hour', async () => {
      const { credential } = await fixture.createWalletCustomer();
      for (let round = 0; round < 2; round++) {
        const bundle = await fixture.requestOtpBundle(credential.id);
        for (let index = 0; index < 5; index++) {
          const { response } = await otp.submitCode(credential, bundle, {
            code: `99999${index}`,
          });
          expect(errorOf(response)).toEqual(WRONG_CODE);
        }
        const { response } = await otp.submitCode(credential, bundle);
        if (round === 0) expect(errorOf(response)).toEqual(NO_PENDING_CODE);
        else expect(errorFieldsOf(response)).toEqual([429, 'RATE_LIMITED']);
      }
      otp.advance(10 * MINUTE);
      const { response } = await otp.submitCode(
        credential,
        await fixture.requestOtpBundle(credential.id),
      );
      expect(response.status).toBe(429);
      expect(response.headers['retry-after']).toBe(String(50 * 60));
      otp.advance(50 * MINUTE);
      ok(
        (await otp.submitCode(credential, await fixture.requestOtpBundle(credential.id))).response,
        202,
      );
    });

    it('accepts the correct code once, even for concurrent requests', async () => {
      const { credential } = await fixture.createWalletCustomer();
      const bundle = await fixture.requestOtpBundle(credential.id);
      const submissions = await Promise.all(
        [1, 2, 3, 4].map(() => otp.submitCode(credential, bundle)),
      );
      const responses = submissions
        .map(({ response }) => response)
        .sort((a, b) => a.status - b.status);
      ok(responses[0] as ApiResponse, 202);
      for (const otherResponse of responses.slice(1))
        expect(errorOf(otherResponse)).toEqual(NO_PENDING_CODE);
    });

    it('limits concurrent wrong attempts to five', async () => {
      const { credential } = await fixture.createWalletCustomer();
      const bundle = await fixture.requestOtpBundle(credential.id);
      const sealedBundles = await Promise.all(
        Array.from({ length: 24 }, (_, index) =>
          encryptOtp(`7777${index}`, bundle, generateKeys().publicKey),
        ),
      );
      const responses = await Promise.all(
        sealedBundles.map((each) => otp.verifyBundle(credential, each)),
      );
      expect(responses.filter(({ body }) => body.reason === WRONG_CODE[2])).toHaveLength(5);
      expect(errorOf((await otp.submitCode(credential, bundle)).response)).toEqual(NO_PENDING_CODE);
    });

    it('requires a pending code', async () => {
      const { credential, customer: person } = await fixture.createWalletCustomer();
      const responseWithoutCode = await otp.verifyBundle(
        credential,
        '{"encappedPublic":"04","ciphertext":"00"}',
      );
      expect(errorOf(responseWithoutCode)).toEqual(NO_PENDING_CODE);
      const firstBundle = await fixture.requestOtpBundle(credential.id);
      const secondBundle = await fixture.requestOtpBundle(credential.id);
      // The key of the previous code was deleted with it.
      const { response: oldResponse } = await otp.submitCode(credential, firstBundle);
      expect(errorFieldsOf(oldResponse)).toEqual([400, 'INVALID_INPUT', 'encryptedOtpBundle']);
      otp.advance(5 * MINUTE);
      expect(errorOf((await otp.submitCode(credential, secondBundle)).response)).toEqual(
        NO_PENDING_CODE,
      );
      const thirdBundle = await fixture.requestOtpBundle(credential.id);
      otp.advance(5 * MINUTE - 1);
      ok((await otp.submitCode(credential, thirdBundle)).response, 202);
      expect(errorOf((await otp.submitCode(credential, thirdBundle)).response)).toEqual(
        NO_PENDING_CODE,
      );
      const fourthBundle = await fixture.requestOtpBundle(credential.id);
      await app.operate((ctx) => dropOtp(ctx, credential.id));
      expect(errorOf((await otp.submitCode(credential, fourthBundle)).response)).toEqual(
        NO_PENDING_CODE,
      );
      // The contact changed without removal of the code, which was sent to the previous one.
      const fifthBundle = await fixture.requestOtpBundle(credential.id);
      await app.operate(async (ctx) => {
        const row = await ctx.read(customers, person.id);
        if (row) ctx.update(customers, row, { email: 'else@example.org' });
      });
      expect(errorOf((await otp.submitCode(credential, fifthBundle)).response)).toEqual(WRONG_CODE);
    });

    it('rejects an invalid bundle without counting an attempt', async () => {
      const { credential } = await fixture.createWalletCustomer();
      const bundle = await fixture.requestOtpBundle(credential.id);
      const validBundle = JSON.parse(await encryptOtp(CODE, bundle, generateKeys().publicKey));
      const invalidPoint = `02${'f'.repeat(64)}`;
      const invalidBundles = [
        '',
        'x',
        'null',
        '5',
        '[]',
        '{}',
        JSON.stringify({ ...validBundle, ciphertext: 5 }),
        JSON.stringify({
          ...validBundle,
          ciphertext: `${validBundle.ciphertext.slice(0, -2)}00zz`,
        }),
        JSON.stringify({ ...validBundle, ciphertext: '00'.repeat(40) }),
        JSON.stringify({ ...validBundle, encappedPublic: `04${'0'.repeat(128)}` }),
        encryptTo(bundle, 'no JSON'),
        encryptTo(bundle, JSON.stringify({ otp_code: 5, public_key: generateKeys().publicKey })),
        encryptTo(bundle, JSON.stringify({ otp_code: CODE, public_key: invalidPoint })),
        encryptTo(bundle, JSON.stringify({ otp_code: CODE })),
      ];
      for (const each of invalidBundles) {
        const rejectedResponse = await otp.verifyBundle(credential, each);
        expect(errorFieldsOf(rejectedResponse), each).toEqual([
          400,
          'INVALID_INPUT',
          'encryptedOtpBundle',
        ]);
      }
      ok(await otp.verifyBundle(credential, JSON.stringify(validBundle)), 202);
    });

    it('is rejected if it states another type', async () => {
      const { otpCredentials } = await otp.createOtpWallet();
      const sealedBundle = await encryptOtp(
        CODE,
        await fixture.requestOtpBundle(otpCredentials.SMS_OTP.id),
        generateKeys().publicKey,
      );
      const rejectedResponse = await otp.verifyBundle(
        { id: otpCredentials.SMS_OTP.id, type: 'EMAIL_OTP' },
        sealedBundle,
      );
      expect(errorFieldsOf(rejectedResponse)).toEqual([400, 'INVALID_INPUT', 'type']);
      ok(await otp.verifyBundle(otpCredentials.SMS_OTP, sealedBundle), 202);
    });
  });

  describe('signing for a session', () => {
    async function submitNewCode() {
      const wallet = await fixture.createWalletCustomer();
      const bundle = await fixture.requestOtpBundle(wallet.credential.id);
      const { response, keys, sealed } = await otp.submitCode(wallet.credential, bundle);
      return { ...wallet, challengeBody: ok(response, 202), keys, sealed };
    }

    it('requires the key that was encrypted with the code', async () => {
      const { credential, accountId, challengeBody, keys, sealed } = await submitNewCode();
      const otherKeyHeaders = await signedHeaders(challengeBody, generateKeys());
      expect(errorFieldsOf(await otp.verifyBundle(credential, sealed, otherKeyHeaders))).toEqual([
        401,
        'UNAUTHORIZED',
      ]);
      const otherSignedHeaders = await signedHeaders(
        { ...challengeBody, payloadToSign: `${challengeBody.payloadToSign} ` },
        keys,
      );
      expect((await otp.verifyBundle(credential, sealed, otherSignedHeaders)).body.code).toBe(
        'UNAUTHORIZED',
      );
      expect(await fixture.sessionsOf(accountId)).toEqual([]);
      const headers = await signedHeaders(challengeBody, keys);
      ok(await otp.verifyBundle(credential, sealed, headers), 200);
      expect(errorFieldsOf(await otp.verifyBundle(credential, sealed, headers))).toEqual([
        401,
        'UNAUTHORIZED',
      ]);
      expect(await fixture.sessionsOf(accountId)).toHaveLength(1);
    });

    it('accepts the literal signature of the sandbox', async () => {
      const { credential, challengeBody, sealed } = await submitNewCode();
      const signature = { 'service-wallet-signature': 'sandbox-valid-signature' };
      ok(
        await otp.verifyBundle(credential, sealed, {
          ...signature,
          'request-id': challengeBody.requestId,
        }),
        200,
      );
    });

    it('requires the same bundle and both headers before the expiry', async () => {
      const { credential, challengeBody, keys, sealed } = await submitNewCode();
      const headers = await signedHeaders(challengeBody, keys);
      const codeOf = async (input: Record<string, string>, text = sealed) => {
        const { status, body } = await otp.verifyBundle(credential, text, input);
        return [status, body.code];
      };
      expect(await codeOf(headers, `${sealed} `)).toEqual([401, 'WALLET_SIGNATURE_BODY_MISMATCH']);
      const { 'request-id': id, 'service-wallet-signature': stamp } = headers as Record<
        string,
        string
      >;
      expect(await codeOf({ 'request-id': id as string })).toEqual([
        401,
        'WALLET_SIGNATURE_MISSING',
      ]);
      expect(await codeOf({ 'service-wallet-signature': stamp as string })).toEqual([
        401,
        'REQUEST_ID_MISSING',
      ]);
      expect(await codeOf({ ...headers, 'service-wallet-signature': 'e30' })).toEqual([
        401,
        'WALLET_SIGNATURE_MALFORMED',
      ]);
      otp.advance(5 * MINUTE);
      expect(await codeOf(headers)).toEqual([401, 'UNAUTHORIZED']);
    });

    it('creates one session per key', async () => {
      const { credential, keys, challengeBody, sealed } = await submitNewCode();
      const bundle = await fixture.requestOtpBundle(credential.id);
      const secondSubmission = await otp.submitCode(credential, bundle, { keys });
      ok(secondSubmission.response, 202);
      ok(await otp.verifyBundle(credential, sealed, await signedHeaders(challengeBody, keys)), 200);
      const rejectedResponse = await otp.verifyBundle(
        credential,
        secondSubmission.sealed,
        await signedHeaders(secondSubmission.response.body, keys),
      );
      const usedError = [400, 'INVALID_INPUT', 'encryptedOtpBundle'];
      expect(errorFieldsOf(rejectedResponse)).toEqual(usedError);
      // The first request reports the used key before the code is used.
      const nextBundle = await fixture.requestOtpBundle(credential.id);
      const { response } = await otp.submitCode(credential, nextBundle, { keys });
      expect(errorFieldsOf(response)).toEqual(usedError);
      ok((await otp.submitCode(credential, nextBundle)).response, 202);
    });

    it('is valid only for the contact that received the code', async () => {
      const { credential, customer: person, challengeBody, keys, sealed } = await submitNewCode();
      await app.operate(async (ctx) => {
        const row = await ctx.read(customers, person.id);
        if (row) ctx.update(customers, row, { email: 'else@example.org' });
      });
      const rejectedResponse = await otp.verifyBundle(
        credential,
        sealed,
        await signedHeaders(challengeBody, keys),
      );
      expect(errorOf(rejectedResponse)).toEqual(NO_PENDING_CODE);
    });

    it('leaves no session if the credential is removed concurrently', async () => {
      const { credential, accountId, challengeBody, keys, sealed } = await submitNewCode();
      const headers = await signedHeaders(challengeBody, keys);
      let rounds = 0;
      await app.operate(async (ctx) => {
        const row = await ctx.read(credentials, credential.id);
        if (row) await revokeCredentialWithSessions(ctx, row);
        if (rounds++ === 0) ok(await otp.verifyBundle(credential, sealed, headers), 200);
      });
      expect(rounds).toBe(2);
      expect(await fixture.sessionsOf(accountId)).toEqual([]);
    });
  });
});
