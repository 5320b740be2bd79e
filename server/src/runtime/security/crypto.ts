// Cryptographic primitives of the server: sealing, hashing, constant-time comparison, and the generation of
// secrets and keys. Values that must be readable again, such as private keys, are sealed. Other secrets are
// hashed. All randomness is from `Effects`, including the bytes of key pairs.
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  hash,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { generateP256, p256PrivateKey } from '../../kernel/crypto/p256.ts';
import type { Effects } from '../../kernel/effects.ts';

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Prefix of the algorithm and layout, so that a later format can coexist. */
const SEAL_VERSION = 's1';

/** AES-256-GCM. Returns the ciphertext followed by the 16-byte tag. */
export function encrypt(
  key: Uint8Array,
  nonce: Uint8Array,
  plaintext: Uint8Array,
  aad: Uint8Array,
): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(aad);
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts a ciphertext. Throws if key, nonce, text or `aad` differ from those of the encryption. */
export function decrypt(
  key: Uint8Array,
  nonce: Uint8Array,
  ciphertext: Uint8Array,
  aad: Uint8Array,
): Buffer {
  const cipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(aad);
  cipher.setAuthTag(ciphertext.subarray(ciphertext.length - TAG_BYTES));
  const text = cipher.update(ciphertext.subarray(0, ciphertext.length - TAG_BYTES));
  return Buffer.concat([text, cipher.final()]);
}

/**
 * Seals `plaintext` for storage: `s1.<nonce>.<ciphertext and tag>`, base64url. `context` describes the
 * value and its location (a table and an ID), so that a copy at another location cannot be opened.
 */
export function seal(
  effects: Effects,
  key: Uint8Array,
  plaintext: Uint8Array | string,
  context: string,
): string {
  const nonce = effects.random(NONCE_BYTES);
  const ciphertext = encrypt(key, nonce, Buffer.from(plaintext), Buffer.from(context));
  return [
    SEAL_VERSION,
    Buffer.from(nonce).toString('base64url'),
    ciphertext.toString('base64url'),
  ].join('.');
}

/**
 * Opens a sealed value that `seal` created. Throws the same error for a wrong key, a wrong context or
 * damaged text.
 */
export function open(key: Uint8Array, sealedText: string, context: string): Buffer {
  const [version, nonce, body, excess] = sealedText.split('.');
  try {
    if (version !== SEAL_VERSION || !nonce || !body || excess !== undefined) throw new Error();
    const bytes = Buffer.from(body, 'base64url');
    return decrypt(key, Buffer.from(nonce, 'base64url'), bytes, Buffer.from(context));
  } catch {
    throw new Error(`cannot decrypt ${context}: damaged, or sealed with another master key`);
  }
}

export const sha256Hex = (text: string | Uint8Array): string => hash('sha256', text, 'hex');

/** Whether two strings are equal, in a time that depends only on their lengths. */
export function constantTimeEqual(a: string, b: string): boolean {
  const bufferA = Buffer.from(a);
  const bufferB = Buffer.from(b);
  return bufferA.length === bufferB.length && timingSafeEqual(bufferA, bufferB);
}

/** `bytes` random bytes as base64url, with a prefix that secret scanners can recognize. */
export const randomText = (effects: Effects, prefix: string, bytes = KEY_BYTES): string =>
  prefix + Buffer.from(effects.random(bytes)).toString('base64url');

/** A new API secret. */
export const newSecret = (effects: Effects): string => randomText(effects, 'rhs_');

/** A P-256 private key. */
export const newP256Key = (effects: Pick<Effects, 'random'>): KeyObject =>
  p256PrivateKey(generateP256(() => effects.random(KEY_BYTES)));

/** The fixed PKCS #8 header before the 32 bytes of an Ed25519 key (RFC 8410). */
const ED25519_PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

export function ed25519KeyOf(seed: Uint8Array): KeyObject {
  const key = Buffer.concat([ED25519_PKCS8_HEAD, seed]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}
