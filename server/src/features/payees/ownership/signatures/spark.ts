// Spark addresses contain the identity key of the wallet, with which the Spark SDKs sign messages.
// The signature is ECDSA on secp256k1 over SHA-256 of the UTF-8 bytes, as hexadecimal of DER or of
// r and s in 64 bytes. OpenSSL verifies the signature, because no key recovery is needed. A high
// `s` is rejected, as in the SDKs.
import { createPublicKey, ECDH, verify } from 'node:crypto';
import { sparkIdentityKey } from '../../../../catalog/crypto/addresses.ts';
import { decodeHex } from './personal.ts';
import { isLow, toBigInt } from './secp256k1.ts';

function publicKeyOf(key: Uint8Array) {
  const point = ECDH.convertKey(key, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer;
  const x = point.subarray(1, 33).toString('base64url');
  const y = point.subarray(33).toString('base64url');
  return createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'secp256k1', x, y } });
}

/** The `s` of a DER signature. OpenSSL validates the encoding. */
function parseS(bytes: Uint8Array): bigint {
  const offset = 4 + (bytes[3] ?? 0);
  return toBigInt(bytes.subarray(offset + 2));
}

/** Whether the identity key of this address signed the message. */
export function isValidSparkSignature(
  address: string,
  message: string,
  signature: string,
): boolean {
  const key = sparkIdentityKey(address);
  const bytes = decodeHex(signature);
  if (!key || !bytes) return false;
  const isCompact = bytes.length === 64;
  if (!isLow(isCompact ? toBigInt(bytes.subarray(32)) : parseS(bytes))) return false;
  try {
    const dsaEncoding = isCompact ? 'ieee-p1363' : 'der';
    return verify('sha256', Buffer.from(message), { key: publicKeyOf(key), dsaEncoding }, bytes);
  } catch {
    return false;
  }
}
