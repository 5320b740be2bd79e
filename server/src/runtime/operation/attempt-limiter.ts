// Limits on how often something may be tried, counted in the database so that they hold across processes:
// of two tries that read the same row only one is taken, and the other is judged anew.
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

/** At most `max` tries in any stretch of `withinMs`. */
export interface AttemptRule {
  max: number;
  withinMs: number;
}

/** Seconds until one more is let in, 0 where it may come now. */
function waitS(at: readonly number[], rules: readonly AttemptRule[], now: number): number {
  const waits = rules.map(({ max, withinMs }) => {
    const first = at.filter((time) => time > now - withinMs).at(-max);
    return first === undefined ? 0 : Math.ceil((first + withinMs - now) / 1000);
  });
  return Math.max(0, ...waits);
}

const DEFAULT_REASON = 'Too many attempts. Wait before trying again.';

function rejectTooMany(
  at: readonly number[],
  rules: readonly AttemptRule[],
  now: number,
  reason = DEFAULT_REASON,
): void {
  const retryAfterS = waitS(at, rules, now);
  if (retryAfterS > 0) throw new Fault('RATE_LIMITED', reason, undefined, { retryAfterS });
}

/** Throws RATE_LIMITED while `id` was tried too often; stages nothing. */
export async function checkAttempts(
  ctx: Ctx,
  id: string,
  rules: readonly AttemptRule[],
  reason?: string,
): Promise<void> {
  const row = await ctx.read(attemptLimits, id);
  rejectTooMany(row?.at ?? [], rules, ctx.now, reason);
}

/**
 * Stages that `id` was tried now, or throws RATE_LIMITED where no more may be: judged by the very row that
 * is changed, as one that was read before may be older. A refusal that should count is answered as
 * `{ rejected }`, not thrown.
 */
export async function countAttempt(
  ctx: Ctx,
  id: string,
  rules: readonly AttemptRule[],
  reason?: string,
): Promise<void> {
  const row = await ctx.read(attemptLimits, id);
  rejectTooMany(row?.at ?? [], rules, ctx.now, reason);
  const longest = Math.max(...rules.map((rule) => rule.withinMs));
  const kept = (row?.at ?? []).filter((time) => time > ctx.now - longest);
  const fresh = { at: [...kept, ctx.now], updated_at: ctx.now };
  if (row) ctx.update(attemptLimits, row, fresh);
  else ctx.insert(attemptLimits, { id, platform_id: ctx.caller.platformId, ...fresh });
}

/** Whether `id` was tried so often lately that no more may be; stages nothing. */
export async function isLimitReached(ctx: Ctx, id: string, rules: readonly AttemptRule[]) {
  const row = await ctx.read(attemptLimits, id);
  return waitS(row?.at ?? [], rules, ctx.now) > 0;
}

/** No limit: the row alone is wanted. */
const UNLIMITED: readonly AttemptRule[] = [{ max: Number.POSITIVE_INFINITY, withinMs: 0 }];

/** Stages a claim on `id`: of two who claim it in one instant one is judged anew. */
export const claim = (ctx: Ctx, id: string): Promise<void> => countAttempt(ctx, id, UNLIMITED);

const DAY_MS = 24 * 3_600_000;

/** Deletes tries that no limit counts any more. */
export const attemptsSweep = () =>
  retentionSweep(
    'tries.forget',
    [{ table: 'attempt_limits', time: 'updated_at', keepMs: DAY_MS }],
    60_000,
  );
