// Encrypts personal data at rest. Every customer has a data key, which is sealed under a key of the
// installation and stored with the customer. Deleting the data key erases the customer's data immediately,
// in every copy except a backup that still has the key. A value that a key of the installation has sealed
// contains the number of the key, so that these keys can rotate.
import { createHmac, hkdfSync } from 'node:crypto';
import type { Effects } from '../../kernel/effects.ts';
import { KEY_BYTES, open, seal } from './crypto.ts';
import type { SealingKeys } from './data-keys.ts';

/** A data key in its stored form, and the ID of its owner. */
export interface DataKey {
  owner: string;
  sealed: string;
}

export interface Vault {
  /** A new data key for `owner`, sealed for storage. */
  newKey(owner: string): string;
  /** Seals a text. `context` describes the text and its location: a table, an ID, a column. */
  seal(key: DataKey, plaintext: Uint8Array | string, context: string): string;
  /** Opens a sealed text. Throws for another key, another context or a damaged text. */
  open(key: DataKey, sealedText: string, context: string): Buffer;
  /** Seals data that belongs to no customer, under the key of the installation. */
  sealOwn(plaintext: Uint8Array | string, context: string): string;
  openOwn(sealedText: string, context: string): Buffer;
  /**
   * Keyed hash in hexadecimal, equal for equal values of one kind. The key of the hash is derived from key
   * 0 and never rotates.
   */
  digest(kind: string, value: string): string;
  /** 32 bytes derived from key 0 for one purpose, which are the same at every start. */
  derive(purpose: string): Uint8Array;
}

/** Maximum cached data keys, so that each key of a page of customers is opened once. */
const MAX_CACHED_KEYS = 4_096;

/** Context of a data key that `newKey` has sealed. */
export const dataKeyContext = (owner: string) => `data key of ${owner}`;

/**
 * Prefix of a value that is sealed with a key whose number is above 0:
 * `s2.<number>.<nonce>.<ciphertext and tag>`.
 */
const NUMBERED_PREFIX = /^s2\.(\d{1,9})\./;

/** A single key that never rotates. */
const onlyKey = (key: () => Uint8Array): SealingKeys => ({
  active: () => ({ number: 0, key: key() }),
  key,
});

/** Keys are read at the first use, because most operator commands need no key. */
export function createVault(
  effects: Effects,
  sealingKeys: SealingKeys | (() => Uint8Array),
): Vault {
  const keys = typeof sealingKeys === 'function' ? onlyKey(sealingKeys) : sealingKeys;
  const openedKeys = new Map<string, Buffer>();
  let digestKey: Uint8Array | undefined;

  function sealOwn(plaintext: Uint8Array | string, context: string): string {
    const { number, key } = keys.active();
    const sealedText = seal(effects, key, plaintext, context);
    return number === 0 ? sealedText : sealedText.replace(/^s1/, `s2.${number}`);
  }

  function openOwn(sealedText: string, context: string): Buffer {
    const [, number] = NUMBERED_PREFIX.exec(sealedText) ?? [];
    if (number === undefined) return open(keys.key(0), sealedText, context);
    return open(keys.key(Number(number)), sealedText.replace(NUMBERED_PREFIX, 's1.'), context);
  }

  function keyOf({ owner, sealed }: DataKey): Buffer {
    const cachedKey = openedKeys.get(sealed);
    if (cachedKey) return cachedKey;
    const key = openOwn(sealed, dataKeyContext(owner));
    const [oldestSealedKey] = openedKeys.keys();
    if (openedKeys.size >= MAX_CACHED_KEYS && oldestSealedKey !== undefined)
      openedKeys.delete(oldestSealedKey);
    openedKeys.set(sealed, key);
    return key;
  }

  const derive = (purpose: string) =>
    new Uint8Array(hkdfSync('sha256', keys.key(0), '', purpose, KEY_BYTES));

  return {
    newKey: (owner) => sealOwn(effects.random(KEY_BYTES), dataKeyContext(owner)),
    seal: (key, plaintext, context) => seal(effects, keyOf(key), plaintext, context),
    open: (key, sealedText, context) => open(keyOf(key), sealedText, context),
    sealOwn,
    openOwn,
    derive,
    digest(kind, value) {
      digestKey ??= derive('keyed hashes');
      return createHmac('sha256', digestKey).update(`${kind}\0${value}`).digest('hex');
    },
  };
}
