// What a network tells about a payment that was let through, one function for each. Its word is a fact, also
// where it comes late or where we have not got the money: what the account cannot pay makes an exception
// of the payment, what a closed card cannot be asked for is our loss. Only what cannot be true is refused.

import type { CardNotice } from '../../connectors/ports/cards.ts';
import { assertNever } from '../../kernel/assert-never.ts';
import { Fault, isTransient } from '../../kernel/fault.ts';
import { isLess } from '../../kernel/money.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { insufficientFunds } from '../../runtime/operation/operate.ts';
import {
  readInternalAccount,
  requireInternalAccount,
} from '../balances/internal-accounts/index.ts';
import { readLedgerAccount } from '../balances/ledger-accounts/index.ts';
import { checkNoShortfall } from '../balances/shortfalls/index.ts';
import { readCustomer, requireCustomer } from '../customers/records/index.ts';
import {
  type CardEvent,
  cardAccountOf,
  factsOf,
  settledOf,
} from '../payments/card-payments/index.ts';
import type { CardPaymentRow } from '../payments/transactions/index.ts';
import { isUnanswered, signPull } from './authorization/signature.ts';
import {
  advised,
  type Change,
  cleared,
  eventAfter,
  expired,
  type Lack,
  lackingFor,
  NO_LACK,
  refuseMorePulls,
  returned,
  unreturned,
} from './clearing/arithmetic.ts';
import {
  changePayment,
  currencyOfAccount,
  inAccountCurrency,
  MAX_CENTS,
  moveSteps,
  netOf,
  openPull,
  spendableOf,
  tellCard,
  whileOpen,
} from './clearing/payment.ts';
import type { CardParts } from './parts.ts';
import { cards } from './store.ts';

type Amounted<Kind extends CardNotice['kind']> = Extract<CardNotice, { kind: Kind }>;

/** A network's word that cannot be true of the payment. */
const untrue = (reason: string): Fault => new Fault('INVALID_INPUT', reason);

/** Throws where the account cannot pay an amount by what is read. */
async function refuseUnlessPays(ctx: Ctx, row: CardPaymentRow, amount: bigint): Promise<void> {
  const id = cardAccountOf(row);
  const [account, holding] = await Promise.all([
    readInternalAccount(ctx, id),
    readLedgerAccount(ctx, id),
  ]);
  if (account?.status !== 'ACTIVE') throw new Fault('INVALID_INPUT', 'The account is not open.');
  checkNoShortfall(account);
  requireInternalAccount(ctx, account);
  const needed = inAccountCurrency(amount, currencyOfAccount(row));
  if (!holding || isLess(spendableOf(holding), needed)) throw insufficientFunds();
}

/**
 * Throws what says nothing about the account, and may be otherwise in a moment: nothing is written then, and
 * the network tells again.
 */
function refuseForNow(fault: Fault): void {
  if (isTransient(fault.code)) throw fault;
  if (!isUnanswered(fault)) return;
  // Without its cause, which would be logged and may quote a secret.
  throw new Fault('SERVICE_UNAVAILABLE', fault.message, undefined, { retryAfterS: 1 });
}

/** Sets aside what is lacking, as far as that can be done; answers what became of it. */
async function furtherPull(
  ctx: Ctx,
  parts: CardParts,
  row: CardPaymentRow,
  amount: bigint,
): Promise<Lack> {
  if (amount === 0n) return NO_LACK;
  refuseMorePulls(factsOf(row));
  const pulled = await ctx.attempt(async () => {
    await refuseUnlessPays(ctx, row, amount);
    await signPull(ctx, parts, row, amount);
    await openPull(ctx, row, amount);
  });
  if (pulled instanceof Fault) refuseForNow(pulled);
  return { amount, fate: pulled instanceof Fault ? 'failed' : 'pulled' };
}

/** Stages a change by the move that it is, and tells. A status that stays is told again. */
async function takeAs(
  ctx: Ctx,
  row: CardPaymentRow,
  { card, steps }: Change,
  event: CardEvent | undefined,
): Promise<CardPaymentRow> {
  await moveSteps(ctx, row, steps);
  const changed = changePayment(ctx, row, card, event);
  if (!event) tellCard(ctx, changed);
  return changed;
}

/** Stages what a change means for the row, and tells. */
const take = (
  ctx: Ctx,
  row: CardPaymentRow,
  change: Change,
  failed = false,
): Promise<CardPaymentRow> => takeAs(ctx, row, change, eventAfter(row.status, change.card, failed));

/** Whether its card pays nothing more: closed, or about to be, as its holder is gone. */
async function isClosed(ctx: Ctx, { card, customer_id }: CardPaymentRow): Promise<boolean> {
  const [found, holder] = await Promise.all([
    ctx.read(cards, card.cardId),
    readCustomer(ctx, customer_id),
  ]);
  // No card opens again.
  if (!found || found.state === 'CLOSED' || holder?.deleted_at !== null) return true;
  ctx.require(cards, found);
  requireCustomer(ctx, holder);
  return false;
}

