// The built-in custodian: the published vector through its port, its use of randomness, and the
// context of its encryption. Requirements of the port are tested in `ports/wallets.test.ts`.
import { validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { describe, expect, it } from 'vitest';
import { testEffects } from '../../../test/kit/app/effects.ts';
import { walletCrypto } from '../../../test/kit/wallets/client-libraries.ts';
import { SEALED_KEY } from '../../../test/kit/wallets/wallet-vectors.ts';
import { type P256Pair, p256Pair, uncompressedPoint } from '../../kernel/crypto/p256.ts';
import type { Effects } from '../../kernel/effects.ts';
import type { CustodyKeys } from '../ports/wallets.ts';
import { localCustody } from './custody.ts';
import { signerOf } from './keys.ts';

const { generateP256KeyPair, hpkeDecrypt } = walletCrypto;

const hex = (text: string) => Buffer.from(text, 'hex');

/** Effects that return only these random bytes. */
function effectsOf(...randomValues: string[]): Effects {
  return {
    ...testEffects(),
    random(bytes) {
      const nextValue = hex(randomValues.shift() ?? '');
      if (nextValue.length !== bytes)
        throw new Error(`The test has no random value of ${bytes} bytes.`);
      return nextValue;
    },
  };
}

/** Records plaintexts and contexts without encryption. */
function recordingKeys(): CustodyKeys & { sealedValues: [string, string][] } {
  const sealedValues: [string, string][] = [];
  return {
    sealedValues,
    seal(text, context) {
      sealedValues.push([Buffer.from(text).toString('hex'), context]);
      return `${sealedValues.length - 1}`;
    },
    open(sealedText, context) {
      const [text, name] = sealedValues[Number(sealedText)] as [string, string];
      if (name !== context) throw new Error('sealed for another context');
      return hex(text);
    },
    derive: (purpose) => Buffer.alloc(32, purpose.length),
  };
}

const OPTIONS = { attests: true };
const WALLET_IDS = { organizationId: 'organization-1', walletId: 'wallet-1' };

describe('the built-in custodian', () => {
  it('seals the published session key, with random bytes of the effects only', async () => {
    const { skR, skE, plaintext, sealedKey } = SEALED_KEY;
    const custody = localCustody(effectsOf(plaintext, skE), recordingKeys(), OPTIONS);
    const client = p256Pair(hex(skR)) as P256Pair;
    expect(await custody.newSessionKey(client.point.toString('hex'))).toEqual({
      publicKey: '0351a7580833898ea1b183cbd7350a4099078c6ef1c1e18e970cd7683035f25e7d',
      sealedKey,
    });
    expect(uncompressedPoint(SEALED_KEY.pkR)).toBe(client.point.toString('hex'));
  });

  it('generates another scalar after an invalid one', async () => {
    const { skR, skE, plaintext, sealedKey } = SEALED_KEY;
    const invalidScalars = ['00'.repeat(32), 'ff'.repeat(32)];
    const effects = effectsOf(...invalidScalars, plaintext, ...invalidScalars, skE);
    const custody = localCustody(effects, recordingKeys(), OPTIONS);
    const clientPublicKey = (p256Pair(hex(skR)) as P256Pair).point.toString('hex');
    expect((await custody.newSessionKey(clientPublicKey)).sealedKey).toBe(sealedKey);
  });

  it('generates the words of the BIP-39 vector', async () => {
    const keys = recordingKeys();
    const custody = localCustody(effectsOf('7f'.repeat(16), SEALED_KEY.skE), keys, OPTIONS);
    const { seed } = await custody.newSeed(WALLET_IDS);
    const client = generateP256KeyPair();
    const clientPublicKey = client.publicKeyUncompressed;
    const bundle = await custody.exportSeed({ ...WALLET_IDS, seed, clientPublicKey });
    const data = JSON.parse(hex(JSON.parse(bundle).data).toString());
    const mnemonicBytes = hpkeDecrypt({
      ciphertextBuf: hex(data.ciphertext),
      encappedKeyBuf: hex(data.encappedPublic),
      receiverPriv: client.privateKey,
    });
    const mnemonic = Buffer.from(mnemonicBytes).toString('ascii');
    expect(mnemonic).toBe(
      'legal winner thank year wave sausage worth useful legal winner thank yellow',
    );
    expect(validateMnemonic(mnemonic, wordlist)).toBe(true);
    expect(keys.sealedValues).toEqual([['7f'.repeat(16), 'seed of wallet wallet-1']]);
  });

  it('seals the key of a code under the ID of the code', async () => {
    const keys = recordingKeys();
    const scalar = `00${'01'.repeat(31)}`;
    const custody = localCustody(effectsOf(scalar), keys, OPTIONS);
    const context = { id: 'AuthMethod:1', organizationId: 'organization-1', expiresAt: 0 };
    const { target, bundle } = await custody.newOtpTarget(context);
    expect(keys.sealedValues).toEqual([[scalar, 'one-time code key of AuthMethod:1']]);
    expect(bundle).not.toContain(scalar);
    expect(target).toBe('0');
  });

  it('seals a delegated key under a separate purpose, and wipes the key after each use', async () => {
    const keys = recordingKeys();
    const openedBytes: Buffer[] = [];
    const open: CustodyKeys['open'] = (sealedText, context) => {
      const bytes = keys.open(sealedText, context);
      openedBytes.push(bytes);
      return bytes;
    };
    const scalar = `00${'01'.repeat(31)}`;
    const custody = localCustody(effectsOf(scalar), { ...keys, open }, OPTIONS);
    const { publicKey, signer } = await custody.newSigner({ id: 'DelegatedKey:1' });
    expect(keys.sealedValues).toEqual([[scalar, 'signer of DelegatedKey:1']]);
    const { point } = p256Pair(hex(scalar)) as P256Pair;
    expect(uncompressedPoint(publicKey)).toBe(point.toString('hex'));
    const stamp = await custody.stampWith({ id: 'DelegatedKey:1', signer, payload: '{}' });
    expect(Buffer.from(stamp, 'base64url').toString()).not.toContain(scalar);
    expect(openedBytes).toHaveLength(1);
    expect(openedBytes[0]?.every((byte) => byte === 0)).toBe(true);
  });

  it('overwrites generated secrets', async () => {
    const randomValues: Uint8Array[] = [];
    const effects = testEffects();
    const random = (bytes: number) => {
      const nextBytes = effects.random(bytes);
      randomValues.push(nextBytes);
      return nextBytes;
    };
    const custody = localCustody({ ...effects, random }, recordingKeys(), OPTIONS);
    const clientPublicKey = generateP256KeyPair().publicKeyUncompressed;
    const { seed } = await custody.newSeed(WALLET_IDS);
    await custody.newSessionKey(clientPublicKey);
    await custody.newOtpTarget({ id: '1', organizationId: '1', expiresAt: 0 });
    await custody.exportSeed({ ...WALLET_IDS, seed, clientPublicKey });
    await custody.newSigner({ id: '1' });
    expect(randomValues).toHaveLength(6);
    for (const bytes of randomValues)
      expect(Buffer.from(bytes).every((byte) => byte === 0)).toBe(true);
  });
});

describe('a signing key', () => {
  it('is derived from its purpose, and again after an invalid scalar', () => {
    const requestedPurposes: string[] = [];
    const bytes = [Buffer.alloc(32, 255), Buffer.alloc(32), Buffer.alloc(32, 0x33)];
    const derive = (purpose: string) => {
      requestedPurposes.push(purpose);
      return bytes[requestedPurposes.length - 1] as Buffer;
    };
    const { publicKey } = signerOf({ derive }, 'bundles');
    expect(requestedPurposes).toEqual(['bundles', 'bundles 2', 'bundles 3']);
    expect(publicKey).toMatch(
      /^0451a7580833898ea1b183cbd7350a4099078c6ef1c1e18e970cd7683035f25e7d/,
    );
  });
});
