// The decision log contains one row for each decided or applied network message, written with its
// effects under the issuer's ID. Only an erasure changes a row, to remove the merchant. A repeated
// message reads the recorded decision, immediately or after its commit is rejected. An approval
// that was too late has a second row with the reason TOO_LATE.

import { formatAmount } from '../../../catalog/currencies/money-format.ts';
import type {
  CardDecision,
  CardNotice,
  CardRequest,
  DeclineReason,
} from '../../../connectors/ports/cards.ts';
import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { equals, type PageInput } from '../../../runtime/db/paging.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import type { CardPaymentRow } from '../../payments/transactions/index.ts';
import { requirePayment } from '../clearing/payment.ts';
import type { CardDeps } from '../deps.ts';
import { changeByNotice } from '../notices.ts';
import { type CardMessageRow, type CardRow, cardMessages } from '../store.ts';

export const messageKey = ({ caller: { environment } }: Ctx, id: string) => `${environment} ${id}`;

/** The prefix is not an environment, so no message has this ID. */
const lateMessageKey = ({ caller: { environment } }: Ctx, id: string) =>
  `${environment}.late ${id}`;

function decisionOf({ approved, reason, transaction_id: transactionId }: CardMessageRow) {
  if (!approved) return { approved, reason: reason as DeclineReason } as const;
  return { approved, ...(transactionId === null ? {} : { transactionId }) } as const;
}

/** The fault if the ID of a message was used for a different message. */
const messageConflict = () =>
  new Fault('CONFLICT', 'Another message already uses this ID. Use a new ID for each message.');

/** The earlier decision about a message. Throws CONFLICT if its ID was used for another message. */
export async function findEarlierDecision(
  ctx: Ctx,
  { id, token, cardId, kind, amount, currency }: CardRequest,
): Promise<CardDecision | undefined> {
  const [lateRow, row] = await Promise.all([
    ctx.read(cardMessages, lateMessageKey(ctx, id)),
    ctx.read(cardMessages, messageKey(ctx, id)),
  ]);
  const lastRow = lateRow ?? row;
  if (!lastRow) return undefined;
  // The reversal arrived first, so the authorization is declined regardless of its amount.
  if (lastRow.kind === 'AUTHORIZATION_REVERSAL') return decisionOf(lastRow);
  const isSameMessage =
    lastRow.card_id === cardId && lastRow.token === messageKey(ctx, token) && lastRow.kind === kind;
  if (!isSameMessage || lastRow.amount !== amount || lastRow.currency !== currency)
    throw messageConflict();
  return decisionOf(lastRow);
}

type MessageSubject = Pick<CardRow, 'platform_id' | 'customer_id'> & { cardId: string };

const rowOf = (
  ctx: Ctx,
  { platform_id, customer_id, cardId }: MessageSubject,
  {
    token,
    kind,
    currency,
    merchant,
  }: Pick<CardRequest, 'token' | 'currency' | 'merchant'> & {
    kind: string;
  },
) => ({
  platform_id,
  customer_id,
  card_id: cardId,
  token: messageKey(ctx, token),
  kind,
  currency,
  merchant,
  created_at: ctx.now,
});

export function writeDecision(
  ctx: Ctx,
  card: CardRow,
  request: CardRequest,
  decision: CardDecision,
): void {
  ctx.insert(cardMessages, {
    id: messageKey(ctx, request.id),
    ...rowOf(ctx, { ...card, cardId: card.id }, request),
    amount: request.amount,
    approved: decision.approved,
    ...(decision.approved
      ? { transaction_id: decision.transactionId ?? null }
      : { reason: decision.reason }),
  });
}

/**
 * Records the reversal of an authorization that was not received yet. The authorization is declined
 * later.
 */
export function writeEarlyReversal(ctx: Ctx, card: CardRow, request: CardRequest): void {
  ctx.insert(cardMessages, {
    id: messageKey(ctx, request.id),
    ...rowOf(ctx, { ...card, cardId: card.id }, { ...request, kind: 'AUTHORIZATION_REVERSAL' }),
    amount: request.amount,
    approved: false,
    reason: 'TOO_LATE',
  });
}

