// A simulated card network. Each operation is one message, processed by the same functions as
// messages of a real issuer, in the change set of the request. Only messages that a network would
// not send are rejected here.

import type { CardMerchant, CardNotice, CardRequest } from '../../connectors/ports/cards.ts';
import { assertNever } from '../../kernel/assert-never.ts';
import { Fault, invalidField } from '../../kernel/fault.ts';
import { uuid7 } from '../../kernel/id.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { handle } from '../../runtime/operation/handle.ts';
import {
  applyNotice,
  type CardDeps,
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

const acceptedResponse = (issuerTransactionToken: string) => ({
  status: 202 as const,
  body: { issuerTransactionToken },
});

const merchantOf = ({ descriptor, mcc, country }: CardMerchant): CardMerchant => ({
  descriptor,
  ...(mcc === undefined ? {} : { mcc }),
  ...(country === undefined ? {} : { country }),
});

interface SimulatedRequest {
  kind: CardRequest['kind'];
  merchant: CardMerchant;
  /** Absent for messages without an amount. */
  money?: { amount: number; currency: { code?: string } };
}

/**
 * Processes an authorization request. The reply has an issuer reference for an approval and for a decline.
 */
async function authorize(ctx: Ctx, deps: CardDeps, id: string, request: SimulatedRequest) {
  const { kind, merchant, money } = request;
  const card = await cardOf(ctx, id);
  const currency = money?.currency?.code ?? card.currency;
  if (currency !== card.currency) {
    throw invalidField('currency.code', `must be the currency of the card, ${card.currency}`);
  }
  const token = uuid7(ctx.effects);
  await decide(ctx, deps, card, {
    id: ctx.id('CardMessage'),
    token,
    cardId: card.id,
    kind,
    amount: BigInt(money?.amount ?? 0),
    currency,
    merchant: merchantOf(merchant),
  });
  return acceptedResponse(token);
}

/** The content of a notice, without the IDs that every notice has. */
type NoticeContent<N = CardNotice> = N extends CardNotice ? Omit<N, 'id' | 'token'> : never;

const OPEN_STATUSES: readonly string[] = ['AUTHORIZED', 'PARTIALLY_SETTLED'];

/** Rejects notices that a network would not send for a payment in this state. */
function checkPlausible(row: CardPaymentRow, notice: NoticeContent): void {
  const { status, direction } = row;
  const facts = factsOf(row);
  const field = 'cardTransactionId';
  const isForDebitsOnly = notice.kind === 'RETURN' || notice.kind === 'AUTHORIZATION_ADVICE';
  if (isForDebitsOnly && direction === 'CREDIT') {
    throw invalidField(field, 'is a credit, which can be neither refunded nor adjusted');
  }
  switch (notice.kind) {
    case 'RETURN':
      if (facts.clearings.length === 0) {
        throw invalidField(field, 'must be a payment with a cleared amount');
      }
      if (notice.amount > netOf(facts)) {
        throw invalidField(
          'amount',
          `must be at most ${netOf(facts)}, the settled amount that is not yet refunded`,
        );
      }
      return;
    case 'RETURN_REVERSAL':
      if (status !== 'REFUNDED') {
        throw invalidField(field, `must be REFUNDED: the payment is ${status}`);
      }
      return;
    case 'CLEARING':
    case 'AUTHORIZATION_ADVICE':
    case 'AUTHORIZATION_REVERSAL':
    case 'AUTHORIZATION_EXPIRY':
      if (!OPEN_STATUSES.includes(status)) {
        throw invalidField(
          field,
          `must be ${OPEN_STATUSES.join(' or ')}: the payment is ${status}`,
        );
      }
      return;
    default:
      assertNever(notice, 'card notice');
  }
}

/** Processes a notice about a card payment. */
async function sendNotice(
  ctx: Ctx,
  deps: CardDeps,
  { id, transactionId }: { id: string; transactionId: string },
  notice: NoticeContent,
) {
  const card = await cardOf(ctx, id);
  const row = await cardPaymentOf(ctx, transactionId);
  if (row.card.cardId !== card.id) {
    throw new Fault('TRANSACTION_NOT_FOUND', 'The payment was not found for this card.');
  }
  checkPlausible(row, notice);
  const { token } = row.card;
  await applyNotice(ctx, deps, row, { id: ctx.id('CardMessage'), token, ...notice });
  return acceptedResponse(token);
}

type TextField = 'operationId' | 'path' | 'summary' | 'description';
type RequestContract = Omit<typeof sandboxSimulateCardAuthorization, TextField> &
  Record<TextField, string>;

/** Authorization requests, one operation for each kind. */
const requestOperations = (deps: CardDeps) => {
  const simulate = (contract: RequestContract, kind: CardRequest['kind']) =>
    handle(contract, async (ctx, { params, body }) =>
      authorize(ctx, deps, params.id, { kind, merchant: body.merchant, money: body }),
    );
  return [
    simulate(sandboxSimulateCardAuthorization, 'AUTHORIZATION'),
    simulate(sandboxSimulateCardFinancialAuthorization, 'FINANCIAL_AUTHORIZATION'),
    simulate(sandboxSimulateCardCreditAuthorization, 'CREDIT_AUTHORIZATION'),
    simulate(sandboxSimulateCardFinancialCreditAuthorization, 'FINANCIAL_CREDIT_AUTHORIZATION'),
    simulate(sandboxSimulateCardCreditAuthorizationAdvice, 'CREDIT_AUTHORIZATION_ADVICE'),
    handle(sandboxSimulateCardBalanceInquiry, async (ctx, { params, body }) =>
      authorize(ctx, deps, params.id, { kind: 'BALANCE_INQUIRY', merchant: body.merchant }),
    ),
  ];
};

export const sandboxCardOperations = (deps: CardDeps) => [
  ...requestOperations(deps),
  handle(sandboxSimulateCardAuthorizationAdvice, async (ctx, { params, body }) => {
    const target = { ...params, transactionId: body.cardTransactionId };
    return sendNotice(ctx, deps, target, {
      kind: 'AUTHORIZATION_ADVICE',
      amount: BigInt(body.amount),
    });
  }),
  handle(sandboxSimulateCardClearing, async (ctx, { params, body }) => {
    const target = { ...params, transactionId: body.cardTransactionId };
    if (body.amount === 0) return sendNotice(ctx, deps, target, { kind: 'AUTHORIZATION_EXPIRY' });
    return sendNotice(ctx, deps, target, { kind: 'CLEARING', amount: BigInt(body.amount) });
  }),
  handle(sandboxSimulateCardReturn, async (ctx, { params, body }) => {
    const target = { ...params, transactionId: body.cardTransactionId };
    return sendNotice(ctx, deps, target, { kind: 'RETURN', amount: BigInt(body.amount) });
  }),
  handle(sandboxSimulateCardReturnReversal, async (ctx, { params, body }) => {
    const target = { ...params, transactionId: body.cardTransactionId };
    return sendNotice(ctx, deps, target, { kind: 'RETURN_REVERSAL' });
  }),
];
