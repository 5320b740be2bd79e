// Finds the public key behind an ECDSA signature on secp256k1, which is how most chains let a wallet show
// who it is: the address is a hash of that key. The curve is a library's; what is decided here is how strict
// we are: the lower `s` only, and nothing out of range.
import { secp256k1 } from '@noble/curves/secp256k1.js';

const { Point, Signature } = secp256k1;

/** Order of the group. */
export const ORDER = Point.Fn.ORDER;
const HALF_ORDER = ORDER >> 1n;

export const toBigInt = (bytes: Uint8Array): bigint =>
  BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`);

/** Of the two signatures that differ in the sign of `s`, wallets make the lower one. */
export const isLow = (s: bigint): boolean => s <= HALF_ORDER;

/**
 * The public key, uncompressed, whose signature of `digest` this is; undefined where there is none.
 * Refuses the higher `s`. `recovery` is 0 to 3: bit 0 the parity of y, bit 1 whether x passed the order.
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

export const compressed = (key: Uint8Array): Buffer =>
  Buffer.from(Point.fromBytes(key).toBytes(true));

/** The x of a key's even point moved on by `tweak` times the generator, as Taproot addresses hold it. */
export function tweakedX(key: Uint8Array, tweak: Uint8Array): Buffer | undefined {
  try {
    const { x } = Point.fromBytes(key).toAffine();
    const even = Point.fromBytes(Buffer.concat([Buffer.of(2), Point.Fp.toBytes(x)]));
    const moved = even.add(Point.BASE.multiply(toBigInt(tweak)));
    return Buffer.from(moved.toBytes(true).subarray(1));
  } catch {
    return undefined;
  }
}
