// Notices of a network about an approved payment, one function each. Only impossible notices are
// rejected permanently, so late and unfunded notices are applied. If the account cannot pay a
// cleared amount, the payment becomes an exception. If the card is closed, the unpaid amount is
// written off.

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
import { isCustodianFailure, signFundingDebit } from './authorization/signature.ts';
import {
  amountToDebit,
  applyAdjustment,
  applyClearing,
  applyExpiry,
  applyRefund,
  type Change,
  checkFundingDebitCount,
  eventAfter,
  type FurtherDebit,
  NO_FURTHER_DEBIT,
  reverseRefund,
} from './clearing/arithmetic.ts';
import {
  changeOpenPayment,
  changePayment,
  currencyOfAccount,
  emitCardPayment,
  inAccountCurrency,
  MAX_CENTS,
  netOf,
  openFundingDebit,
  postSteps,
  spendableOf,
} from './clearing/payment.ts';
import type { CardDeps } from './deps.ts';
import { cards } from './store.ts';

type NoticeOf<Kind extends CardNotice['kind']> = Extract<CardNotice, { kind: Kind }>;

/** Fault for a notice that contradicts the payment. */
const contradiction = (reason: string): Fault => new Fault('INVALID_INPUT', reason);

/** Throws if the account, as read, cannot pay an amount. */
async function rejectUnlessFunded(ctx: Ctx, row: CardPaymentRow, amount: bigint): Promise<void> {
  const id = cardAccountOf(row);
  const [account, ledgerAccount] = await Promise.all([
    readInternalAccount(ctx, id),
    readLedgerAccount(ctx, id),
  ]);
  if (account?.status !== 'ACTIVE') throw new Fault('INVALID_INPUT', 'The account is not ACTIVE.');
  checkNoShortfall(account);
  requireInternalAccount(ctx, account);
  const requiredAmount = inAccountCurrency(amount, currencyOfAccount(row));
  if (!ledgerAccount || isLess(spendableOf(ledgerAccount), requiredAmount))
    throw insufficientFunds();
}

/**
 * Rethrows faults that are unrelated to the account and may be temporary. The notice is then not
 * recorded, and the network repeats it.
 */
function rejectTemporarily(fault: Fault): void {
  if (isTransient(fault.code)) throw fault;
  if (!isCustodianFailure(fault)) return;
  // The cause is omitted, because it may contain a secret and would be logged.
  throw new Fault('SERVICE_UNAVAILABLE', fault.message, undefined, { retryAfterS: 1 });
}

/** Holds the missing amount if possible. Returns the result. */
async function furtherFundingDebit(
  ctx: Ctx,
  deps: CardDeps,
  row: CardPaymentRow,
  amount: bigint,
): Promise<FurtherDebit> {
  if (amount === 0n) return NO_FURTHER_DEBIT;
  checkFundingDebitCount(factsOf(row));
  const debitResult = await ctx.attempt(async () => {
    await rejectUnlessFunded(ctx, row, amount);
    await signFundingDebit(ctx, deps, row, amount);
    await openFundingDebit(ctx, row, amount);
  });
  if (debitResult instanceof Fault) rejectTemporarily(debitResult);
  return { amount, outcome: debitResult instanceof Fault ? 'failed' : 'pending' };
}

/**
 * Stages a change with its lifecycle event, and emits an event even if the status does not change.
 */
async function applyAs(
  ctx: Ctx,
  row: CardPaymentRow,
  { card, steps }: Change,
  event: CardEvent | undefined,
): Promise<CardPaymentRow> {
  await postSteps(ctx, row, steps);
  const changedPayment = changePayment(ctx, row, card, event);
  if (!event) emitCardPayment(ctx, changedPayment);
  return changedPayment;
}

/** Stages the changed facts of a row, and emits events. */
const stageFacts = (
  ctx: Ctx,
  row: CardPaymentRow,
  change: Change,
  hasFailedDebit = false,
): Promise<CardPaymentRow> =>
  applyAs(ctx, row, change, eventAfter(row.status, change.card, hasFailedDebit));

