// Verification of passkeys through the API: sessions that are opened, and all rejections.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { type Authenticator, authenticator } from '../../../../test/kit/wallets/authenticator.ts';
import {
  generateKeys,
  openSessionKey,
  stampWith,
  type WalletFixture,
  walletFixture,
} from '../../../../test/kit/wallets/embedded-wallets.ts';
import {
  expectUnauthorized,
  fieldsOf,
  type PasskeyFixture,
  passkeyFixture,
  passkeyRegistration,
} from '../../../../test/kit/wallets/passkeys.ts';
import { addCredential } from '../accounts/credentials.ts';
import { walletOf } from '../accounts/wallet.ts';
import { passkeyKind } from './passkey.ts';

const app = testApp();
let fixture: WalletFixture;
let passkeys: PasskeyFixture;
beforeAll(async () => {
  fixture = walletFixture(app);
  passkeys = passkeyFixture(fixture);
});

describe('verifyAuthCredential', () => {
  describe('a verification', () => {
    it('opens a session with the key of the challenge, which can then sign', async () => {
      const holder = await passkeys.createPasskeyHolder();
      const keys = generateKeys();
      const { challenge, requestId } = await passkeys.challengeOf(holder, keys.publicKey);
      const session = ok(
        await passkeys.verifyWith(holder, requestId, holder.device.get(challenge)),
        200,
      );
      expect(session).toMatchObject({
        id: expect.stringMatching(/^Session:/),
        type: 'PASSKEY',
        nickname: "Ada's phone",
        credentialId: holder.device.credentialId,
      });
      expect(session).not.toHaveProperty('encryptedSessionSigningKey');
      const revocationResponse = await fixture.callSigned(
        'DELETE',
        `/auth/sessions/${session.id}`,
        undefined,
        keys,
      );
      expect(revocationResponse.status).toBe(204);
    });

    it('accepts an RSA passkey, and encrypts the session key to an uncompressed key', async () => {
      const holder = await passkeys.createPasskeyHolder(authenticator({ algorithm: 'RS256' }));
      const keys = generateKeys();
      const { challenge, requestId } = await passkeys.challengeOf(holder, keys.uncompressedKey);
      const assertion = holder.device.get(challenge, { userVerified: true, counter: 3 });
      const session = ok(await passkeys.verifyWith(holder, requestId, assertion), 200);
      const openedKeys = openSessionKey(session.encryptedSessionSigningKey, keys.privateKey);
      const revocationResponse = await fixture.callSigned(
        'DELETE',
        `/auth/sessions/${session.id}`,
        undefined,
        openedKeys,
      );
      expect(revocationResponse.status).toBe(204);
    });

    it('ignores a user handle and a wallet signature', async () => {
      const holder = await passkeys.createPasskeyHolder();
      const { challenge, requestId } = await passkeys.challengeOf(holder);
      const { userHandle: _none, ...deviceAssertion } = holder.device.get(challenge);
      const headers = {
        'service-wallet-signature': await stampWith(holder.session.privateKey, 'x'),
      };
      const verificationResponse = await passkeys.verifyWith(
        holder,
        requestId,
        { ...deviceAssertion, userHandle: 'dXNlcg' },
        headers,
      );
      expect(verificationResponse.status).toBe(200);
    });

    it('opens one session per challenge, even for concurrent replies', async () => {
      const holder = await passkeys.createPasskeyHolder();
      const { challenge, requestId } = await passkeys.challengeOf(holder);
      const assertion = holder.device.get(challenge, { counter: 1 });
      const responses = await Promise.all(
        [1, 2, 3].map(() => passkeys.verifyWith(holder, requestId, assertion)),
      );
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
      expectUnauthorized(
        await passkeys.verifyWith(holder, requestId, assertion),
        'The Request-Id was already used. Send the first request again to repeat the operation.',
      );
      const openSessions = (await fixture.sessionsOf(holder.accountId)).filter(
        ({ type }) => type === 'PASSKEY',
      );
      expect(openSessions).toHaveLength(1);
    });

    it('requires that the counter increases', async () => {
      const holder = await passkeys.createPasskeyHolder();
      expect((await passkeys.prove(holder, { counter: 5 })).status).toBe(200);
      for (const counter of [5, 4, 0]) {
        const reason = 'The signature counter of the assertion did not increase.';
        expectUnauthorized(await passkeys.prove(holder, { counter }), reason);
      }
      expect((await passkeys.prove(holder, { counter: 6 })).status).toBe(200);
    });
  });

  describe('a verification is rejected', () => {
    it('without a Request-Id, and with an unknown or expired one', async () => {
      const holder = await passkeys.createPasskeyHolder();
      const { challenge, requestId } = await passkeys.challengeOf(holder);
      const assertion = holder.device.get(challenge);
      const missingHeaderMessage = 'The Request-Id header is missing.';
      expectUnauthorized(
        await passkeys.verifyWith(holder, undefined, assertion),
        missingHeaderMessage,
        'REQUEST_ID_MISSING',
      );
      for (const unknownId of ['Request:019a0000-0000-7000-8000-000000000000', 'nonsense']) {
        expectUnauthorized(
          await passkeys.verifyWith(holder, unknownId, assertion),
          'The Request-Id is unknown. Use the requestId of the first reply.',
        );
      }
      await app.advance(5 * 60_000);
      expectUnauthorized(
        await passkeys.verifyWith(holder, requestId, assertion),
        'The Request-Id has expired. Send the first request again.',
      );
    });

    it('with the Request-Id of another credential, operation or platform', async () => {
      const [holder, otherHolder] = [
        await passkeys.createPasskeyHolder(),
        await passkeys.createPasskeyHolder(),
      ];
      const { challenge, requestId } = await passkeys.challengeOf(holder);
      const assertion = holder.device.get(challenge);
      const otherRequestMessage = 'The Request-Id belongs to another request.';
      expectUnauthorized(
        await passkeys.verifyWith(otherHolder, requestId, otherHolder.device.get(challenge)),
        otherRequestMessage,
      );

      const removal = ok(await fixture.call('DELETE', `/auth/credentials/${holder.id}`), 202);
      expectUnauthorized(
        await passkeys.verifyWith(holder, removal.requestId, assertion),
        otherRequestMessage,
      );

      const path = passkeys.pathOf(holder, 'verify');
      const platformOptions = { platform: app.other, headers: { 'request-id': requestId } };
      const unknownResponse = await app.call(
        'POST',
        path,
        { type: 'PASSKEY', assertion },
        platformOptions,
      );
      expect(unknownResponse).toMatchObject({
        status: 404,
        body: { code: 'AUTH_METHOD_NOT_FOUND' },
      });
      // The rejected requests have not used the challenge.
      expect((await passkeys.verifyWith(holder, requestId, assertion)).status).toBe(200);
    });

    it('with the name of the failed check, without using the challenge', async () => {
      const holder = await passkeys.createPasskeyHolder();
      const { challenge, requestId } = await passkeys.challengeOf(holder);
      const { get } = holder.device;
      const foreignAuthenticator = authenticator();
      const rejections: [object, string][] = [
        [get(challenge, { type: 'webauthn.create' }), 'does not have the type webauthn.get.'],
        [get('0'.repeat(64)), 'contains another challenge. Request a new one.'],
        [
          get(challenge, { origin: 'https://evil.com' }),
          'comes from an origin that is not allowed.',
        ],
        [get(challenge, { rpId: 'evil.com' }), 'belongs to another relying party.'],
        [get(challenge, { userPresent: false }), 'does not confirm user presence.'],
        [foreignAuthenticator.get(challenge), 'was made with another passkey.'],
      ];
      for (const [deviceAssertion, check] of rejections) {
        expectUnauthorized(
          await passkeys.verifyWith(holder, requestId, deviceAssertion),
          `The assertion ${check}`,
        );
      }
      const forgedAssertion = {
        ...get(challenge),
        signature: foreignAuthenticator.get(challenge).signature,
      };
      const reason = 'The signature of the assertion is invalid.';
      expectUnauthorized(await passkeys.verifyWith(holder, requestId, forgedAssertion), reason);
      expect((await passkeys.verifyWith(holder, requestId, get(challenge))).status).toBe(200);
    });

    it('for malformed fields, which do not count as failures', async () => {
      const holder = await passkeys.createPasskeyHolder();
      const { challenge, requestId } = await passkeys.challengeOf(holder);
      const assertion = holder.device.get(challenge);
      for (let count = 0; count < 12; count++) {
        const malformedAssertion = { ...assertion, clientDataJson: 'AAAA', authenticatorData: '*' };
        const rejectedResponse = await passkeys.verifyWith(holder, requestId, malformedAssertion);
        expect(rejectedResponse).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
        expect(fieldsOf(rejectedResponse)).toEqual([
          'assertion.clientDataJson',
          'assertion.authenticatorData',
        ]);
      }
      expect((await passkeys.verifyWith(holder, requestId, assertion)).status).toBe(200);
    });

    it('after ten failures in an hour, unless it is valid', async () => {
      const holder = await passkeys.createPasskeyHolder();
      for (let count = 0; count < 10; count++) {
        expect((await passkeys.prove(holder, { userPresent: false })).status).toBe(401);
      }
      const rejectedResponse = await passkeys.prove(holder, { userPresent: false });
      expect(rejectedResponse).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
      expect(rejectedResponse.headers['retry-after']).toBe('3600');
      expect((await passkeys.prove(holder)).status).toBe(200);
      await app.advance(3_600_000);
      expect((await passkeys.prove(holder, { userPresent: false })).status).toBe(401);
    });

    it('after the passkey was removed', async () => {
      const holder = await passkeys.createPasskeyHolder();
      const { challenge, requestId } = await passkeys.challengeOf(holder);
      const path = `/auth/credentials/${holder.id}`;
      const { first, second } = await fixture.signedRetry(
        'DELETE',
        path,
        undefined,
        holder.session,
      );
      expect(JSON.parse(first.body.payloadToSign)).toMatchObject({
        type: 'ACTIVITY_TYPE_DELETE_AUTHENTICATORS',
        parameters: { authenticatorIds: [holder.id], userId: expect.any(String) },
      });
      expect(second.status).toBe(204);
      const deletedResponse = await passkeys.verifyWith(
        holder,
        requestId,
        holder.device.get(challenge),
      );
      expect(deletedResponse).toMatchObject({
        status: 404,
        body: { code: 'AUTH_METHOD_NOT_FOUND' },
      });
    });
  });

  describe('the test signature of the sandbox', () => {
    const TEST_SIGNATURE = 'sandbox-valid-passkey-signature';
    const testAssertion = (device: Authenticator) => ({
      credentialId: device.credentialId,
      clientDataJson: 'e30',
      authenticatorData: 'AA',
      signature: TEST_SIGNATURE,
    });

    it('requires an unused request and the ID of the passkey', async () => {
      const holder = await passkeys.createPasskeyHolder();
      const { requestId } = await passkeys.challengeOf(holder);
      const missingHeaderMessage = 'The Request-Id header is missing.';
      expectUnauthorized(
        await passkeys.verifyWith(holder, undefined, testAssertion(holder.device)),
        missingHeaderMessage,
        'REQUEST_ID_MISSING',
      );
      const otherPasskeyMessage = 'The assertion was made with another passkey.';
      expectUnauthorized(
        await passkeys.verifyWith(holder, requestId, testAssertion(authenticator())),
        otherPasskeyMessage,
      );
      expect(
        (await passkeys.verifyWith(holder, requestId, testAssertion(holder.device))).status,
      ).toBe(200);
      const usedMessage =
        'The Request-Id was already used. Send the first request again to repeat the operation.';
      expectUnauthorized(
        await passkeys.verifyWith(holder, requestId, testAssertion(holder.device)),
        usedMessage,
      );
    });

    it('is invalid in production', async () => {
      const productionFixture = walletFixture(app, { platform: app.production });
      const { accountId } = await productionFixture.createWalletCustomer();
      const device = authenticator();
      const deps = { connectors: app.connectorsOf };
      const { id } = await app.operate(async (ctx) => {
        const wallet = await walletOf(ctx, accountId);
        const { type: _, ...body } = passkeyRegistration(accountId, device);
        const registration = { ...body, type: 'PASSKEY' } as Parameters<
          typeof passkeyKind.register
        >[3];
        const { row } = await passkeyKind.register(ctx, deps, wallet, registration, undefined);
        return addCredential(ctx, wallet, row);
      }, app.production);
      const path = `/auth/credentials/${id}`;
      const { publicKey: clientPublicKey } = generateKeys();
      const requestedChallenge = ok(
        await productionFixture.call('POST', `${path}/challenge`, { clientPublicKey }),
        200,
      );
      const headers = { 'request-id': requestedChallenge.requestId };
      const send = (assertion: object) =>
        productionFixture.call('POST', `${path}/verify`, { type: 'PASSKEY', assertion }, headers);
      const deviceAssertion = device.get(requestedChallenge.challenge);
      const reason = 'The signature of the assertion is invalid.';
      expectUnauthorized(await send({ ...deviceAssertion, signature: TEST_SIGNATURE }), reason);
      expect((await send(deviceAssertion)).status).toBe(200);
    });
  });
});
