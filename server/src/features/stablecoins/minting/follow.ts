// Which tokens need a job: those whose issuance has not ended, and those about to be enabled. The
// jobs are defined here because linking an account again restarts them. The row of a token counts
// its scheduled polls, and only the job with the last count polls, so there is one at a time.
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
  // `turn` must equal the count in the row of the token.
  Type.Object({ ...CoinFields, turn: Type.Number() }),
);
export const ENABLE = defineJob('stablecoins.enable', Type.Object(CoinFields));

const inputOf = ({ platform_id: platformId, id: coinId }: StablecoinRow) => ({
  platformId,
  coinId,
});

/** Shortest interval between two polls of a token, and the default one. */
const SOONEST_MS = 1_000;
const USUAL_MS = 60_000;

/** Schedules a poll of the issuance of a token. */
export function followLater(ctx: Ctx, coin: StablecoinRow, afterMs?: number): void {
  const at = afterMs === undefined ? ctx.now : ctx.now + Math.max(SOONEST_MS, Math.ceil(afterMs));
  const input = { ...inputOf(coin), turn: coin.follows + 1 };
  ctx.update(stablecoins, coin, { follows: input.turn });
  ctx.later(FOLLOW, input, at);
}

/** Schedules the next poll while a token is being issued, unless its state is final. */
export function followOn(
  ctx: Ctx,
  coin: StablecoinRow,
  { checkAfterMs = USUAL_MS }: Pick<ProviderToken, 'checkAfterMs'>,
): void {
  const changes = Object.keys(issuanceStates.transitions[coin.issuance_status]).length > 0;
  if (changes && checkAfterMs !== null) followLater(ctx, coin, checkAfterMs);
}

/** Enables a token as far as no decision is needed. */
export const enableLater = (ctx: Ctx, coin: StablecoinRow): void =>
  ctx.later(ENABLE, inputOf(coin));

/** Resumes tokens that waited for their account to be linked again. */
export async function followCoinsOf(ctx: Ctx, account: ProviderAccountRow): Promise<void> {
  const { platform_id, id: provider_account } = account;
  for (const issuance_status of ['PENDING_REVIEW', 'PROVISIONING'] as const) {
    const of = { platform_id, provider_account, issuance_status };
    for (const coin of await ctx.db.find(stablecoins, of, ALL_OF_ONE)) followLater(ctx, coin);
  }
}
