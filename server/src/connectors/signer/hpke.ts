// HPKE (RFC 9180) in base mode for P-256 keys, one message for each encapsulated key. `info` and
// the authenticated data follow the published clients of embedded wallets. Ephemeral keys are
// a parameter, because all randomness comes from `Effects`.
import {
  Aes256Gcm,
  CipherSuite,
  DhkemP256HkdfSha256,
  HkdfSha256,
  HpkeError,
  type KemInterface,
} from '@hpke/core';
import { type P256Pair, p256Jwk } from '../../kernel/crypto/p256.ts';

/** DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM. */
export const suite = new CipherSuite({
  kem: new DhkemP256HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes256Gcm(),
});

/** A constant of the published clients, part of the format. */
const INFO = Buffer.from('turnkey_hpke', 'ascii');

/** An encrypted message. */
export interface SealedMessage {
  /** The ephemeral public key, 65 bytes. */
  encapsulatedKey: Buffer;
  /** With the 16-byte tag at the end. */
  ciphertext: Buffer;
}

const publicKeyOf = (point: Uint8Array) =>
  suite.kem.importKey('raw', new Uint8Array(point).buffer, true);

async function keysOf(pair: P256Pair) {
  const privateKey: Parameters<KemInterface['importKey']>[1] = p256Jwk(pair);
  return {
    privateKey: await suite.kem.importKey('jwk', privateKey, false),
    publicKey: await publicKeyOf(pair.point),
  };
}

/**
 * Encrypts to `recipient`, an uncompressed point. Throws for an invalid point. Use `ephemeral` only
 * once.
 */
export async function sealTo(
  recipient: Uint8Array,
  plaintext: Uint8Array,
  ephemeral: P256Pair,
): Promise<SealedMessage> {
  const sender = await suite.createSenderContext({
    recipientPublicKey: await publicKeyOf(recipient),
    info: INFO,
    ekm: await keysOf(ephemeral),
  });
  const encapsulatedKey = Buffer.from(sender.enc);
  const aad = Buffer.concat([encapsulatedKey, recipient]);
  return { encapsulatedKey, ciphertext: Buffer.from(await sender.seal(plaintext, aad)) };
}

/** Decrypts a message to `recipient`. Undefined if the message cannot be decrypted. */
export async function openWith(
  recipient: P256Pair,
  { encapsulatedKey, ciphertext }: SealedMessage,
): Promise<Buffer | undefined> {
  const params = { recipientKey: await keysOf(recipient), info: INFO, enc: encapsulatedKey };
  const aad = Buffer.concat([encapsulatedKey, recipient.point]);
  try {
    return Buffer.from(await suite.open(params, ciphertext, aad));
  } catch (error) {
    if (error instanceof HpkeError) return undefined;
    throw error;
  }
}
