// Recovery of public keys from signatures, for any secret and digest.
import { createECDH, createHash, generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signDigest } from '../../../../../test/kit/wallets/chain-wallets.ts';
import { isLow, ORDER, recoverKey, toBigInt } from './secp256k1.ts';

const bytes32 = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');

function publicKeyOf(secret: bigint): Buffer {
  const curve = createECDH('secp256k1');
  curve.setPrivateKey(bytes32(secret));
  return curve.getPublicKey();
}

const secret = fc.bigInt({ min: 1n, max: ORDER - 1n });
const digest = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe('recoverKey', () => {
  it('recovers the key of an OpenSSL signature', () => {
    for (let round = 0; round < 20; round++) {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
      const { x, y } = publicKey.export({ format: 'jwk' });
      const coordinates = [x, y].map((each) => Buffer.from(each as string, 'base64url'));
      const key = Buffer.concat([Buffer.of(4), ...coordinates]);
      const message = Buffer.from(`round ${round}`);
      const signatureBytes = sign('sha256', message, {
        key: privateKey,
        dsaEncoding: 'ieee-p1363',
      });
      const s = toBigInt(signatureBytes.subarray(32));
      const signature = Buffer.concat([
        signatureBytes.subarray(0, 32),
        bytes32(isLow(s) ? s : ORDER - s),
      ]);
      const hash = createHash('sha256').update(message).digest();
      const keys = [0, 1].map((recovery) => recoverKey(hash, signature, recovery)?.toString('hex'));
      expect(keys).toContain(key.toString('hex'));
      expect(new Set(keys).size).toBe(2);
    }
  });

  it('recovers the key for every secret and digest, including the smallest and largest', () => {
    fc.assert(
      fc.property(secret, digest, (d, hash) => {
        const { signature, recovery } = signDigest(d, hash);
        expect(recoverKey(hash, signature, recovery)?.equals(publicKeyOf(d))).toBe(true);
      }),
      {
        numRuns: 40,
        examples: [
          [1n, new Uint8Array(32).fill(255)],
          [ORDER - 1n, bytes32(1n)],
        ],
      },
    );
  });

  // Cases of the Wycheproof ECDSA vectors: numbers out of range, the higher s, and other lengths.
  const hash = createHash('sha256').update('vires in numeris').digest();
  const { signature, recovery } = signDigest(7n, hash);
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32)];
  const invalidSignatures: Record<string, Uint8Array> = {
    'r = 0': Buffer.concat([bytes32(0n), s]),
    's = 0': Buffer.concat([r, bytes32(0n)]),
    'r = n': Buffer.concat([bytes32(ORDER), s]),
    's = n': Buffer.concat([r, bytes32(ORDER)]),
    'r above n': Buffer.concat([bytes32((toBigInt(r) + ORDER) % 2n ** 256n), s]),
    'all bits set': Buffer.alloc(64, 255),
    'all bits zero': Buffer.alloc(64),
    'one byte less': signature.subarray(1),
    'one byte more': Buffer.concat([signature, Buffer.of(0)]),
    'the high s': signDigest(7n, hash, { high: true }).signature,
    // The curve has no point with x = 5.
    'r without a curve point': Buffer.concat([bytes32(5n), s]),
  };
  it.each(Object.keys(invalidSignatures))('rejects %s', (name) => {
    const keys = [0, 1, 2, 3].map((each) => recoverKey(hash, invalidSignatures[name]!, each));
    expect(keys).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('rejects undefined recovery IDs, and does not recover the key with another defined ID', () => {
    for (const each of [-1, 4, 27, 0.5]) expect(recoverKey(hash, signature, each)).toBeUndefined();
    const otherIds = [0, 1, 2, 3].filter((each) => each !== recovery);
    const key = publicKeyOf(7n);
    for (const each of otherIds)
      expect(recoverKey(hash, signature, each)?.equals(key)).not.toBe(true);
  });

  it('supports a nonce whose x exceeds the order, indicated by bit 1', () => {
    // x = n + 2 is on the curve. The nonce itself is unknown, so only its point can be tested.
    const rareSignature = Buffer.concat([bytes32(2n), bytes32(1n)]);
    const key = recoverKey(hash, rareSignature, 2);
    expect(key).toHaveLength(65);
    expect(recoverKey(hash, rareSignature, 0)?.equals(key!)).toBe(false);
  });
});
