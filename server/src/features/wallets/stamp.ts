// A stamp: the signature of a wallet's session over a text, in one header. It is base64url of a small JSON
// with the public key, the scheme and a DER signature over SHA-256 of the text. Signatures with a high S are
// good: half of all libraries make them, and replays are kept out by what is signed, never by how.
import { type KeyObject, verify } from 'node:crypto';
import { compressedPoint, p256PublicKey } from '../../kernel/p256.ts';

const SCHEME = 'SIGNATURE_SCHEME_TK_API_P256';
const MAX_LENGTH = 1024;

export interface Stamp {
  /** Compressed, lower-case hex. */
  publicKey: string;
  key: KeyObject;
  /** DER. */
  signature: Buffer;
}

const BASE64URL = /^[A-Za-z0-9_-]+={0,2}$/;
const DER = /^30(?:[0-9a-f]{2}){7,71}$/i;

/** The stamp of a header's value, or undefined where it is none. */
export function parseStamp(header: string): Stamp | undefined {
  if (header.length > MAX_LENGTH || !BASE64URL.test(header)) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(header, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
  const { publicKey, scheme, signature } = parsed as Record<string, unknown>;
  if (typeof publicKey !== 'string' || typeof signature !== 'string') return undefined;
  if (scheme !== SCHEME || !DER.test(signature)) return undefined;
  const compressed = compressedPoint(publicKey);
  if (!compressed || compressed.length !== publicKey.length) return undefined;
  return {
    publicKey: compressed,
    key: p256PublicKey(compressed),
    signature: Buffer.from(signature, 'hex'),
  };
}

/** Whether the stamp signs exactly this text. */
export const signs = ({ key, signature }: Stamp, text: string): boolean =>
  verify('sha256', Buffer.from(text), { key, dsaEncoding: 'der' }, signature);
