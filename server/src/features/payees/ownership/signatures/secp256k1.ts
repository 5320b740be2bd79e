// Recovers the public key of an ECDSA signature on secp256k1. On most chains the address is a hash
// of that key. The curve is implemented by a library. This file rejects high `s` and values out of
// range.
import { secp256k1 } from '@noble/curves/secp256k1.js';

const { Point, Signature } = secp256k1;

/** Order of the group. */
export const ORDER = Point.Fn.ORDER;
const HALF_ORDER = ORDER >> 1n;

export const toBigInt = (bytes: Uint8Array): bigint =>
  BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`);

/** Wallets create the low-`s` form of a signature. */
export const isLow = (s: bigint): boolean => s <= HALF_ORDER;

/**
 * The uncompressed public key that signed `digest`, or undefined if there is none or `s` is high.
 * `recovery` is 0 to 3: bit 0 is the parity of y, bit 1 states whether x exceeded the order.
 */
export function recoverKey(
  digest: Uint8Array,
  pair: Uint8Array,
  recovery: number,
): Buffer | undefined {
  if (pair.length !== 64 || ![0, 1, 2, 3].includes(recovery)) return undefined;
  try {
    const signature = Signature.fromBytes(pair, 'compact').addRecoveryBit(recovery);
    if (signature.hasHighS()) return undefined;
    return Buffer.from(signature.recoverPublicKey(digest).toBytes(false));
  } catch {
    return undefined;
  }
}

export const compressKey = (key: Uint8Array): Buffer =>
  Buffer.from(Point.fromBytes(key).toBytes(true));

/**
 * The x coordinate of the key's even point plus `tweak` times the generator, as in Taproot
 * addresses.
 */
export function tweakedX(key: Uint8Array, tweak: Uint8Array): Buffer | undefined {
  try {
    const { x } = Point.fromBytes(key).toAffine();
    const evenPoint = Point.fromBytes(Buffer.concat([Buffer.of(2), Point.Fp.toBytes(x)]));
    const tweakedPoint = evenPoint.add(Point.BASE.multiply(toBigInt(tweak)));
    return Buffer.from(tweakedPoint.toBytes(true).subarray(1));
  } catch {
    return undefined;
  }
}
