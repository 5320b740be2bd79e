// The API view of a transaction.

import { moneyView } from '../../../catalog/currencies/money-format.ts';
import { rateDetailsOf } from '../../../catalog/currencies/rate-details.ts';
import type { OnChain } from '../../../connectors/ports/index.ts';
import { assertNever } from '../../../kernel/assert-never.ts';
import { iso } from '../../../kernel/effects.ts';
import { timestamps } from '../../../runtime/operation/context.ts';
import { paymentReferenceOf } from '../suspense/index.ts';
import {
  type OutgoingRow,
  type PaymentRow,
  receivedOf,
  type TransactionRow,
} from '../transactions/index.ts';
import { presentCardPayment } from './present-card.ts';

type Party = PaymentRow['source'];

const withChain = (party: Party, chain: OnChain | null): Party =>
  chain ? { ...party, onChainTransaction: chain } : party;

function commonFieldsOf(row: PaymentRow) {
  return {
    id: row.id,
    status: row.status,
    direction: row.direction,
    ...(row.source ? { source: withChain(row.source, row.source_chain) } : {}),
    destination: withChain(row.destination, row.destination_chain),
    ...(row.source?.umaAddress ? { senderUmaAddress: row.source.umaAddress } : {}),
    ...(row.destination.umaAddress ? { receiverUmaAddress: row.destination.umaAddress } : {}),
    customerId: row.customer_id ?? row.platform_id,
    platformCustomerId: row.platform_customer_id,
    ...(row.pending_reason ? { pendingReason: row.pending_reason } : {}),
    ...(row.failure_reason ? { failureReason: row.failure_reason } : {}),
    ...(row.refund ? { refund: row.refund } : {}),
    ...(row.description === null ? {} : { description: row.description }),
    ...(row.counterparty ? { counterpartyInformation: row.counterparty } : {}),
    ...(row.quote_id ? { quoteId: row.quote_id } : {}),
    ...(row.agent_id ? { agentId: row.agent_id } : {}),
    ...(row.exchange_rate ? { exchangeRate: Number(row.exchange_rate) } : {}),
    ...(row.fees === null ? {} : { fees: Number(row.fees) }),
    ...(row.settled_at === null ? {} : { settledAt: iso(row.settled_at) }),
    ...(row.receipt_confirmed_at === null
      ? {}
      : { receiptDeliveryConfirmedAt: iso(row.receipt_confirmed_at) }),
    reconciliationInstructions: { reference: paymentReferenceOf(row.id) },
    ...timestamps(row),
  };
}

const sentFieldsOf = (row: PaymentRow) =>
  row.sent_amount === null || row.sent_currency === null
    ? {}
    : { sentAmount: moneyView({ amount: row.sent_amount, currency: row.sent_currency }) };

const receivedFieldsOf = (row: PaymentRow) => ({
  receivedAmount: moneyView(receivedOf(row)),
});

/**
 * Payment instructions. Null for a REALTIME_FUNDING payment whose required authorization is
 * missing.
 */
export function instructionsOf(row: OutgoingRow): OutgoingRow['instructions'] {
  const { status, failure_reason: reason, source } = row;
  const isUnauthorized = status === 'PENDING_AUTHORIZATION' || reason === 'SCA_NOT_COMPLETED';
  return isUnauthorized && source.sourceType === 'REALTIME_FUNDING' ? null : row.instructions;
}

function presentOutgoing(row: OutgoingRow) {
  const instructions = instructionsOf(row);
  return {
    type: row.type,
    ...commonFieldsOf(row),
    ...sentFieldsOf(row),
    ...receivedFieldsOf(row),
    platformFees: Number(row.platform_fees),
    ...(instructions ? { paymentInstructions: instructions } : {}),
    ...(row.rate_details ? { rateDetails: rateDetailsOf(row.rate_details) } : {}),
    paymentRail: row.rail,
    railSelectionMode: row.rail_mode,
    expectedSettlementAt:
      row.expected_settlement_at === null ? null : iso(row.expected_settlement_at),
    settlementTimelineSeconds: row.settlement_seconds,
  };
}

/** The body of `getTransactionById` and the data of events about the transaction. */
export function presentTransaction(row: TransactionRow) {
  switch (row.type) {
    case 'CARD':
      return presentCardPayment(row);
    case 'INCOMING':
      return {
        type: row.type,
        ...commonFieldsOf(row),
        ...sentFieldsOf(row),
        ...receivedFieldsOf(row),
      };
    case 'OUTGOING':
      return presentOutgoing(row);
    default:
      return assertNever(row, 'type of transaction');
  }
}
