// Settles a group of change sets on one lane: first as if all will be well, in one trip; when the database
// refuses, in two, looking and judging before writing. What is left is either one change set with its own
// reason, or a group that the caller has to halve.
import type pg from 'pg';
import { Fault } from '../../kernel/fault.ts';
import { type BatchFormat, batchReads, batchWrites } from './batch.ts';
import type { ChangeSet, Outcome } from './change-set.ts';
import { isLost, type Lane } from './lane.ts';
import { BEGIN, bind, COMMIT, ROLLBACK } from './statements.ts';

/** How a change set ended; an Error when something is wrong that no refusal names. */
export type Verdict = Outcome | Error;

/** Counted while settling. */
export interface Tally {
  careful: number;
  retries: number;
}

type DatabaseError = pg.DatabaseError;

const ACCEPTED: Outcome = { ok: true };
const MAX_ATTEMPTS = 3;

const GUARD = 'GC001';
const UNIQUE = '23505';
const CHECK = '23514';
const LOCK_TIMEOUT = '55P03';
const RACES = new Set([GUARD, '40001', '40P01']); // a guard, a serialization failure, a deadlock

/** Whether looking and judging can tell which change sets are to blame. */
function needsValidation(error: unknown, sets: readonly ChangeSet[]): boolean {
  const { code, table, constraint } = error as DatabaseError;
  if (RACES.has(code ?? '')) return true;
  if (code === CHECK) return table === 'ledger_accounts';
  if (code !== UNIQUE || constraint !== `${table}_pkey`) return false;
  if (table === 'ledger_transfers') return true;
  return sets.some((set) =>
    set.inserts.some((each) => each.table.clientKeyed && each.table.name === table),
  );
}

/** Out of disk, cancelled, read-only after a failover: nobody's fault, and halving would not help. */
const isShared = (error: unknown) => /^(53|57|58|25006)/.test((error as DatabaseError).code ?? '');

/** Nothing was written, and the same may well work a little later. */
const unavailable = (cause: unknown) =>
  new Fault('SERVICE_UNAVAILABLE', 'This could not be written now. Try again.', undefined, {
    retryAfterS: 1,
    cause,
  });

/** A lone change set that the database refused. */
function blamed(error: unknown): Verdict {
  const { code, constraint } = error as DatabaseError;
  if (code === LOCK_TIMEOUT || RACES.has(code ?? '')) return unavailable(error);
  if (code?.startsWith('23') && constraint) {
    return { ok: false, rejection: { why: 'constraint', constraint } };
  }
  return error instanceof Error ? error : new Error('commit failed', { cause: error });
}

async function careful(
  lane: Lane,
  sets: readonly ChangeSet[],
  format: BatchFormat,
): Promise<Verdict[]> {
  try {
    const { bounds, judge } = batchReads(sets, format.order);
    const [, ...answers] = await lane.execute([bind(BEGIN), ...bounds]);
    const refusals = judge(answers);
    const accepted = sets.filter((_, i) => !refusals[i]);
    const bodies = batchWrites(accepted, format);
    if (!bodies) throw new Error('accepted change sets disagree about the currency of an account');
    await lane.execute(accepted.length ? [...bodies, bind(COMMIT)] : [bind(ROLLBACK)]);
    return refusals.map((refusal) => (refusal ? { ok: false, rejection: refusal } : ACCEPTED));
  } catch (error) {
    if (!isLost(error)) await lane.execute([bind(ROLLBACK)]);
    throw error;
  }
}

async function together(
  lane: Lane,
  sets: readonly ChangeSet[],
  format: BatchFormat,
  tally: Tally,
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
  tally.careful++;
  return careful(lane, sets, format);
}

/**
 * One verdict for each change set, or undefined for a group that has to be halved. Rejects only when the
 * connection was lost and the outcome is unknown.
 */
export async function settle(
  lane: Lane,
  sets: readonly ChangeSet[],
  format: BatchFormat,
  tally: Tally,
): Promise<Verdict[] | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await together(lane, sets, format, tally);
    } catch (error) {
      if (isLost(error)) throw error;
      if (isShared(error)) return sets.map(() => unavailable(error));
      tally.retries++;
      if (sets.length > 1) return undefined;
      if (tries === MAX_ATTEMPTS || !needsValidation(error, sets)) return [blamed(error)];
    }
  }
}
