// How a payment with a card begins, and how one that nobody waited for is undone. All kinds begin alike: a
// row and, for what is paid, money set aside. What the network clears with the same message is cleared as
// later clearings are. Undoing takes back exactly that, so that a late approval leaves nothing behind but
// its trace.

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
import { signPull } from '../authorization/signature.ts';
import { undone } from '../clearing/arithmetic.ts';
import {
  awaitNetwork,
  changePayment,
  inAccountCurrency,
  MAX_CENTS,
  moveSteps,
  openPull,
  tellCard,
  whileOpen,
} from '../clearing/payment.ts';
import { clear } from '../notices.ts';
import type { CardParts } from '../parts.ts';
import { type CardRow, cards, type DelegatedKeyRow } from '../store.ts';

/** What a payment is opened with: the rows that the decision leaned on. */
interface Opening {
  card: CardRow;
  holder: CustomerRow;
  account: InternalAccountRow;
  /** What signs where a wallet pays. */
  key: DelegatedKeyRow | undefined;
  request: CardRequest;
}

const clearsAtOnce = ({ kind }: Pick<CardRequest, 'kind'>): boolean =>
  kind === 'FINANCIAL_AUTHORIZATION' || kind === 'FINANCIAL_CREDIT_AUTHORIZATION';

const partiesOf = (credit: boolean, { id: accountId, currency }: InternalAccountRow) =>
  credit
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

/** Throws where an amount cannot be meant: nothing where something is to be paid, or more than there is. */
export function checkAmount({ kind, amount }: Pick<CardRequest, 'kind' | 'amount'>): void {
  const [least, most] = kind === 'BALANCE_INQUIRY' ? [0n, 0n] : [1n, MAX_CENTS];
  if (amount >= least && amount <= most) return;
  throw invalidField('amount', `must be from ${least} to ${most}`);
}

/** Stages the row, as a payment of which nothing has happened yet. */
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
 * Stages a payment that was approved, with its money set aside; call it within `ctx.attempt`. The commit is
 * refused where the card, its holder, the account or the key that signs is another by then.
 */
export async function openPayment(
  ctx: Ctx,
  parts: CardParts,
  opening: Opening,
): Promise<CardPaymentRow> {
  const { card, holder, account, key, request } = opening;
  ctx.require(cards, card);
  requireCustomer(ctx, holder);
  requireInternalAccount(ctx, account);
  let row = insertPayment(ctx, opening);
  if (row.direction === 'DEBIT') {
    await signPull(ctx, parts, row, request.amount, key);
    row = changePayment(ctx, row, { fundingDebits: await openPull(ctx, row, request.amount) });
  }
  if (!clearsAtOnce(request)) {
    awaitNetwork(ctx, row);
    tellCard(ctx, row);
    return row;
  }
  const { id, token, amount } = request;
  return clear(ctx, parts, row, { id, token, kind: 'CLEARING', amount });
}

/** Whether the network has sent nothing about a payment since it was opened, and no part was written off. */
function isUntouched(row: CardPaymentRow, request: CardRequest): boolean {
  const own = clearsAtOnce(request) ? 1 : 0;
  const { clearings, refunds, closed, fundingDebits, authorized, writtenOff } = factsOf(row);
  const isAsOpened = refunds.length === 0 && fundingDebits.length < 2 && writtenOff === 0n;
  const alone = clearings.length === own && isAsOpened;
  return alone && closed === (own === 1) && authorized === request.amount;
}

/**
 * Stages that a payment which was approved too late has never been: it ends with nothing settled, and what it
 * set aside or took is free again, at once or when the issuer has answered a pull that is under way. Answers
 * false where the network has gone on with it by now, or an operator has written it off.
 */
export async function undoPayment(
  ctx: Ctx,
  row: CardPaymentRow,
  request: CardRequest,
): Promise<boolean> {
  if (!isUntouched(row, request)) return false;
  const { card, steps } = undone(factsOf(row), row.direction);
  await whileOpen(ctx, row, async () => {
    await moveSteps(ctx, row, steps);
    return changePayment(ctx, row, card, row.status === 'EXCEPTION' ? 'resolve' : 'settle');
  });
  return true;
}
