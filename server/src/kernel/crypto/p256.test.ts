// Points in every form, and signatures with their keys.
import { createECDH, createPublicKey, sign, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  compressedPoint,
  generateP256,
  isUncompressed,
  p256Jwk,
  p256Pair,
  p256PrivateKey,
  p256PublicKey,
  uncompressedPoint,
} from './p256.ts';

/** The generator of the curve, SEC 2. */
const X = '6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296';
const Y = '4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5';
const [UNCOMPRESSED, COMPRESSED] = [`04${X}${Y}`, `03${X}`];
const ORDER = 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551';
const scalar = (hex: string) => Buffer.from(hex.padStart(64, '0'), 'hex');

describe('points', () => {
  it('have one canonical text for every form and letter case', () => {
    for (const input of [
      UNCOMPRESSED,
      COMPRESSED,
      UNCOMPRESSED.toUpperCase(),
      COMPRESSED.toUpperCase(),
    ]) {
      expect(compressedPoint(input)).toBe(COMPRESSED);
      expect(uncompressedPoint(input)).toBe(UNCOMPRESSED);
    }
    expect([isUncompressed(UNCOMPRESSED), isUncompressed(COMPRESSED)]).toEqual([true, false]);
  });

  it('with the same x have two y values', () => {
    const otherPoint = `02${X}`;
    expect(compressedPoint(otherPoint)).toBe(otherPoint);
    expect(uncompressedPoint(otherPoint)).not.toBe(UNCOMPRESSED);
    expect(uncompressedPoint(otherPoint)?.slice(2, 66)).toBe(X);
  });

  it.each([
    ['an empty string', ''],
    ['infinity', '00'],
    ['a hybrid form', `07${X}${Y}`],
    ['an uncompressed form of the wrong length', `04${X}`],
    ['a compressed form of the wrong length', `02${X}${Y}`],
    ['a string other than hex', `02${'x'.repeat(64)}`],
    ['hex with a trailing line break', `${COMPRESSED}\n`],
    ['an x without a y', `02${'0'.repeat(63)}1`],
    ['a y of another x', `04${X}${Y.slice(0, -1)}6`],
    ['an x beyond the field', `02${'f'.repeat(64)}`],
  ])('are not %s', (_, input) => {
    expect(compressedPoint(input)).toBeUndefined();
    expect(uncompressedPoint(input)).toBeUndefined();
    expect(() => p256PublicKey(input)).toThrow(RangeError);
  });
});

describe('keys', () => {
  it('sign and verify in either form', () => {
    const pair = generateP256(() => scalar('1234'));
    const signature = sign('sha256', Buffer.from('text'), p256PrivateKey(pair));
    for (const form of ['compressed', 'uncompressed'] as const) {
      const curve = createECDH('prime256v1');
      curve.setPrivateKey(pair.scalar);
      const key = p256PublicKey(curve.getPublicKey('hex', form));
      expect(verify('sha256', Buffer.from('text'), key, signature)).toBe(true);
      expect(key.equals(createPublicKey(p256PrivateKey(pair)))).toBe(true);
    }
  });

  it('are derived from scalars within the group only', () => {
    const lastScalar = ORDER.replace(/1$/, '0');
    expect(p256Pair(scalar('1'))?.point.toString('hex')).toBe(UNCOMPRESSED);
    expect(p256Pair(scalar(lastScalar))?.point.toString('hex').slice(2, 66)).toBe(X);
    for (const invalidScalar of ['0', ORDER, 'f'.repeat(64)])
      expect(p256Pair(scalar(invalidScalar))).toBeUndefined();
  });

  it('are generated until a scalar is valid and keep leading zero bytes', () => {
    const candidates = ['0', ORDER, '2'].map(scalar);
    const pair = generateP256(() => candidates.shift() as Buffer);
    expect(pair.scalar).toEqual(scalar('2'));
    expect(candidates).toEqual([]);
    expect(Buffer.from(p256Jwk(pair).d, 'base64url')).toHaveLength(32);
  });
});
