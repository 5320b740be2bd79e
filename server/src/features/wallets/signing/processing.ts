// Answers that say a wallet is still at work. Our own signer is done at once, so only a scripted environment
// gives them, as often as the operator said for the platform: so that clients can be tested with them.

import { attemptLimits } from '../../../runtime/operation/attempt-limiter.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { ownPlatform } from '../../tenancy/platform/index.ts';
import type { WalletParts } from '../accounts/wallet.ts';

export const PROCESSING = {
  status: 200,
  body: { status: 'PROCESSING', message: 'The wallet is still working on it. Ask again.' },
} as const;

/** How often it is answered that the work goes on. */
export async function processingReplies(ctx: Ctx, parts: WalletParts): Promise<number> {
  if (!parts.connectors(ctx.caller.environment).walletScript) return 0;
  return (await ownPlatform(ctx)).wallet_polls;
}

/**
 * The same for a request that nobody signs: the answer while `id` was asked for fewer times than that, and
 * undefined when it is to be done. Then it is counted anew. Call it before anything else is done for it.
 */
export async function simulateProcessing(
  ctx: Ctx,
  parts: WalletParts,
  id: string,
): Promise<typeof PROCESSING | undefined> {
  const polls = await processingReplies(ctx, parts);
  if (polls === 0) return undefined;
  const key = `processing ${id}`;
  const row = await ctx.read(attemptLimits, key);
  const replies = row?.at ?? [];
  const isDone = replies.length >= polls;
  const next = { at: isDone ? [] : [...replies, ctx.now], updated_at: ctx.now };
  if (row) ctx.update(attemptLimits, row, next);
  else ctx.insert(attemptLimits, { id: key, platform_id: ctx.caller.platformId, ...next });
  return isDone ? undefined : PROCESSING;
}
