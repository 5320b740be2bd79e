// What a transaction looks like from outside, and the operations that read them.

import { Type } from '@sinclair/typebox';
import {
  CounterpartyFieldDefinition,
  CounterpartyInformation,
} from '../../../catalog/accounts/field-names.ts';
import { PaymentInstructions } from '../../../catalog/rails/payment-instructions.ts';
import { PAYMENT_RAILS, PaymentRail } from '../../../catalog/rails/rails.ts';
import {
  defineEvent,
  type EventDefinition,
  type WebhookContract,
} from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  Amount,
  CurrencyAmount,
  described,
  named,
  nullable,
  oneOf,
  PageQuery,
  page,
  partOf,
  Timestamp,
  variant,
} from '../../../kernel/schema.ts';
import type { CardStatus } from '../card-payments/index.ts';
import { FAILURE_REASONS, type IncomingRow, type OutgoingRow } from '../transactions/index.ts';
import { CardTransaction } from './card-contract.ts';

const TRANSACTION_STATUSES = [
  'CREATED',
  'PENDING',
  'PENDING_AUTHORIZATION',
  'PROCESSING',
  'COMPLETED',
  'REJECTED',
  'FAILED',
  'REFUNDED',
  'EXPIRED',
] as const;

const TransactionStatus = named('TransactionStatus', oneOf(TRANSACTION_STATUSES));
const TransactionType = named('TransactionType', oneOf(['INCOMING', 'OUTGOING']));
const SourceType = named(
  'TransactionSourceType',
  oneOf(['ACCOUNT', 'UMA_ADDRESS', 'REALTIME_FUNDING']),
);
const DestinationType = named('TransactionDestinationType', oneOf(['ACCOUNT', 'UMA_ADDRESS']));

const CRYPTO_NETWORKS = [
  'BITCOIN',
  'ETHEREUM',
  'SOLANA',
  'BASE',
  'POLYGON',
  'TRON',
  'PLASMA',
  'SPARK',
] as const;

const OnChainTransaction = named(
  'OnChainTransaction',
  Type.Object(
    {
      transactionHash: Type.String({ description: 'Hash of the transaction on its chain.' }),
      network: named('CryptoNetwork', oneOf(CRYPTO_NETWORKS)),
    },
    { description: 'Where the money moved on a chain; there once that leg has settled.' },
  ),
);

const currencyOfLeg = Type.Optional(Type.String({ description: 'Currency of this end.' }));
const accountOfLeg = Type.String({ description: 'Id of an internal or external account.' });
const umaOfLeg = Type.String({ description: 'UMA address, `$name@domain`.' });

const TransactionSource = named(
  'TransactionSource',
  variant(
    'sourceType',
    {
      ACCOUNT: named(
        'AccountTransactionSource',
        Type.Object({
          accountId: accountOfLeg,
          currency: currencyOfLeg,
          onChainTransaction: Type.Optional(OnChainTransaction),
        }),
      ),
      UMA_ADDRESS: named(
        'UmaAddressTransactionSource',
        Type.Object({ umaAddress: umaOfLeg, currency: currencyOfLeg }),
      ),
      REALTIME_FUNDING: named(
        'RealtimeFundingTransactionSource',
        Type.Object({
          currency: Type.String({ description: 'Currency that came in.' }),
          customerId: Type.Optional(Type.String()),
          accountHolderName: Type.Optional(Type.String({ description: 'Who sent it, if known.' })),
          accountIdentifier: Type.Optional(
            Type.String({ description: 'Their account, maybe masked.' }),
          ),
          bankName: Type.Optional(Type.String()),
          bankIdentifier: Type.Optional(Type.String()),
          paymentRail: Type.Optional(PaymentRail),
          remittanceInformation: Type.Optional(Type.String()),
          endToEndId: Type.Optional(Type.String()),
          traceNumber: Type.Optional(Type.String({ description: 'ACH trace, IMAD or OMAD.' })),
          onChainTransaction: Type.Optional(OnChainTransaction),
        }),
      ),
    },
    { tagType: SourceType },
  ),
);

