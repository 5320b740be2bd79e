// The texts in which keys, codes and words travel between a wallet's client and its custodian, byte
// for byte as the published client libraries write and read them. Bundles are JSON whose `data` is
// hexadecimal of JSON, so that what was signed is what arrives; a session key is base58check, like
// an address.
import { type KeyObject, sign } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { base58check } from '@scure/base';
import { compressedPoint } from '../../kernel/crypto/p256.ts';
import type { Sealed } from './hpke.ts';

const VERSION = 'v1.0.0';

/** Who signs, and what it is known by: a whole point, lower-case hex. */
export interface Signer {
  privateKey: KeyObject;
  publicKey: string;
}

/** `data` in a bundle; without a signer its signature and the signer's key are empty texts. */
export function bundleOf(data: Readonly<Record<string, unknown>>, signer?: Signer): string {
  const bytes = Buffer.from(JSON.stringify(data));
  return JSON.stringify({
    version: VERSION,
    data: bytes.toString('hex'),
    dataSignature: signer ? sign('sha256', bytes, signer.privateKey).toString('hex') : '',
    enclaveQuorumPublic: signer?.publicKey ?? '',
  });
}

/** What of a sealed message is put into a bundle. */
export const sealedFields = ({ encapped, ciphertext }: Sealed) => ({
  encappedPublic: encapped.toString('hex'),
  ciphertext: ciphertext.toString('hex'),
});

const addressLike = base58check(sha256);

/** A sealed session key: the ephemeral key compressed, the ciphertext behind it. */
export function sealedKeyText({ encapped, ciphertext }: Sealed): string {
  const compressed = Buffer.from(compressedPoint(encapped.toString('hex')) as string, 'hex');
  return addressLike.encode(Buffer.concat([compressed, ciphertext]));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const WHOLE = /^04[0-9a-f]{128}$/i;
/** A tag at least; a code and a key take 183 bytes with theirs. */
const CIPHERTEXT = /^(?:[0-9a-f]{2}){16,1024}$/i;

const matching = (value: unknown, pattern: RegExp): string | undefined =>
  typeof value === 'string' && pattern.test(value) ? value : undefined;

/** An encrypted code as a client sends it, or undefined where the text is of another form. */
export function readOtpBundle(text: string): Sealed | undefined {
  const fields = objectIn(text);
  const encapped = matching(fields?.encappedPublic, WHOLE);
  const ciphertext = matching(fields?.ciphertext, CIPHERTEXT);
  if (!encapped || !ciphertext || !compressedPoint(encapped)) return undefined;
  return { encapped: Buffer.from(encapped, 'hex'), ciphertext: Buffer.from(ciphertext, 'hex') };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The code and the key that were encrypted together; undefined for anything more, less or else. */
export function readOtpPlaintext(bytes: Uint8Array) {
  const { otp_code: code, public_key: key, ...more } = objectIn(textOf(bytes) ?? '') ?? {};
  if (typeof code !== 'string' || typeof key !== 'string' || Object.keys(more).length) return;
  const publicKey = compressedPoint(key);
  return publicKey === undefined ? undefined : { code, publicKey };
}
