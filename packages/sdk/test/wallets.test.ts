// SDK functions for the owner of an embedded wallet, against a real server. Their results are compared
// with published libraries and test vectors.
import { createECDH, createPublicKey, randomBytes, verify as verifyNode } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { testApp } from '../../../server/test/kit/app/test-app.ts';
import { authenticator } from '../../../server/test/kit/wallets/authenticator.ts';
import { stampWith } from '../../../server/test/kit/wallets/client-keys.ts';
import { walletCrypto } from '../../../server/test/kit/wallets/client-libraries.ts';
import { walletFixture } from '../../../server/test/kit/wallets/embedded-wallets.ts';
import { SEALED_KEY, STAMP } from '../../../server/test/kit/wallets/wallet-vectors.ts';
import {
  encryptCode,
  generateKeys,
  isChallenge,
  keysOf,
  openRecoveryPhrase,
  openSessionKey,
  signed,
  stamp,
  type WalletKeys,
} from '../src/wallets/index.ts';
import { clientOf } from './kit/clients.ts';

const app = testApp();
const fixture = walletFixture(app);
const SANDBOX_TRUST = { signer: 'sandbox' };
const CODE = '000000';

async function signIn(id: string) {
  const client = await clientOf(app);
  const keys = await generateKeys();
  const challenge = await client.walletAuth.challengeAuthCredential({ id });
  if (!('otpEncryptionTargetBundle' in challenge)) throw new Error('The challenge has no bundle.');
  const { publicKey } = keys;
  const bundle = challenge.otpEncryptionTargetBundle as string;
  const encryptedOtpBundle = await encryptCode({ code: CODE, bundle, publicKey }, SANDBOX_TRUST);
  const { data: session } = await signed(keys, (options) =>
    client.walletAuth.verifyAuthCredential({ id, type: 'EMAIL_OTP', encryptedOtpBundle }, options),
  );
  return { client, keys, session };
}

async function createWallet() {
  const { accountId, credential } = await fixture.createWalletCustomer();
  return { accountId, credentialId: credential.id as string, ...(await signIn(credential.id)) };
}

describe('keys', () => {
  it('equal the keys of the standard library, and invalid private keys are rejected', async () => {
    for (const keys of [await generateKeys(), keysOf(STAMP.privateKey)]) {
      const curve = createECDH('prime256v1');
      curve.setPrivateKey(keys.privateKey, 'hex');
      expect(keys).toEqual({
        privateKey: keys.privateKey,
        publicKey: curve.getPublicKey('hex', 'compressed'),
        uncompressedKey: curve.getPublicKey('hex'),
      });
      expect(keysOf(keys.privateKey)).toEqual(keys);
    }
    expect(keysOf(STAMP.privateKey).publicKey).toBe(STAMP.publicKey);
    expect(() => keysOf('00'.repeat(32))).toThrow('must be a P-256 key');
    expect(() => keysOf('ff'.repeat(32))).toThrow('must be a P-256 key');
  });

  it('have the same points as the standard library for many scalars', () => {
    for (let count = 0; count < 40; count++) {
      const scalar = randomBytes(32).toString('hex');
      const curve = createECDH('prime256v1');
      curve.setPrivateKey(scalar, 'hex');
      expect(keysOf(scalar).uncompressedKey).toBe(curve.getPublicKey('hex'));
    }
  });
});

describe('a stamp', () => {
  it('has the format of the published library and a valid signature', async () => {
    const keys = keysOf(STAMP.privateKey);
    const parse = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString());
    const [sdkStamp, libraryStamp] = [
      await stamp(keys, STAMP.payload),
      await stampWith(keys.privateKey, STAMP.payload),
    ].map(parse);
    expect(Object.keys(sdkStamp)).toEqual(Object.keys(libraryStamp));
    expect({ ...sdkStamp, signature: '' }).toEqual({ ...libraryStamp, signature: '' });
    const point = Buffer.from(keys.uncompressedKey, 'hex');
    const coordinateAt = (offset: number) =>
      point.subarray(offset, offset + 32).toString('base64url');
    const [x, y] = [coordinateAt(1), coordinateAt(33)];
    const key = createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y } });
    const signature = Buffer.from(sdkStamp.signature, 'hex');
    expect(verifyNode('sha256', Buffer.from(STAMP.payload), key, signature)).toBe(true);
    // The numbers have different lengths, because a DER signature omits leading zeros.
    for (let count = 0; count < 40; count++) {
      const text = `payload ${count}`;
      const stampFields = parse(await stamp(keys, text));
      const bytes = Buffer.from(stampFields.signature, 'hex');
      expect(verifyNode('sha256', Buffer.from(text), key, bytes)).toBe(true);
    }
  });
});

describe('a session key', () => {
  it('is decrypted to the key of the published test vector, unless it is damaged', async () => {
    const openedKey = await openSessionKey(SEALED_KEY.sealedKey, keysOf(SEALED_KEY.skR));
    expect(openedKey.privateKey).toBe(SEALED_KEY.plaintext);
    const damagedKey = SEALED_KEY.sealedKey.replace('2D3', '2D4');
    await expect(openSessionKey(damagedKey, keysOf(SEALED_KEY.skR))).rejects.toThrow(
      'invalid checksum',
    );
    await expect(openSessionKey(SEALED_KEY.sealedKey, await generateKeys())).rejects.toThrow();
  });
});

