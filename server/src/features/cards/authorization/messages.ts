// The decision log: every message of a network is one row that never changes, whatever became of it. The
// row is also what makes a message count once. It is written with what the message does, under the issuer's
// own id, so a second one of the same id finds it, or is refused by the commit and then finds it. An
// approval that turned out too late has one row more, which says so.

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
import { equals } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import type { CardPaymentRow } from '../../payments/transactions/index.ts';
import { leanOnPayment } from '../clearing/payment.ts';
import { heedNotice } from '../notices.ts';
import type { CardParts } from '../parts.ts';
import { type CardMessageRow, type CardRow, cardMessages } from '../store.ts';

const named = ({ caller: { environment } }: Ctx, id: string) => `${environment} ${id}`;

/** No environment is called so, so this is the id of no message. */
const namedLate = ({ caller: { environment } }: Ctx, id: string) => `${environment}.late ${id}`;

function decisionOf({ approved, reason, transaction_id: transactionId }: CardMessageRow) {
  if (!approved) return { approved, reason: reason as DeclineReason } as const;
  return { approved, ...(transactionId === null ? {} : { transactionId }) } as const;
}

/** An answer to one message must not be heard as that to another. */
const otherMessage = () => new Fault('CONFLICT', 'Another message has come under this id.');

/** What was decided about a message before; throws where its id was another's. */
export async function earlierDecision(
  ctx: Ctx,
  { id, token, cardId, kind, amount, currency }: CardRequest,
): Promise<CardDecision | undefined> {
  const [late, row] = await Promise.all([
    ctx.read(cardMessages, namedLate(ctx, id)),
    ctx.read(cardMessages, named(ctx, id)),
  ]);
  const last = late ?? row;
  if (!last) return undefined;
  const isIt = last.card_id === cardId && last.token === named(ctx, token) && last.kind === kind;
  if (!isIt || last.amount !== amount || last.currency !== currency) throw otherMessage();
  return decisionOf(last);
}

type About = Pick<CardRow, 'platform_id' | 'customer_id'> & { cardId: string };

const rowOf = (
  ctx: Ctx,
  { platform_id, customer_id, cardId }: About,
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
  token: named(ctx, token),
  kind,
  currency,
  merchant,
  created_at: ctx.now,
});

/** Writes down what was decided. */
export function writeDecision(
  ctx: Ctx,
  card: CardRow,
  request: CardRequest,
  decision: CardDecision,
): void {
  ctx.insert(cardMessages, {
    id: named(ctx, request.id),
    ...rowOf(ctx, { ...card, cardId: card.id }, request),
    amount: request.amount,
    approved: decision.approved,
    ...(decision.approved
      ? { transaction_id: decision.transactionId ?? null }
      : { reason: decision.reason }),
  });
}

/** Writes down that an approval came to nothing, because nobody waited for it any more. */
export function writeTooLate(ctx: Ctx, row: CardPaymentRow, request: CardRequest): void {
  ctx.insert(cardMessages, {
    id: namedLate(ctx, request.id),
    ...rowOf(ctx, { ...row, cardId: row.card.cardId }, request),
    transaction_id: row.id,
    amount: request.amount,
    approved: false,
    reason: 'TOO_LATE',
  });
}

/** Stages what a notice means and writes it down; one that came before does nothing. */
export async function applyNotice(
  ctx: Ctx,
  parts: CardParts,
  row: CardPaymentRow,
  notice: CardNotice,
): Promise<CardPaymentRow> {
  const id = named(ctx, notice.id);
  const amount = 'amount' in notice ? notice.amount : 0n;
  const known = await ctx.read(cardMessages, id);
  if (known) {
    const isIt = known.transaction_id === row.id && known.kind === notice.kind;
    if (!isIt || known.amount !== amount) throw otherMessage();
    return row;
  }
  // Also where it changes nothing: the line names the merchant as read, which an erasure may take just now.
  leanOnPayment(ctx, row);
  const changed = await heedNotice(ctx, parts, row, notice);
  const { currency, merchant } = row.card;
  const said = { token: row.card.token, kind: notice.kind, currency, merchant };
  ctx.insert(cardMessages, {
    id,
    ...rowOf(ctx, { ...row, cardId: row.card.cardId }, said),
    transaction_id: row.id,
    amount,
    approved: true,
  });
  return changed;
}

// As `card_messages_opened` has it.
const OPENED = `select transaction_id, platform_id from card_messages
  where token = $1 and approved and transaction_id is not null
    and kind in ('AUTHORIZATION', 'FINANCIAL_AUTHORIZATION', 'CREDIT_AUTHORIZATION',
      'FINANCIAL_CREDIT_AUTHORIZATION', 'CREDIT_AUTHORIZATION_ADVICE')`;

/** The payment that an issuer's name stands for, and whose it is. */
export async function paymentNamed(
  db: Ctx['db'],
  environment: Mode,
  token: string,
): Promise<{ transactionId: string; platformId: string } | undefined> {
  type Found = { transaction_id: string; platform_id: string };
  const [found] = await db.query<Found>(OPENED, [`${environment} ${token}`]);
  return found && { transactionId: found.transaction_id, platformId: found.platform_id };
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

interface ListInput {
  platformId?: string | undefined;
  cardId?: string | undefined;
  declinedOnly: boolean;
  limit: number;
}

/** Messages of one platform, of one card, or of all, with what was decided; latest first. */
export async function listCardMessages(
  { db }: Runtime,
  { platformId, cardId, declinedOnly, limit }: ListInput,
) {
  const approved = declinedOnly ? false : undefined;
  const filters = equals({ platform_id: platformId, card_id: cardId, approved });
  const { rows } = await db.page(cardMessages, { filters, sort: 'desc', limit });
  return rows.map(messageView);
}
