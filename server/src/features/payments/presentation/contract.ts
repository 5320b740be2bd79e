// The operations that read transactions, and the webhooks about them.

import { Type } from '@sinclair/typebox';
import { CounterpartyFieldDefinition } from '../../../catalog/accounts/field-names.ts';
import {
  defineEvent,
  type EventDefinition,
  type WebhookContract,
} from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  named,
  oneOf,
  PageQuery,
  page,
  Timestamp,
  withDescription,
} from '../../../kernel/schema.ts';
import type { CardStatus } from '../card-payments/index.ts';
import type { IncomingRow, OutgoingRow } from '../transactions/index.ts';
import { CardTransaction } from './card-contract.ts';
import { TransactionStatus } from './transaction-parts.ts';
import {
  IncomingTransaction,
  OutgoingTransaction,
  TransactionOneOf,
} from './transaction-schemas.ts';

const TAG = 'Transactions';

export const getTransactionById = operation({
  operationId: 'getTransactionById',
  method: 'GET',
  path: '/transactions/{transactionId}',
  tag: TAG,
  summary: 'Get a transaction',
  description:
    'Returns an incoming, outgoing or card transaction with its current status. ' +
    'Use this operation to follow a payment after `executeQuote`.',
  permission: 'VIEW',
  params: Type.Object({ transactionId: Type.String({ description: 'ID of the transaction.' }) }),
  replies: { 200: TransactionOneOf },
  errors: [],
  notFound: 'TRANSACTION_NOT_FOUND',
});

const identifierFilter = (side: string) =>
  Type.Optional(
    Type.String({ description: `Filter by account ID or UMA address of the ${side}.` }),
  );

export const listTransactions = operation({
  operationId: 'listTransactions',
  method: 'GET',
  path: '/transactions',
  tag: TAG,
  summary: 'List transactions',
  description:
    'Returns a page of transactions by time of creation, newest first by default. ' +
    'Several filters are combined with AND. For reconciliation, read a time ' +
    'window with `startDate` and `endDate` and follow `nextCursor`.',
  permission: 'VIEW',
  query: Type.Object({
    ...PageQuery,
    customerId: Type.Optional(
      Type.String({
        description:
          'Filter by the ID of the customer. The ID of the platform selects transactions of the ' +
          'platform.',
      }),
    ),
    platformCustomerId: Type.Optional(
      Type.String({
        description: 'Filter by the ID of the customer in the system of the platform.',
      }),
    ),
    accountIdentifier: identifierFilter('sender or the receiver'),
    senderAccountIdentifier: identifierFilter('sender'),
    receiverAccountIdentifier: identifierFilter('receiver'),
    status: Type.Optional(withDescription(TransactionStatus, 'Filter by status.')),
    type: Type.Optional(
      oneOf(['INCOMING', 'OUTGOING', 'CARD'], { description: 'Filter by type.' }),
    ),
    reference: Type.Optional(
      Type.String({
        description:
          'Filter by the reference of the payment (`reconciliationInstructions`) or of ' +
          'its refund.',
      }),
    ),
    startDate: Type.Optional(withDescription(Timestamp, 'Earliest time of creation, inclusive.')),
    endDate: Type.Optional(withDescription(Timestamp, 'Latest time of creation, inclusive.')),
    sortOrder: Type.Optional(
      oneOf(['asc', 'desc'], { default: 'desc', description: 'Order by time of creation.' }),
    ),
  }),
  replies: { 200: named('TransactionListResponse', page(TransactionOneOf)) },
  errors: [],
});

const IncomingEvent = Type.Object(
  {
    ...IncomingTransaction.properties,
    requestedReceiverCustomerInfoFields: Type.Optional(
      Type.Array(CounterpartyFieldDefinition, {
        description:
          'Fields about the receiving customer to return as `receiverCustomerInfo` with ' +
          'the approval. Absent if no approval is requested.',
      }),
    ),
  },
  { description: 'The incoming payment at the time of the event.' },
);

type RefundEvent = 'REFUND_PENDING' | 'REFUND_COMPLETED' | 'REFUND_FAILED';

