// Requirements for every custodian of wallets, tested with the client library of such wallets, and
// the differences between the custodians of the two modes.

import { randomBytes, verify } from 'node:crypto';
import { mnemonicToEntropy, validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { compactVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { testEffects } from '../../../test/kit/app/effects.ts';
import { ApiKeyStamper, walletCrypto } from '../../../test/kit/wallets/client-libraries.ts';
import { compressedPoint, p256PublicKey } from '../../kernel/crypto/p256.ts';
import { MODES, type Mode } from '../../kernel/mode.ts';
import { createVault } from '../../runtime/security/vault.ts';
import { connectorRegistry, custodyKeysOf } from '../registry.ts';
import type { CustodyPort } from './wallets.ts';

const {
  decryptCredentialBundle,
  decryptExportBundle,
  encryptOtpCodeToBundle,
  formatHpkeBuf,
  generateP256KeyPair,
  getPublicKey,
  hpkeDecrypt,
  hpkeEncrypt,
  verifyOtpVerificationToken,
  verifyStampSignature,
} = walletCrypto;

const effects = testEffects();
const vault = createVault(effects, () => Buffer.alloc(32, 7));
const registry = connectorRegistry(effects, { custodyKeys: custodyKeysOf(vault) });
const custodianOf = (environment: Mode) => registry(environment).custody as CustodyPort;

const hex = (text: string) => Buffer.from(text, 'hex');
const utf8 = (text: string) => new TextEncoder().encode(text);
const IDS = { organizationId: 'organization-1', walletId: 'wallet-1' };
const CLIENT = generateP256KeyPair();
const clientPublicKey = CLIENT.publicKeyUncompressed;

interface Bundle {
  version: string;
  data: string;
  dataSignature: string;
  enclaveQuorumPublic: string;
}

const parseBundle = (bundle: string): Bundle & { signedData: Record<string, string> } => {
  const envelope: Bundle = JSON.parse(bundle);
  return { ...envelope, signedData: JSON.parse(hex(envelope.data).toString()) };
};

/** The recovery phrase in an export bundle, without a check of its signature. */
function recoveryPhraseIn(bundle: string, receiverPriv = CLIENT.privateKey): string {
  const { signedData } = parseBundle(bundle);
  const mnemonic = hpkeDecrypt({
    ciphertextBuf: hex(signedData.ciphertext as string),
    encappedKeyBuf: hex(signedData.encappedPublic as string),
    receiverPriv,
  });
  return Buffer.from(mnemonic).toString('ascii');
}

/** Encrypts a one-time code like the client library, and accepts invalid plaintexts. */
function codeBundle(targetPublic: string, plaintext: string | Uint8Array): string {
  const plainTextBuf = typeof plaintext === 'string' ? utf8(plaintext) : plaintext;
  return formatHpkeBuf(hpkeEncrypt({ plainTextBuf, targetKeyBuf: hex(targetPublic) }));
}

describe.each(MODES)('a seed of the %s', (environment) => {
  const custody = custodianOf(environment);

  it('has twelve words, the same at every export', async () => {
    const [firstSeed, secondSeed] = await Promise.all([custody.newSeed(IDS), custody.newSeed(IDS)]);
    const mnemonicOf = async (seed: string) =>
      recoveryPhraseIn(await custody.exportSeed({ ...IDS, seed, clientPublicKey }));
    const phrase = await mnemonicOf(firstSeed.seed);
    expect(phrase.split(' ')).toHaveLength(12);
    expect(validateMnemonic(phrase, wordlist)).toBe(true);
    expect(await mnemonicOf(firstSeed.seed)).toBe(phrase);
    expect(await mnemonicOf(secondSeed.seed)).not.toBe(phrase);
  });

  it('is exported to one key, in a bundle that contains its organization', async () => {
    const { seed } = await custody.newSeed(IDS);
    const exportSeed = () => custody.exportSeed({ ...IDS, seed, clientPublicKey });
    const [firstBundle, secondBundle] = [
      parseBundle(await exportSeed()),
      parseBundle(await exportSeed()),
    ];
    expect(Object.keys(firstBundle)).toEqual([
      ...['version', 'data', 'dataSignature', 'enclaveQuorumPublic', 'signedData'],
    ]);
    expect(firstBundle.version).toBe('v1.0.0');
    expect(Object.keys(firstBundle.signedData).sort()).toEqual([
      ...['ciphertext', 'encappedPublic', 'organizationId'],
    ]);
    expect(firstBundle.signedData.organizationId).toBe(IDS.organizationId);
    expect(firstBundle.signedData.encappedPublic).toMatch(/^04[0-9a-f]{128}$/);
    expect(secondBundle.signedData.encappedPublic).not.toBe(firstBundle.signedData.encappedPublic);
    const otherKey = generateP256KeyPair().privateKey;
    expect(() => recoveryPhraseIn(JSON.stringify(firstBundle), otherKey)).toThrow();
  });

  it('is sealed, and belongs to one wallet', async () => {
    const { seed } = await custody.newSeed(IDS);
    const mnemonic = recoveryPhraseIn(await custody.exportSeed({ ...IDS, seed, clientPublicKey }));
    const entropy = Buffer.from(mnemonicToEntropy(mnemonic, wordlist));
    const plaintexts = [
      mnemonic,
      ...(['hex', 'base64', 'base64url'] as const).map((each) => entropy.toString(each)),
    ];
    for (const text of plaintexts) expect(seed).not.toContain(text);
    const otherTarget = { ...IDS, walletId: 'wallet-2', seed, clientPublicKey };
    await expect(custody.exportSeed(otherTarget)).rejects.toThrow();
    await expect(custody.exportSeed({ ...IDS, seed, clientPublicKey: '04' })).rejects.toThrow();
  });
});

describe.each(MODES)('a session key of the %s', (environment) => {
  const custody = custodianOf(environment);

  it('can be opened by the client, and is the private key of the returned public key', async () => {
    const createdKeys = new Set<string>();
    for (let round = 0; round < 20; round++) {
      const client = generateP256KeyPair();
      const createdSessionKey = await custody.newSessionKey(client.publicKeyUncompressed);
      const scalar = decryptCredentialBundle(createdSessionKey.sealedKey, client.privateKey);
      expect(scalar).toMatch(/^[0-9a-f]{64}$/);
      expect(Buffer.from(getPublicKey(scalar)).toString('hex')).toBe(createdSessionKey.publicKey);
      createdKeys.add(createdSessionKey.publicKey);
    }
    expect(createdKeys.size).toBe(20);
  });

  it('cannot be opened with another key, or created for an invalid key', async () => {
    const { sealedKey } = await custody.newSessionKey(clientPublicKey);
    expect(() => decryptCredentialBundle(sealedKey, generateP256KeyPair().privateKey)).toThrow();
    await expect(custody.newSessionKey(`04${'11'.repeat(64)}`)).rejects.toThrow();
  });
});

describe.each(MODES)('a one-time code of the %s', (environment) => {
  const custody = custodianOf(environment);
  const expiresAt = Date.UTC(2026, 0, 5, 9, 5);
  const { organizationId } = IDS;
  const newTarget = (id = 'AuthMethod:1') =>
    custody.newOtpTarget({ id, organizationId, expiresAt });

  it('is encrypted to a separate key in a bundle that the custodian signs', async () => {
    const { bundle, target } = await newTarget();
    const { signedData, ...envelope } = parseBundle(bundle);
    expect(bundle).toBe(JSON.stringify(envelope));
    expect(signedData).toEqual({
      targetPublic: expect.stringMatching(/^04[0-9a-f]{128}$/),
      organizationId,
      otpId: 'AuthMethod:1',
      expiresAt: '2026-01-05T09:05:00.000Z',
    });
    const { bundles } = custody.publicKeys();
    expect([envelope.version, envelope.enclaveQuorumPublic]).toEqual(['v1.0.0', bundles]);
    const hasValidSignature = verify(
      'sha256',
      hex(envelope.data),
      p256PublicKey(bundles),
      hex(envelope.dataSignature),
    );
    expect(hasValidSignature).toBe(true);
    const otherTarget = await newTarget();
    expect(otherTarget.target).not.toBe(target);
    expect(parseBundle(otherTarget.bundle).signedData.targetPublic).not.toBe(
      signedData.targetPublic,
    );
  });

  it('is parsed if the client library created it', async () => {
    const { bundle, target } = await newTarget();
    const { bundles } = custody.publicKeys();
    const encryptedBundle = await encryptOtpCodeToBundle(
      '012345',
      bundle,
      CLIENT.publicKey,
      bundles,
    );
    expect(await custody.openOtp({ id: 'AuthMethod:1', target, encryptedBundle })).toEqual({
      code: '012345',
      publicKey: CLIENT.publicKey,
    });
    await expect(encryptOtpCodeToBundle('0', bundle, CLIENT.publicKey)).rejects.toThrow();
  });

  it.each([
    ['compressed', CLIENT.publicKey],
    ['uncompressed', clientPublicKey],
    ['in upper case', clientPublicKey.toUpperCase()],
  ])('is decrypted together with a client key that is %s', async (_, key) => {
    const { bundle, target } = await newTarget();
    const text = JSON.stringify({ otp_code: '000000', public_key: key });
    const encryptedBundle = codeBundle(parseBundle(bundle).signedData.targetPublic as string, text);
    expect(await custody.openOtp({ id: 'AuthMethod:1', target, encryptedBundle })).toEqual({
      code: '000000',
      publicKey: compressedPoint(key),
    });
  });

  it('is readable only with the key of its code', async () => {
    const [firstTarget, secondTarget] = [await newTarget(), await newTarget()];
    const text = JSON.stringify({ otp_code: '000000', public_key: CLIENT.publicKey });
    const encryptedBundle = codeBundle(
      parseBundle(firstTarget.bundle).signedData.targetPublic as string,
      text,
    );
    const id = 'AuthMethod:1';
    expect(
      await custody.openOtp({ id, target: secondTarget.target, encryptedBundle }),
    ).toBeUndefined();
    const openingForOtherId = custody.openOtp({
      id: 'AuthMethod:2',
      target: firstTarget.target,
      encryptedBundle,
    });
    await expect(openingForOtherId).rejects.toThrow();
  });

  const publicKey = CLIENT.publicKey;
  const invalidPlaintexts: Record<string, string | Uint8Array> = {
    'no code': JSON.stringify({ public_key: publicKey }),
    'no key': JSON.stringify({ otp_code: '000000' }),
    'a number for a code': JSON.stringify({ otp_code: 0, public_key: publicKey }),
    'a third field': JSON.stringify({ otp_code: '000000', public_key: publicKey, more: 1 }),
    'a prototype field': `{"otp_code":"000000","public_key":"${publicKey}","__proto__":{}}`,
    'camel case': JSON.stringify({ otpCode: '000000', publicKey }),
    'a key that is not a point': JSON.stringify({
      otp_code: '000000',
      public_key: `02${'ff'.repeat(32)}`,
    }),
    'a key that is not hexadecimal': JSON.stringify({ otp_code: '000000', public_key: 'key' }),
    'a list': '["000000"]',
    null: 'null',
    'text that is not JSON': 'otp_code=000000',
    'no bytes': new Uint8Array(0),
    'bytes that are not UTF-8': new Uint8Array([0x22, 0xff, 0x22]),
  };

  it.each(Object.keys(invalidPlaintexts))('is rejected if the plaintext has %s', async (name) => {
    const { bundle, target } = await newTarget();
    const targetPublic = parseBundle(bundle).signedData.targetPublic as string;
    const encryptedBundle = codeBundle(
      targetPublic,
      invalidPlaintexts[name] as string | Uint8Array,
    );
    expect(await custody.openOtp({ id: 'AuthMethod:1', target, encryptedBundle })).toBeUndefined();
  });

  type Fields = { encappedPublic: string; ciphertext: string };
  const invalidBundles: Record<string, (validFields: Fields) => unknown> = {
    'text that is not JSON': () => 'x',
    'an empty text': () => '',
    null: () => 'null',
    'a list': ({ encappedPublic, ciphertext }) => [encappedPublic, ciphertext],
    'no encapsulated key': ({ ciphertext }) => ({ ciphertext }),
    'no ciphertext': ({ encappedPublic }) => ({ encappedPublic }),
    'numbers as fields': () => ({ encappedPublic: 4, ciphertext: 1 }),
    'a compressed key': (validFields) => ({
      ...validFields,
      encappedPublic: compressedPoint(validFields.encappedPublic),
    }),
    'a key that is not a point': (validFields) => ({
      ...validFields,
      encappedPublic: `04${'11'.repeat(64)}`,
    }),
    'the key of another message': (validFields) => ({
      ...validFields,
      encappedPublic: clientPublicKey,
    }),
    'a ciphertext with an additional half byte': (validFields) => ({
      ...validFields,
      ciphertext: `${validFields.ciphertext}0`,
    }),
    'a ciphertext with an additional byte': (validFields) => ({
      ...validFields,
      ciphertext: `${validFields.ciphertext}00`,
    }),
    'a ciphertext without its last byte': (validFields) => ({
      ...validFields,
      ciphertext: validFields.ciphertext.slice(2),
    }),
    'a ciphertext shorter than a tag': (validFields) => ({ ...validFields, ciphertext: '00' }),
    'a ciphertext that is not hexadecimal': (validFields) => ({
      ...validFields,
      ciphertext: 'z'.repeat(validFields.ciphertext.length),
    }),
    'a ciphertext of one megabyte': (validFields) => ({
      ...validFields,
      ciphertext: '00'.repeat(1 << 20),
    }),
    'random bytes': () => randomBytes(300).toString('latin1'),
  };

  it.each(Object.keys(invalidBundles))('is rejected in a bundle with %s', async (name) => {
    const { bundle, target } = await newTarget();
    const text = JSON.stringify({ otp_code: '000000', public_key: publicKey });
    const validFields = JSON.parse(
      codeBundle(parseBundle(bundle).signedData.targetPublic as string, text),
    ) as Fields;
    const message = (invalidBundles[name] as (validFields: Fields) => unknown)(validFields);
    const encryptedBundle = typeof message === 'string' ? message : JSON.stringify(message);
    expect(await custody.openOtp({ id: 'AuthMethod:1', target, encryptedBundle })).toBeUndefined();
  });
});

describe.each(MODES)('a token of the %s', (environment) => {
  const custody = custodianOf(environment);
  const { tokens } = custody.publicKeys();
  const claims = {
    id: 'AuthMethod:1',
    verification_type: 'OTP_TYPE_EMAIL',
    contact: 'a@example.com',
    organization_id: IDS.organizationId,
    public_key: CLIENT.publicKey,
    exp: String(Date.UTC(2099, 0, 1)),
    sub: 'Müller',
  };

  it('is accepted by the client library until it expires', async () => {
    const token = await custody.signToken(claims);
    expect(await verifyOtpVerificationToken(token, tokens)).toEqual(claims);
    const expiredToken = await custody.signToken({ ...claims, exp: '1' });
    await expect(verifyOtpVerificationToken(expiredToken, tokens)).rejects.toThrow(/expired/);
  });

  it('is rejected from another issuer or with other claims', async () => {
    const token = await custody.signToken(claims);
    const { bundles } = custody.publicKeys();
    await expect(verifyOtpVerificationToken(token, bundles)).rejects.toThrow(/signature/);
    await expect(verifyOtpVerificationToken(token)).rejects.toThrow(/signature/);
    const [header, , signature] = token.split('.');
    const body = Buffer.from(JSON.stringify({ ...claims, contact: 'b@x' })).toString('base64url');
    const forgedVerification = verifyOtpVerificationToken(`${header}.${body}.${signature}`, tokens);
    await expect(forgedVerification).rejects.toThrow(/signature/);
  });

  it('is a standard JWT', async () => {
    const token = await custody.signToken(claims);
    const { protectedHeader, payload } = await compactVerify(token, p256PublicKey(tokens));
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'JWT', kid: expect.any(String) });
    expect(JSON.parse(Buffer.from(payload).toString())).toEqual(claims);
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]{86}$/);
    const otherToken = await compactVerify(await custody.signToken({}), p256PublicKey(tokens));
    expect(otherToken.protectedHeader.kid).toBe(protectedHeader.kid);
  });
});

