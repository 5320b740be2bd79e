// Posts events that a network reports afterwards: payments that its issuer approved in stand-in
// processing, and entries about payments. Reported events are never declined. A clearing or refund
// without a payment opens one. A reversal without a payment causes a later authorization to be
// declined, so that the two messages can arrive in any order.

import type { CardNotice, CardRequest } from '../../../connectors/ports/cards.ts';
import { assertNever } from '../../../kernel/assert-never.ts';
import type { Caller } from '../../../kernel/caller.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Money } from '../../../kernel/money.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { isKeyTaken, operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { readCustomer, requireCustomer } from '../../customers/records/index.ts';
import type {
  CardEntry,
  CardOutcome,
  StageMessage,
} from '../../payments/provider-messages/index.ts';
import type { CardPaymentRow } from '../../payments/transactions/index.ts';
import { cardPaymentOf } from '../clearing/payment.ts';
import { type CardDeps, cardOf } from '../deps.ts';
import { checkAmount, openApprovedPayment } from '../issuing/open.ts';
import { type CardRow, cardMessages } from '../store.ts';
import { findPrimaryFundingSource, withoutMerchant } from './decide.ts';
import {
  applyNotice,
  findPaymentOfToken,
  messageKey,
  writeDecision,
  writeEarlyReversal,
  writeNotice,
} from './messages.ts';

interface NetworkEventDeps {
  runtime: Runtime;
  deps: CardDeps;
  holderOf(cardId: string): Promise<Caller>;
}

const contradiction = (reason: string) => new Fault('INVALID_INPUT', reason);

const checkCurrency = (card: CardRow, { currency, amount }: Money): void => {
  if (currency === card.currency) return;
  throw contradiction(
    `The message has ${amount} ${currency}. The currency of the card is ${card.currency}.`,
  );
};

/** Whether another message may have been committed first, so that a second attempt can succeed. */
const isConcurrentCommit = (error: unknown): boolean =>
  isKeyTaken(error) || (error instanceof Fault && error.code === 'CONFLICT');

/** Runs `work`, and repeats it once if another message may have been committed first. */
async function withSecondAttempt<R>(work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    if (!isConcurrentCommit(error)) throw error;
    return work();
  }
}

/** Stages a payment that was approved without this server, with its entry in the decision log. */
async function openReportedPayment(
  ctx: Ctx,
  deps: CardDeps,
  card: CardRow,
  request: CardRequest,
  isCleared: boolean,
): Promise<CardPaymentRow> {
  checkAmount(request);
  const [holder, source] = await Promise.all([
    readCustomer(ctx, card.customer_id),
    findPrimaryFundingSource(ctx, card),
  ]);
  if (!holder || !source) {
    throw contradiction('The card has no cardholder or no funding source.');
  }
  const recordedRequest = withoutMerchant(request, holder);
  const openingRequest = { card, holder, account: source.account, request: recordedRequest };
  const row = await openApprovedPayment(ctx, deps, openingRequest, isCleared);
  writeDecision(ctx, card, recordedRequest, { approved: true, transactionId: row.id });
  return row;
}

function noticeOf(entry: CardEntry, { direction }: CardPaymentRow): CardNotice {
  const { id, token, amount = 0n } = entry;
  switch (entry.kind) {
    case 'CLEARING':
      return { id, token, kind: 'CLEARING', amount };
    case 'REVERSAL':
      return entry.amount === undefined
        ? { id, token, kind: 'AUTHORIZATION_EXPIRY' }
        : { id, token, kind: 'AUTHORIZATION_REVERSAL', amount };
    case 'ADJUSTMENT':
      return { id, token, kind: 'AUTHORIZATION_ADVICE', amount };
    case 'REFUND':
      // A further credit of a credit payment.
      return { id, token, kind: direction === 'CREDIT' ? 'CLEARING' : 'RETURN', amount };
    case 'REFUND_REVERSAL':
      return { id, token, kind: 'RETURN_REVERSAL', amount };
    default:
      return assertNever(entry.kind, 'kind of a card entry');
  }
}

/**
 * Stages a clearing, refund or reversal without a payment. Returns the opened payment, true for a
 * reversal, or false for a reversal of a recorded request. Throws TRANSACTION_NOT_FOUND for other
 * entries.
 */
