// Maximum number of open cards of a platform and of a cardholder. Both are velocity limits in the
// ledger, so they hold exactly under concurrency; a closed card releases its places.

import { Fault } from '../../../kernel/fault.ts';
import { velocityLimitOf } from '../../../ledger/chart.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  countUsage,
  openVelocityLimits,
  reverseUsage,
  type VelocityLimit,
} from '../../balances/velocity-limits/index.ts';
import { cardProgramOf } from '../../tenancy/config/index.ts';
import { type PlatformRow, platformBasis, requirePlatform } from '../../tenancy/platform/index.ts';
import type { CardRow } from '../store.ts';

const UNIT = 'cards';

const allowance = (of: string, limit: number): VelocityLimit => ({
  of: velocityLimitOf.liveCards(of),
  unit: UNIT,
  limit: BigInt(limit),
});

const reached = (whose: string, limit: number) => () =>
  new Fault('CARD_LIMIT_REACHED', `${whose} may have ${limit} live cards at the most.`);

/** Counts a new card; the commit fails with CARD_LIMIT_REACHED at the limit. */
export async function countCard(
  ctx: Ctx,
  platform: PlatformRow,
  card: Pick<CardRow, 'id' | 'customer_id'>,
): Promise<void> {
  const { maxLive, maxLivePerHolder } = cardProgramOf(platform);
  const ofHolder = allowance(card.customer_id, maxLivePerHolder);
  const ofPlatform = allowance(platform.id, maxLive);
  requirePlatform(ctx, platform);
  await openVelocityLimits(ctx, [ofHolder, ofPlatform], platformBasis(platform));
  const taking = {
    transactionId: card.id,
    amount: 1n,
    reversible: true,
    retryOnInsufficientFunds: false,
  };
  const ofHolderShort = reached('The cardholder', maxLivePerHolder);
  countUsage(ctx, ofHolder, { ...taking, name: 'holder', insufficientFundsFault: ofHolderShort });
  countUsage(ctx, ofPlatform, {
    ...taking,
    name: 'platform',
    insufficientFundsFault: reached('The platform', maxLive),
  });
}

/** Releases the places of a closed card. */
export const uncountCard = (ctx: Ctx, card: Pick<CardRow, 'id'>): Promise<void> =>
  reverseUsage(ctx, card);
