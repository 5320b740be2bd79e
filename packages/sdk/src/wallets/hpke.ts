// HPKE (RFC 9180) in base mode, one message for each key: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and
// AES-256-GCM. `info` and the authenticated data follow the format of the wallets.
import { type Bytes, concat, fromHex, utf8 } from '../crypto/bytes.ts';
import { importPrivate, importPublic } from './import.ts';
import { generateKeys, type WalletKeys } from './keys.ts';

const VERSION = utf8('HPKE-v1');
const KEM = concat(utf8('KEM'), Uint8Array.of(0x00, 0x10));
const SUITE = concat(utf8('HPKE'), Uint8Array.of(0x00, 0x10, 0x00, 0x01, 0x00, 0x02));
const INFO = utf8('turnkey_hpke');
const NO_BYTES: Bytes = new Uint8Array(0);
const [SECRET_BYTES, KEY_BYTES, NONCE_BYTES, HASH_BYTES] = [32, 32, 12, 32];

export interface Sealed {
  /** The public key of the message, uncompressed. */
  readonly encapped: Bytes;
  readonly ciphertext: Bytes;
}

async function hmac(key: Bytes, data: Bytes): Promise<Bytes> {
  // An empty salt is replaced by zeros, because Web Crypto does not import empty keys.
  const bytes = key.length ? key : new Uint8Array(HASH_BYTES);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const importedKey = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', importedKey, data));
}

const labeledExtract = (suite: Bytes, salt: Bytes, label: string, ikm: Bytes) =>
  hmac(salt, concat(VERSION, suite, utf8(label), ikm));

/** All derived values fit into one block of the hash. */
async function labeledExpand(suite: Bytes, prk: Bytes, label: string, info: Bytes, size: number) {
  const labeledInfo = concat(Uint8Array.of(0, size), VERSION, suite, utf8(label), info);
  return (await hmac(prk, concat(labeledInfo, Uint8Array.of(1)))).slice(0, size);
}

async function sharedSecret(
  ownKeys: WalletKeys,
  otherKey: Bytes,
  encapped: Bytes,
  recipient: Bytes,
) {
  const algorithm = { name: 'ECDH', public: await importPublic(otherKey) };
  const key = await importPrivate(ownKeys, 'ECDH');
  const dh = new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, 8 * SECRET_BYTES));
  const prk = await labeledExtract(KEM, NO_BYTES, 'eae_prk', dh);
  return labeledExpand(KEM, prk, 'shared_secret', concat(encapped, recipient), SECRET_BYTES);
}

async function aesOf(shared: Bytes, usage: 'encrypt' | 'decrypt') {
  const [id, info] = await Promise.all([
    labeledExtract(SUITE, NO_BYTES, 'psk_id_hash', NO_BYTES),
    labeledExtract(SUITE, NO_BYTES, 'info_hash', INFO),
  ]);
  const context = concat(Uint8Array.of(0), id, info);
  const secret = await labeledExtract(SUITE, shared, 'secret', NO_BYTES);
  const key = await labeledExpand(SUITE, secret, 'key', context, KEY_BYTES);
  const iv = await labeledExpand(SUITE, secret, 'base_nonce', context, NONCE_BYTES);
  return { iv, key: await crypto.subtle.importKey('raw', key, 'AES-GCM', false, [usage]) };
}

/** Encrypts to a public key. */
export async function seal(recipient: Bytes, plaintext: Bytes): Promise<Sealed> {
  const ephemeral = await generateKeys();
  const encapped = fromHex(ephemeral.uncompressedKey);
  const secret = await sharedSecret(ephemeral, recipient, encapped, recipient);
  const { iv, key } = await aesOf(secret, 'encrypt');
  const algorithm = { name: 'AES-GCM', iv, additionalData: concat(encapped, recipient) };
  const ciphertext = await crypto.subtle.encrypt(algorithm, key, plaintext);
  return { encapped, ciphertext: new Uint8Array(ciphertext) };
}

/** Decrypts a message. Rejects if it was changed or encrypted to another key. */
export async function open(keys: WalletKeys, { encapped, ciphertext }: Sealed): Promise<Bytes> {
  const recipient = fromHex(keys.uncompressedKey);
  const secret = await sharedSecret(keys, encapped, encapped, recipient);
  const { iv, key } = await aesOf(secret, 'decrypt');
  const algorithm = { name: 'AES-GCM', iv, additionalData: concat(encapped, recipient) };
  return new Uint8Array(await crypto.subtle.decrypt(algorithm, key, ciphertext));
}
