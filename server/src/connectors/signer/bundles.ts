// The formats of keys, codes and mnemonics between a wallet's client and its custodian. The formats
// are byte for byte identical to the formats of the published client libraries. Bundles are JSON
// whose `data` is JSON in hexadecimal, so that the signed bytes are preserved. A session key is
// encoded as base58check, like an address.
import { type KeyObject, sign } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { base58check } from '@scure/base';
import { compressedPoint } from '../../kernel/crypto/p256.ts';
import type { SealedMessage } from './hpke.ts';

const VERSION = 'v1.0.0';

/** The signer of a bundle and its public key: uncompressed, lower-case hex. */
export interface Signer {
  privateKey: KeyObject;
  publicKey: string;
}

/** `data` in a bundle. Without a signer, signature and key are empty strings. */
export function bundleOf(data: Readonly<Record<string, unknown>>, signer?: Signer): string {
  const bytes = Buffer.from(JSON.stringify(data));
  return JSON.stringify({
    version: VERSION,
    data: bytes.toString('hex'),
    dataSignature: signer ? sign('sha256', bytes, signer.privateKey).toString('hex') : '',
    enclaveQuorumPublic: signer?.publicKey ?? '',
  });
}

/** A sealed message in the fields of a bundle, in hexadecimal. */
export const sealedFields = ({ encapsulatedKey, ciphertext }: SealedMessage) => ({
  encappedPublic: encapsulatedKey.toString('hex'),
  ciphertext: ciphertext.toString('hex'),
});

const base58checkCodec = base58check(sha256);

/** A sealed session key: compressed ephemeral key, then ciphertext. */
export function sealedKeyText({ encapsulatedKey, ciphertext }: SealedMessage): string {
  const compressedKey = Buffer.from(
    compressedPoint(encapsulatedKey.toString('hex')) as string,
    'hex',
  );
  return base58checkCodec.encode(Buffer.concat([compressedKey, ciphertext]));
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

const UNCOMPRESSED_KEY = /^04[0-9a-f]{128}$/i;
/** At least an authentication tag. An encrypted code and key with its tag has 183 bytes. */
const CIPHERTEXT = /^(?:[0-9a-f]{2}){16,1024}$/i;

const matchingText = (value: unknown, pattern: RegExp): string | undefined =>
  typeof value === 'string' && pattern.test(value) ? value : undefined;

/** Parses an encrypted code of a client. Undefined for another format. */
export function readOtpBundle(text: string): SealedMessage | undefined {
  const fields = objectIn(text);
  const encapsulatedKey = matchingText(fields?.encappedPublic, UNCOMPRESSED_KEY);
  const ciphertext = matchingText(fields?.ciphertext, CIPHERTEXT);
  if (!encapsulatedKey || !ciphertext || !compressedPoint(encapsulatedKey)) return undefined;
  return {
    encapsulatedKey: Buffer.from(encapsulatedKey, 'hex'),
    ciphertext: Buffer.from(ciphertext, 'hex'),
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Code and key that were encrypted together, or undefined for other content. */
export function readOtpPlaintext(bytes: Uint8Array) {
  const { otp_code: code, public_key: key, ...otherFields } = objectIn(textOf(bytes) ?? '') ?? {};
  if (typeof code !== 'string' || typeof key !== 'string' || Object.keys(otherFields).length)
    return;
  const publicKey = compressedPoint(key);
  return publicKey === undefined ? undefined : { code, publicKey };
}