describe.each(MODES)('a delegated key of the %s', (environment) => {
  const custody = custodianOf(environment);
  const id = 'DelegatedKey:1';
  const payload = '{"amount":"1","note":"ä"}';
  const readStamp = (stamp: string): Record<string, string> =>
    JSON.parse(Buffer.from(stamp, 'base64url').toString());

  it('creates stamps in the format of the client library', async () => {
    const { publicKey, signer } = await custody.newSigner({ id });
    expect(publicKey).toMatch(/^0[23][0-9a-f]{64}$/);
    expect((await custody.newSigner({ id })).publicKey).not.toBe(publicKey);
    const stamp = await custody.stampWith({ id, signer, payload });
    expect(stamp).toMatch(/^[\w-]+$/);
    const stampFields = readStamp(stamp);
    const keys = { apiPublicKey: CLIENT.publicKey, apiPrivateKey: CLIENT.privateKey };
    const libraryStamp = (await new ApiKeyStamper(keys).stamp(payload)).stampHeaderValue;
    expect(Object.keys(stampFields)).toEqual(Object.keys(readStamp(libraryStamp)));
    expect([stampFields.publicKey, stampFields.scheme]).toEqual([
      publicKey,
      readStamp(libraryStamp).scheme,
    ]);
    const { signature } = stampFields as { signature: string };
    expect(await verifyStampSignature(publicKey, signature, payload)).toBe(true);
    expect(await verifyStampSignature(publicKey, signature, `${payload} `)).toBe(false);
    expect(verify('sha256', utf8(payload), p256PublicKey(publicKey), hex(signature))).toBe(true);
  });

  it('signs only under its own ID, and rejects a damaged key', async () => {
    const { signer } = await custody.newSigner({ id });
    await expect(custody.stampWith({ id: 'DelegatedKey:2', signer, payload })).rejects.toThrow();
    const damagedSigner = signer.slice(0, -4) + (signer.endsWith('AAAA') ? 'BBBB' : 'AAAA');
    await expect(custody.stampWith({ id, signer: damagedSigner, payload })).rejects.toThrow();
    const { target } = await custody.newOtpTarget({ id, organizationId: '1', expiresAt: 0 });
    await expect(custody.stampWith({ id, signer: target, payload })).rejects.toThrow();
  });
});

