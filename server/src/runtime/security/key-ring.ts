// The signing keys of a running server. The rows are read from the database every half second, so that each
// process publishes a new key before any process signs with it. The time from which all processes sign with
// a key is in its row.

import type { KeyObject } from 'node:crypto';
import type { Effects, Time } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Mode } from '../../kernel/mode.ts';
import type { Database } from '../db/database.ts';
import type { Log } from '../observability/log.ts';
import {
  activeKey,
  allKeys,
  type KeyAlgorithm,
  type KeyRow,
  keyIdOf,
  openKey,
  type PublicKeyView,
  publicViews,
  statusOf,
} from './keys.ts';
import type { Vault } from './vault.ts';

/** The keys that sign the webhooks of one environment. */
export interface SigningKey {
  /** ID of the P-256 key. */
  keyId: string;
  /** P-256 key, for the signature header of the service. */
  privateKey: KeyObject;
  /** SPKI PEM. */
  publicKeyPem: string;
  /** Ed25519 key, for the `v1a` signature of Standard Webhooks. */
  standard: { privateKey: KeyObject; publicKeyPem: string };
  /** Superseded Ed25519 keys. The header of Standard Webhooks can have several signatures. */
  earlierStandard: readonly KeyObject[];
}

/** The keys that currently sign. */
export type SigningKeys = Readonly<Record<Mode, SigningKey>>;

export interface KeyRing {
  keys: SigningKeys;
  /** The public keys that receivers may need, newest first. */
  publishedKeys(): Promise<PublicKeyView[]>;
  /** Starts to read the keys periodically. `onChange` is called when another key signs. */
  start(onChange: () => void): void;
  stop(): void;
}

interface KeyRingOptions {
  db: Database;
  effects: Pick<Effects, 'now'>;
  vault: Pick<Vault, 'openOwn'>;
  log: Log;
}

const READ_EVERY_MS = 500;
/** Maximum age of the public keys that are returned. */
const FRESH_MS = 1_000;

/** The times at which the status of a key changes after `now`. */
const changesAfter = (rows: readonly KeyRow[], now: Time): Time[] =>
  rows.flatMap((row) => [row.active_from, row.retired_at ?? 0]).filter((time) => time > now);

/** Reads the keys, which must exist. `start` begins to read them periodically. */
export async function openKeyRing(options: KeyRingOptions): Promise<KeyRing> {
  const { db, effects, vault, log } = options;
  const openedKeys = new Map<string, KeyObject>();
  let rows: readonly KeyRow[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  let readPromise: Promise<void> | undefined;
  let cachedKeys: { keys: SigningKeys; from: Time; until: Time } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isFailing = false;

  function privateKeyOf(row: KeyRow): KeyObject {
    const key = openedKeys.get(row.id) ?? openKey(vault, row);
    openedKeys.set(row.id, key);
    return key;
  }

  function signingKey(environment: Mode, now: Time): SigningKey {
    const activeRowOf = (algorithm: KeyAlgorithm): KeyRow => {
      const row = activeKey(rows, { environment, algorithm }, now);
      if (row) return row;
      const reason = `The ${algorithm} signing key of ${environment} is missing.`;
      throw new Fault('INTERNAL_ERROR', reason);
    };
    const serviceRow = activeRowOf('P-256');
    const standardRow = activeRowOf('Ed25519');
    const earlierKeys = rows.filter(
      (row) =>
        row.environment === environment &&
        row.algorithm === 'Ed25519' &&
        statusOf(rows, row, now) === 'superseded',
    );
    return {
      keyId: keyIdOf(serviceRow.public_key),
      privateKey: privateKeyOf(serviceRow),
      publicKeyPem: serviceRow.public_key,
      standard: { privateKey: privateKeyOf(standardRow), publicKeyPem: standardRow.public_key },
      earlierStandard: earlierKeys.map(privateKeyOf),
    };
  }

  function currentKeys(): SigningKeys {
    const now = effects.now();
    if (cachedKeys && now >= cachedKeys.from && now < cachedKeys.until) return cachedKeys.keys;
    const keys = { sandbox: signingKey('sandbox', now), production: signingKey('production', now) };
    cachedKeys = { keys, from: now, until: Math.min(Infinity, ...changesAfter(rows, now)) };
    return keys;
  }

  async function read(): Promise<void> {
    const keyRows = await allKeys(db);
    const now = effects.now();
    // Keys are opened in advance, so that no delivery fails because of a key.
    for (const row of keyRows) if (statusOf(keyRows, row, now) !== 'retired') privateKeyOf(row);
    rows = keyRows;
    cachedKeys = undefined;
    readAt = performance.now();
  }

  function readOnce(): Promise<void> {
    readPromise ??= read().finally(() => {
      readPromise = undefined;
    });
    return readPromise;
  }

  await readOnce();
  const keys: SigningKeys = {
    get sandbox() {
      return currentKeys().sandbox;
    },
    get production() {
      return currentKeys().production;
    },
  };

  async function follow(onChange: () => void): Promise<void> {
    const activeIds = () => `${keys.sandbox.keyId} ${keys.production.keyId}`;
    let previousIds = activeIds();
    const poll = async () => {
      try {
        await readOnce();
        isFailing = false;
        const ids = activeIds();
        if (ids !== previousIds) {
          previousIds = ids;
          log.info(
            { sandbox: keys.sandbox.keyId, production: keys.production.keyId },
            'another webhook signing key is active',
          );
          onChange();
        }
      } catch (error) {
        if (!isFailing) log.error({ err: error }, 'signing keys could not be read');
        isFailing = true;
      }
      if (timer) timer = setTimeout(poll, READ_EVERY_MS).unref();
    };
    timer = setTimeout(poll, READ_EVERY_MS).unref();
  }

  return {
    keys,
    async publishedKeys() {
      if (performance.now() - readAt > FRESH_MS) await readOnce();
      return publicViews(rows, effects.now()).filter(({ status }) => status !== 'retired');
    },
    start(onChange) {
      void follow(onChange);
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