/** Whether the card cannot be debited, because it is closed or its holder is deleted. */
async function isClosed(ctx: Ctx, { card, customer_id }: CardPaymentRow): Promise<boolean> {
  const [cardRow, holder] = await Promise.all([
    ctx.read(cards, card.cardId),
    readCustomer(ctx, customer_id),
  ]);
  // A closed card is never reopened.
  if (!cardRow || cardRow.state === 'CLOSED' || holder?.deleted_at !== null) return true;
  ctx.require(cards, cardRow);
  requireCustomer(ctx, holder);
  return false;
}

/** Holds as much of an amount as the account can pay. No amount is held for a closed card. */
export async function holdAvailable(
  ctx: Ctx,
  deps: CardDeps,
  row: CardPaymentRow,
  amount: bigint,
): Promise<FurtherDebit> {
  const ledgerAccount = await readLedgerAccount(ctx, cardAccountOf(row));
  if (!ledgerAccount || (await isClosed(ctx, row))) return NO_FURTHER_DEBIT;
  const { amount: unit } = inAccountCurrency(1n, currencyOfAccount(row));
  const availableAmount = spendableOf(ledgerAccount).amount / unit;
  const heldAmount = availableAmount < amount ? availableAmount : amount;
  if (heldAmount <= 0n) return NO_FURTHER_DEBIT;
  const debit = await furtherFundingDebit(ctx, deps, row, heldAmount);
  return debit.outcome === 'pending' ? debit : NO_FURTHER_DEBIT;
}

/** The result of debiting a missing amount that was cleared. */
async function furtherDebitOf(
  ctx: Ctx,
  deps: CardDeps,
  row: CardPaymentRow,
  amount: bigint,
  isExhausted: boolean,
): Promise<FurtherDebit> {
  if (await isClosed(ctx, row)) return { amount, outcome: 'writtenOff' };
  if (isExhausted && amount > 0n) return { amount, outcome: 'failed' };
  return furtherFundingDebit(ctx, deps, row, amount);
}

/**
 * A clearing. Debits the missing amount if the card is open. `isExhausted`: this change set holds
 * the full amount that the account can pay, so no more can be debited.
 */
export async function clear(
  ctx: Ctx,
  deps: CardDeps,
  row: CardPaymentRow,
  { amount }: NoticeOf<'CLEARING'>,
  { isExhausted = false }: { isExhausted?: boolean } = {},
): Promise<CardPaymentRow> {
  const { direction } = row;
  const card = factsOf(row);
  if (direction === 'CREDIT')
    return stageFacts(ctx, row, applyClearing(card, amount, { direction }));
  const missingAmount = amountToDebit(card, settledOf(card) + amount, amount);
  const furtherDebit = await furtherDebitOf(ctx, deps, row, missingAmount, isExhausted);
  return stageFacts(
    ctx,
    row,
    applyClearing(card, amount, { direction, furtherDebit }),
    furtherDebit.outcome === 'failed',
  );
}

/** The authorization has expired. A closed payment is unchanged. */
async function expire(ctx: Ctx, row: CardPaymentRow): Promise<CardPaymentRow> {
  return row.card_closed ? row : stageFacts(ctx, row, applyExpiry(factsOf(row)));
}

/**
 * A new total. An increase is debited immediately if the card is open and the account can pay.
 * A closed payment is unchanged. Clearings of a closed payment are late clearings.
 */
async function applyStandInAuthorization(
  ctx: Ctx,
  deps: CardDeps,
  row: CardPaymentRow,
  { amount: total }: NoticeOf<'AUTHORIZATION_ADVICE'>,
): Promise<CardPaymentRow> {
  const card = factsOf(row);
  if (row.direction === 'CREDIT') {
    throw contradiction('The authorization of a credit cannot be adjusted.');
  }
  if (card.closed) return row;
  const missingAmount = amountToDebit(card, total, total - card.authorized);
  const furtherDebit = (await isClosed(ctx, row))
    ? NO_FURTHER_DEBIT
    : await furtherFundingDebit(ctx, deps, row, missingAmount);
  // The increase is not cleared yet, so a hold that fails now is attempted again at the clearing.
  return stageFacts(
    ctx,
    row,
    applyAdjustment(
      card,
      total,
      furtherDebit.outcome === 'failed' ? NO_FURTHER_DEBIT : furtherDebit,
    ),
  );
}

