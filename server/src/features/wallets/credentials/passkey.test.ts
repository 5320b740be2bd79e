// Passkeys as credentials, through the API: registration and challenges, with all rejections.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { authenticator } from '../../../../test/kit/wallets/authenticator.ts';
import {
  generateKeys,
  signedHeaders,
  type WalletFixture,
  walletFixture,
} from '../../../../test/kit/wallets/embedded-wallets.ts';
import {
  fieldsOf,
  newChallenge,
  type PasskeyFixture,
  passkeyFixture,
  passkeyRegistration,
} from '../../../../test/kit/wallets/passkeys.ts';

const app = testApp();
let fixture: WalletFixture;
let passkeys: PasskeyFixture;
beforeAll(async () => {
  fixture = walletFixture(app);
  passkeys = passkeyFixture(fixture);
});

describe('createAuthCredential', () => {
  describe('a passkey', () => {
    it('is added with the signature of a session over the registration', async () => {
      const owner = await passkeys.createWalletOwner();
      const device = authenticator();
      const body = passkeyRegistration(owner.accountId, device, { nickname: '  Ада (work) 2. ' });
      const { first, second } = await fixture.signedRetry(
        'POST',
        '/auth/credentials',
        body,
        owner.session,
      );
      expect(first.body).toMatchObject({ type: 'PASSKEY', requestId: expect.any(String) });
      const { transports, ...attestation } = body.attestation;
      expect(JSON.parse(first.body.payloadToSign)).toMatchObject({
        type: 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2',
        parameters: {
          authenticators: [
            {
              attestation,
              authenticatorName: 'Ада (work) 2.',
              challenge: body.challenge,
              transports,
            },
          ],
          userId: expect.any(String),
        },
      });
      const addedCredential = ok(second, 201);
      expect(addedCredential).toEqual({
        id: expect.stringMatching(/^AuthMethod:/),
        accountId: owner.accountId,
        type: 'PASSKEY',
        nickname: 'Ада (work) 2.',
        credentialId: device.credentialId,
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      });
      expect(await fixture.credentialsOf(owner.accountId)).toContainEqual(addedCredential);
    });

    it.each(['', '   ', 'x'.repeat(101), 'semi;colon', 'tab\tbed', '<b>', '🔑'])(
      'is rejected with the nickname %j',
      async (nickname) => {
        const owner = await passkeys.createWalletOwner();
        const body = passkeyRegistration(owner.accountId, authenticator(), { nickname });
        const rejectedResponse = await fixture.call('POST', '/auth/credentials', body);
        expect(rejectedResponse).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
        expect(fieldsOf(rejectedResponse)).toEqual(['nickname']);
      },
    );

    it('is rejected with a list of all invalid fields', async () => {
      const owner = await passkeys.createWalletOwner();
      const body = passkeyRegistration(owner.accountId, authenticator(), { nickname: '/' });
      const invalidAttestation = {
        ...body.attestation,
        credentialId: '?',
        attestationObject: 'AAAA',
      };
      const challenge = newChallenge();
      const rejectedResponse = await fixture.call('POST', '/auth/credentials', {
        ...body,
        challenge,
        attestation: invalidAttestation,
      });
      expect(rejectedResponse.status).toBe(400);
      expect(fieldsOf(rejectedResponse)).toEqual([
        'nickname',
        'attestation.credentialId',
        'attestation.clientDataJson',
        'attestation.attestationObject',
      ]);
    });

    it('can be added once per wallet, and to several wallets', async () => {
      const holder = await passkeys.createPasskeyHolder();
      const secondRegistration = passkeyRegistration(holder.accountId, holder.device);
      const rejectedResponse = await fixture.call('POST', '/auth/credentials', secondRegistration);
      expect(rejectedResponse).toMatchObject({
        status: 400,
        body: { code: 'PASSKEY_CREDENTIAL_ALREADY_EXISTS' },
      });
      const otherOwner = await passkeys.createWalletOwner();
      expect(
        (
          await passkeys.addCredential(
            otherOwner,
            passkeyRegistration(otherOwner.accountId, holder.device),
          )
        ).status,
      ).toBe(201);
    });

    it('requires a challenge that no other passkey of the platform has used', async () => {
      const [owner, otherOwner] = [
        await passkeys.createWalletOwner(),
        await passkeys.createWalletOwner(),
      ];
      const device = authenticator();
      const body = passkeyRegistration(owner.accountId, device);
      const { id } = ok(await passkeys.addCredential(owner, body), 201);
      const otherWalletBody = { ...body, accountId: otherOwner.accountId };
      const rejectedResponse = await fixture.call('POST', '/auth/credentials', otherWalletBody);
      expect(rejectedResponse).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
      expect(fieldsOf(rejectedResponse)).toEqual(['challenge']);

      const path = `/auth/credentials/${id}`;
      expect((await fixture.callSigned('DELETE', path, undefined, owner.session)).status).toBe(204);
      expect(fieldsOf(await fixture.call('POST', '/auth/credentials', body))).toEqual([
        'challenge',
      ]);
      // The same device may be registered again.
      expect(
        (await passkeys.addCredential(owner, passkeyRegistration(owner.accountId, device))).status,
      ).toBe(201);
    });

    it('is added once for two concurrent requests with the same challenge', async () => {
      const owners = [await passkeys.createWalletOwner(), await passkeys.createWalletOwner()];
      const challenge = newChallenge();
      const responses = await Promise.all(
        owners.map((owner) =>
          passkeys.addCredential(
            owner,
            passkeyRegistration(owner.accountId, authenticator(), { challenge }),
          ),
        ),
      );
      expect(responses.map(({ status }) => status).sort()).toEqual([201, 400]);
    });
  });
});

