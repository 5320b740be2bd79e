// Solana wallets sign the UTF-8 bytes of a message with Ed25519. The address is the public key. The
// signature is base58 of exactly 64 bytes. Points of small order or with a non-canonical encoding
// are rejected, as on Solana, because ZIP-215 rules permit forged signatures for some keys.
import { createPublicKey, verify } from 'node:crypto';
import { base58 } from '@scure/base';

const FIELD_PRIME = 2n ** 255n - 19n;
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/** The y coordinates of the eight points of small order. */
const SMALL_ORDER_Y: ReadonlySet<bigint> = new Set([
  0n,
  1n,
  FIELD_PRIME - 1n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd83d3d706a17c7n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
]);

function isSoundPoint(bytes: Uint8Array): boolean {
  const y = Buffer.from(bytes).reverse();
  y[0]! &= 0x7f;
  const value = BigInt(`0x${y.toString('hex')}`);
  return value < FIELD_PRIME && !SMALL_ORDER_Y.has(value);
}

function decodeBase58(text: string, length: number): Uint8Array | undefined {
  try {
    const bytes = base58.decode(text);
    return bytes.length === length ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the key that this address encodes signed the message. */
export function isValidSolanaSignature(
  address: string,
  message: string,
  signature: string,
): boolean {
  const key = decodeBase58(address, 32);
  const bytes = decodeBase58(signature, 64);
  if (!key || !bytes || !isSoundPoint(key) || !isSoundPoint(bytes.subarray(0, 32))) return false;
  try {
    const der = Buffer.concat([SPKI_HEAD, key]);
    const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
    return verify(null, Buffer.from(message, 'utf8'), publicKey, bytes);
  } catch {
    return false;
  }
}
