// PROCESSING replies for client tests. The built-in signer replies immediately, so only a scripted
// environment returns them. Their number is a setting of the platform.

import { attemptLimits } from '../../../runtime/operation/attempt-limiter.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { readOwnPlatform } from '../../tenancy/platform/index.ts';
import type { WalletDeps } from '../accounts/wallet.ts';

export const PROCESSING = {
  status: 200,
  body: { status: 'PROCESSING', message: 'The wallet operation is in progress. Retry later.' },
} as const;

/** Number of PROCESSING replies before completion. */
export async function processingReplies(ctx: Ctx, deps: WalletDeps): Promise<number> {
  if (!deps.connectors(ctx.caller.environment).walletScript) return 0;
  return (await readOwnPlatform(ctx)).wallet_polls;
}

/**
 * Simulates processing for a request without a signature. Returns the PROCESSING reply, or undefined on
 * completion, which resets the count of `id`. To be called before any other work of the request.
 */
export async function simulateProcessing(
  ctx: Ctx,
  deps: WalletDeps,
  id: string,
): Promise<typeof PROCESSING | undefined> {
  const polls = await processingReplies(ctx, deps);
  if (polls === 0) return undefined;
  const key = `processing ${id}`;
  const row = await ctx.read(attemptLimits, key);
  const replies = row?.at ?? [];
  const isDone = replies.length >= polls;
  const now = ctx.effects.now();
  const nextColumns = { at: isDone ? [] : [...replies, now], updated_at: now };
  if (row) ctx.update(attemptLimits, row, nextColumns);
  else ctx.insert(attemptLimits, { id: key, platform_id: ctx.caller.platformId, ...nextColumns });
  return isDone ? undefined : PROCESSING;
}