const TransactionDestination = named(
  'TransactionDestination',
  variant(
    'destinationType',
    {
      ACCOUNT: named(
        'AccountTransactionDestination',
        Type.Object({
          accountId: accountOfLeg,
          currency: currencyOfLeg,
          onChainTransaction: Type.Optional(OnChainTransaction),
        }),
      ),
      UMA_ADDRESS: named(
        'UmaAddressTransactionDestination',
        Type.Object({ umaAddress: umaOfLeg, currency: currencyOfLeg }),
      ),
    },
    { tagType: DestinationType },
  ),
);

const RefundSchema = named(
  'Refund',
  Type.Object(
    {
      reference: Type.String({ description: 'Names the refund.' }),
      initiatedAt: Timestamp,
      settledAt: Type.Optional(described(Timestamp, 'When the money was back.')),
      status: oneOf(['PENDING', 'COMPLETED', 'FAILED']),
      reason: Type.Optional(oneOf(['TRANSACTION_FAILED', 'USER_CANCELLATION', 'TIMEOUT'])),
    },
    { description: 'Money on its way back to where it came from.' },
  ),
);

export const RateDetails = named(
  'OutgoingRateDetails',
  Type.Object(
    {
      counterpartyMultiplier: Type.Number({ exclusiveMinimum: 0 }),
      counterpartyFixedFee: Amount,
      serviceApiMultiplier: Type.Number({ exclusiveMinimum: 0 }),
      serviceApiFixedFee: Amount,
      serviceApiVariableFeeRate: Type.Number({ minimum: 0, description: '0.003 is 0.3 %.' }),
      serviceApiVariableFeeAmount: Type.Number({ minimum: 0 }),
    },
    { description: 'How the price is made up.' },
  ),
);

const common = {
  id: Type.String({ description: 'Transaction:<uuid>' }),
  pendingReason: Type.Optional(
    oneOf(
      [
        'COUNTERPARTY_DECLARATION_REQUIRED',
        'WALLET_VERIFICATION_REQUIRED',
        'COUNTERPARTY_INFORMATION_REQUIRED',
        'COMPLIANCE_REVIEW',
      ],
      { description: 'Why it is held; absent otherwise.' },
    ),
  ),
  direction: oneOf(['CREDIT', 'DEBIT'], { description: 'Whether money comes or goes.' }),
  destination: TransactionDestination,
  customerId: Type.String({ description: 'The customer, or the platform for its own money.' }),
  platformCustomerId: Type.String({ description: 'The id the platform knows the customer by.' }),
  settledAt: Type.Optional(Timestamp),
  createdAt: Type.Optional(Timestamp),
  updatedAt: Type.Optional(Timestamp),
  receiptDeliveryConfirmedAt: Type.Optional(Timestamp),
  agentId: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  exchangeRate: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, description: 'Sending units for one receiving unit.' }),
  ),
  quoteId: Type.Optional(Type.String()),
  refund: Type.Optional(RefundSchema),
  counterpartyInformation: Type.Optional(CounterpartyInformation),
  reconciliationInstructions: Type.Optional(
    named(
      'ReconciliationInstructions',
      Type.Object(
        {
          reference: Type.Optional(Type.String({ description: 'What the rail calls it.' })),
          transactionHash: Type.Optional(Type.String({ deprecated: true })),
        },
        { minProperties: 1, description: 'How to find it on the other side.' },
      ),
    ),
  ),
  fees: Type.Optional(described(Amount, 'All fees, in the sending currency.')),
  senderUmaAddress: Type.Optional(
    Type.String({ deprecated: true, description: 'As `source.umaAddress`, for older clients.' }),
  ),
  receiverUmaAddress: Type.Optional(
    Type.String({ deprecated: true, description: 'As `destination.umaAddress`, likewise.' }),
  ),
};

export const OutgoingTransaction = named(
  'OutgoingTransaction',
  Type.Object({
    type: partOf(TransactionType, ['OUTGOING']),
    ...common,
    status: partOf(TransactionStatus, [
      'PENDING',
      'PENDING_AUTHORIZATION',
      'EXPIRED',
      'PROCESSING',
      'COMPLETED',
      'FAILED',
    ]),
    source: TransactionSource,
    sentAmount: CurrencyAmount,
    receivedAmount: Type.Optional(CurrencyAmount),
    platformFees: Type.Optional(described(Amount, 'The part of `fees` that the platform earns.')),
    paymentInstructions: Type.Optional(Type.Array(PaymentInstructions)),
    rateDetails: Type.Optional(RateDetails),
    failureReason: Type.Optional(oneOf(FAILURE_REASONS.OUTGOING)),
    paymentRail: Type.Optional(nullable(oneOf(PAYMENT_RAILS))),
    railSelectionMode: Type.Optional(nullable(oneOf(['AUTO', 'MANUAL']))),
    expectedSettlementAt: Type.Optional(nullable(Timestamp)),
    settlementTimelineSeconds: Type.Optional(nullable(Type.Integer())),
  }),
);

