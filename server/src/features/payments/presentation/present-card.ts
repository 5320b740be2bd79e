// A payment with a card as the API shows it. What was cleared, came back and was taken is summed from its
// facts, in the card's currency; a sum is shown once there is something to sum. Pure.

import type { Static } from '@sinclair/typebox';
import { currencyView } from '../../../catalog/currencies/currencies.ts';
import { iso } from '../../../kernel/world.ts';
import { stamps } from '../../../runtime/operation/context.ts';
import {
  type CardFacts,
  type CardPaymentRow,
  cardAccountOf,
  refundedOf,
  settledOf,
  sumOf,
} from '../transactions/index.ts';
import type { CardTransaction } from './card-contract.ts';

type View = Static<typeof CardTransaction>;

const summary = (amounts: readonly string[]) => ({
  count: amounts.length,
  totalAmount: Number(sumOf(amounts)),
});

/** What was taken or is being taken; what could not even be set aside is not. */
function pullSummary({ pulls }: CardFacts) {
  const taken = pulls.filter(({ status }) => status !== 'FAILED');
  const pendingCount = pulls.filter(({ status }) => status === 'PENDING').length;
  return { ...summary(taken.map(({ amount }) => amount)), pendingCount };
}

/** The JSON of GET /transactions/{id} for such a payment, and of every event about it. */
export function presentCardPayment(row: CardPaymentRow): View {
  const { card } = row;
  const { settlements, returns, currency } = card;
  const money = (amount: bigint) => ({ amount: Number(amount), currency: currencyView(currency) });
  const settled = settlements.length > 0 || card.closed;
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
    authorizedAmount: money(BigInt(card.authorized)),
    ...(settled ? { settledAmount: money(settledOf(card)) } : {}),
    ...(returns.length ? { refundedAmount: money(refundedOf(card)) } : {}),
    accountId: cardAccountOf(row),
    ...(row.direction === 'DEBIT' ? { pullSummary: pullSummary(card) } : {}),
    ...(returns.length ? { refundSummary: summary(returns) } : {}),
    ...(settlements.length ? { settlementSummary: summary(settlements) } : {}),
    authorizedAt: iso(row.created_at),
    lastEventAt: card.lastEventAt,
    ...stamps(row),
  };
}
