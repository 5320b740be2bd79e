// Imports P-256 keys into Web Crypto.
import { type Bytes, fromHex, toBase64Url } from '../crypto/bytes.ts';

const COORDINATE_BYTES = 32;

export function importPrivate(
  { privateKey, uncompressedKey }: { privateKey: string; uncompressedKey: string },
  name: 'ECDSA' | 'ECDH',
): Promise<CryptoKey> {
  const point = fromHex(uncompressedKey);
  const jwk: JsonWebKey = {
    kty: 'EC',
    crv: 'P-256',
    d: toBase64Url(fromHex(privateKey)),
    x: toBase64Url(point.subarray(1, 1 + COORDINATE_BYTES)),
    y: toBase64Url(point.subarray(1 + COORDINATE_BYTES)),
  };
  const algorithm = { name, namedCurve: 'P-256' };
  return crypto.subtle.importKey('jwk', jwk, algorithm, false, [
    name === 'ECDSA' ? 'sign' : 'deriveBits',
  ]);
}

export const importPublic = (point: Bytes): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', point, { name: 'ECDH', namedCurve: 'P-256' }, true, []);
