// Points of P-256 as clients of wallets write them: hexadecimal, whole (04...) or compressed (02..., 03...).
// Keys are kept and compared compressed and in small letters, so that one key has one text.
import { createPublicKey, ECDH, type KeyObject } from 'node:crypto';

const CURVE = 'prime256v1';
const POINT = /^(?:0[23][0-9a-f]{64}|04[0-9a-f]{128})$/i;

const converted = (hex: string, form: 'compressed' | 'uncompressed'): string | undefined => {
  if (!POINT.test(hex)) return undefined;
  try {
    return ECDH.convertKey(hex, CURVE, 'hex', 'hex', form) as string;
  } catch {
    return undefined;
  }
};

/** The compressed text of a point in either form, or undefined where the text is no point of the curve. */
export const compressedPoint = (hex: string): string | undefined => converted(hex, 'compressed');

/** The same point whole: 65 bytes. */
export const wholePoint = (hex: string): string | undefined => converted(hex, 'uncompressed');

export const isWhole = (hex: string): boolean => hex.startsWith('04');

/** The key of a point in either form; throws where it is none. */
export function p256PublicKey(hex: string): KeyObject {
  const point = wholePoint(hex);
  if (!point) throw new RangeError('not a point of P-256');
  const part = (from: number) =>
    Buffer.from(point.slice(from, from + 64), 'hex').toString('base64url');
  const key = { kty: 'EC', crv: 'P-256', x: part(2), y: part(66) };
  return createPublicKey({ format: 'jwk', key });
}