describe('the custodians of the two environments', () => {
  const [sandbox, production] = MODES.map(custodianOf) as [CustodyPort, CustodyPort];

  it('sign with separate keys, the same after a restart', () => {
    const keys = [sandbox.publicKeys(), production.publicKeys()];
    const signingKeys = keys.flatMap(({ bundles, tokens }) => [bundles, tokens]);
    expect(new Set(signingKeys).size).toBe(4);
    for (const key of signingKeys) expect(p256PublicKey(key).asymmetricKeyType).toBe('ec');
    const restartedRegistry = connectorRegistry(effects, { custodyKeys: custodyKeysOf(vault) });
    expect(MODES.map((each) => restartedRegistry(each).custody?.publicKeys())).toEqual(keys);
  });

  it('reject data that the other custodian sealed', async () => {
    const { seed } = await sandbox.newSeed(IDS);
    await expect(production.exportSeed({ ...IDS, seed, clientPublicKey })).rejects.toThrow();
    const { signer } = await sandbox.newSigner({ id: '1' });
    await expect(production.stampWith({ id: '1', signer, payload: 'x' })).rejects.toThrow();
  });

  it('sign the exports of production', async () => {
    const { seed } = await production.newSeed(IDS);
    const exportBundle = await production.exportSeed({ ...IDS, seed, clientPublicKey });
    const decryptExport = (organizationId: string, signer?: string) =>
      decryptExportBundle({
        exportBundle,
        organizationId,
        embeddedKey: CLIENT.privateKey,
        ...(signer === undefined ? {} : { dangerouslyOverrideSignerPublicKey: signer }),
        returnMnemonic: true,
      });
    const { bundles, tokens } = production.publicKeys();
    expect(await decryptExport(IDS.organizationId, bundles)).toBe(recoveryPhraseIn(exportBundle));
    await expect(decryptExport('organization-2', bundles)).rejects.toThrow(/organization id/);
    await expect(decryptExport(IDS.organizationId, tokens)).rejects.toThrow(/signer key/);
    await expect(decryptExport(IDS.organizationId)).rejects.toThrow(/signer key/);
  });

  it('leave the exports of the sandbox unsigned', async () => {
    const { seed } = await sandbox.newSeed(IDS);
    const exportBundle = await sandbox.exportSeed({ ...IDS, seed, clientPublicKey });
    const { dataSignature, enclaveQuorumPublic } = parseBundle(exportBundle);
    expect([dataSignature, enclaveQuorumPublic]).toEqual(['', '']);
    const decryption = decryptExportBundle({
      exportBundle,
      organizationId: IDS.organizationId,
      embeddedKey: CLIENT.privateKey,
      dangerouslyOverrideSignerPublicKey: sandbox.publicKeys().bundles,
      returnMnemonic: true,
    });
    await expect(decryption).rejects.toThrow(/signer key/);
    expect(validateMnemonic(recoveryPhraseIn(exportBundle), wordlist)).toBe(true);
  });

  it('are absent without keys', () => {
    const registryWithoutKeys = connectorRegistry(effects);
    expect(MODES.map((each) => registryWithoutKeys(each).custody)).toEqual([undefined, undefined]);
  });
});
