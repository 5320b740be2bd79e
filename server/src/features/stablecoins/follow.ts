// Which tokens somebody still has to look after: those whose issuance has not come to an end, and those that
// the service is about to use. Both are jobs, named here because linking an account anew begins them again.
import type { Time } from '../../kernel/world.ts';
import type { Ctx } from '../../runtime/context.ts';
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

/** Has the provider asked again how far the issuance of a token has come. */
export const followLater = (ctx: Ctx, coin: StablecoinRow, at?: Time): void =>
  ctx.later(FOLLOW, inputOf(coin), at);

/** Has a token enabled as far as nobody needs to decide about it. */
export const enableLater = (ctx: Ctx, coin: StablecoinRow): void =>
  ctx.later(ENABLE, inputOf(coin));

/** Takes up again what rested while the provider knew the platform no more. */
export async function followCoinsOf(ctx: Ctx, account: ProviderAccountRow): Promise<void> {
  const { platform_id, id: provider_account } = account;
  for (const issuance_status of ['PENDING_REVIEW', 'PROVISIONING'] as const) {
    const of = { platform_id, provider_account, issuance_status };
    for (const coin of await ctx.db.find(stablecoins, of)) followLater(ctx, coin);
  }
}
