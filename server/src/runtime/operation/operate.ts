// Runs an operation and commits its change set. The operation runs again with fresh reads, up to
// `MAX_ATTEMPTS` attempts, if a row on which it depends has changed. Requests, jobs and operator
// commands commit through this module.

import { setTimeout } from 'node:timers/promises';
import type { Caller } from '../../kernel/caller.ts';
import type { Effects } from '../../kernel/effects.ts';
import { contentionFault, Fault } from '../../kernel/fault.ts';
import { isNoTransition } from '../../kernel/states.ts';
import type { Clocks } from '../clocks/clocks.ts';
import type { ChangeSet, Outcome, Rejection } from '../committer/change-set.ts';
import type { Database } from '../db/database.ts';
import type { Table } from '../db/table.ts';
import {
  currentSpan,
  inChild,
  rememberCause,
  type Tracer,
} from '../observability/tracing/tracer.ts';
import type { Vault } from '../security/vault.ts';
import { type Ctx, createContext } from './context.ts';
import { rememberEvents } from './event-staging.ts';

/**
 * Maximum optimistic-lock attempts. Of n requests for one row, the last request succeeds at its n-th
 * attempt at the latest.
 */
const MAX_ATTEMPTS = 50;
/** Attempts without a pause. Later attempts wait, so that fewer attempts contend concurrently. */
const IMMEDIATE_ATTEMPTS = 12;
const MAX_PAUSE_MS = 32;
/** Maximum attempts of a decision that applies an impossible transition or a posted step. */
const MAX_STALE_ATTEMPTS = 3;

export interface Runtime {
  effects: Effects;
  db: Database;
  vault: Vault;
  /** The time of each platform. */
  clocks: Clocks;
  committer: { commit(set: ChangeSet): Promise<Outcome> };
  /** Called after a commit with events or jobs, so that loops start before their next poll. */
  wake: { events(): void; jobs(): void };
  /** Absent: no traces. */
  tracer?: Tracer | undefined;
  /** Source of the IDs of resources for one attempt. Absent: `effects`. */
  ids?(): Effects;
}

const KEY_TAKEN = 'KEY_TAKEN';

/** Whether the idempotency key was already used. The stored reply is then returned. */
export const isKeyTaken = (error: unknown): boolean =>
  error instanceof Error && error.name === KEY_TAKEN;

const isEmpty = (set: ChangeSet) =>
  set.inserts.length +
    set.updates.length +
    set.removes.length +
    set.transfers.length +
    set.freezes.length +
    set.events.length ===
  0;

/** Fault of an account with insufficient funds. */
export const insufficientFunds = (): Fault =>
  new Fault(
    'INSUFFICIENT_FUNDS',
    'The available balance of the account is too low for this payment.',
  );

function faultOf(rejection: Rejection, { set, insufficientFundsFaults }: Ctx): Error {
  if (rejection.reason === 'insufficient-funds')
    return (insufficientFundsFaults.get(rejection.account) ?? insufficientFunds)();
  if (rejection.reason === 'frozen') {
    const reason =
      'Transfers from and to the account are blocked. Check the status of the account and of its owner.';
    return new Fault('INVALID_INPUT', reason, { accountId: rejection.account });
  }
  if (rejection.reason === 'not-empty') {
    const accountIds = [rejection.account];
    const reason = 'The account has a balance or a hold. Transfer or release the funds first.';
    return new Fault('CONFLICT', reason, { accountIds });
  }
  if (rejection.reason === 'exists') {
    return Object.assign(new Error(`${rejection.id} is taken`), { name: KEY_TAKEN });
  }
  if (rejection.reason === 'constraint') {
    const tables = new Set<Table>([...set.inserts, ...set.updates].map((each) => each.table));
    for (const table of tables) {
      const fault = table.unique[rejection.constraint];
      if (fault) return fault();
    }
    const { constraint } = rejection;
    return Object.assign(new Error(`the constraint ${constraint} is violated`), { constraint });
  }
  // Retryable, so that the fault is never stored as the reply of an idempotency key.
  return contentionFault('Concurrent requests changed the same resource.');
}

