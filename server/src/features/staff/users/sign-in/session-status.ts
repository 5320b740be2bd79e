// Validity of sessions, and revocation of all sessions of a user.
import type { Time } from '../../../../kernel/effects.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { operatorSessions, type SessionRow } from './store.ts';

/** A session expires after this time without a request. */
const IDLE_MS = 30 * 60_000;

type SessionStatus = 'ACTIVE' | 'EXPIRED' | 'ENDED';

export function statusOf({ ended_at, expires_at, used_at }: SessionRow, now: Time): SessionStatus {
  if (ended_at !== null) return 'ENDED';
  return expires_at <= now || used_at + IDLE_MS <= now ? 'EXPIRED' : 'ACTIVE';
}

/** Stages the revocation of the sessions of a user, except the session `keptSessionId`. */
export async function endSessionsOf(
  ctx: Ctx,
  userId: string,
  keptSessionId?: string,
): Promise<void> {
  for (const row of await ctx.db.find(operatorSessions, { user_id: userId, ended_at: null })) {
    if (row.id === keptSessionId || statusOf(row, ctx.now) !== 'ACTIVE') continue;
    ctx.update(operatorSessions, row, { ended_at: ctx.now, updated_at: ctx.now });
  }
}
