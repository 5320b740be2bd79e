// Which tokens somebody still has to look after: those whose issuance has not come to an end, and those that
// the service is about to use. Both are jobs, named here because linking an account anew begins them again.
import type { Ctx } from '../../runtime/context.ts';
import { ALL_OF_ONE } from '../../runtime/database.ts';
import { type ProviderAccountRow, type StablecoinRow, stablecoins } from './store.ts';

export const FOLLOW = 'stablecoins.follow';
export const ENABLE = 'stablecoins.enable';

export interface CoinInput {
  platformId: string;
  coinId: string;
}

const inputOf = ({ platform_id: platformId, id: coinId }: StablecoinRow) => ({
  platformId,
  coinId,
});

/** No provider is asked about a token more often than this, whatever it says. */
const SOONEST_MS = 1_000;

/** Has the provider asked how far the issuance of a token has come: now, or again after some time. */
export function followLater(ctx: Ctx, coin: StablecoinRow, afterMs?: number): void {
  const at = afterMs === undefined ? ctx.now : ctx.now + Math.max(SOONEST_MS, afterMs);
  ctx.later(FOLLOW, inputOf(coin), at);
}

/** Has a token enabled as far as nobody needs to decide about it. */
export const enableLater = (ctx: Ctx, coin: StablecoinRow): void =>
  ctx.later(ENABLE, inputOf(coin));

/** Takes up again what rested while the provider knew the platform no more. */
export async function followCoinsOf(ctx: Ctx, account: ProviderAccountRow): Promise<void> {
  const { platform_id, id: provider_account } = account;
  for (const issuance_status of ['PENDING_REVIEW', 'PROVISIONING'] as const) {
    const of = { platform_id, provider_account, issuance_status };
    for (const coin of await ctx.db.find(stablecoins, of, ALL_OF_ONE)) followLater(ctx, coin);
  }
}
