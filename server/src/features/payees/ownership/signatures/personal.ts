// Signed messages of EVM chains and Tron (EIP-191 version 0x45, TIP-191). The secp256k1 signature
// is over the keccak-256 of a prefix that no transaction starts with, the length in bytes and the
// message. A signature is 65 bytes in hexadecimal. The 64-byte form (EIP-2098) is rejected, so that
// a signature has one encoding.

import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { createBase58check } from '@scure/base';
import { recoverKey } from './secp256k1.ts';

const base58check = createBase58check(sha256);

/** Bytes of a hexadecimal text with or without `0x`, or undefined for other text. */
export function decodeHex(text: string): Buffer | undefined {
  const digits = text.startsWith('0x') ? text.slice(2) : text;
  return /^(?:[0-9a-fA-F]{2})+$/.test(digits) ? Buffer.from(digits, 'hex') : undefined;
}

function digestOf(chain: string, message: string): Uint8Array {
  const bytes = Buffer.from(message, 'utf8');
  const prefix = Buffer.from(`\x19${chain} Signed Message:\n${bytes.length}`, 'utf8');
  return keccak_256(Buffer.concat([prefix, bytes]));
}

/** The digest that an EVM wallet signs. */
export const evmDigest = (message: string): Uint8Array => digestOf('Ethereum', message);

/** The last 20 bytes of the hash of the signing key. */
function recoverAddress(digest: Uint8Array, signature: string): Buffer | undefined {
  const bytes = decodeHex(signature);
  if (bytes?.length !== 65) return undefined;
  const v = bytes[64]!;
  const recovery = v >= 27 ? v - 27 : v;
  if (recovery > 1) return undefined;
  const key = recoverKey(digest, bytes.subarray(0, 64), recovery);
  return key && Buffer.from(keccak_256(key.subarray(1)).subarray(12));
}

/** Whether the key of this address signed the message. */
export const isValidEvmSignature = (address: string, message: string, signature: string): boolean =>
  recoverAddress(evmDigest(message), signature)?.equals(Buffer.from(address.slice(2), 'hex')) ??
  false;

/**
 * Whether the key of this Tron address signed the message. Tron addresses are base58 of 0x41 and
 * the same 20 bytes.
 */
export function isValidTronSignature(address: string, message: string, signature: string): boolean {
  const signerAddress = recoverAddress(digestOf('TRON', message), signature);
  return (
    !!signerAddress &&
    base58check.encode(Buffer.concat([Buffer.of(0x41), signerAddress])) === address
  );
}