async function postWithoutPayment(
  ctx: Ctx,
  deps: CardDeps,
  card: CardRow,
  entry: CardEntry,
): Promise<CardPaymentRow | boolean> {
  const { id, token, requestId, currency, amount = 0n } = entry;
  const merchant = entry.merchant ?? { descriptor: '-' };
  const request = { id: requestId, token, cardId: card.id, amount, currency, merchant };
  if (entry.kind === 'REVERSAL') {
    if (await ctx.read(cardMessages, messageKey(ctx, requestId))) return false;
    const holder = await readCustomer(ctx, card.customer_id);
    // The holder is required, because a concurrent erasure would not find the new entry.
    if (holder) requireCustomer(ctx, holder);
    writeEarlyReversal(ctx, card, withoutMerchant({ ...request, kind: 'AUTHORIZATION' }, holder));
    return true;
  }
  if (entry.kind !== 'CLEARING' && entry.kind !== 'REFUND') {
    throw new Fault('TRANSACTION_NOT_FOUND', 'No payment has this authorizationId.');
  }
  const kind = entry.kind === 'REFUND' ? 'CREDIT_AUTHORIZATION' : 'AUTHORIZATION';
  // A declined request with the same ID keeps its decision.
  const openingRequest = { ...request, id: `${requestId} without authorization`, kind } as const;
  const row = await openReportedPayment(ctx, deps, card, openingRequest, true);
  writeNotice(ctx, row, { id, token, kind: 'CLEARING', amount });
  return row;
}

const isRecorded = async (ctx: Ctx, id: string): Promise<boolean> =>
  (await ctx.read(cardMessages, messageKey(ctx, id))) !== undefined;

async function postEntryIn(
  ctx: Ctx,
  deps: CardDeps,
  entry: CardEntry,
  stage: StageMessage,
): Promise<CardOutcome> {
  const { platformId, environment } = ctx.caller;
  const card = await cardOf(ctx, entry.cardId);
  checkCurrency(card, { currency: entry.currency, amount: entry.amount ?? 0n });
  const payment = await findPaymentOfToken(ctx.db, environment, entry.token);
  if (!payment) {
    const postResult = await postWithoutPayment(ctx, deps, card, entry);
    const transactionId = typeof postResult === 'boolean' ? null : postResult.id;
    if (postResult !== false) stage(ctx, { platformId, transactionId });
    return { platformId, transactionId, isNew: postResult !== false };
  }
  const subject = { platformId, transactionId: payment.transactionId };
  const row = await cardPaymentOf(ctx, payment.transactionId);
  if (row.card.cardId !== card.id) throw contradiction('The payment belongs to another card.');
  const isRepeated = await isRecorded(ctx, entry.id);
  // Throws CONFLICT if another entry has this ID.
  await applyNotice(ctx, deps, row, noticeOf(entry, row));
  if (!isRepeated) stage(ctx, subject);
  return { ...subject, isNew: !isRepeated };
}

async function postApprovedIn(
  ctx: Ctx,
  deps: CardDeps,
  request: CardRequest,
  decidedId: string,
  stage: StageMessage,
): Promise<CardOutcome> {
  const { platformId, environment } = ctx.caller;
  const card = await cardOf(ctx, request.cardId);
  checkCurrency(card, request);
  if (request.kind === 'BALANCE_INQUIRY')
    throw contradiction('The amount of a payment must be above zero.');
  const [payment, earlierMessage] = await Promise.all([
    findPaymentOfToken(ctx.db, environment, request.token),
    ctx.read(cardMessages, messageKey(ctx, decidedId)),
  ]);
  if (payment) {
    const row = await cardPaymentOf(ctx, payment.transactionId);
    const isSame = row.card.cardId === card.id && row.card_authorized === request.amount;
    if (isSame) return { platformId, transactionId: row.id, isNew: false };
    throw contradiction(
      `This authorization already has a payment of ${row.card_authorized} with the card ${row.card.cardId}.`,
    );
  }
  // The network reversed the authorization before it reported the approval.
  const isReversed = earlierMessage?.kind === 'AUTHORIZATION_REVERSAL';
  if (isReversed) return { platformId, transactionId: null, isNew: false };
  const isCleared = request.kind.startsWith('FINANCIAL_');
  const row = await openReportedPayment(ctx, deps, card, request, isCleared);
  const subject = { platformId, transactionId: row.id };
  stage(ctx, subject);
  return { ...subject, isNew: true };
}

export function networkEventPoster({ runtime, deps, holderOf }: NetworkEventDeps) {
  const run = async (cardId: string, work: (ctx: Ctx) => Promise<CardOutcome>) => {
    const caller = await holderOf(cardId);
    return withSecondAttempt(() => operate(runtime, caller, work));
  };
  return {
    postApproved: (request: CardRequest, decidedId: string, stage: StageMessage) =>
      run(request.cardId, (ctx) => postApprovedIn(ctx, deps, request, decidedId, stage)),
    postEntry: (entry: CardEntry, stage: StageMessage) =>
      run(entry.cardId, (ctx) => postEntryIn(ctx, deps, entry, stage)),
  };
}
