// The keys that sign webhooks: a P-256 pair for each environment, generated on first use, and an
// Ed25519 pair for the Standard Webhooks headers. Private keys are stored sealed under the master
// key, public ones in clear, so that showing them needs no secret. The table has room for a retired
// key beside the active one: after a rotation receivers can still find the key that signed an
// earlier message.

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { Effects, Time } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import { MODES, type Mode } from '../../kernel/mode.ts';
import type { Database } from '../db/database.ts';
import { col, type RowOf, table } from '../db/table.ts';
import type { Ctx } from '../operation/context.ts';
import { isKeyTaken, operate, type Runtime } from '../operation/operate.ts';
import { ed25519KeyOf, newP256Key, open, seal } from './crypto.ts';

type KeyAlgorithm = 'P-256' | 'Ed25519';

const signingKeys = table(
  'signing_keys',
  {
    /**
     * Environment, algorithm and number, so that two concurrent starts cannot both create the first
     * key.
     */
    id: col.text,
    environment: col.enum<Mode>(),
    algorithm: col.enum<KeyAlgorithm>(),
    status: col.enum<'active' | 'retired'>().mut,
    /** SPKI PEM. */
    public_key: col.text,
    /** PKCS #8 DER, sealed. */
    private_key: col.text,
    created_at: col.time,
    retired_at: col.time.null.mut,
    version: col.int4,
  },
  { clientKeyed: true },
);
type KeyRow = RowOf<typeof signingKeys>;

/** The keys that sign the webhooks of one environment. */
export interface SigningKey {
  /** P-256, for the service's own signature header. */
  privateKey: KeyObject;
  /** SPKI PEM. */
  publicKeyPem: string;
  /** Ed25519, for the `v1a` signature of Standard Webhooks. */
  standard: { privateKey: KeyObject; publicKeyPem: string };
}

export type SigningKeys = Readonly<Record<Mode, SigningKey>>;

/** A public key as shown to an operator. */
interface PublicKeyView {
  environment: Mode;
  algorithm: KeyAlgorithm;
  status: 'active' | 'retired';
  publicKeyPem: string;
  createdAt: Time;
  retiredAt: Time | null;
}

const ALGORITHMS: readonly KeyAlgorithm[] = ['P-256', 'Ed25519'];

const contextOf = (id: string) => `signing_keys ${id}`;

const pemOf = (key: KeyObject): string =>
  createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();

function newKey(effects: Effects, algorithm: KeyAlgorithm): KeyObject {
  return algorithm === 'P-256' ? newP256Key(effects) : ed25519KeyOf(effects.random(32));
}

function insertKey(
  ctx: Ctx,
  masterKey: Uint8Array,
  environment: Mode,
  algorithm: KeyAlgorithm,
): void {
  const id = `${environment} ${algorithm} 1`;
  const key = newKey(ctx.effects, algorithm);
  const der = key.export({ type: 'pkcs8', format: 'der' });
  ctx.insert(signingKeys, {
    id,
    environment,
    algorithm,
    status: 'active',
    public_key: pemOf(key),
    private_key: seal(ctx.effects, masterKey, der, contextOf(id)),
    created_at: ctx.now,
  });
}

const allKeys = async (db: Database): Promise<KeyRow[]> => {
  const found = await Promise.all(
    MODES.map((environment) => db.find(signingKeys, { environment })),
  );
  return found.flat();
};

const activeOf = (rows: KeyRow[], environment: Mode, algorithm: KeyAlgorithm) =>
  rows.find(
    (row) =>
      row.environment === environment && row.algorithm === algorithm && row.status === 'active',
  );

/** All public keys, newest first within an environment; needs no master key. */
export async function publicKeys(db: Database): Promise<PublicKeyView[]> {
  const rows = await allKeys(db);
  return rows
    .map((row) => ({
      environment: row.environment,
      algorithm: row.algorithm,
      status: row.status,
      publicKeyPem: row.public_key,
      createdAt: row.created_at,
      retiredAt: row.retired_at,
    }))
    .sort((a, b) => b.createdAt - a.createdAt);
}

/**
 * The P-256 public key that verifies an environment's webhooks now, or undefined before the first
 * start.
 */
export async function publicKeyPem(db: Database, environment: Mode): Promise<string | undefined> {
  return activeOf(await allKeys(db), environment, 'P-256')?.public_key;
}

/**
 * Creates missing keys; safe for concurrent starts. Read the keys with `loadSigningKeys` or
 * `publicKeyPem`.
 */
export async function ensureSigningKeys(runtime: Runtime, masterKey: Uint8Array): Promise<void> {
  const rows = await allKeys(runtime.db);
  const missing = MODES.flatMap((environment) =>
    ALGORITHMS.filter((algorithm) => !activeOf(rows, environment, algorithm)).map((algorithm) => ({
      environment,
      algorithm,
    })),
  );
  for (const { environment, algorithm } of missing) {
    const caller = { platformId: '', environment, tokenId: null, permissions: [] };
    await operate(runtime, caller, async (ctx) =>
      insertKey(ctx, masterKey, environment, algorithm),
    ).catch((error: unknown) => {
      if (!isKeyTaken(error)) throw error;
    });
  }
}

/**
 * The active keys of both environments, opened; throws one plain error under another master key.
 */
export async function loadSigningKeys(
  runtime: Runtime,
  masterKey: Uint8Array,
): Promise<SigningKeys> {
  await ensureSigningKeys(runtime, masterKey);
  const rows = await allKeys(runtime.db);
  const opened = (environment: Mode, algorithm: KeyAlgorithm) => {
    const row = activeOf(rows, environment, algorithm);
    if (!row)
      throw new Fault(
        'INTERNAL_ERROR',
        `The ${algorithm} signing key of ${environment} is missing.`,
      );
    const der = open(masterKey, row.private_key, contextOf(row.id));
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    return { privateKey, publicKeyPem: row.public_key };
  };
  const keyOf = (environment: Mode): SigningKey => ({
    ...opened(environment, 'P-256'),
    standard: opened(environment, 'Ed25519'),
  });
  return { sandbox: keyOf('sandbox'), production: keyOf('production') };
}