/** A random pause before an attempt, except before the first `IMMEDIATE_ATTEMPTS` attempts. */
async function pauseBefore(attempt: number, effects: Effects): Promise<void> {
  if (attempt <= IMMEDIATE_ATTEMPTS) return;
  const [byte = 0] = effects.random(1);
  await setTimeout((byte / 256) * MAX_PAUSE_MS);
}

/** Constraint that a second posting of a step violates. Fresh reads find the first posting. */
const POSTED_ONCE = 'ledger_transfers_pkey';

/** Whether fresh reads may lead to another decision. */
function isRetryable(rejection: Rejection, { retryAccounts, set }: Ctx, attempt: number): boolean {
  if (rejection.reason === 'insufficient-funds' || rejection.reason === 'frozen')
    return retryAccounts.has(rejection.account);
  if (rejection.reason !== 'constraint') return rejection.reason === 'version';
  if (rejection.constraint === POSTED_ONCE) return attempt < MAX_STALE_ATTEMPTS;
  return set.inserts.some(({ table }) => table.contendedKeys.includes(rejection.constraint));
}

/**
 * Runs `work` on fresh reads. Rows are read sequentially, so another request can commit between two reads.
 * A transition of the second row may then be impossible. Fresh reads distinguish this case from a
 * programming error.
 */
async function decide<R>(
  runtime: Runtime,
  caller: Caller,
  work: (ctx: Ctx) => Promise<R>,
): Promise<{ ctx: Ctx; result: R }> {
  for (let attempt = 1; ; attempt++) {
    const time = runtime.clocks.timeOf(caller);
    // The time is usually cached. Only a promise is awaited, which saves a turn of the event loop.
    const ctx = createContext(runtime, caller, 'now' in time ? time : await time);
    try {
      return { ctx, result: await work(ctx) };
    } catch (error) {
      if (!isNoTransition(error) || attempt === MAX_STALE_ATTEMPTS) throw error;
    }
  }
}

/** Commits a change set in a span, and records the jobs and events that the current span caused. */
async function commitInSpan({ committer }: Runtime, set: ChangeSet): Promise<Outcome> {
  const counts = {
    'railhead.transfers': set.transfers.length,
    'railhead.events': set.events.length,
  };
  const outcome = await inChild('commit', 'client', counts, () => committer.commit(set));
  const span = currentSpan();
  if (!outcome.ok || !span) return outcome;
  const jobs = set.inserts.filter(({ table }) => table.name === 'jobs');
  rememberCause(span, [
    ...jobs.map(({ row }) => String(row.id)),
    ...set.events.map(({ id }) => id),
  ]);
  return outcome;
}

/**
 * Runs `work` as `caller` and commits the staged writes. Returns the result of the last attempt.
 */
export function operate<R>(
  runtime: Runtime,
  caller: Caller,
  work: (ctx: Ctx) => Promise<R>,
): Promise<R> {
  if (!currentSpan()) return runAttempts(runtime, caller, work);
  return inChild('operation', 'internal', {}, () => runAttempts(runtime, caller, work));
}

async function runAttempts<R>(
  runtime: Runtime,
  caller: Caller,
  work: (ctx: Ctx) => Promise<R>,
): Promise<R> {
  for (let attempt = 1; ; attempt++) {
    const { ctx, result } = await decide(runtime, caller, work);
    if (isEmpty(ctx.set)) return result;
    const outcome = await (currentSpan()
      ? commitInSpan(runtime, ctx.set)
      : runtime.committer.commit(ctx.set));
    if (outcome.ok) {
      if (ctx.set.events.length) {
        rememberEvents(runtime.db, ctx.set);
        runtime.wake.events();
      }
      if (ctx.set.inserts.some((each) => each.table.name === 'jobs')) runtime.wake.jobs();
      return result;
    }
    const shouldRetry = isRetryable(outcome.rejection, ctx, attempt) && attempt < MAX_ATTEMPTS;
    if (!shouldRetry) throw faultOf(outcome.rejection, ctx);
    await pauseBefore(attempt + 1, runtime.effects);
  }
}
