// The keys that sign webhooks. Each environment has a P-256 key and an Ed25519 key for the Standard
// Webhooks headers, generated at first use and rotated as a pair. Private keys are stored sealed, public
// keys in clear text. Whether a key signs follows from its times alone, so all processes change to a new
// key without being notified.

import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { type Effects, iso, type Time } from '../../kernel/effects.ts';
import { MODES, type Mode } from '../../kernel/mode.ts';
import type { Database } from '../db/database.ts';
import { col, type RowOf, table } from '../db/table.ts';
import type { Ctx } from '../operation/context.ts';
import { isKeyTaken, operate, type Runtime } from '../operation/operate.ts';
import { ed25519KeyOf, newP256Key } from './crypto.ts';
import type { SealedColumn } from './sealed-columns.ts';
import type { Vault } from './vault.ts';

export const KEY_ALGORITHMS = ['P-256', 'Ed25519'] as const;
export type KeyAlgorithm = (typeof KEY_ALGORITHMS)[number];

export const signingKeys = table(
  'signing_keys',
  {
    /**
     * Environment, algorithm and number, so that two concurrent starts or rotations cannot both
     * create a key.
     */
    id: col.text,
    environment: col.enum<Mode>(),
    algorithm: col.enum<KeyAlgorithm>(),
    /** Number of the pair in the environment, from 1. */
    number: col.int4,
    /** SPKI PEM. */
    public_key: col.text,
    /** PKCS #8 DER, sealed. */
    private_key: col.text,
    /** Time from which the key is published. */
    created_at: col.time,
    /** Time from which the key signs, until a key with a higher number signs. */
    active_from: col.time,
    /** Time from which the key is no longer published. Null if no time is set. */
    retired_at: col.time.null.mut,
    version: col.int4,
  },
  { clientKeyed: true },
);
export type KeyRow = RowOf<typeof signingKeys>;

/**
 * `announced`: published before it signs. `active`: signs. `superseded`: published while a later key signs.
 * `retired`: no longer published.
 */
export const KEY_STATUSES = ['announced', 'active', 'superseded', 'retired'] as const;
export type KeyStatus = (typeof KEY_STATUSES)[number];

/** A public key as shown to operators and receivers. */
export interface PublicKeyView {
  /** JWK thumbprint (RFC 7638). */
  keyId: string;
  environment: Mode;
  algorithm: KeyAlgorithm;
  status: KeyStatus;
  publicKeyPem: string;
  createdAt: Time;
  activeFrom: Time;
  retiredAt: Time | null;
}

/** The key with times as text, for operators. */
export const presentPublicKey = ({ createdAt, activeFrom, retiredAt, ...key }: PublicKeyView) => ({
  ...key,
  createdAt: iso(createdAt),
  activeFrom: iso(activeFrom),
  ...(retiredAt === null ? {} : { retiredAt: iso(retiredAt) }),
});

const contextOf = (id: string) => `signing_keys ${id}`;

export const sealedSigningKeys: SealedColumn = {
  table: 'signing_keys',
  column: 'private_key',
  contexts: (id) => [contextOf(id)],
};

export const pemOf = (key: KeyObject): string =>
  createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();

const generateKey = (effects: Pick<Effects, 'random'>, algorithm: KeyAlgorithm): KeyObject =>
  algorithm === 'P-256' ? newP256Key(effects) : ed25519KeyOf(effects.random(32));

/** A new key whose ID can be an argument of a command, because it does not begin with a hyphen. */
export function newKey(effects: Pick<Effects, 'random'>, algorithm: KeyAlgorithm): KeyObject {
  let key = generateKey(effects, algorithm);
  while (keyIdOf(pemOf(key)).startsWith('-')) key = generateKey(effects, algorithm);
  return key;
}

/** Stages a key of each algorithm. */
export function insertKeys(
  ctx: Ctx,
  keys: Pick<KeyRow, 'environment' | 'number' | 'active_from'>,
  algorithms: readonly KeyAlgorithm[] = KEY_ALGORITHMS,
): void {
  for (const algorithm of algorithms) {
    const id = `${keys.environment} ${algorithm} ${keys.number}`;
    const key = newKey(ctx.effects, algorithm);
    const der = key.export({ type: 'pkcs8', format: 'der' });
    ctx.insert(signingKeys, {
      ...keys,
      id,
      algorithm,
      public_key: pemOf(key),
      private_key: ctx.vault.sealOwn(der, contextOf(id)),
      created_at: ctx.now,
    });
  }
}

export const allKeys = async (db: Pick<Database, 'find'>): Promise<KeyRow[]> => {
  const storedKeys = await Promise.all(
    MODES.map((environment) => db.find(signingKeys, { environment })),
  );
  return storedKeys.flat();
};

const isRetired = ({ retired_at }: KeyRow, now: Time) => retired_at !== null && retired_at <= now;

const rowsOfKind = (rows: readonly KeyRow[], { environment, algorithm }: KeyKind) =>
  rows.filter((row) => row.environment === environment && row.algorithm === algorithm);

type KeyKind = Pick<KeyRow, 'environment' | 'algorithm'>;

