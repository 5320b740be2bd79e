// Answers that say a wallet is still at work. Our own signer is done at once, so only a scripted environment
// gives them, as often as the operator said for the platform: so that clients can be tested with them.

import type { Ctx } from '../../../runtime/operation/context.ts';
import { triesTable } from '../../../runtime/operation/tries.ts';
import { ownPlatform } from '../../tenancy/platform/index.ts';
import type { WalletParts } from '../accounts/wallet.ts';

export const PROCESSING = {
  status: 200,
  body: { status: 'PROCESSING', message: 'The wallet is still working on it. Ask again.' },
} as const;

/** How often it is answered that the work goes on. */
export async function pollsOf(ctx: Ctx, parts: WalletParts): Promise<number> {
  if (!parts.connectors(ctx.caller.environment).walletScript) return 0;
  return (await ownPlatform(ctx)).wallet_polls;
}

/**
 * The same for a request that nobody signs: the answer while `id` was asked for fewer times than that, and
 * undefined when it is to be done. Then it is counted anew. Call it before anything else is done for it.
 */
export async function playProcessing(
  ctx: Ctx,
  parts: WalletParts,
  id: string,
): Promise<typeof PROCESSING | undefined> {
  const polls = await pollsOf(ctx, parts);
  if (polls === 0) return undefined;
  const key = `processing ${id}`;
  const row = await ctx.read(triesTable, key);
  const asked = row?.at ?? [];
  const isDone = asked.length >= polls;
  const next = { at: isDone ? [] : [...asked, ctx.now], updated_at: ctx.now };
  if (row) ctx.update(triesTable, row, next);
  else ctx.insert(triesTable, { id: key, platform_id: ctx.caller.platformId, ...next });
  return isDone ? undefined : PROCESSING;
}
