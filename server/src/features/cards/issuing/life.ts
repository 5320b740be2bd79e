// How a card changes, whoever asks for it: its platform, its issuer, an operator, or the end of its holder.
// Each change is told to the platform, and once the card was issued also to the issuer, by a job after the
// commit.
import { Type } from '@sinclair/typebox';
import { defineJob } from '../../../kernel/contract/job.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { rebind, unbind } from '../clearing/funding.ts';
import { cardFundingSourceChange, cardStateChange } from '../contract.ts';
import { type CardRow, cards } from '../store.ts';
import { type CardChange, type CardMove, presentCard } from './card.ts';
import { uncountCard } from './limits.ts';
import { type CardStateReason, cardStates } from './states.ts';

/** Notifies the issuer of the state of a card. */
export const NOTIFY_ISSUER = defineJob('cards.change', Type.Object({ cardId: Type.String() }));

export const tellState = (ctx: Ctx, row: CardRow): void =>
  ctx.emit(cardStateChange, row.id, presentCard(row));

const tellFunding = (ctx: Ctx, row: CardRow): void =>
  ctx.emit(cardFundingSourceChange, row.id, presentCard(row));

export function tellIssuer(ctx: Ctx, row: CardRow): void {
  if (row.issuer_ref !== null) ctx.later(NOTIFY_ISSUER, { cardId: row.id });
}

/** Stages that a card is closed for good, with all that it was given; `note` is an operator's. */
export async function closeCard(
  ctx: Ctx,
  row: CardRow,
  reason: CardStateReason,
  note: string | null = null,
): Promise<CardRow> {
  const move = reason === 'ISSUER_REJECTED' ? 'reject' : 'close';
  const closed = ctx.update(cards, row, {
    state: cardStates.next(row.state, move),
    state_reason: reason,
    closed_note: note,
    // Nobody will see its number again.
    secret: null,
    updated_at: ctx.now,
  });
  await unbind(ctx, row);
  await uncountCard(ctx, row);
  tellState(ctx, closed);
  tellIssuer(ctx, closed);
  return closed;
}

/** Stages what a platform asks for; what pays was checked, and `move` is what `moveFor` said. */
export async function changeCard(
  ctx: Ctx,
  row: CardRow,
  change: CardChange,
  move: CardMove | undefined,
): Promise<CardRow> {
  if (move === 'close') return closeCard(ctx, row, 'CLOSED_BY_PLATFORM');
  const { fundingSources: funding, maxSpendPerTransaction: max } = change;
  if (funding) await rebind(ctx, row, funding);
  const changed = ctx.update(cards, row, {
    ...(move ? { state: cardStates.next(row.state, move) } : {}),
    ...(funding ? { funding } : {}),
    ...(max === undefined ? {} : { max_spend: max === null ? null : BigInt(max) }),
    updated_at: ctx.now,
  });
  if (move) {
    tellState(ctx, changed);
    tellIssuer(ctx, changed);
  }
  if (funding) tellFunding(ctx, changed);
  return changed;
}
