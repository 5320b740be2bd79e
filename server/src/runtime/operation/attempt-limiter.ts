// Attempt limits, counted in the database so that they apply across processes. Of two attempts that read
// the same row, only one is committed, and the other is checked again. The periods are in real time, also
// for a platform with a separate clock.
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
  const waitSeconds = rules.map(({ max, withinMs }) => {
    const firstTime = attemptTimes.filter((time) => time > now - withinMs).at(-max);
    return firstTime === undefined ? 0 : Math.ceil((firstTime + withinMs - now) / 1000);
  });
  return Math.max(0, ...waitSeconds);
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

/** Throws RATE_LIMITED while the limit of `id` is reached. Read-only. */
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
 * Stages an attempt for `id`, or throws RATE_LIMITED if the limit is reached. The check uses the row that
 * is changed, because an earlier read may be stale. A rejection that counts as an attempt must be returned
 * as `{ rejected }`, because a throw discards the attempt.
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
  const longestMs = Math.max(...rules.map((rule) => rule.withinMs));
  const recentTimes = (row?.at ?? []).filter((time) => time > now - longestMs);
  const values = { at: [...recentTimes, now], updated_at: now };
  if (row) ctx.update(attemptLimits, row, values);
  else ctx.insert(attemptLimits, { id, platform_id: ctx.caller.platformId, ...values });
}

/** Whether the limit of `id` is reached. Read-only. */
export async function isLimitReached(ctx: Ctx, id: string, rules: readonly AttemptRule[]) {
  const row = await ctx.read(attemptLimits, id);
  return waitS(row?.at ?? [], rules, ctx.effects.now()) > 0;
}

/** Rules without a limit. The row is used only for the conflict of concurrent claims. */
const UNLIMITED_RULES: readonly AttemptRule[] = [{ max: Number.POSITIVE_INFINITY, withinMs: 0 }];

/** Stages a claim on `id`. Of two concurrent claims, one operation runs again. */
export const claim = (ctx: Ctx, id: string): Promise<void> =>
  countAttempt(ctx, id, UNLIMITED_RULES);

const DAY_MS = 24 * 3_600_000;

/** Deletes attempts that are older than every limit. */
export const attemptsSweep = () =>
  retentionSweep(
    'attempt-limits.purge',
    [{ table: 'attempt_limits', time: 'updated_at', keepMs: DAY_MS }],
    60_000,
  );
