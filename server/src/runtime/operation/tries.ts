// Limits on how often something may be tried, counted in the database so that they hold across processes:
// of two tries that read the same row only one is taken, and the other is judged anew.
import { Fault } from '../../kernel/fault.ts';
import { forgetting } from '../db/forget.ts';
import { col, table } from '../db/table.ts';
import type { Ctx } from './context.ts';

export const triesTable = table(
  'tries',
  {
    id: col.text,
    platform_id: col.text,
    at: col.json<number[]>().mut,
    updated_at: col.time.mut,
    version: col.int4,
  },
  { races: ['tries_pkey'] },
);

/** At most `most` tries in any stretch of `withinMs`. */
export interface TryRule {
  most: number;
  withinMs: number;
}

/** Seconds until one more is let in, 0 where it may come now. */
function waitS(at: readonly number[], rules: readonly TryRule[], now: number): number {
  const waits = rules.map(({ most, withinMs }) => {
    const first = at.filter((time) => time > now - withinMs).at(-most);
    return first === undefined ? 0 : Math.ceil((first + withinMs - now) / 1000);
  });
  return Math.max(0, ...waits);
}

const USUAL_REASON = 'Tried too often. Wait before you try again.';

function refuseTooMany(
  at: readonly number[],
  rules: readonly TryRule[],
  now: number,
  reason = USUAL_REASON,
): void {
  const retryAfterS = waitS(at, rules, now);
  if (retryAfterS > 0) throw new Fault('RATE_LIMITED', reason, undefined, { retryAfterS });
}

/** Throws RATE_LIMITED while `id` was tried too often; stages nothing. */
export async function checkTries(
  ctx: Ctx,
  id: string,
  rules: readonly TryRule[],
  reason?: string,
): Promise<void> {
  const row = await ctx.read(triesTable, id);
  refuseTooMany(row?.at ?? [], rules, ctx.now, reason);
}

/**
 * Stages that `id` was tried now, or throws RATE_LIMITED where no more may be: judged by the very row that
 * is changed, as one that was read before may be older. A refusal that should count is answered as
 * `{ refused }`, not thrown.
 */
export async function takeTry(
  ctx: Ctx,
  id: string,
  rules: readonly TryRule[],
  reason?: string,
): Promise<void> {
  const row = await ctx.read(triesTable, id);
  refuseTooMany(row?.at ?? [], rules, ctx.now, reason);
  const longest = Math.max(...rules.map((rule) => rule.withinMs));
  const kept = (row?.at ?? []).filter((time) => time > ctx.now - longest);
  const fresh = { at: [...kept, ctx.now], updated_at: ctx.now };
  if (row) ctx.update(triesTable, row, fresh);
  else ctx.insert(triesTable, { id, platform_id: ctx.caller.platformId, ...fresh });
}

/** Whether `id` was tried so often lately that no more may be; stages nothing. */
export async function isTooOften(ctx: Ctx, id: string, rules: readonly TryRule[]) {
  const row = await ctx.read(triesTable, id);
  return waitS(row?.at ?? [], rules, ctx.now) > 0;
}

/** No limit: the row alone is wanted. */
const UNLIMITED: readonly TryRule[] = [{ most: Number.POSITIVE_INFINITY, withinMs: 0 }];

/** Stages a claim on `id`: of two who claim it in one instant one is judged anew. */
export const claim = (ctx: Ctx, id: string): Promise<void> => takeTry(ctx, id, UNLIMITED);

const DAY_MS = 24 * 3_600_000;

/** Deletes tries that no limit counts any more. */
export const triesSweep = () =>
  forgetting('tries.forget', [{ table: 'tries', time: 'updated_at', keepMs: DAY_MS }], 60_000);
