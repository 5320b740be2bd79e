// Maximum number of open cards of a platform and of a cardholder. Both maximums are velocity limits
// in the ledger, so they are exact under concurrency. A closed card no longer counts.

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

const cardLimit = (ownerId: string, limit: number): VelocityLimit => ({
  limitId: velocityLimitOf.openCards(ownerId),
  unit: UNIT,
  limit: BigInt(limit),
});

const cardLimitFault = (owner: string, limit: number) => () =>
  new Fault(
    'CARD_LIMIT_REACHED',
    `${owner} can have at most ${limit} open cards. Close a card first.`,
  );

/** Counts a new card. The commit fails with CARD_LIMIT_REACHED at the limit. */
export async function countCard(
  ctx: Ctx,
  platform: PlatformRow,
  card: Pick<CardRow, 'id' | 'customer_id'>,
): Promise<void> {
  const { maxLive, maxLivePerHolder } = cardProgramOf(platform);
  const holderLimit = cardLimit(card.customer_id, maxLivePerHolder);
  const platformLimit = cardLimit(platform.id, maxLive);
  requirePlatform(ctx, platform);
  await openVelocityLimits(ctx, [holderLimit, platformLimit], platformBasis(platform));
  const usage = {
    transactionId: card.id,
    amount: 1n,
    reversible: true,
    retryOnInsufficientFunds: false,
  };
  countUsage(ctx, holderLimit, {
    ...usage,
    name: 'holder',
    insufficientFundsFault: cardLimitFault('The cardholder', maxLivePerHolder),
  });
  countUsage(ctx, platformLimit, {
    ...usage,
    name: 'platform',
    insufficientFundsFault: cardLimitFault('The platform', maxLive),
  });
}

/** Stops counting a closed card. */
export const uncountCard = (ctx: Ctx, card: Pick<CardRow, 'id'>): Promise<void> =>
  reverseUsage(ctx, card);
