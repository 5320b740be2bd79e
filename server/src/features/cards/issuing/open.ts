// Opens a card payment, and undoes a payment that was approved too late. Every payment is opened
// with a row, and every debit also with a hold of the amount that the account can pay. A clearing
// in the same message is applied like a later clearing. Undoing reverses the postings and closes
// the payment.

import type { CardRequest } from '../../../connectors/ports/cards.ts';
import { invalidField } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  type InternalAccountRow,
  requireInternalAccount,
} from '../../balances/internal-accounts/index.ts';
import { type CustomerRow, requireCustomer } from '../../customers/records/index.ts';
import { columnsOf, factsOf, newFacts } from '../../payments/card-payments/index.ts';
import { type CardPaymentRow, insertTransaction } from '../../payments/transactions/index.ts';
import { isCredit } from '../authorization/decline.ts';
import { signFundingDebit } from '../authorization/signature.ts';
import { undoApproval } from '../clearing/arithmetic.ts';
import {
  awaitNetwork,
  changeOpenPayment,
  changePayment,
  emitCardPayment,
  inAccountCurrency,
  MAX_CENTS,
  openFundingDebit,
  postSteps,
} from '../clearing/payment.ts';
import type { CardDeps } from '../deps.ts';
import { clear, holdAvailable } from '../notices.ts';
import { type CardRow, cards, type DelegatedKeyRow } from '../store.ts';

/** The request, and the rows that the decision depends on. */
interface Opening {
  card: CardRow;
  holder: CustomerRow;
  account: InternalAccountRow;
  /** Key that signs if a wallet pays. */
  key: DelegatedKeyRow | undefined;
  request: CardRequest;
}

const clearsImmediately = ({ kind }: Pick<CardRequest, 'kind'>): boolean =>
  kind === 'FINANCIAL_AUTHORIZATION' || kind === 'FINANCIAL_CREDIT_AUTHORIZATION';

const partiesOf = (isCreditPayment: boolean, { id: accountId, currency }: InternalAccountRow) =>
  isCreditPayment
    ? {
        direction: 'CREDIT' as const,
        source: { sourceType: 'MERCHANT', currency },
        destination: { destinationType: 'ACCOUNT', accountId, currency },
        destination_account: accountId,
      }
    : {
        direction: 'DEBIT' as const,
        source: { sourceType: 'ACCOUNT', accountId, currency },
        destination: { destinationType: 'MERCHANT', currency },
        source_account: accountId,
      };

/** Throws for an impossible amount: zero or above the maximum, or nonzero for a balance inquiry. */
export function checkAmount({ kind, amount }: Pick<CardRequest, 'kind' | 'amount'>): void {
  if (kind === 'BALANCE_INQUIRY') {
    if (amount !== 0n) throw invalidField('amount', 'must be 0 for a balance inquiry');
    return;
  }
  if (amount >= 1n && amount <= MAX_CENTS) return;
  throw invalidField('amount', `must be from 1 to ${MAX_CENTS} cents`);
}

/** Stages the row of a new payment. */
function insertPayment(ctx: Ctx, { card, holder, account, request }: Opening): CardPaymentRow {
  return insertTransaction(ctx, {
    id: ctx.id('CardTransaction'),
    platform_id: card.platform_id,
    customer_id: holder.id,
    platform_customer_id: holder.platform_customer_id,
    type: 'CARD',
    ...partiesOf(isCredit(request.kind), account),
    status: 'AUTHORIZED',
    funds: 'HELD',
    sent_amount: inAccountCurrency(request.amount, account.currency).amount,
    sent_currency: account.currency,
    card: {
      cardId: card.id,
      token: request.token,
      merchant: request.merchant,
      currency: card.currency,
    },
    ...columnsOf(newFacts(request.amount)),
    card_last_event_at: ctx.now,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
}

/**
 * Stages an approved payment with its hold. Call it within `ctx.attempt`. The commit fails if the
 * card, its holder, the account or the signing key has changed.
 */
export async function openPayment(
  ctx: Ctx,
  deps: CardDeps,
  opening: Opening,
): Promise<CardPaymentRow> {
  const { card, holder, account, key, request } = opening;
  ctx.require(cards, card);
  requireCustomer(ctx, holder);
  requireInternalAccount(ctx, account);
  let row = insertPayment(ctx, opening);
  if (row.direction === 'DEBIT') {
    await signFundingDebit(ctx, deps, row, request.amount, key);
    row = changePayment(ctx, row, {
      fundingDebits: await openFundingDebit(ctx, row, request.amount),
    });
  }
  if (!clearsImmediately(request)) {
    awaitNetwork(ctx, row);
    emitCardPayment(ctx, row);
    return row;
  }
  const { id, token, amount } = request;
  return clear(ctx, deps, row, { id, token, kind: 'CLEARING', amount });
}

/**
 * Stages a payment that the network has approved or cleared without this server. The hold is the
 * part of its amount that the account can pay. A later clearing debits the remainder. `isCleared`:
 * the payment is cleared immediately. An unpaid remainder makes it an exception, or is written off
 * if the card is closed.
 */
export async function openApprovedPayment(
  ctx: Ctx,
  deps: CardDeps,
  opening: Omit<Opening, 'key'>,
  isCleared: boolean,
): Promise<CardPaymentRow> {
  const { holder, account, request } = opening;
  requireCustomer(ctx, holder);
  requireInternalAccount(ctx, account);
  let row = insertPayment(ctx, { ...opening, key: undefined });
  if (row.direction === 'DEBIT') {
    const { amount } = await holdAvailable(ctx, deps, row, request.amount);
    const fundingDebits = amount === 0n ? [] : [{ amount, status: 'PENDING' as const }];
    row = changePayment(ctx, row, { fundingDebits });
  }
  const { id, token, amount } = request;
  if (isCleared) {
    const clearing = { id, token, kind: 'CLEARING', amount } as const;
    return clear(ctx, deps, row, clearing, { isExhausted: true });
  }
  awaitNetwork(ctx, row);
  emitCardPayment(ctx, row);
  return row;
}

/** Whether no message arrived after the opening, and no amount was written off. */
function isUntouched(row: CardPaymentRow, request: CardRequest): boolean {
  const ownClearings = clearsImmediately(request) ? 1 : 0;
  const { clearings, refunds, closed, fundingDebits, authorized, writtenOff } = factsOf(row);
  const isAsOpened = refunds.length === 0 && fundingDebits.length < 2 && writtenOff === 0n;
  const isAlone = clearings.length === ownClearings && isAsOpened;
  return isAlone && closed === (ownClearings === 1) && authorized === request.amount;
}

/**
 * Undoes a payment that was approved too late. The payment is closed with no settled amount. The
 * held or debited amount is released, immediately or after the issuer reports the result of a
 * pending debit. Returns false if the network has sent a further message about the payment, or an
 * amount was written off.
 */
export async function undoPayment(
  ctx: Ctx,
  row: CardPaymentRow,
  request: CardRequest,
): Promise<boolean> {
  if (!isUntouched(row, request)) return false;
  const { card, steps } = undoApproval(factsOf(row), row.direction);
  await changeOpenPayment(ctx, row, async () => {
    await postSteps(ctx, row, steps);
    return changePayment(ctx, row, card, row.status === 'EXCEPTION' ? 'resolve' : 'settle');
  });
  return true;
}
