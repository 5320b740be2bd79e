// A stamp: the signature of a wallet's session over a text, in one header. It is base64url of a small JSON
// with the public key, the scheme and a DER signature over SHA-256 of the text. Signatures with a high S are
// good: half of all libraries make them, and replays are kept out by what is signed, never by how. What is
// not of that very form is no stamp at all, so that one stamp has one meaning for whoever reads it.
import { type KeyObject, verify } from 'node:crypto';
import { p256PublicKey, uncompressedPoint } from '../../../kernel/crypto/p256.ts';

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
const COMPRESSED = /^0[23][0-9a-f]{64}$/i;
/** Two integers of 33 bytes at most, in a sequence: lengths are one byte each. */
const DER = /^30(?:[0-9a-f]{2}){7,71}$/i;
const MEMBER_COUNT = 3;

/** Where the DER integer at `at` ends; undefined where it is none, is negative or not as short as can be. */
function integerEnd(bytes: Buffer, at: number): number | undefined {
  const [tag, length = 0, first = 0, second = 0] = bytes.subarray(at, at + 4);
  if (tag !== 0x02 || length < 1 || length > 33 || first > 0x7f) return undefined;
  if (first === 0 && length > 1 && second < 0x80) return undefined;
  return at + 2 + length;
}

/** The bytes of a signature; undefined where they are no DER sequence of two positive integers. */
function derOf(hex: string): Buffer | undefined {
  if (!DER.test(hex)) return undefined;
  const bytes = Buffer.from(hex, 'hex');
  const middle = bytes[1] === bytes.length - 2 ? integerEnd(bytes, 2) : undefined;
  const end = middle === undefined ? undefined : integerEnd(bytes, middle);
  return end === bytes.length ? bytes : undefined;
}

/** The three members of a stamp as they were sent, or undefined where there are others or two of one name. */
function membersOf(header: string): { publicKey: string; signature: string } | undefined {
  if (header.length > MAX_LENGTH || !BASE64URL.test(header)) return undefined;
  if (header.replace(/=+$/, '').length % 4 === 1) return undefined;
  const text = Buffer.from(header, 'base64url').toString();
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const { publicKey, scheme, signature } = parsed as Record<string, unknown>;
  if (typeof publicKey !== 'string' || typeof signature !== 'string') return undefined;
  if (scheme !== SCHEME || Object.keys(parsed).length !== MEMBER_COUNT) return undefined;
  // No value that is allowed has spaces or escapes in it, so what is longer said something twice.
  if (text.replaceAll(/[ \t\r\n]/g, '').length !== JSON.stringify(parsed).length) return undefined;
  return { publicKey, signature };
}

const MAX_CACHED_KEYS = 1_000;
/** Keys that were seen lately, the latest last: reading one takes longer than checking its signature. */
const keyCache = new Map<string, KeyObject>();

/** The key of a compressed point; undefined where it is not on the curve. */
function keyOf(point: string): KeyObject | undefined {
  const whole = keyCache.has(point) ? undefined : uncompressedPoint(point);
  const key = whole === undefined ? keyCache.get(point) : p256PublicKey(whole);
  if (!key) return undefined;
  keyCache.delete(point);
  keyCache.set(point, key);
  const [oldest] = keyCache.keys();
  if (keyCache.size > MAX_CACHED_KEYS && oldest !== undefined) keyCache.delete(oldest);
  return key;
}

/** Makes a key ready that is about to sign: that of a session which was just opened. */
export const cacheKey = (point: string): void => void keyOf(point);

/** The stamp of a header's value, or undefined where it is none. */
export function parseStamp(header: string): Stamp | undefined {
  const members = membersOf(header);
  if (!members || !COMPRESSED.test(members.publicKey)) return undefined;
  const signature = derOf(members.signature);
  const publicKey = members.publicKey.toLowerCase();
  const key = signature && keyOf(publicKey);
  return key && signature && { publicKey, key, signature };
}

/** Whether the stamp signs exactly this text, or these bytes. */
export const verifyStamp = ({ key, signature }: Stamp, signed: string | Uint8Array): boolean => {
  const bytes = typeof signed === 'string' ? Buffer.from(signed) : signed;
  return verify('sha256', bytes, { key, dsaEncoding: 'der' }, signature);
};

/** Whether a header is a stamp of this key over the text. */
export function isStampOf(header: string, publicKey: string, text: string): boolean {
  const stamp = parseStamp(header);
  return stamp?.publicKey === publicKey && verifyStamp(stamp, text);
}