describe('an owner', () => {
  it('signs in by code, refreshes the session and revokes the new session', async () => {
    const { client, keys, session } = await createWallet();
    const { id } = session as { id: string };
    expect(session).toMatchObject({ type: 'EMAIL_OTP' });
    const nextKeys = await generateKeys();
    const refreshReply = await signed(keys, (options) =>
      client.walletAuth.refreshAuthSession(
        { id, clientPublicKey: nextKeys.uncompressedKey },
        options,
      ),
    );
    const { encryptedSessionSigningKey, id: newSessionId } = refreshReply.data as {
      encryptedSessionSigningKey: string;
      id: string;
    };
    const sdkKey = await openSessionKey(encryptedSessionSigningKey, nextKeys);
    const libraryKey = walletCrypto.decryptCredentialBundle(
      encryptedSessionSigningKey,
      nextKeys.privateKey,
    );
    expect(sdkKey.privateKey).toBe(libraryKey);
    const revocation = await signed(sdkKey, (options) =>
      client.walletAuth.revokeAuthSession({ id: newSessionId }, options),
    );
    expect(revocation.payloadToSign).toMatch(/^\{/);
  });

  it('waits for an operation in progress', async () => {
    const keys = await generateKeys();
    const replies = [
      { payloadToSign: '{}', requestId: 'r' },
      { status: 'PROCESSING' as const },
      { id: 'Session:1', status: 'PROCESSING' as const },
    ];
    const requests: object[] = [];
    const { data } = await signed(keys, async (signature) => {
      requests.push(signature);
      return replies.shift();
    });
    expect(data).toEqual({ id: 'Session:1', status: 'PROCESSING' });
    expect(requests).toHaveLength(3);
    expect(requests[2]).toEqual(requests[1]);
  });

  it('exports the recovery phrase, and rejects a bundle of another wallet or signer', async () => {
    const { client, keys, accountId } = await createWallet();
    const recipient = await generateKeys();
    const { data, payloadToSign = '' } = await signed(keys, (options) =>
      client.internalAccounts.exportInternalAccount(
        { id: accountId, clientPublicKey: recipient.uncompressedKey },
        options,
      ),
    );
    const bundle = (data as { encryptedWalletCredentials: string }).encryptedWalletCredentials;
    const phrase = await openRecoveryPhrase({ bundle, payloadToSign }, recipient, SANDBOX_TRUST);
    expect(phrase.split(' ')).toHaveLength(12);
    const otherPayload = JSON.stringify({ organizationId: 'another' });
    await expect(
      openRecoveryPhrase({ bundle, payloadToSign: otherPayload }, recipient, SANDBOX_TRUST),
    ).rejects.toThrow('another wallet');
    const pinnedSigner = { signer: recipient.uncompressedKey };
    await expect(
      openRecoveryPhrase({ bundle, payloadToSign }, recipient, pinnedSigner),
    ).rejects.toThrow('not signed by the expected key');
  });

  it('accepts only the pinned key', async () => {
    const { credential } = await fixture.createWalletCustomer();
    const bundle = await fixture.requestOtpBundle(credential.id);
    const { publicKey } = await generateKeys();
    const signer = app.connectorsOf('sandbox').custody?.publicKeys().bundles as string;
    const encrypt = (trustedKey: string, text = bundle) =>
      encryptCode({ code: CODE, bundle: text, publicKey }, { signer: trustedKey });
    await expect(encrypt(signer)).resolves.toContain('encappedPublic');
    await expect(encrypt((await generateKeys()).publicKey)).rejects.toThrow('expected key');
    const changedBundle = { ...JSON.parse(bundle), data: Buffer.from('{}').toString('hex') };
    await expect(encrypt(signer, JSON.stringify(changedBundle))).rejects.toThrow('expected key');
  });

  it('adds a passkey and signs in with it', async () => {
    const { client, keys, accountId } = await createWallet();
    const device = authenticator();
    const challenge = Buffer.from('a challenge').toString('base64url');
    const creation = await signed(keys, (options) =>
      client.walletAuth.createAuthCredential(
        {
          type: 'PASSKEY',
          accountId,
          nickname: 'Phone',
          challenge,
          attestation: { ...device.create(challenge), transports: ['internal'] },
        },
        options,
      ),
    );
    const { id } = creation.data as { id: string };
    const sessionKeys: WalletKeys = await generateKeys();
    const challengeReply = await client.walletAuth.challengeAuthCredential({
      id,
      clientPublicKey: sessionKeys.publicKey,
    });
    if (!('challenge' in challengeReply)) throw new Error('The reply has no challenge.');
    const { challenge: text, requestId } = challengeReply as {
      challenge: string;
      requestId: string;
    };
    const { userHandle: _, ...assertion } = device.get(text);
    const verifiedSession = await client.walletAuth.verifyAuthCredential(
      { id, type: 'PASSKEY', assertion },
      { requestId },
    );
    expect(isChallenge(verifiedSession)).toBe(false);
    expect(verifiedSession).toMatchObject({ type: 'PASSKEY', nickname: 'Phone' });
  });
});
