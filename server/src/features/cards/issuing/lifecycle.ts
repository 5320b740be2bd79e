// Changes of a card by its platform, its issuer, an operator, or the deletion of its holder. A
// change of the state or the funding sources emits an event. A job notifies the issuer of an issued
// card of each new state and limit.
import { Type } from '@sinclair/typebox';
import { defineJob } from '../../../kernel/contract/job.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { removeFundingSources, replaceFundingSources } from '../clearing/funding.ts';
import { cardFundingSourceChange, cardStateChange } from '../contract.ts';
import { type CardRow, cards } from '../store.ts';
import { type CardChange, type CardStateEvent, presentCard } from './card.ts';
import { uncountCard } from './limits.ts';
import { type CardStateReason, cardStates } from './states.ts';

/** Notifies the issuer of the state and limit of a card. */
export const NOTIFY_ISSUER = defineJob('cards.change', Type.Object({ cardId: Type.String() }));

export const emitCardState = (ctx: Ctx, row: CardRow): void =>
  ctx.emit(cardStateChange, row.id, presentCard(row));

const emitCardFunding = (ctx: Ctx, row: CardRow): void =>
  ctx.emit(cardFundingSourceChange, row.id, presentCard(row));

export function notifyIssuer(ctx: Ctx, row: CardRow): void {
  if (row.issuer_ref !== null) ctx.later(NOTIFY_ISSUER, { cardId: row.id });
}

/**
 * Closes a card permanently, with its funding sources and keys. `note` is the reason that the
 * operator enters.
 */
export async function closeCard(
  ctx: Ctx,
  row: CardRow,
  reason: CardStateReason,
  note: string | null = null,
): Promise<CardRow> {
  const event = reason === 'ISSUER_REJECTED' ? 'reject' : 'close';
  const closedCard = ctx.update(cards, row, {
    state: cardStates.next(row.state, event),
    state_reason: reason,
    closed_note: note,
    // The number of a closed card is never shown again.
    secret: null,
    updated_at: ctx.now,
  });
  await removeFundingSources(ctx, row);
  await uncountCard(ctx, row);
  emitCardState(ctx, closedCard);
  notifyIssuer(ctx, closedCard);
  return closedCard;
}

/**
 * Stages a change by the platform. The caller has checked the funding sources. `event` is the
 * result of `stateEventFor`.
 */
export async function changeCard(
  ctx: Ctx,
  row: CardRow,
  change: CardChange,
  event: CardStateEvent | undefined,
): Promise<CardRow> {
  if (event === 'close') return closeCard(ctx, row, 'CLOSED_BY_PLATFORM');
  const { fundingSources: funding, maxSpendPerTransaction: max } = change;
  if (funding) await replaceFundingSources(ctx, row, funding);
  const changedCard = ctx.update(cards, row, {
    ...(event ? { state: cardStates.next(row.state, event) } : {}),
    ...(funding ? { funding } : {}),
    ...(max === undefined ? {} : { max_spend: max === null ? null : BigInt(max) }),
    updated_at: ctx.now,
  });
  if (event) emitCardState(ctx, changedCard);
  if (event || max !== undefined) notifyIssuer(ctx, changedCard);
  if (funding) emitCardFunding(ctx, changedCard);
  return changedCard;
}