/** Events about the status and the refund of an outgoing payment. */
export const outgoingPayment = {
  PENDING: defineEvent('OUTGOING_PAYMENT.PENDING', OutgoingTransaction),
  PENDING_AUTHORIZATION: defineEvent('OUTGOING_PAYMENT.PENDING_AUTHORIZATION', OutgoingTransaction),
  PROCESSING: defineEvent('OUTGOING_PAYMENT.PROCESSING', OutgoingTransaction),
  COMPLETED: defineEvent('OUTGOING_PAYMENT.COMPLETED', OutgoingTransaction),
  FAILED: defineEvent('OUTGOING_PAYMENT.FAILED', OutgoingTransaction),
  EXPIRED: defineEvent('OUTGOING_PAYMENT.EXPIRED', OutgoingTransaction),
  REFUND_PENDING: defineEvent('OUTGOING_PAYMENT.REFUND_PENDING', OutgoingTransaction),
  REFUND_COMPLETED: defineEvent('OUTGOING_PAYMENT.REFUND_COMPLETED', OutgoingTransaction),
  REFUND_FAILED: defineEvent('OUTGOING_PAYMENT.REFUND_FAILED', OutgoingTransaction),
} as const satisfies Record<OutgoingRow['status'] | RefundEvent, EventDefinition>;

/** Events about an incoming payment. PROCESSING has no event. */
export const incomingPayment = {
  PENDING: defineEvent('INCOMING_PAYMENT.PENDING', IncomingEvent),
  COMPLETED: defineEvent('INCOMING_PAYMENT.COMPLETED', IncomingEvent),
  FAILED: defineEvent('INCOMING_PAYMENT.FAILED', IncomingEvent),
  REFUND_PENDING: defineEvent('INCOMING_PAYMENT.REFUND_PENDING', IncomingEvent),
  REFUND_COMPLETED: defineEvent('INCOMING_PAYMENT.REFUND_COMPLETED', IncomingEvent),
  REFUND_FAILED: defineEvent('INCOMING_PAYMENT.REFUND_FAILED', IncomingEvent),
} as const satisfies Record<
  Exclude<IncomingRow['status'], 'PROCESSING'> | RefundEvent,
  EventDefinition
>;

/** Events about a card payment, by status. */
export const cardTransaction = {
  AUTHORIZED: defineEvent('CARD_TRANSACTION.AUTHORIZED', CardTransaction),
  PARTIALLY_SETTLED: defineEvent('CARD_TRANSACTION.PARTIALLY_SETTLED', CardTransaction),
  SETTLED: defineEvent('CARD_TRANSACTION.SETTLED', CardTransaction),
  REFUNDED: defineEvent('CARD_TRANSACTION.REFUNDED', CardTransaction),
  EXCEPTION: defineEvent('CARD_TRANSACTION.EXCEPTION', CardTransaction),
} as const satisfies Record<CardStatus, EventDefinition>;

export const transactionWebhooks: readonly WebhookContract[] = [
  {
    name: 'outgoing-payment',
    summary: 'Outgoing payment status changed',
    description:
      'Sent for each change of the status of an outgoing payment, including the expiry of ' +
      'its quote, and for each change of its refund. A new quote with status PENDING sends no ' +
      'event.',
    events: Object.values(outgoingPayment),
  },
  {
    name: 'incoming-payment',
    summary: 'Incoming payment status changed',
    description:
      'Sent when an incoming payment is pending, completes or fails, and for each ' +
      'change of its refund. INCOMING_PAYMENT.PENDING for a payment from a UMA ' +
      'address requests approval within 5 seconds and is not retried. Respond with ' +
      '200 and `receiverCustomerInfo` to approve, 403 to reject, or 422 if required ' +
      'information is missing. Respond with 202 to decide through `approvePendingPayment` ' +
      'or `rejectPendingPayment` in a further 5 seconds. For other incoming payments the ' +
      'response has no effect.',
    events: Object.values(incomingPayment),
  },
  {
    name: 'card-transaction',
    summary: 'Card transaction status changed',
    description:
      'Sent for each status that a card transaction enters, and for each further ' +
      'clearing, refund or change of the authorized amount. A declined ' +
      'authorization creates no transaction and sends no event.',
    events: Object.values(cardTransaction),
  },
];
