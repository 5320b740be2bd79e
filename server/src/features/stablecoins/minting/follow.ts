// Which tokens somebody still has to look after: those whose issuance has not come to an end, and those that
// the service is about to use. Both are jobs, named here because linking an account anew begins them again.
// The row of a token counts how often a question was arranged, and only the job of the last one asks: so
// there is one at a time, whoever began it.
import { Type } from '@sinclair/typebox';
import type { ProviderToken } from '../../../connectors/ports/stablecoins.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import { ALL_OF_ONE } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { issuanceStates } from '../states.ts';
import { type ProviderAccountRow, type StablecoinRow, stablecoins } from '../store.ts';

const CoinFields = { platformId: Type.String(), coinId: Type.String() };

export const FOLLOW = defineJob(
  'stablecoins.follow',
  // `turn` is what the row of its token must still count.
  Type.Object({ ...CoinFields, turn: Type.Number() }),
);
export const ENABLE = defineJob('stablecoins.enable', Type.Object(CoinFields));

const inputOf = ({ platform_id: platformId, id: coinId }: StablecoinRow) => ({
  platformId,
  coinId,
});

/** No provider is asked about a token more often than this, whatever it says; and when it does not say. */
const SOONEST_MS = 1_000;
const USUAL_MS = 60_000;

/** Has the provider asked how far the issuance of a token has come: now, or again after some time. */
export function followLater(ctx: Ctx, coin: StablecoinRow, afterMs?: number): void {
  const at = afterMs === undefined ? ctx.now : ctx.now + Math.max(SOONEST_MS, Math.ceil(afterMs));
  const input = { ...inputOf(coin), turn: coin.follows + 1 };
  ctx.update(stablecoins, coin, { follows: input.turn });
  ctx.later(FOLLOW, input, at);
}

/** Asks on while a token is being issued, unless the provider knows that it will stay so. */
export function followOn(
  ctx: Ctx,
  coin: StablecoinRow,
  { checkAfterMs = USUAL_MS }: Pick<ProviderToken, 'checkAfterMs'>,
): void {
  const changes = Object.keys(issuanceStates.transitions[coin.issuance_status]).length > 0;
  if (changes && checkAfterMs !== null) followLater(ctx, coin, checkAfterMs);
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
