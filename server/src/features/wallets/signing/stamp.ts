// A stamp is the signature of a session key over a payload, in one header. Its format is base64url of JSON
// with the public key, the scheme and a DER signature over SHA-256 of the payload. Signatures with a high S
// are valid, because many libraries create them and the payload prevents replays. Any other form is rejected,
// so that a stamp has exactly one interpretation.
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
const COMPRESSED_KEY = /^0[23][0-9a-f]{64}$/i;
/** Tag and size of a sequence of two integers of at most 33 bytes, with one-byte lengths. */
const DER = /^30(?:[0-9a-f]{2}){7,71}$/i;
const MEMBER_COUNT = 3;

/** End of the DER integer at `offset`, or undefined if it is invalid, negative or not minimal. */
function integerEnd(bytes: Buffer, offset: number): number | undefined {
  const [tag, length = 0, firstByte = 0, secondByte = 0] = bytes.subarray(offset, offset + 4);
  if (tag !== 0x02 || length < 1 || length > 33 || firstByte > 0x7f) return undefined;
  if (firstByte === 0 && length > 1 && secondByte < 0x80) return undefined;
  return offset + 2 + length;
}

/** The bytes of a signature, or undefined unless they are a DER sequence of two non-negative integers. */
function derOf(hex: string): Buffer | undefined {
  if (!DER.test(hex)) return undefined;
  const bytes = Buffer.from(hex, 'hex');
  const secondOffset = bytes[1] === bytes.length - 2 ? integerEnd(bytes, 2) : undefined;
  const endOffset = secondOffset === undefined ? undefined : integerEnd(bytes, secondOffset);
  return endOffset === bytes.length ? bytes : undefined;
}

/** The members of a stamp, or undefined with other members or duplicates. */
function membersOf(header: string): { publicKey: string; signature: string } | undefined {
  if (header.length > MAX_LENGTH || !BASE64URL.test(header)) return undefined;
  if (header.replace(/=+$/, '').length % 4 === 1) return undefined;
  const text = Buffer.from(header, 'base64url').toString();
  let parsedJson: unknown;
  try {
    parsedJson = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof parsedJson !== 'object' || parsedJson === null) return undefined;
  const { publicKey, scheme, signature } = parsedJson as Record<string, unknown>;
  if (typeof publicKey !== 'string' || typeof signature !== 'string') return undefined;
  if (scheme !== SCHEME || Object.keys(parsedJson).length !== MEMBER_COUNT) return undefined;
  // Valid values contain no spaces or escapes, so a longer text has duplicate members.
  if (text.replaceAll(/[ \t\r\n]/g, '').length !== JSON.stringify(parsedJson).length)
    return undefined;
  return { publicKey, signature };
}

const MAX_CACHED_KEYS = 1_000;
/** LRU cache of keys, because importing a key takes longer than verifying a signature. */
const keyCache = new Map<string, KeyObject>();

/** The key of a compressed point, or undefined if it is not on the curve. */
function keyOf(point: string): KeyObject | undefined {
  const uncompressedKey = keyCache.has(point) ? undefined : uncompressedPoint(point);
  const key = uncompressedKey === undefined ? keyCache.get(point) : p256PublicKey(uncompressedKey);
  if (!key) return undefined;
  keyCache.delete(point);
  keyCache.set(point, key);
  const [oldestPoint] = keyCache.keys();
  if (keyCache.size > MAX_CACHED_KEYS && oldestPoint !== undefined) keyCache.delete(oldestPoint);
  return key;
}

/** Imports the key of a new session in advance. */
export const cacheKey = (point: string): void => void keyOf(point);

/** Parses a header value. Returns undefined if it is not a stamp. */
export function parseStamp(header: string): Stamp | undefined {
  const members = membersOf(header);
  if (!members || !COMPRESSED_KEY.test(members.publicKey)) return undefined;
  const signature = derOf(members.signature);
  const publicKey = members.publicKey.toLowerCase();
  const key = signature && keyOf(publicKey);
  return key && signature && { publicKey, key, signature };
}

/** Verifies the signature over this text or these bytes. */
export const verifyStamp = (
  { key, signature }: Stamp,
  signedText: string | Uint8Array,
): boolean => {
  const bytes = typeof signedText === 'string' ? Buffer.from(signedText) : signedText;
  return verify('sha256', bytes, { key, dsaEncoding: 'der' }, signature);
};

/** Whether a header is a valid stamp of this key over the text. */
export function isStampOf(header: string, publicKey: string, text: string): boolean {
  const stamp = parseStamp(header);
  return stamp?.publicKey === publicKey && verifyStamp(stamp, text);
}