const latestKey = (rows: readonly KeyRow[]): KeyRow | undefined =>
  rows.reduce<KeyRow | undefined>(
    (lastRow, row) => (lastRow && lastRow.number > row.number ? lastRow : row),
    undefined,
  );

/** The key that signs at `now`, or the latest key if the clock is set back before all keys. */
export function activeKey(rows: readonly KeyRow[], kind: KeyKind, now: Time): KeyRow | undefined {
  const publishedRows = rowsOfKind(rows, kind).filter((row) => !isRetired(row, now));
  return (
    latestKey(publishedRows.filter((row) => row.active_from <= now)) ?? latestKey(publishedRows)
  );
}

export function statusOf(rows: readonly KeyRow[], row: KeyRow, now: Time): KeyStatus {
  if (isRetired(row, now)) return 'retired';
  const activeRow = activeKey(rows, row, now);
  if (!activeRow || activeRow.id === row.id) return 'active';
  return row.number > activeRow.number ? 'announced' : 'superseded';
}

/** The public key of a PEM as a JWK. */
export const jwkOf = (publicKeyPem: string) =>
  createPublicKey(publicKeyPem).export({ format: 'jwk' });

/** The thumbprint of a public key (RFC 7638). */
export function keyIdOf(publicKeyPem: string): string {
  const { crv, kty, x, y } = jwkOf(publicKeyPem);
  // Members in alphabetical order. An Ed25519 key has no `y`.
  const requiredMembers = JSON.stringify({ crv, kty, x, y });
  return createHash('sha256').update(requiredMembers).digest('base64url');
}

/** The views of the keys at `now`, newest first. */
export const publicViews = (rows: readonly KeyRow[], now: Time): PublicKeyView[] =>
  rows
    .map((row) => ({
      keyId: keyIdOf(row.public_key),
      environment: row.environment,
      algorithm: row.algorithm,
      status: statusOf(rows, row, now),
      publicKeyPem: row.public_key,
      createdAt: row.created_at,
      activeFrom: row.active_from,
      retiredAt: row.retired_at,
    }))
    .sort((a, b) => b.createdAt - a.createdAt);

/** All public keys, newest first. Needs no master key. */
export const publicKeys = async ({ db, effects }: Pick<Runtime, 'db' | 'effects'>) =>
  publicViews(await allKeys(db), effects.now());

/**
 * The P-256 public key that currently verifies the webhooks of an environment. Undefined before the first
 * start.
 */
export async function publicKeyPem(
  { db, effects }: Pick<Runtime, 'db' | 'effects'>,
  environment: Mode,
): Promise<string | undefined> {
  const kind = { environment, algorithm: 'P-256' } as const;
  return activeKey(await allKeys(db), kind, effects.now())?.public_key;
}

const callerOf = (environment: Mode) => ({
  platformId: '',
  environment,
  tokenId: null,
  permissions: [],
});

/** Runs `work` for the keys of one environment. */
export const onKeys = <R>(
  runtime: Runtime,
  environment: Mode,
  work: (ctx: Ctx) => Promise<R>,
): Promise<R> => operate(runtime, callerOf(environment), work);

/**
 * Creates missing keys. Safe for concurrent starts. Read the keys with `openKeyRing` or
 * `publicKeyPem`.
 */
export async function ensureSigningKeys(runtime: Runtime): Promise<void> {
  const rows = await allKeys(runtime.db);
  for (const environment of MODES) {
    const isMissing = (algorithm: KeyAlgorithm) =>
      rowsOfKind(rows, { environment, algorithm }).length === 0;
    const missingAlgorithms = KEY_ALGORITHMS.filter(isMissing);
    if (!missingAlgorithms.length) continue;
    await onKeys(runtime, environment, async (ctx) =>
      insertKeys(ctx, { environment, number: 1, active_from: ctx.now }, missingAlgorithms),
    ).catch((error: unknown) => {
      if (!isKeyTaken(error)) throw error;
    });
  }
}

/** Opens a private key. Throws an error with one line of text under another master key. */
export function openKey(vault: Pick<Vault, 'openOwn'>, row: KeyRow): KeyObject {
  const der = vault.openOwn(row.private_key, contextOf(row.id));
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

/**
 * Opens all published private keys and returns their number. Throws an error with one line of text if the
 * master key is missing or does not match.
 */
export async function openPublishedKeys(
  db: Pick<Database, 'find'>,
  now: Time,
  vault: Pick<Vault, 'openOwn'> | undefined,
): Promise<number> {
  const publishedRows = (await allKeys(db)).filter((row) => !isRetired(row, now));
  if (publishedRows.length === 0) return 0;
  if (!vault) throw new Error('The master key of this database is missing.');
  for (const row of publishedRows) openKey(vault, row);
  return publishedRows.length;
}

/** Creates missing keys and checks that the master key opens all published keys. */
export async function checkSigningKeys(runtime: Runtime): Promise<void> {
  await ensureSigningKeys(runtime);
  await openPublishedKeys(runtime.db, runtime.effects.now(), runtime.vault);
}
