// Key pairs of wallet sessions, and stamps: the session's signature over a payload, as a header
// value.
import { fromBase64, fromHex, toBase64Url, toHex, utf8 } from '../crypto/bytes.ts';
import { signDer } from '../crypto/ecdsa.ts';
import { compress, publicPoint } from './curve.ts';
import { importPrivate } from './import.ts';

/** A P-256 key pair in lower-case hexadecimal. Keep the private key in memory only. */
export interface WalletKeys {
  /** 64 digits. */
  readonly privateKey: string;
  /** Compressed: 66 digits. Sent as `clientPublicKey`, it becomes the session key. */
  readonly publicKey: string;
  /** Uncompressed: 130 digits, for replies that are encrypted to it. */
  readonly uncompressedKey: string;
}

const pairOf = (privateKey: string, point: Uint8Array): WalletKeys => ({
  privateKey,
  publicKey: toHex(compress(point)),
  uncompressedKey: toHex(point),
});

/** The key pair of a private key. */
export const keysOf = (privateKey: string): WalletKeys =>
  pairOf(privateKey.toLowerCase(), publicPoint(fromHex(privateKey)));

export async function generateKeys(): Promise<WalletKeys> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const [jwk, point] = await Promise.all([
    crypto.subtle.exportKey('jwk', pair.privateKey),
    crypto.subtle.exportKey('raw', pair.publicKey),
  ]);
  return pairOf(toHex(fromBase64(jwk.d as string)), new Uint8Array(point));
}

/**
 * The value of the signature header: `payload`, exactly as received, signed with the session key.
 */
export async function stamp(keys: WalletKeys, payload: string): Promise<string> {
  const signature = await signDer(await importPrivate(keys, 'ECDSA'), utf8(payload));
  const { publicKey } = keys;
  const scheme = 'SIGNATURE_SCHEME_TK_API_P256';
  return toBase64Url(utf8(JSON.stringify({ publicKey, scheme, signature: toHex(signature) })));
}