/** The network takes an amount. What was not taken for it yet is taken now, from a live card's account. */
export async function clear(
  ctx: Ctx,
  parts: CardParts,
  row: CardPaymentRow,
  { amount }: Amounted<'CLEARING'>,
): Promise<CardPaymentRow> {
  const { direction } = row;
  const card = factsOf(row);
  if (direction === 'CREDIT') return take(ctx, row, cleared(card, amount, { direction }));
  const missing = lackingFor(card, settledOf(card) + amount, amount);
  const lack: Lack = (await isClosed(ctx, row))
    ? { amount: missing, fate: 'lost' }
    : await furtherPull(ctx, parts, row, missing);
  return take(ctx, row, cleared(card, amount, { direction, lack }), lack.fate === 'failed');
}

/** A payment that expects nothing more hears this in vain. */
async function expire(ctx: Ctx, row: CardPaymentRow): Promise<CardPaymentRow> {
  return row.card_closed ? row : take(ctx, row, expired(factsOf(row)));
}

/**
 * A new total. More of it is taken at once where the card lives; a closed one pays when it is cleared. A
 * payment that expects nothing more hears this in vain: what is cleared all the same is a late clearing.
 */
async function advise(
  ctx: Ctx,
  parts: CardParts,
  row: CardPaymentRow,
  { amount: total }: Amounted<'AUTHORIZATION_ADVICE'>,
): Promise<CardPaymentRow> {
  const card = factsOf(row);
  if (row.direction === 'CREDIT') throw untrue('A credit is not advised of.');
  if (card.closed) return row;
  const missing = lackingFor(card, total, total - card.authorized);
  const lack = (await isClosed(ctx, row)) ? NO_LACK : await furtherPull(ctx, parts, row, missing);
  // Nothing was cleared yet: what cannot be set aside now is asked for again when it is.
  return take(ctx, row, advised(card, total, lack.fate === 'failed' ? NO_LACK : lack));
}

/** A merchant gives back, never more than it has. */
async function giveBack(
  ctx: Ctx,
  row: CardPaymentRow,
  { amount }: Amounted<'RETURN'>,
): Promise<CardPaymentRow> {
  if (row.direction === 'CREDIT') throw untrue('A credit is not returned.');
  if (amount === 0n) throw untrue('Nothing came back.');
  const facts = factsOf(row);
  if (amount > netOf(facts)) {
    throw untrue(`More came back than was cleared: ${amount}, of ${netOf(facts)}.`);
  }
  return take(ctx, row, returned(facts, amount));
}

/** The last return is undone; the account may owe what it has spent of it. */
async function reverse(ctx: Ctx, row: CardPaymentRow): Promise<CardPaymentRow> {
  if (row.card_refunds.length === 0) throw untrue('Only what came back can be taken again.');
  const change = unreturned(factsOf(row));
  return row.status === 'REFUNDED' ? takeAs(ctx, row, change, 'reverse') : take(ctx, row, change);
}

/** Throws where an amount cannot be, or a payment be for so much in all. */
function refuseAmount(row: CardPaymentRow, kind: CardNotice['kind'], amount: bigint): void {
  const total = kind === 'CLEARING' ? settledOf(factsOf(row)) + amount : amount;
  if (amount < 0n || total > MAX_CENTS) throw untrue(`${amount} is no amount of the payment.`);
}

function heed(
  ctx: Ctx,
  parts: CardParts,
  row: CardPaymentRow,
  notice: CardNotice,
): Promise<CardPaymentRow> {
  switch (notice.kind) {
    case 'CLEARING':
      return notice.amount === 0n ? expire(ctx, row) : clear(ctx, parts, row, notice);
    case 'AUTHORIZATION_EXPIRY':
      return expire(ctx, row);
    case 'AUTHORIZATION_ADVICE':
      return advise(ctx, parts, row, notice);
    case 'RETURN':
      return giveBack(ctx, row, notice);
    case 'RETURN_REVERSAL':
      return reverse(ctx, row);
    default:
      return assertNever(notice, 'card notice');
  }
}

/** Stages what a notice means. */
export async function heedNotice(
  ctx: Ctx,
  parts: CardParts,
  row: CardPaymentRow,
  notice: CardNotice,
): Promise<CardPaymentRow> {
  if ('amount' in notice) refuseAmount(row, notice.kind, notice.amount);
  return whileOpen(ctx, row, () => heed(ctx, parts, row, notice));
}

/** Stages that nothing more is expected of a payment, though its network has not said so. */
export const giveUp = (ctx: Ctx, row: CardPaymentRow): Promise<CardPaymentRow> =>
  whileOpen(ctx, row, () => expire(ctx, row));
