// Encrypts personal data at rest. Every customer has a separate data key, sealed under a key of the
// installation and stored with the customer. Personal data is sealed under that key. Deleting the
// key erases all of this data immediately, in every copy except a backup that still has the key. A sealed
// value that a key of the installation has sealed names the key's number, so that these keys can
// rotate. Searchable values also have a keyed hash. Its key is derived from key 0 and does not
// rotate.
import { createHmac, hkdfSync } from 'node:crypto';
import type { Effects } from '../../kernel/effects.ts';
import { KEY_BYTES, open, seal } from './crypto.ts';
import type { SealingKeys } from './data-keys.ts';

/** A data key as it is stored, and the id of its owner. */
export interface DataKey {
  owner: string;
  sealed: string;
}

export interface Vault {
  /** A new data key for `owner`, sealed for storage. */
  newKey(owner: string): string;
  /** `context` describes the text and its location: a table, an id, a column. */
  seal(key: DataKey, plaintext: Uint8Array | string, context: string): string;
  /** Throws for another key, another context or a damaged sealed value. */
  open(key: DataKey, sealed: string, context: string): Buffer;
  /** Seals under the key of the installation: data that belongs to no customer. */
  sealOwn(plaintext: Uint8Array | string, context: string): string;
  openOwn(sealed: string, context: string): Buffer;
  /** Equal for equal values of one kind. Cannot be reversed without key 0. Hexadecimal. */
  digest(kind: string, value: string): string;
  /** 32 bytes derived from key 0 for one purpose: the same at every start. */
  derive(purpose: string): Uint8Array;
}

/** Maximum cached data keys, so that each key of a page of customers is opened once. */
const MAX_CACHED_KEYS = 4_096;

/** Context of a data key that `newKey` has sealed. */
export const dataKeyContext = (owner: string) => `data key of ${owner}`;

/**
 * A value that is sealed with a key whose number is above 0: `s2.<number>.<nonce>.<ciphertext and
 * tag>`.
 */
const NUMBERED = /^s2\.(\d{1,9})\./;

/** One key that never rotates. */
const onlyKey = (key: () => Uint8Array): SealingKeys => ({
  active: () => ({ number: 0, key: key() }),
  key,
});

/** Keys are read on first use: most operator commands never need one. */
export function createVault(
  effects: Effects,
  sealingKeys: SealingKeys | (() => Uint8Array),
): Vault {
  const keys = typeof sealingKeys === 'function' ? onlyKey(sealingKeys) : sealingKeys;
  const openedKeys = new Map<string, Buffer>();
  let digestKey: Uint8Array | undefined;

  function sealOwn(plaintext: Uint8Array | string, context: string): string {
    const { number, key } = keys.active();
    const sealed = seal(effects, key, plaintext, context);
    return number === 0 ? sealed : sealed.replace(/^s1/, `s2.${number}`);
  }

  function openOwn(sealed: string, context: string): Buffer {
    const [, number] = NUMBERED.exec(sealed) ?? [];
    if (number === undefined) return open(keys.key(0), sealed, context);
    return open(keys.key(Number(number)), sealed.replace(NUMBERED, 's1.'), context);
  }

  function keyOf({ owner, sealed }: DataKey): Buffer {
    const cached = openedKeys.get(sealed);
    if (cached) return cached;
    const key = openOwn(sealed, dataKeyContext(owner));
    const [oldest] = openedKeys.keys();
    if (openedKeys.size >= MAX_CACHED_KEYS && oldest !== undefined) openedKeys.delete(oldest);
    openedKeys.set(sealed, key);
    return key;
  }

  const derive = (purpose: string) =>
    new Uint8Array(hkdfSync('sha256', keys.key(0), '', purpose, KEY_BYTES));

  return {
    newKey: (owner) => sealOwn(effects.random(KEY_BYTES), dataKeyContext(owner)),
    seal: (key, plaintext, context) => seal(effects, keyOf(key), plaintext, context),
    open: (key, sealed, context) => open(keyOf(key), sealed, context),
    sealOwn,
    openOwn,
    derive,
    digest(kind, value) {
      digestKey ??= derive('keyed hashes');
      return createHmac('sha256', digestKey).update(`${kind}\0${value}`).digest('hex');
    },
  };
}