describe('challengeAuthCredential', () => {
  describe('a challenge', () => {
    it('is new for each request, and earlier challenges remain valid', async () => {
      const holder = await passkeys.createPasskeyHolder();
      const [credential] = (await fixture.credentialsOf(holder.accountId)).filter(
        ({ id }) => id === holder.id,
      );
      const clientPublicKey = generateKeys().publicKey;
      const firstChallenge = await passkeys.challengeOf(holder, clientPublicKey);
      expect(firstChallenge).toEqual({
        ...credential,
        challenge: expect.stringMatching(/^[0-9a-f]{64}$/),
        requestId: expect.stringMatching(/^Request:/),
        expiresAt: expect.any(String),
      });
      const secondChallenge = await passkeys.challengeOf(holder, clientPublicKey);
      expect(secondChallenge.challenge).not.toBe(firstChallenge.challenge);
      // The previous challenge remains valid.
      const assertion = holder.device.get(firstChallenge.challenge);
      expect((await passkeys.verifyWith(holder, firstChallenge.requestId, assertion)).status).toBe(
        200,
      );
    });

    it('requires an unused key that is a point of the curve', async () => {
      const holder = await passkeys.createPasskeyHolder();
      const requestChallenge = (body?: object) =>
        fixture.call('POST', passkeys.pathOf(holder, 'challenge'), body);
      const bodyWithUsedKey = { clientPublicKey: holder.session.publicKey };
      for (const body of [
        undefined,
        {},
        { clientPublicKey: `02${'f'.repeat(64)}` },
        bodyWithUsedKey,
      ]) {
        const rejectedResponse = await requestChallenge(body);
        expect(rejectedResponse).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
        expect(fieldsOf(rejectedResponse)).toEqual(['clientPublicKey']);
      }
    });

    it('leaves other challenges and pending signature requests valid', async () => {
      const holder = await passkeys.createPasskeyHolder();
      const path = `/auth/sessions/${holder.session.session.id}/refresh`;
      const body = { clientPublicKey: generateKeys().publicKey };
      const [challengeBody] = await Promise.all(
        Array.from({ length: 10 }, async () => ok(await fixture.call('POST', path, body), 202)),
      );
      const firstChallenge = await passkeys.challengeOf(holder);
      for (let count = 0; count < 12; count++) await passkeys.challengeOf(holder);
      const signatureHeaders = await signedHeaders(challengeBody, holder.session);
      ok(await fixture.call('POST', path, body, signatureHeaders), 201);
      ok(
        await passkeys.verifyWith(
          holder,
          firstChallenge.requestId,
          holder.device.get(firstChallenge.challenge),
        ),
        200,
      );
    });

    it('is limited to sixty a minute', async () => {
      const holder = await passkeys.createPasskeyHolder();
      const { publicKey: clientPublicKey } = generateKeys();
      for (let count = 0; count < 60; count++) await passkeys.challengeOf(holder, clientPublicKey);
      const rejectedResponse = await fixture.call('POST', passkeys.pathOf(holder, 'challenge'), {
        clientPublicKey,
      });
      expect(rejectedResponse).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
      expect(rejectedResponse.headers['retry-after']).toBe('60');
      await app.advance(60_000);
      await passkeys.challengeOf(holder, clientPublicKey);
    });
  });
});
