// Keeps personal data unreadable at rest. Every customer has a data key of its own, sealed under the
// operator's master key and stored with the customer; whatever is personal is sealed under that key.
// Forgetting the key erases all of it at once, in every copy but a backup that still has the key. What must
// be found again by its value is stored beside it as a keyed hash, which nobody can guess through without
// the master key.
import { createHmac, hkdfSync } from 'node:crypto';
import type { Effects } from '../../kernel/effects.ts';
import { KEY_BYTES, open, seal } from './crypto.ts';

/** A data key as it is stored, and the id of whom it belongs to. */
export interface DataKey {
  owner: string;
  sealed: string;
}

export interface Vault {
  /** A new data key for `owner`, sealed for storage. */
  newKey(owner: string): string;
  /** `context` says what the text is and where it lives: a table, an id, a column. */
  seal(key: DataKey, plaintext: Uint8Array | string, context: string): string;
  /** Throws for another key, another context or a damaged text. */
  open(key: DataKey, sealed: string, context: string): Buffer;
  /** Seals under the master key itself: what belongs to no customer. */
  sealOwn(plaintext: Uint8Array | string, context: string): string;
  openOwn(sealed: string, context: string): Buffer;
  /** The same for equal values of one kind, and of no use to who lacks the master key. Hexadecimal. */
  digest(kind: string, value: string): string;
  /** 32 bytes that follow from the master key and belong to one purpose: the same at every start. */
  derive(purpose: string): Uint8Array;
}

/** Opened data keys are kept for the next reader, so that a page of customers costs one opening each. */
const KEPT_KEYS = 4_096;

const contextOf = (owner: string) => `data key of ${owner}`;

/** `masterKey` is asked for when first needed: most of the operator's verbs never do. */
export function createVault(effects: Effects, masterKey: () => Uint8Array): Vault {
  const opened = new Map<string, Buffer>();
  let digestKey: Uint8Array | undefined;

  function keyOf({ owner, sealed }: DataKey): Buffer {
    const known = opened.get(sealed);
    if (known) return known;
    const key = open(masterKey(), sealed, contextOf(owner));
    const [oldest] = opened.keys();
    if (opened.size >= KEPT_KEYS && oldest !== undefined) opened.delete(oldest);
    opened.set(sealed, key);
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
