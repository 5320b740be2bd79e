// Cards of every platform for the operator: list, show and close. As for the platform, only the
// last four digits of a number are shown.

import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { equals } from '../../../runtime/db/database.ts';
import { cursorOf, type PageInput } from '../../../runtime/db/paging.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import { cardFundingOf } from '../clearing/funding.ts';
import { type CardRow, cards } from '../store.ts';
import { presentCard } from './card.ts';
import { closeCard } from './lifecycle.ts';

/** A card by its ID. Throws NOT_FOUND. */
async function cardById({ read }: Pick<Ctx, 'read'>, id: string): Promise<CardRow> {
  const row = isId(id, 'Card') ? await read(cards, id) : undefined;
  if (!row) throw new Fault('NOT_FOUND', 'Card not found.');
  return row;
}

const summaryOf = (row: CardRow) => ({
  cardId: row.id,
  platformId: row.platform_id,
  customerId: row.customer_id,
  platformCardId: row.platform_card_id,
  state: row.state,
  stateReason: row.state_reason,
  last4: row.last4,
  createdAt: iso(row.created_at),
});

interface SearchInput extends PageInput {
  platformId?: string | undefined;
  customerId?: string | undefined;
  state?: string | undefined;
  /** Last four digits of the card number. */
  last4?: string | undefined;
  /** Last ID of the previous page. Alternative to `cursor`. */
  after?: string | undefined;
}

/**
 * A page of the cards of a platform, of a cardholder, in a state, or of all cards. Latest first.
 * Throws NOT_FOUND if `after` is unknown.
 */
export async function searchCards(
  { db }: Runtime,
  { platformId, customerId, state, last4, after, cursor: pageCursor, limit }: SearchInput,
) {
  const filters = equals({ platform_id: platformId, customer_id: customerId, state, last4 });
  const cursor = after === undefined ? pageCursor : cursorOf(await cardById(db, after));
  const { rows, ...rest } = await db.page(cards, { filters, sort: 'desc', limit, cursor });
  return { data: rows.map(summaryOf), ...rest };
}

async function detailsOf({ db }: Runtime, row: CardRow) {
  const bindings = await cardFundingOf(db, row.id);
  return {
    ...presentCard(row),
    // Optional in the contract, and always set in a row.
    platformCardId: row.platform_card_id,
    currency: row.currency,
    platformId: row.platform_id,
    note: row.closed_note,
    bindings,
  };
}

export type CardDetails = Awaited<ReturnType<typeof detailsOf>>;

/** A card with the reason of its closure and its funding sources. Throws NOT_FOUND. */
export const readCardDetails = async (runtime: Runtime, cardId: string): Promise<CardDetails> =>
  detailsOf(runtime, await cardById(runtime.db, cardId));

/** Closes a card permanently. `reason` is stored. Throws NOT_FOUND or CONFLICT. */
export async function closeCardByOperator(
  runtime: Runtime,
  { cardId, reason }: { cardId: string; reason: string },
): Promise<CardDetails> {
  const { id, platform_id } = await cardById(runtime.db, cardId);
  const caller = await callerOf(runtime.db, platform_id);
  const closedCard = await operate(runtime, caller, async (ctx) => {
    const row = await cardById(ctx, id);
    if (row.state === 'CLOSED') throw new Fault('CONFLICT', 'The card is already closed.');
    return closeCard(ctx, row, 'CLOSED_BY_SERVICE', reason);
  });
  return detailsOf(runtime, closedCard);
}
