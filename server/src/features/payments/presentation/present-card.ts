// The API view of a card payment. Sums of clearings, refunds and funding debits are calculated from
// the facts of the payment, in the currency of the card. Empty summaries of clearings and refunds
// are omitted. The functions are pure.

import type { Static } from '@sinclair/typebox';
import { currencyView } from '../../../catalog/currencies/currencies.ts';
import { iso } from '../../../kernel/effects.ts';
import { timestamps } from '../../../runtime/operation/context.ts';
import {
  type CardFacts,
  cardAccountOf,
  factsOf,
  refundedOf,
  settledOf,
  sumOf,
} from '../card-payments/index.ts';
import type { CardPaymentRow } from '../transactions/index.ts';
import type { CardTransaction } from './card-contract.ts';

type View = Static<typeof CardTransaction>;

const summarizeAmounts = (amounts: readonly bigint[]) => ({
  count: amounts.length,
  totalAmount: Number(sumOf(amounts)),
});

/** All debits except failed debits. */
function fundingDebitSummary({ fundingDebits }: CardFacts) {
  const countedFundingDebits = fundingDebits.filter(({ status }) => status !== 'FAILED');
  const pendingCount = fundingDebits.filter(({ status }) => status === 'PENDING').length;
  return { ...summarizeAmounts(countedFundingDebits.map(({ amount }) => amount)), pendingCount };
}

/** The body of `getTransactionById` for a card payment and the data of every event about it. */
export function presentCardPayment(row: CardPaymentRow): View {
  const { card } = row;
  const facts = factsOf(row);
  const { clearings, refunds } = facts;
  const currency = currencyView(card.currency);
  const money = (amount: bigint) => ({ amount: Number(amount), currency });
  const isSettled = clearings.length > 0 || facts.closed;
  return {
    type: 'CARD',
    id: row.id,
    cardId: card.cardId,
    customerId: row.customer_id,
    platformCustomerId: row.platform_customer_id,
    issuerTransactionToken: card.token,
    status: row.status,
    direction: row.direction,
    merchant: card.merchant,
    authorizedAmount: money(facts.authorized),
    ...(isSettled ? { settledAmount: money(settledOf(facts)) } : {}),
    ...(refunds.length ? { refundedAmount: money(refundedOf(facts)) } : {}),
    accountId: cardAccountOf(row),
    ...(row.direction === 'DEBIT' ? { pullSummary: fundingDebitSummary(facts) } : {}),
    ...(refunds.length ? { refundSummary: summarizeAmounts(refunds) } : {}),
    ...(clearings.length ? { settlementSummary: summarizeAmounts(clearings) } : {}),
    authorizedAt: iso(row.created_at),
    lastEventAt: iso(row.card_last_event_at),
    ...timestamps(row),
  };
}
