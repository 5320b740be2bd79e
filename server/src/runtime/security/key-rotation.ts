// Rotation of the signing keys by the operator. A new pair is published before it signs, and the earlier
// pair remains published afterwards. A receiver that reads the published keys can therefore verify every
// delivery.

import type { Time } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Mode } from '../../kernel/mode.ts';
import type { Ctx } from '../operation/context.ts';
import { isKeyTaken, type Runtime } from '../operation/operate.ts';
import {
  allKeys,
  checkSigningKeys,
  insertKeys,
  type KeyRow,
  keyIdOf,
  onKeys,
  type PublicKeyView,
  publicKeys,
  signingKeys,
  statusOf,
} from './keys.ts';

export const HOUR_MS = 3_600_000;
export const DEFAULT_OVERLAP_HOURS = 24;
export const MAX_OVERLAP_HOURS = 2_160;

/** Time in which every process reads a new key before any process signs with it. */
export const KEY_NOTICE_MS = 5_000;

const conflict = (reason: string) => new Fault('CONFLICT', reason);

async function keysOf(ctx: Ctx, environment: Mode) {
  const rows = (await allKeys(ctx.db)).filter((row) => row.environment === environment);
  const now = ctx.effects.now();
  const withStatus = (status: string) => rows.filter((row) => statusOf(rows, row, now) === status);
  return { rows, now, withStatus };
}

function setRetirement(ctx: Ctx, rows: readonly KeyRow[], retired_at: Time | null): void {
  for (const row of rows) ctx.update(signingKeys, row, { retired_at });
}

async function stageRotation(ctx: Ctx, environment: Mode, overlapMs: number): Promise<void> {
  const { rows, now, withStatus } = await keysOf(ctx, environment);
  if (withStatus('announced').length) {
    throw conflict('A rotation is in progress. Wait until the new key is active, or retire it.');
  }
  const activeFrom = now + Math.max(overlapMs, KEY_NOTICE_MS);
  const number = 1 + Math.max(...rows.map((row) => row.number));
  insertKeys(ctx, { environment, number, active_from: activeFrom });
  setRetirement(ctx, withStatus('active'), activeFrom + Math.max(overlapMs, KEY_NOTICE_MS));
}

/**
 * Publishes a new pair of keys, which signs after the longer of `overlapMs` and `KEY_NOTICE_MS`. The
 * earlier pair remains published for the same period. Returns the published keys of the environment. Throws
 * CONFLICT while a rotation is in progress.
 */
export async function rotateSigningKeys(
  runtime: Runtime,
  environment: Mode,
  overlapMs: number,
): Promise<PublicKeyView[]> {
  await checkSigningKeys(runtime);
  await onKeys(runtime, environment, (ctx) => stageRotation(ctx, environment, overlapMs)).catch(
    (error: unknown) => {
      if (isKeyTaken(error))
        throw conflict('Another rotation has just started. Retry when it has finished.');
      throw error;
    },
  );
  const views = await publicKeys(runtime);
  return views.filter((view) => view.environment === environment && view.status !== 'retired');
}

async function stageRetirement(ctx: Ctx, environment: Mode, number: number): Promise<void> {
  const { now, withStatus } = await keysOf(ctx, environment);
  const isPair = (row: KeyRow) => row.number === number;
  if (withStatus('active').some(isPair)) {
    throw conflict('The key is active. Rotate first, and retire it when the new key is active.');
  }
  const announcedPair = withStatus('announced').filter(isPair);
  setRetirement(ctx, [...announcedPair, ...withStatus('superseded').filter(isPair)], now);
  if (announcedPair.length) setRetirement(ctx, withStatus('active'), null);
}

/**
 * Stops the publication of a key and of the other key of its pair immediately. An announced pair
 * never signs. Returns the keys of the pair. Throws NOT_FOUND, and CONFLICT for an active key.
 */
export async function retireSigningKey(runtime: Runtime, keyId: string): Promise<PublicKeyView[]> {
  const row = (await allKeys(runtime.db)).find((each) => keyIdOf(each.public_key) === keyId);
  if (!row) throw new Fault('NOT_FOUND', 'Signing key not found.');
  const { environment, number } = row;
  await onKeys(runtime, environment, (ctx) => stageRetirement(ctx, environment, number));
  const pairIds = (await allKeys(runtime.db))
    .filter((each) => each.environment === environment && each.number === number)
    .map((each) => keyIdOf(each.public_key));
  return (await publicKeys(runtime)).filter((view) => pairIds.includes(view.keyId));
}
