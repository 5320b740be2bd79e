// How often a customer failed to prove itself, whether that locks it out, and how long its login counts. A
// decision that lets the customer go on leans on the row as it was read, so that failures which came in at
// the same moment are not passed by.

import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { col, type PatchOf, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { customerById } from '../../customers/records/index.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import { type By, noteScaEvent } from '../events/index.ts';

/** How often a customer failed, whether that shuts it out, and how long its login counts. */
export const scaLockouts = table(
  'sca_lockouts',
  {
    /** The customer's id. */
    id: col.text,
    platform_id: col.text,
    /** All there were since the last reset of the password; a success takes none away. */
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

/** How long a login counts. */
const SESSION_MS = 180 * DAY_MS;

/** What the fifth failure and each after it bring; beyond the last one nobody gets in by waiting. */
const FIRST_LOCK = 5;
const LOCKS_MS = [15 * MINUTE_MS, 30 * MINUTE_MS, 60 * MINUTE_MS, DAY_MS];
const SUSPENDED_FROM = FIRST_LOCK + LOCKS_MS.length;

/** As the API shows it, in replies and in the details of ACCOUNT_LOCKED. */
interface Lockout {
  suspended: boolean;
  /** Null when it is not locked, and when it is suspended. */
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

/** Stages a change of where the customer stands, of whom nothing may be known yet. */
async function change(
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

/** Throws ACCOUNT_LOCKED while the customer is shut out. */
export async function checkLock(ctx: Ctx, customerId: string): Promise<void> {
  const row = await ctx.read(scaLockouts, customerId);
  if (!row) return;
  const lockout = presentLockout(row, ctx.now);
  if (lockout.suspended || lockout.lockedUntil !== null) {
    const reason = lockout.suspended
      ? 'The customer is suspended after failed attempts until a password reset.'
      : 'The customer is locked after failed attempts. Retry after lockedUntil.';
    throw new Fault('ACCOUNT_LOCKED', reason, { ...lockout });
  }
  ctx.require(scaLockouts, row);
}

/** Throws SCA_SESSION_REQUIRED unless the customer has logged in and that still counts. */
export async function checkSession(ctx: Ctx, customerId: string): Promise<void> {
  const row = await ctx.read(scaLockouts, customerId);
  const until = row?.session_expires_at ?? null;
  if (!row || until === null || ctx.now >= until) {
    throw new Fault(
      'SCA_SESSION_REQUIRED',
      'The customer has no valid session. Log in with startScaLogin first.',
    );
  }
  ctx.require(scaLockouts, row);
}

function lockAfter(failures: number, now: Time) {
  if (failures < FIRST_LOCK) return {};
  if (failures >= SUSPENDED_FROM) return { suspended: true, locked_until: null };
  return { locked_until: now + (LOCKS_MS[failures - FIRST_LOCK] as number) };
}

/** Stages one failure more, and the lock that it brings; answers where the customer stands then. */
export const noteFailure = (ctx: Ctx, customerId: string): Promise<LockoutRow> =>
  change(ctx, customerId, (row) => {
    const failed_attempts = (row?.failed_attempts ?? 0) + 1;
    return { failed_attempts, ...lockAfter(failed_attempts, ctx.now) };
  });

/** Stages a login in place of the one before; answers until when it counts. */
export async function openSession(ctx: Ctx, customerId: string): Promise<Time> {
  const session_expires_at = ctx.now + SESSION_MS;
  await change(ctx, customerId, () => ({ session_expires_at }));
  return session_expires_at;
}

/** Stages that every login of the customer counts no more. */
export async function endSession(ctx: Ctx, customerId: string): Promise<void> {
  const row = await ctx.read(scaLockouts, customerId);
  if (row) ctx.update(scaLockouts, row, { session_expires_at: null, updated_at: ctx.now });
}

const BLAMELESS = { failed_attempts: 0, locked_until: null, suspended: false } as const;

/** Stages that nothing is held against the customer any more; a login that counts goes on counting. */
const unlock = (ctx: Ctx, customerId: string): Promise<LockoutRow> =>
  change(ctx, customerId, () => BLAMELESS);

/** Stages that nothing is held against the customer any more, and that it has to log in again. */
export const absolve = (ctx: Ctx, customerId: string): Promise<LockoutRow> =>
  change(ctx, customerId, () => ({ ...BLAMELESS, session_expires_at: null }));

const NEVER_FAILED = { suspended: false, lockedUntil: null, failedAttempts: 0 };

/** Failures, lock and login of a customer, for an operator. */
export async function lockoutOf(ctx: Ctx, customerId: string) {
  const row = await ctx.read(scaLockouts, customerId);
  const session = row?.session_expires_at ?? null;
  return {
    ...(row ? presentLockout(row, ctx.now) : NEVER_FAILED),
    sessionExpiresAt: session !== null && ctx.now < session ? iso(session) : null,
  };
}

/** Removes a customer's failures, lock or suspension. Throws CUSTOMER_NOT_FOUND and CUSTOMER_DELETED. */
export async function unlockByHand(
  runtime: Runtime,
  { customerId, by }: { customerId: string; by: By },
) {
  const known = await customerById(runtime.db, customerId);
  const caller = await callerOf(runtime.db, known.platform_id);
  const lockout = await operate(runtime, caller, async (ctx) => {
    const customer = await customerById(ctx, customerId, { alive: true });
    noteScaEvent(ctx, customer, 'UNLOCKED', { by });
    return presentLockout(await unlock(ctx, customer.id), ctx.now);
  });
  return { customerId, ...lockout };
}
