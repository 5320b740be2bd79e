// Lockout state and SCA session of a customer. A decision in favor of the customer requires that
// the row is unchanged at the commit, so that every concurrent failed attempt is counted.

import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { col, type PatchOf, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { customerById } from '../../customers/records/index.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import { type OperatorCause, recordScaEvent } from '../events/index.ts';

export const scaLockouts = table(
  'sca_lockouts',
  {
    /** The customer's ID. */
    id: col.text,
    platform_id: col.text,
    /** Failed attempts since the last password reset or unlock. A success does not reduce them. */
    failed_attempts: col.int4.mut,
    locked_until: col.time.null.mut,
    suspended: col.bool.mut,
    session_expires_at: col.time.null.mut,
    updated_at: col.time.mut,
    version: col.int4,
  },
  { contendedKeys: ['sca_lockouts_pkey'] },
);

type LockoutRow = RowOf<typeof scaLockouts>;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const SESSION_MS = 180 * DAY_MS;

/** Lockouts after the fifth to the eighth failure. The ninth failure suspends the customer. */
const FIRST_LOCKING_FAILURE = 5;
const LOCK_DURATIONS_MS = [15 * MINUTE_MS, 30 * MINUTE_MS, 60 * MINUTE_MS, DAY_MS];
const SUSPENDING_FAILURE = FIRST_LOCKING_FAILURE + LOCK_DURATIONS_MS.length;

/** Lockout state in replies and in the details of ACCOUNT_LOCKED. */
interface Lockout {
  suspended: boolean;
  /** Null if the customer is suspended or not locked. */
  lockedUntil: string | null;
  failedAttempts: number;
}

export function presentLockout(
  { suspended, locked_until: until, failed_attempts: failedAttempts }: LockoutRow,
  now: Time,
): Lockout {
  const isLocked = !suspended && until !== null && now < until;
  return { suspended, lockedUntil: isLocked ? iso(until) : null, failedAttempts };
}

/** Stages a change of the lockout state. The row may not exist yet. */
async function changeLockout(
  ctx: Ctx,
  customerId: string,
  patchOf: (row: LockoutRow | undefined) => PatchOf<typeof scaLockouts>,
): Promise<LockoutRow> {
  const row = await ctx.read(scaLockouts, customerId);
  const patch = { ...patchOf(row), updated_at: ctx.now };
  if (row) return ctx.update(scaLockouts, row, patch);
  return ctx.insert(scaLockouts, {
    id: customerId,
    platform_id: ctx.caller.platformId,
    failed_attempts: 0,
    suspended: false,
    ...patch,
  });
}

/** Throws ACCOUNT_LOCKED while the customer is locked or suspended. */
export async function checkLock(ctx: Ctx, customerId: string): Promise<void> {
  const row = await ctx.read(scaLockouts, customerId);
  if (!row) return;
  const lockout = presentLockout(row, ctx.now);
  if (lockout.suspended || lockout.lockedUntil !== null) {
    const reason = lockout.suspended
      ? 'The customer is suspended after failed attempts. Report a password reset first.'
      : 'The customer is locked after failed attempts. Retry after lockedUntil.';
    throw new Fault('ACCOUNT_LOCKED', reason, { ...lockout });
  }
  ctx.require(scaLockouts, row);
}

/** Throws SCA_SESSION_REQUIRED unless the customer has a valid session. */
export async function checkSession(ctx: Ctx, customerId: string): Promise<void> {
  const row = await ctx.read(scaLockouts, customerId);
  const sessionExpiresAt = row?.session_expires_at ?? null;
  if (!row || sessionExpiresAt === null || ctx.now >= sessionExpiresAt) {
    throw new Fault(
      'SCA_SESSION_REQUIRED',
      'The customer has no valid session. Log in with startScaLogin first.',
    );
  }
  ctx.require(scaLockouts, row);
}

function lockAfter(failures: number, now: Time) {
  if (failures < FIRST_LOCKING_FAILURE) return {};
  if (failures >= SUSPENDING_FAILURE) return { suspended: true, locked_until: null };
  return { locked_until: now + (LOCK_DURATIONS_MS[failures - FIRST_LOCKING_FAILURE] as number) };
}

/** Stages a failed attempt with the resulting lockout. Returns the new state. */
export const recordScaFailure = (ctx: Ctx, customerId: string): Promise<LockoutRow> =>
  changeLockout(ctx, customerId, (row) => {
    const failed_attempts = (row?.failed_attempts ?? 0) + 1;
    return { failed_attempts, ...lockAfter(failed_attempts, ctx.now) };
  });

/** Stages a session, which replaces the previous one. Returns its expiry. */
export async function openSession(ctx: Ctx, customerId: string): Promise<Time> {
  const session_expires_at = ctx.now + SESSION_MS;
  await changeLockout(ctx, customerId, () => ({ session_expires_at }));
  return session_expires_at;
}

/** Stages the revocation of the customer's session. */
export async function revokeSession(ctx: Ctx, customerId: string): Promise<void> {
  const row = await ctx.read(scaLockouts, customerId);
  if (row) ctx.update(scaLockouts, row, { session_expires_at: null, updated_at: ctx.now });
}

const UNLOCKED = { failed_attempts: 0, locked_until: null, suspended: false } as const;

/** Stages the removal of failures, lockout and suspension. A session remains valid. */
const unlock = (ctx: Ctx, customerId: string): Promise<LockoutRow> =>
  changeLockout(ctx, customerId, () => UNLOCKED);

/** Stages the removal of failures, lockout and suspension, and the revocation of the session. */
export const resetLockout = (ctx: Ctx, customerId: string): Promise<LockoutRow> =>
  changeLockout(ctx, customerId, () => ({ ...UNLOCKED, session_expires_at: null }));

const NO_FAILURES = { suspended: false, lockedUntil: null, failedAttempts: 0 };

/** Lockout state and session of a customer, for the operator. */
export async function lockoutOf(ctx: Ctx, customerId: string) {
  const row = await ctx.read(scaLockouts, customerId);
  const expiresAt = row?.session_expires_at ?? null;
  return {
    ...(row ? presentLockout(row, ctx.now) : NO_FAILURES),
    sessionExpiresAt: expiresAt !== null && ctx.now < expiresAt ? iso(expiresAt) : null,
  };
}

/** Unlocks a customer. Throws CUSTOMER_NOT_FOUND and CUSTOMER_DELETED. */
export async function unlockByOperator(
  runtime: Runtime,
  { customerId, by }: { customerId: string; by: OperatorCause },
) {
  const existingCustomer = await customerById(runtime.db, customerId);
  const caller = await callerOf(runtime.db, existingCustomer.platform_id);
  const lockout = await operate(runtime, caller, async (ctx) => {
    const customer = await customerById(ctx, customerId, { rejectDeleted: true });
    recordScaEvent(ctx, customer, 'UNLOCKED', { by });
    return presentLockout(await unlock(ctx, customer.id), ctx.now);
  });
  return { customerId, ...lockout };
}
