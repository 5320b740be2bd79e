// Links to number and security code of a card. A link contains a secret that is stored as a hash. A
// link expires after five minutes or one view, and its row remains as the audit record. Only the
// page of the link reads number and code, directly from the issuer.

import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { equals, type PageInput } from '../../../runtime/db/paging.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { randomText, sha256Hex } from '../../../runtime/security/crypto.ts';
import { readCustomer, requireCustomer } from '../../customers/records/index.ts';
import { type CardDeps, cardOf, issuerOf } from '../deps.ts';
import { type CardRevealRow, type CardRow, cardReveals, cards } from '../store.ts';
import { revealCard } from './reveal-contract.ts';

/** Path of the page, before the secret. */
export const REVEAL_PATH = '/card';

const LIFETIME_MS = 5 * 60_000;

/** Whether a card has a number to show. Frozen cards are included. */
const hasNumber = (card: CardRow): card is CardRow & { secret: string } =>
  card.secret !== null && (card.state === 'ACTIVE' || card.state === 'FROZEN');

/** Whether the holder exists. A job closes the cards of a deleted customer after the deletion. */
async function hasHolder(ctx: Ctx, { customer_id }: CardRow): Promise<boolean> {
  const holder = await readCustomer(ctx, customer_id);
  if (holder?.deleted_at !== null) return false;
  requireCustomer(ctx, holder);
  return true;
}

async function reveal(ctx: Ctx, deps: CardDeps, cardId: string) {
  issuerOf(ctx, deps);
  const card = await cardOf(ctx, cardId);
  if (!hasNumber(card) || !(await hasHolder(ctx, card)))
    throw new Fault('NOT_FOUND', 'The card has no number to show. It must be ACTIVE or FROZEN.');
  const { tokenId } = ctx.caller;
  if (tokenId === null)
    throw new Fault('FORBIDDEN', 'Only an API token can create a link to card details.');
  ctx.require(cards, card);
  const secret = randomText(ctx.effects, '');
  const { expires_at } = ctx.insert(cardReveals, {
    id: sha256Hex(secret),
    platform_id: card.platform_id,
    customer_id: card.customer_id,
    card_id: card.id,
    actor: tokenId,
    opened_at: null,
    expires_at: ctx.now + LIFETIME_MS,
    created_at: ctx.now,
  });
  const panEmbedUrl = `${deps.origin()}${REVEAL_PATH}/${secret}`;
  return { panEmbedUrl, expiresAt: iso(expires_at) };
}

/** Consumes the link and returns its card, or undefined if it is invalid. */
export async function consumeLink(ctx: Ctx, linkId: string) {
  const link = await ctx.read(cardReveals, linkId);
  if (!link || link.opened_at !== null || ctx.now >= link.expires_at) return undefined;
  const card = await ctx.read(cards, link.card_id);
  if (!card || !hasNumber(card) || !(await hasHolder(ctx, card))) return undefined;
  ctx.require(cards, card);
  ctx.update(cardReveals, link, { opened_at: ctx.now });
  return card;
}

/** Restores the link after a view that showed no details. */
export async function restoreLink(ctx: Ctx, linkId: string): Promise<void> {
  const link = await ctx.read(cardReveals, linkId);
  if (link) ctx.update(cardReveals, link, { opened_at: null });
}

/** Record of a reveal: requester of a card's details, and the time at which they were shown. */
const presentReveal = (row: CardRevealRow) => ({
  cardId: row.card_id,
  platformId: row.platform_id,
  customerId: row.customer_id,
  /** The token that created the link. */
  tokenId: row.actor,
  requestedAt: iso(row.created_at),
  expiresAt: iso(row.expires_at),
  openedAt: row.opened_at === null ? null : iso(row.opened_at),
});

interface ListInput extends PageInput {
  platformId?: string | undefined;
  cardId?: string | undefined;
}

/**
 * A page of the reveal links of a platform, of a card, or of all platforms. Latest first. Secrets
 * are not included.
 */
export async function listCardReveals({ db }: Runtime, { platformId, cardId, ...page }: ListInput) {
  const filters = equals({ platform_id: platformId, card_id: cardId });
  const { rows, ...rest } = await db.page(cardReveals, { filters, sort: 'desc', ...page });
  return { data: rows.map(presentReveal), ...rest };
}

export const revealOperations = (deps: CardDeps) => [
  handle(revealCard, async (ctx, { params }) => ({
    status: 200,
    body: await reveal(ctx, deps, params.id),
  })),
];
