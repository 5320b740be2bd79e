// Schedules jobs for tokens whose issuance is not final or that are about to be enabled. The jobs are defined
// here because linking an account again restarts them. The row of a token counts its scheduled polls. Only
// the job with the last count polls, so a token has one poll at a time.
import { Type } from '@sinclair/typebox';
import type { ProviderToken } from '../../../connectors/ports/stablecoins.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import { UNPAGED } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { issuanceStates } from '../states.ts';
import { type ProviderAccountRow, type StablecoinRow, stablecoins } from '../store.ts';

const CoinFields = { platformId: Type.String(), coinId: Type.String() };

export const POLL_ISSUANCE = defineJob(
  'stablecoins.follow',
  // `turn` must equal the count in the row of the token.
  Type.Object({ ...CoinFields, turn: Type.Number() }),
);
export const ENABLE = defineJob('stablecoins.enable', Type.Object(CoinFields));

const inputOf = ({ platform_id: platformId, id: coinId }: StablecoinRow) => ({
  platformId,
  coinId,
});

/** Shortest interval between two polls of a token. */
const MIN_INTERVAL_MS = 1_000;
/** Interval if the provider does not state one. */
const DEFAULT_INTERVAL_MS = 60_000;

/** Schedules a poll of the issuance of a token. */
export function schedulePoll(ctx: Ctx, coin: StablecoinRow, afterMs?: number): void {
  const pollAt =
    afterMs === undefined ? ctx.now : ctx.now + Math.max(MIN_INTERVAL_MS, Math.ceil(afterMs));
  const input = { ...inputOf(coin), turn: coin.follows + 1 };
  ctx.update(stablecoins, coin, { follows: input.turn });
  ctx.later(POLL_ISSUANCE, input, pollAt);
}

/** Schedules the next poll unless the issuance is final or the provider requests no poll. */
export function scheduleNextPoll(
  ctx: Ctx,
  coin: StablecoinRow,
  { checkAfterMs = DEFAULT_INTERVAL_MS }: Pick<ProviderToken, 'checkAfterMs'>,
): void {
  const canChange = Object.keys(issuanceStates.transitions[coin.issuance_status]).length > 0;
  if (canChange && checkAfterMs !== null) schedulePoll(ctx, coin, checkAfterMs);
}

/** Schedules the automatic decisions about a token. */
export const scheduleEnablement = (ctx: Ctx, coin: StablecoinRow): void =>
  ctx.later(ENABLE, inputOf(coin));

/** Resumes the polls of tokens whose account was linked again. */
export async function resumePollsOf(ctx: Ctx, account: ProviderAccountRow): Promise<void> {
  const { platform_id, id: provider_account } = account;
  for (const issuance_status of ['PENDING_REVIEW', 'PROVISIONING'] as const) {
    const filter = { platform_id, provider_account, issuance_status };
    for (const coin of await ctx.db.find(stablecoins, filter, UNPAGED)) schedulePoll(ctx, coin);
  }
}