/** Records that an approval was undone because its deadline had passed. */
export function writeLateApproval(ctx: Ctx, row: CardPaymentRow, request: CardRequest): void {
  ctx.insert(cardMessages, {
    id: lateMessageKey(ctx, request.id),
    ...rowOf(ctx, { ...row, cardId: row.card.cardId }, request),
    transaction_id: row.id,
    amount: request.amount,
    approved: false,
    reason: 'TOO_LATE',
  });
}

const amountOf = (notice: CardNotice): bigint => ('amount' in notice && notice.amount) || 0n;

export function writeNotice(ctx: Ctx, row: CardPaymentRow, notice: CardNotice): void {
  const { currency, merchant } = row.card;
  const loggedNotice = { token: row.card.token, kind: notice.kind, currency, merchant };
  ctx.insert(cardMessages, {
    id: messageKey(ctx, notice.id),
    ...rowOf(ctx, { ...row, cardId: row.card.cardId }, loggedNotice),
    transaction_id: row.id,
    amount: amountOf(notice),
    approved: true,
  });
}

/**
 * Stages and records a notice. A repetition has no effect. Throws CONFLICT if the ID was used for
 * another message.
 */
export async function applyNotice(
  ctx: Ctx,
  deps: CardDeps,
  row: CardPaymentRow,
  notice: CardNotice,
): Promise<CardPaymentRow> {
  const id = messageKey(ctx, notice.id);
  const amount = amountOf(notice);
  const knownCardMessage = await ctx.read(cardMessages, id);
  if (knownCardMessage) {
    const isSameMessage =
      knownCardMessage.transaction_id === row.id && knownCardMessage.kind === notice.kind;
    if (!isSameMessage || knownCardMessage.amount !== amount) throw messageConflict();
    return row;
  }
  // The payment is required even if it does not change. The entry contains the merchant as read,
  // which an erasure may remove concurrently.
  requirePayment(ctx, row);
  const changedPayment = await changeByNotice(ctx, deps, row, notice);
  writeNotice(ctx, row, notice);
  return changedPayment;
}

// Matches the index `card_messages_opened`.
const PAYMENT_OF_TOKEN = `select transaction_id, platform_id from card_messages
  where token = $1 and approved and transaction_id is not null
    and kind in ('AUTHORIZATION', 'FINANCIAL_AUTHORIZATION', 'CREDIT_AUTHORIZATION',
      'FINANCIAL_CREDIT_AUTHORIZATION', 'CREDIT_AUTHORIZATION_ADVICE')`;

/** The payment of an issuer's transaction token, and its platform. */
export async function findPaymentOfToken(
  db: Ctx['db'],
  environment: Mode,
  token: string,
): Promise<{ transactionId: string; platformId: string } | undefined> {
  type TokenPayment = { transaction_id: string; platform_id: string };
  const [payment] = await db.query<TokenPayment>(PAYMENT_OF_TOKEN, [`${environment} ${token}`]);
  return payment && { transactionId: payment.transaction_id, platformId: payment.platform_id };
}

const messageView = (row: CardMessageRow) => ({
  at: iso(row.created_at),
  platformId: row.platform_id,
  cardId: row.card_id,
  kind: row.kind,
  amount: Number(row.amount),
  currency: row.currency,
  readable: formatAmount(row),
  merchant: row.merchant,
  approved: row.approved,
  reason: row.reason,
  transactionId: row.transaction_id,
});

interface ListInput extends PageInput {
  platformId?: string | undefined;
  cardId?: string | undefined;
  declinedOnly: boolean;
}

/**
 * A page of network messages with their decisions, of a platform, of a card, or of all platforms.
 * Latest first.
 */
export async function listCardMessages(
  { db }: Runtime,
  { platformId, cardId, declinedOnly, ...page }: ListInput,
) {
  const approvedFilter = declinedOnly ? false : undefined;
  const filters = equals({ platform_id: platformId, card_id: cardId, approved: approvedFilter });
  const { rows, ...rest } = await db.page(cardMessages, { filters, sort: 'desc', ...page });
  return { data: rows.map(messageView), ...rest };
}