export const IncomingTransaction = named(
  'IncomingTransaction',
  Type.Object({
    type: partOf(TransactionType, ['INCOMING']),
    ...common,
    status: TransactionStatus,
    source: Type.Optional(TransactionSource),
    sentAmount: Type.Optional(CurrencyAmount),
    receivedAmount: CurrencyAmount,
    failureReason: Type.Optional(oneOf(FAILURE_REASONS.INCOMING)),
  }),
);

export const TransactionOneOf = named(
  'TransactionOneOf',
  variant('type', {
    INCOMING: IncomingTransaction,
    OUTGOING: OutgoingTransaction,
    CARD: CardTransaction,
  }),
);

const TAG = 'Transactions';

export const getTransactionById = operation({
  operationId: 'getTransactionById',
  method: 'GET',
  path: '/transactions/{transactionId}',
  tag: TAG,
  summary: 'Get a transaction',
  permission: 'VIEW',
  params: Type.Object({ transactionId: Type.String() }),
  replies: { 200: TransactionOneOf },
  errors: [],
  notFound: 'TRANSACTION_NOT_FOUND',
});

const identifier = (side: string) =>
  Type.Optional(Type.String({ description: `Account id or UMA address ${side}.` }));

export const listTransactions = operation({
  operationId: 'listTransactions',
  method: 'GET',
  path: '/transactions',
  tag: TAG,
  summary: 'List transactions',
  description: 'Newest first unless asked otherwise. Filters must all match.',
  permission: 'VIEW',
  query: Type.Object({
    ...PageQuery,
    customerId: Type.Optional(
      Type.String({ description: "A customer, or the platform's id for its own transactions." }),
    ),
    platformCustomerId: Type.Optional(Type.String()),
    accountIdentifier: identifier('on either end'),
    senderAccountIdentifier: identifier('on the sending end'),
    receiverAccountIdentifier: identifier('on the receiving end'),
    status: Type.Optional(TransactionStatus),
    type: Type.Optional(oneOf(['INCOMING', 'OUTGOING', 'CARD'])),
    reference: Type.Optional(
      Type.String({ description: 'Reference of the payment on its rail, or of its refund.' }),
    ),
    startDate: Type.Optional(described(Timestamp, 'Created at this moment or later.')),
    endDate: Type.Optional(described(Timestamp, 'Created at this moment or earlier.')),
    sortOrder: Type.Optional(oneOf(['asc', 'desc'], { default: 'desc' })),
  }),
  replies: { 200: named('TransactionListResponse', page(TransactionOneOf)) },
  errors: [],
});

const IncomingEvent = Type.Object({
  ...IncomingTransaction.properties,
  requestedReceiverCustomerInfoFields: Type.Optional(Type.Array(CounterpartyFieldDefinition)),
});

type RefundEvent = 'REFUND_PENDING' | 'REFUND_COMPLETED' | 'REFUND_FAILED';

/** The events about an outgoing payment: its status, and its refund. */
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

/** The events about an incoming payment. PROCESSING has none. */
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

/** The events about a payment with a card, by its status. */
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
    summary: 'An outgoing payment moved on',
    description: 'Sent for every status a payment enters, and for its refund.',
    events: Object.values(outgoingPayment),
  },
  {
    name: 'incoming-payment',
    summary: 'Money came in',
    description: 'Sent when a payment arrives in an internal account, or fails to.',
    events: Object.values(incomingPayment),
  },
  {
    name: 'card-transaction',
    summary: 'A payment with a card moved on',
    description:
      'Sent for every status a payment enters, and again when a part of it comes back or its total ' +
      'changes. A payment that was declined is none.',
    events: Object.values(cardTransaction),
  },
];
