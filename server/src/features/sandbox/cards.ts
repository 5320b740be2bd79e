// The network of a sandbox card, made up on the spot: each operation is one message, decided or heeded by
// what the handler of a real issuer uses, in the change set of the request. Only what no network would say of
// the payment is refused here.

import type { CardMerchant, CardNotice, CardRequest } from '../../connectors/ports/cards.ts';
import { assertNever } from '../../kernel/assert-never.ts';
import { Fault, invalidField } from '../../kernel/fault.ts';
import { uuid7 } from '../../kernel/id.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { handle } from '../../runtime/operation/handle.ts';
import {
  applyNotice,
  type CardParts,
  cardOf,
  cardPaymentOf,
  decide,
  netOf,
} from '../cards/index.ts';
import { factsOf } from '../payments/card-payments/index.ts';
import type { CardPaymentRow } from '../payments/transactions/index.ts';
import {
  sandboxSimulateCardAuthorization,
  sandboxSimulateCardAuthorizationAdvice,
  sandboxSimulateCardBalanceInquiry,
  sandboxSimulateCardClearing,
  sandboxSimulateCardCreditAuthorization,
  sandboxSimulateCardCreditAuthorizationAdvice,
  sandboxSimulateCardFinancialAuthorization,
  sandboxSimulateCardFinancialCreditAuthorization,
  sandboxSimulateCardReturn,
  sandboxSimulateCardReturnReversal,
} from './cards-contract.ts';

const accepted = (issuerTransactionToken: string) => ({
  status: 202 as const,
  body: { issuerTransactionToken },
});

const merchantOf = ({ descriptor, mcc, country }: CardMerchant): CardMerchant => ({
  descriptor,
  ...(mcc === undefined ? {} : { mcc }),
  ...(country === undefined ? {} : { country }),
});

interface Asked {
  kind: CardRequest['kind'];
  merchant: CardMerchant;
  /** Absent where nothing is to be paid. */
  money?: { amount: number; currency: { code?: string } };
}

/** Asks a card for something; declined or not, the network has a name for it. */
async function ask(ctx: Ctx, parts: CardParts, id: string, { kind, merchant, money }: Asked) {
  const card = await cardOf(ctx, id);
  const currency = money?.currency?.code ?? card.currency;
  if (currency !== card.currency) {
    throw invalidField('currency.code', `must be the currency of the card, ${card.currency}`);
  }
  const token = uuid7(ctx.effects);
  await decide(ctx, parts, card, {
    id: ctx.id('CardMessage'),
    token,
    cardId: card.id,
    kind,
    amount: BigInt(money?.amount ?? 0),
    currency,
    merchant: merchantOf(merchant),
  });
  return accepted(token);
}

/** What one message tells, without the names that every message has. */
type News<N = CardNotice> = N extends CardNotice ? Omit<N, 'id' | 'token'> : never;

const OPEN: readonly string[] = ['AUTHORIZED', 'PARTIALLY_SETTLED'];

/** What no network says of a payment that stands so. */
function checkCanBe(row: CardPaymentRow, news: News): void {
  const { status, direction } = row;
  const facts = factsOf(row);
  const field = 'cardTransactionId';
  const ofDebits = news.kind === 'RETURN' || news.kind === 'AUTHORIZATION_ADVICE';
  if (ofDebits && direction === 'CREDIT') throw invalidField(field, 'is a credit');
  switch (news.kind) {
    case 'RETURN':
      if (facts.clearings.length === 0) throw invalidField(field, 'has no cleared amount');
      if (news.amount > netOf(facts)) {
        throw invalidField(
          'amount',
          `must be at most ${netOf(facts)}, the settled amount that is not yet refunded`,
        );
      }
      return;
    case 'RETURN_REVERSAL':
      if (status !== 'REFUNDED') throw invalidField(field, `is ${status}, not REFUNDED`);
      return;
    case 'CLEARING':
    case 'AUTHORIZATION_ADVICE':
    case 'AUTHORIZATION_EXPIRY':
      if (!OPEN.includes(status)) {
        throw invalidField(field, `is ${status}, not one of ${OPEN.join(', ')}`);
      }
      return;
    default:
      assertNever(news, 'card notice');
  }
}

/** Tells about a payment with a card. */
async function tell(
  ctx: Ctx,
  parts: CardParts,
  { id, transactionId }: { id: string; transactionId: string },
  news: News,
) {
  const card = await cardOf(ctx, id);
  const row = await cardPaymentOf(ctx, transactionId);
  if (row.card.cardId !== card.id) {
    throw new Fault('TRANSACTION_NOT_FOUND', 'The payment was not found for this card.');
  }
  checkCanBe(row, news);
  const { token } = row.card;
  await applyNotice(ctx, parts, row, { id: ctx.id('CardMessage'), token, ...news });
  return accepted(token);
}

type Words = 'operationId' | 'path' | 'summary' | 'description';
type Asking = Omit<typeof sandboxSimulateCardAuthorization, Words> & Record<Words, string>;

/** What a card is asked, one operation for each kind. */
const asking = (parts: CardParts) => {
  const asks = (contract: Asking, kind: CardRequest['kind']) =>
    handle(contract, async (ctx, { params, body }) =>
      ask(ctx, parts, params.id, { kind, merchant: body.merchant, money: body }),
    );
  return [
    asks(sandboxSimulateCardAuthorization, 'AUTHORIZATION'),
    asks(sandboxSimulateCardFinancialAuthorization, 'FINANCIAL_AUTHORIZATION'),
    asks(sandboxSimulateCardCreditAuthorization, 'CREDIT_AUTHORIZATION'),
    asks(sandboxSimulateCardFinancialCreditAuthorization, 'FINANCIAL_CREDIT_AUTHORIZATION'),
    asks(sandboxSimulateCardCreditAuthorizationAdvice, 'CREDIT_AUTHORIZATION_ADVICE'),
    handle(sandboxSimulateCardBalanceInquiry, async (ctx, { params, body }) =>
      ask(ctx, parts, params.id, { kind: 'BALANCE_INQUIRY', merchant: body.merchant }),
    ),
  ];
};

export const sandboxCardOperations = (parts: CardParts) => [
  ...asking(parts),
  handle(sandboxSimulateCardAuthorizationAdvice, async (ctx, { params, body }) => {
    const of = { ...params, transactionId: body.cardTransactionId };
    return tell(ctx, parts, of, { kind: 'AUTHORIZATION_ADVICE', amount: BigInt(body.amount) });
  }),
  handle(sandboxSimulateCardClearing, async (ctx, { params, body }) => {
    const of = { ...params, transactionId: body.cardTransactionId };
    if (body.amount === 0) return tell(ctx, parts, of, { kind: 'AUTHORIZATION_EXPIRY' });
    return tell(ctx, parts, of, { kind: 'CLEARING', amount: BigInt(body.amount) });
  }),
  handle(sandboxSimulateCardReturn, async (ctx, { params, body }) => {
    const of = { ...params, transactionId: body.cardTransactionId };
    return tell(ctx, parts, of, { kind: 'RETURN', amount: BigInt(body.amount) });
  }),
  handle(sandboxSimulateCardReturnReversal, async (ctx, { params, body }) => {
    const of = { ...params, transactionId: body.cardTransactionId };
    return tell(ctx, parts, of, { kind: 'RETURN_REVERSAL' });
  }),
];
