// Encrypts personal data at rest. Every customer has a separate data key, sealed under the
// operator's master key and stored with the customer; personal data is sealed under that key.
// Deleting the key erases all of it at once, in every copy except a backup that still has the key.
// Values that must be searchable are also stored as a keyed hash, which cannot be guessed
// without the master key.
import { createHmac, hkdfSync } from 'node:crypto';
import type { Effects } from '../../kernel/effects.ts';
import { KEY_BYTES, open, seal } from './crypto.ts';

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
  /** Throws for another key, another context or a damaged text. */
  open(key: DataKey, sealed: string, context: string): Buffer;
  /** Seals under the master key itself: data that belongs to no customer. */
  sealOwn(plaintext: Uint8Array | string, context: string): string;
  openOwn(sealed: string, context: string): Buffer;
  /** Equal for equal values of one kind; cannot be reversed without the master key. Hexadecimal. */
  digest(kind: string, value: string): string;
  /** 32 bytes derived from the master key for one purpose: the same at every start. */
  derive(purpose: string): Uint8Array;
}

/** Maximum cached data keys, so that each key of a page of customers is opened once. */
const MAX_CACHED_KEYS = 4_096;

const contextOf = (owner: string) => `data key of ${owner}`;

/** `masterKey` is called on first use: most operator commands never need it. */
export function createVault(effects: Effects, masterKey: () => Uint8Array): Vault {
  const openedKeys = new Map<string, Buffer>();
  let digestKey: Uint8Array | undefined;

  function keyOf({ owner, sealed }: DataKey): Buffer {
    const cached = openedKeys.get(sealed);
    if (cached) return cached;
    const key = open(masterKey(), sealed, contextOf(owner));
    const [oldest] = openedKeys.keys();
    if (openedKeys.size >= MAX_CACHED_KEYS && oldest !== undefined) openedKeys.delete(oldest);
    openedKeys.set(sealed, key);
    return key;
  }

  const derive = (purpose: string) =>
    new Uint8Array(hkdfSync('sha256', masterKey(), '', purpose, KEY_BYTES));

  return {
    newKey: (owner) => seal(effects, masterKey(), effects.random(KEY_BYTES), contextOf(owner)),
    seal: (key, plaintext, context) => seal(effects, keyOf(key), plaintext, context),
    open: (key, sealed, context) => open(keyOf(key), sealed, context),
    sealOwn: (plaintext, context) => seal(effects, masterKey(), plaintext, context),
    openOwn: (sealed, context) => open(masterKey(), sealed, context),
    derive,
    digest(kind, value) {
      digestKey ??= derive('keyed hashes');
      return createHmac('sha256', digestKey).update(`${kind}\0${value}`).digest('hex');
    },
  };
}
