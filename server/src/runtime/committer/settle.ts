// Settles a group of change sets on one lane, at first in one round trip. After a conflict, a
// second attempt validates the group before writing, in two round trips. If the group still fails,
// the caller must halve it. A single change set is repeated after conflicts, and then fails with
// the reason.
import type pg from 'pg';
import { Fault } from '../../kernel/fault.ts';
import { isConnectionError, type Lane } from '../db/lane.ts';
import { bind } from '../db/statement.ts';
import { type BatchFormat, batchReads, batchWrites } from './batch.ts';
import type { ChangeSet, Outcome } from './change-set.ts';
import { BEGIN, COMMIT, ROLLBACK } from './statements.ts';

/** Result of a change set. An Error if no rejection describes the failure. */
export type Verdict = Outcome | Error;

export interface BatchCounters {
  separateRounds: number;
  retries: number;
}

type DatabaseError = pg.DatabaseError;

const ACCEPTED: Outcome = { ok: true };
const MAX_ATTEMPTS = 3;

const GUARD = 'GC001';
const UNIQUE_VIOLATION = '23505';
const CHECK_VIOLATION = '23514';
const LOCK_TIMEOUT = '55P03';
const CONFLICT_CODES = new Set([GUARD, '40001', '40P01']); // A guard, a serialization failure, a deadlock.

/** Whether validation can identify the change sets that caused the error. */
function needsValidation(error: unknown, sets: readonly ChangeSet[]): boolean {
  const { code, table, constraint } = error as DatabaseError;
  if (CONFLICT_CODES.has(code ?? '')) return true;
  if (code === CHECK_VIOLATION) return table === 'ledger_accounts';
  if (code !== UNIQUE_VIOLATION || constraint !== `${table}_pkey`) return false;
  if (table === 'ledger_transfers') return true;
  return sets.some((set) =>
    set.inserts.some((each) => each.table.clientKeyed && each.table.name === table),
  );
}

/**
 * Whether an error affects all change sets, so that halving is useless: out of disk, canceled, or read-only
 * after a failover.
 */
const affectsAll = (error: unknown) =>
  /^(53|57|58|25006)/.test((error as DatabaseError).code ?? '');

/** The error of a group that was not written. A later attempt may succeed. */
const unavailableFault = (cause: unknown) =>
  new Fault('SERVICE_UNAVAILABLE', 'The request could not be committed. Try again.', undefined, {
    retryAfterS: 1,
    cause,
  });

/** Verdict for a single change set that the database rejected. */
function verdictOf(error: unknown): Verdict {
  const { code, constraint } = error as DatabaseError;
  if (code === LOCK_TIMEOUT || CONFLICT_CODES.has(code ?? '')) return unavailableFault(error);
  if (code?.startsWith('23') && constraint) {
    return { ok: false, rejection: { reason: 'constraint', constraint } };
  }
  return error instanceof Error
    ? error
    : new Error('The database rejected the change set.', { cause: error });
}

async function validateAndWrite(
  lane: Lane,
  sets: readonly ChangeSet[],
  format: BatchFormat,
): Promise<Verdict[]> {
  try {
    const { bounds, validate } = batchReads(sets, format.order);
    const [, ...responses] = await lane.execute([bind(BEGIN), ...bounds]);
    const rejections = validate(responses);
    const acceptedSets = sets.filter((_, i) => !rejections[i]);
    const bodies = batchWrites(acceptedSets, format);
    if (!bodies) throw new Error('accepted change sets differ in the currency of an account');
    await lane.execute(acceptedSets.length ? [...bodies, bind(COMMIT)] : [bind(ROLLBACK)]);
    return rejections.map((rejection) => (rejection ? { ok: false, rejection } : ACCEPTED));
  } catch (error) {
    if (!isConnectionError(error)) await lane.execute([bind(ROLLBACK)]);
    throw error;
  }
}

async function write(
  lane: Lane,
  sets: readonly ChangeSet[],
  format: BatchFormat,
  counters: BatchCounters,
): Promise<Verdict[]> {
  const bounds = batchWrites(sets, format);
  try {
    if (bounds) {
      await lane.execute(bounds);
      return sets.map(() => ACCEPTED);
    }
  } catch (error) {
    if (!needsValidation(error, sets)) throw error;
  }
  counters.separateRounds++;
  return validateAndWrite(lane, sets, format);
}

/**
 * The verdict of each change set. Undefined for a group that must be halved. Rejects only with code
 * OUTCOME_UNKNOWN.
 */
export async function settle(
  lane: Lane,
  sets: readonly ChangeSet[],
  format: BatchFormat,
  counters: BatchCounters,
): Promise<Verdict[] | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write(lane, sets, format, counters);
    } catch (error) {
      if (isConnectionError(error)) throw error;
      if (affectsAll(error)) return sets.map(() => unavailableFault(error));
      counters.retries++;
      if (sets.length > 1) return undefined;
      if (attempt === MAX_ATTEMPTS || !needsValidation(error, sets)) return [verdictOf(error)];
    }
  }
}
