// P-256 points in hexadecimal form, uncompressed (04...) or compressed (02..., 03...). Keys are
// stored and compared in compressed lower-case form, so that each key has one text. Key pairs are
// generated from random bytes of the caller, and their scalars always have all 32 bytes.
import { createECDH, createPrivateKey, createPublicKey, ECDH, type KeyObject } from 'node:crypto';

const CURVE = 'prime256v1';
const POINT = /^(?:0[23][0-9a-f]{64}|04[0-9a-f]{128})$/i;

const convertPoint = (hex: string, form: 'compressed' | 'uncompressed'): string | undefined => {
  if (!POINT.test(hex)) return undefined;
  try {
    return ECDH.convertKey(hex, CURVE, 'hex', 'hex', form) as string;
  } catch {
    return undefined;
  }
};

/** The compressed text of a point in either form. Undefined for any other text. */
export const compressedPoint = (hex: string): string | undefined => convertPoint(hex, 'compressed');

/** The uncompressed text of a point in either form: 130 digits. Undefined for any other text. */
export const uncompressedPoint = (hex: string): string | undefined =>
  convertPoint(hex, 'uncompressed');

export const isUncompressed = (hex: string): boolean => hex.startsWith('04');

/** The key of a point in either form. Throws for an invalid point. */
export function p256PublicKey(hex: string): KeyObject {
  const point = uncompressedPoint(hex);
  if (!point) throw new RangeError('the text is not a point of P-256');
  const encode = (from: number) =>
    Buffer.from(point.slice(from, from + 64), 'hex').toString('base64url');
  const key = { kty: 'EC', crv: 'P-256', x: encode(2), y: encode(66) };
  return createPublicKey({ format: 'jwk', key });
}

/** A private scalar of 32 bytes and its public point of 65 bytes. */
export interface P256Pair {
  scalar: Buffer;
  point: Buffer;
}

/**
 * The key pair of a scalar, without a copy of its bytes. Undefined for a scalar outside 1 … n-1.
 */
export function p256Pair(scalar: Uint8Array): P256Pair | undefined {
  const bytes = Buffer.from(scalar.buffer, scalar.byteOffset, scalar.byteLength);
  const curve = createECDH(CURVE);
  try {
    curve.setPrivateKey(bytes);
  } catch {
    return undefined;
  }
  return { scalar: bytes, point: curve.getPublicKey() };
}

/** Generates a key pair. An invalid scalar, one in four billion, is replaced. */
export function generateP256(randomScalar: () => Uint8Array): P256Pair {
  for (;;) {
    const pair = p256Pair(randomScalar());
    if (pair) return pair;
  }
}

export function p256Jwk({ scalar, point }: P256Pair) {
  const encode = (bytes: Buffer) => bytes.toString('base64url');
  const [x, y] = [encode(point.subarray(1, 33)), encode(point.subarray(33))];
  return { kty: 'EC', crv: 'P-256', d: encode(scalar), x, y };
}

export const p256PrivateKey = (pair: P256Pair): KeyObject =>
  createPrivateKey({ format: 'jwk', key: p256Jwk(pair) });
