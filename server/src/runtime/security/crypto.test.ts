// Sealing of values, derived keys, and hashes.
import { createHash, createPublicKey, sign, verify } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Effects } from '../../kernel/effects.ts';
import {
  constantTimeEqual,
  decrypt,
  ed25519KeyOf,
  encrypt,
  newP256Key,
  newSecret,
  open,
  seal,
  sha256Hex,
} from './crypto.ts';

/** Effects whose random bytes are first `firstBytes`, if present, and then hashes of a counter. */
function countingEffects(firstBytes?: Uint8Array): Effects {
  let position = 0;
  return {
    now: () => 0,
    random(bytes) {
      if (position++ === 0 && firstBytes) return firstBytes;
      return new Uint8Array(
        createHash('shake256', { outputLength: bytes }).update(`${position}`).digest(),
      );
    },
    http: () => Promise.reject(new Error('no network here')),
    stream: () => Promise.reject(new Error('no network here')),
    call: () => Promise.reject(new Error('no network here')),
  };
}

const hex = (text: string) => Buffer.from(text, 'hex');
const KEY = hex('feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308');

describe('AES-256-GCM', () => {
  // Test cases 13 to 16 of the submission of GCM to NIST.
  const plaintextHex =
    'd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72' +
    '1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255';
  const ciphertextHex =
    '522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa' +
    '8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad';
  it.each([
    ['13', '00'.repeat(32), '00'.repeat(12), '', '', '', '530f8afbc74536b9a963b4f1c4cb738b'],
    [
      '14',
      '00'.repeat(32),
      '00'.repeat(12),
      '00'.repeat(16),
      '',
      'cea7403d4d606b6e074ec5d3baf39d18',
      'd0d1c8a799996bf0265b98b5d48ab919',
    ],
    [
      '15',
      KEY.toString('hex'),
      'cafebabefacedbaddecaf888',
      plaintextHex,
      '',
      ciphertextHex,
      'b094dac5d93471bdec1a502270e3cc6c',
    ],
    [
      '16',
      KEY.toString('hex'),
      'cafebabefacedbaddecaf888',
      plaintextHex.slice(0, 120),
      'feedfacedeadbeeffeedfacedeadbeefabaddad2',
      ciphertextHex.slice(0, 120),
      '76fc6ece0f4e1768cddf8853bb2d551b',
    ],
  ])('meets test case %s', (_name, key, nonce, plaintext, aad, ciphertext, tag) => {
    const encryptedBytes = encrypt(hex(key), hex(nonce), hex(plaintext), hex(aad));
    expect(encryptedBytes.toString('hex')).toBe(ciphertext + tag);
    expect(decrypt(hex(key), hex(nonce), encryptedBytes, hex(aad)).toString('hex')).toBe(plaintext);
  });
});

describe('seal', () => {
  const effects = countingEffects();

  it('returns text from which open restores any data', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), (bytes, context) => {
        const sealedText = seal(effects, KEY, bytes, context);
        expect([...open(KEY, sealedText, context)]).toEqual([...bytes]);
      }),
    );
  });

  it('seals the same text differently each time', () => {
    expect(seal(effects, KEY, 'text', 'c')).not.toBe(seal(effects, KEY, 'text', 'c'));
  });

  it('rejects another key, another context, a changed byte and another format', () => {
    const sealedText = seal(effects, KEY, 'a private key', 'signing_keys 1');
    const otherKey = Buffer.from(KEY);
    otherKey[0] = 0;
    const changedText = sealedText.slice(0, -2) + (sealedText.endsWith('AA') ? 'BB' : 'AA');
    const attempts: [Uint8Array, string, string][] = [
      [otherKey, sealedText, 'signing_keys 1'],
      [KEY, sealedText, 'signing_keys 2'],
      [KEY, changedText, 'signing_keys 1'],
      [KEY, sealedText.replace('s1.', 's2.'), 'signing_keys 1'],
      [KEY, `${sealedText}.x`, 'signing_keys 1'],
      [KEY, 's1.AA.AA', 'signing_keys 1'],
      [KEY, '', 'signing_keys 1'],
    ];
    for (const [key, text, context] of attempts) {
      expect(() => open(key, text, context)).toThrow(/cannot decrypt/);
    }
  });
});

describe('secrets', () => {
  it('are hashed as specified by FIPS 180-4', () => {
    expect(sha256Hex('abc')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });

  it('are compared regardless of their length', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => constantTimeEqual(a, b) === (a === b)),
    );
    expect(constantTimeEqual('same', 'same')).toBe(true);
  });

  it('are generated with 256 random bits in a format that scanners recognize', () => {
    expect(newSecret(countingEffects())).toMatch(/^rhs_[A-Za-z0-9_-]{43}$/);
  });
});

describe('keys', () => {
  it('are derived from random bytes for P-256, and an invalid scalar is replaced', () => {
    const invalidScalar = new Uint8Array(32).fill(255);
    const firstP256Key = newP256Key(countingEffects(invalidScalar));
    const secondP256Key = newP256Key(countingEffects(new Uint8Array(32)));
    expect(firstP256Key.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    expect(firstP256Key.equals(secondP256Key)).toBe(true);
    const signature = sign('sha256', Buffer.from('body'), firstP256Key);
    expect(verify('sha256', Buffer.from('body'), createPublicKey(firstP256Key), signature)).toBe(
      true,
    );
  });

  it('match RFC 8032, test 1, for Ed25519', () => {
    const key = ed25519KeyOf(
      hex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'),
    );
    const jwk = createPublicKey(key).export({ format: 'jwk' });
    expect(Buffer.from(jwk.x as string, 'base64url').toString('hex')).toBe(
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    );
    expect(sign(null, Buffer.alloc(0), key).toString('hex')).toBe(
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555' +
        'fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    );
  });
});