/** Releases the authorized amount or a part of it. A closed payment is unchanged. */
async function reverseAuthorization(
  ctx: Ctx,
  row: CardPaymentRow,
  { amount }: NoticeOf<'AUTHORIZATION_REVERSAL'>,
): Promise<CardPaymentRow> {
  const card = factsOf(row);
  if (card.closed) return row;
  const openAmount = card.authorized - settledOf(card);
  if (amount > openAmount) {
    throw contradiction(`The reversal of ${amount} exceeds the open amount of ${openAmount}.`);
  }
  const total = card.authorized - amount;
  return stageFacts(ctx, row, applyAdjustment(card, total, NO_FURTHER_DEBIT));
}

/** A refund of at most the net amount. */
async function refund(
  ctx: Ctx,
  row: CardPaymentRow,
  { amount }: NoticeOf<'RETURN'>,
): Promise<CardPaymentRow> {
  if (row.direction === 'CREDIT') throw contradiction('A credit cannot be refunded.');
  if (amount === 0n) throw contradiction('The amount of a refund must be above zero.');
  const facts = factsOf(row);
  if (amount > netOf(facts)) {
    throw contradiction(`The refund of ${amount} exceeds the cleared amount of ${netOf(facts)}.`);
  }
  return stageFacts(ctx, row, applyRefund(facts, amount));
}

/** Reverses the last refund. The account may then have a shortfall. */
async function reverseRefundNotice(
  ctx: Ctx,
  row: CardPaymentRow,
  { amount }: NoticeOf<'RETURN_REVERSAL'>,
): Promise<CardPaymentRow> {
  const lastRefund = row.card_refunds.at(-1);
  if (lastRefund === undefined) throw contradiction('The payment has no refund to reverse.');
  if (amount && amount !== lastRefund) {
    throw contradiction(`The reversal of ${amount} differs from the last refund, ${lastRefund}.`);
  }
  const change = reverseRefund(factsOf(row));
  return row.status === 'REFUNDED'
    ? applyAs(ctx, row, change, 'reverse')
    : stageFacts(ctx, row, change);
}

/** Throws for an invalid amount, or an amount that exceeds the maximum of a payment. */
function rejectAmount(row: CardPaymentRow, kind: CardNotice['kind'], amount: bigint): void {
  const total = kind === 'CLEARING' ? settledOf(factsOf(row)) + amount : amount;
  if (amount < 0n || total > MAX_CENTS) {
    throw contradiction(
      `${amount} is not a valid amount for the payment. The total must be from 0 to ${MAX_CENTS}.`,
    );
  }
}

function apply(
  ctx: Ctx,
  deps: CardDeps,
  row: CardPaymentRow,
  notice: CardNotice,
): Promise<CardPaymentRow> {
  switch (notice.kind) {
    case 'CLEARING':
      return notice.amount === 0n ? expire(ctx, row) : clear(ctx, deps, row, notice);
    case 'AUTHORIZATION_EXPIRY':
      return expire(ctx, row);
    case 'AUTHORIZATION_ADVICE':
      return applyStandInAuthorization(ctx, deps, row, notice);
    case 'AUTHORIZATION_REVERSAL':
      return reverseAuthorization(ctx, row, notice);
    case 'RETURN':
      return refund(ctx, row, notice);
    case 'RETURN_REVERSAL':
      return reverseRefundNotice(ctx, row, notice);
    default:
      return assertNever(notice, 'card notice');
  }
}

/** Stages the changes of a notice. The caller records the notice. */
export async function changeByNotice(
  ctx: Ctx,
  deps: CardDeps,
  row: CardPaymentRow,
  notice: CardNotice,
): Promise<CardPaymentRow> {
  const amount = 'amount' in notice ? notice.amount : undefined;
  if (amount !== undefined) rejectAmount(row, notice.kind, amount);
  return changeOpenPayment(ctx, row, () => apply(ctx, deps, row, notice));
}

/** Closes a payment without a message of its network. */
export const expireAuthorization = (ctx: Ctx, row: CardPaymentRow): Promise<CardPaymentRow> =>
  changeOpenPayment(ctx, row, () => expire(ctx, row));
