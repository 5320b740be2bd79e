// Attempt limits, counted in the database so that they hold across processes: of two attempts that
// read the same row only one is committed, and the other is checked again. They count real time, also
// for a platform with its own clock.
import { Fault } from '../../kernel/fault.ts';
import { retentionSweep } from '../db/retention.ts';
import { col, table } from '../db/table.ts';
import type { Ctx } from './context.ts';

export const attemptLimits = table(
  'attempt_limits',
  {
    id: col.text,
    platform_id: col.text,
    at: col.json<number[]>().mut,
    updated_at: col.time.mut,
    version: col.int4,
  },
  { contendedKeys: ['attempt_limits_pkey'] },
);

/** At most `max` attempts in any period of `withinMs`. */
export interface AttemptRule {
  max: number;
  withinMs: number;
}

/** Seconds until the next attempt is allowed, 0 if it is allowed now. */
function waitS(
  attemptTimes: readonly number[],
  rules: readonly AttemptRule[],
  now: number,
): number {
  const waits = rules.map(({ max, withinMs }) => {
    const first = attemptTimes.filter((time) => time > now - withinMs).at(-max);
    return first === undefined ? 0 : Math.ceil((first + withinMs - now) / 1000);
  });
  return Math.max(0, ...waits);
}

const DEFAULT_REASON = 'Too many attempts. Wait before trying again.';

function rejectTooMany(
  attemptTimes: readonly number[],
  rules: readonly AttemptRule[],
  now: number,
  reason = DEFAULT_REASON,
): void {
  const retryAfterS = waitS(attemptTimes, rules, now);
  if (retryAfterS > 0) throw new Fault('RATE_LIMITED', reason, undefined, { retryAfterS });
}

/** Throws RATE_LIMITED while the limit of `id` is reached. Stages nothing. */
export async function checkAttempts(
  ctx: Ctx,
  id: string,
  rules: readonly AttemptRule[],
  reason?: string,
): Promise<void> {
  const row = await ctx.read(attemptLimits, id);
  rejectTooMany(row?.at ?? [], rules, ctx.effects.now(), reason);
}

/**
 * Stages an attempt for `id`, or throws RATE_LIMITED if the limit is reached. The check uses the
 * row that is changed, because an earlier read may be stale. A rejection that should count as an
 * attempt is returned as `{ rejected }`, not thrown.
 */
export async function countAttempt(
  ctx: Ctx,
  id: string,
  rules: readonly AttemptRule[],
  reason?: string,
): Promise<void> {
  const row = await ctx.read(attemptLimits, id);
  const now = ctx.effects.now();
  rejectTooMany(row?.at ?? [], rules, now, reason);
  const longest = Math.max(...rules.map((rule) => rule.withinMs));
  const recent = (row?.at ?? []).filter((time) => time > now - longest);
  const values = { at: [...recent, now], updated_at: now };
  if (row) ctx.update(attemptLimits, row, values);
  else ctx.insert(attemptLimits, { id, platform_id: ctx.caller.platformId, ...values });
}

/** Whether the limit of `id` is reached. Stages nothing. */
export async function isLimitReached(ctx: Ctx, id: string, rules: readonly AttemptRule[]) {
  const row = await ctx.read(attemptLimits, id);
  return waitS(row?.at ?? [], rules, ctx.effects.now()) > 0;
}

/** No limit: the row only makes concurrent claims conflict. */
const UNLIMITED: readonly AttemptRule[] = [{ max: Number.POSITIVE_INFINITY, withinMs: 0 }];

/** Stages a claim on `id`: of two concurrent claims one is decided again. */
export const claim = (ctx: Ctx, id: string): Promise<void> => countAttempt(ctx, id, UNLIMITED);

const DAY_MS = 24 * 3_600_000;

/** Deletes attempts that are older than every limit. */
export const attemptsSweep = () =>
  retentionSweep(
    'attempt-limits.purge',
    [{ table: 'attempt_limits', time: 'updated_at', keepMs: DAY_MS }],
    60_000,
  );
