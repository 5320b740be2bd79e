// P-256 signatures. Web Crypto uses two numbers of 32 bytes. Webhooks and wallets use DER.
import { type Bytes, concat } from './bytes.ts';

const NUMBER_BYTES = 32;
const [SEQUENCE, INTEGER] = [0x30, 0x02];

/** The DER integer at `offset` in 32 bytes, and the offset after it. Undefined if it is invalid. */
function readInteger(der: Uint8Array, offset: number): { number: Bytes; end: number } | undefined {
  const length = der[offset + 1] ?? 0;
  const end = offset + 2 + length;
  if (der[offset] !== INTEGER || length === 0 || end > der.length) return undefined;
  const start = der[offset + 2] === 0 ? offset + 3 : offset + 2;
  if (end - start > NUMBER_BYTES) return undefined;
  const number = new Uint8Array(NUMBER_BYTES);
  number.set(der.subarray(start, end), NUMBER_BYTES - (end - start));
  return { number, end };
}

/** Converts a DER signature to the Web Crypto format, or undefined if it is invalid. */
function fromDer(der: Uint8Array): Bytes | undefined {
  if (der[0] !== SEQUENCE || der[1] !== der.length - 2) return undefined;
  const r = readInteger(der, 2);
  const s = r && readInteger(der, r.end);
  return r && s && s.end === der.length ? concat(r.number, s.number) : undefined;
}

function derInteger(number: Uint8Array): Uint8Array {
  let start = 0;
  while (start < number.length - 1 && number[start] === 0) start++;
  const bytes = number.subarray(start);
  // A leading zero keeps the number positive.
  const padding = (bytes[0] as number) > 0x7f ? [0] : [];
  return Uint8Array.of(INTEGER, bytes.length + padding.length, ...padding, ...bytes);
}

/** Converts a Web Crypto signature to DER. */
function toDer(pair: Uint8Array): Bytes {
  const numbers = concat(
    derInteger(pair.subarray(0, NUMBER_BYTES)),
    derInteger(pair.subarray(NUMBER_BYTES)),
  );
  return concat(Uint8Array.of(SEQUENCE, numbers.length), numbers);
}

const ECDSA = { name: 'ECDSA', hash: 'SHA-256' };

export async function verifyDer(
  key: CryptoKey,
  der: Uint8Array,
  signedBytes: Bytes,
): Promise<boolean> {
  const signature = fromDer(der);
  return signature ? crypto.subtle.verify(ECDSA, key, signature, signedBytes) : false;
}

export const signDer = async (key: CryptoKey, signedBytes: Bytes): Promise<Bytes> =>
  toDer(new Uint8Array(await crypto.subtle.sign(ECDSA, key, signedBytes)));

const P256 = { name: 'ECDSA', namedCurve: 'P-256' };

/** Imports a public key: an SPKI structure or an uncompressed point. */
export const verificationKey = (format: 'spki' | 'raw', key: Bytes): Promise<CryptoKey> =>
  crypto.subtle.importKey(format, key, P256, false, ['verify']);
