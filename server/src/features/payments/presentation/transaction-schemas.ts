// Schemas of incoming and outgoing transactions in the API.

import { Type } from '@sinclair/typebox';
import { CounterpartyInformation } from '../../../catalog/accounts/field-names.ts';
import { PaymentInstructions } from '../../../catalog/rails/payment-instructions.ts';
import { PAYMENT_RAILS } from '../../../catalog/rails/rails.ts';
import {
  Amount,
  CurrencyAmount,
  named,
  nullable,
  oneOf,
  subsetOf,
  Timestamp,
  variant,
  withDescription,
} from '../../../kernel/schema.ts';
import { FAILURE_REASONS } from '../transactions/index.ts';
import { CardTransaction } from './card-contract.ts';
import {
  RateDetails,
  RefundSchema,
  TransactionDestination,
  TransactionSource,
  TransactionStatus,
  TransactionType,
} from './transaction-parts.ts';

const commonFields = {
  id: Type.String({ description: 'ID of the transaction, `Transaction:<uuid>`.' }),
  pendingReason: Type.Optional(
    oneOf(
      [
        'COUNTERPARTY_DECLARATION_REQUIRED',
        'WALLET_VERIFICATION_REQUIRED',
        'COUNTERPARTY_INFORMATION_REQUIRED',
        'COMPLIANCE_REVIEW',
      ],
      {
        description:
          'Reason why funds are held. Absent if no funds are held. ' +
          'COUNTERPARTY_DECLARATION_REQUIRED: the customer must declare who controls the ' +
          'sending wallet. WALLET_VERIFICATION_REQUIRED: the customer must prove ownership ' +
          'of the sending wallet. COUNTERPARTY_INFORMATION_REQUIRED: information about the ' +
          'sender is missing. COMPLIANCE_REVIEW: a compliance review is in progress. Funds ' +
          'that are held for 30 days are returned, unless the account is FROZEN.',
      },
    ),
  ),
  direction: oneOf(['CREDIT', 'DEBIT'], {
    description: 'CREDIT: funds are received. DEBIT: funds are sent.',
  }),
  destination: withDescription(TransactionDestination, 'Party that receives the funds.'),
  customerId: Type.String({
    description: 'ID of the customer, or of the platform for a transaction of the platform.',
  }),
  platformCustomerId: Type.String({
    description:
      'ID of the customer in the system of the platform, or ID of the platform for a transaction ' +
      'of the platform.',
  }),
  settledAt: Type.Optional(withDescription(Timestamp, 'Time of completion. Absent until then.')),
  createdAt: Type.Optional(withDescription(Timestamp, 'Time of creation.')),
  updatedAt: Type.Optional(withDescription(Timestamp, 'Time of the last change.')),
  receiptDeliveryConfirmedAt: Type.Optional(
    withDescription(
      Timestamp,
      'Time of receipt delivery, as confirmed through `confirmReceiptDelivery`. ' +
        'Absent until then.',
    ),
  ),
  agentId: Type.Optional(
    Type.String({
      description:
        'ID of the agent that requested the payment. Absent for a payment without an agent.',
    }),
  ),
  description: Type.Optional(
    Type.String({
      description: 'Internal note of the platform, from the quote. Absent if there is none.',
    }),
  ),
  exchangeRate: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      description:
        'Sending amount after fees divided by receiving amount, both in major units. ' +
        'Absent if the transaction was not priced.',
    }),
  ),
  quoteId: Type.Optional(
    Type.String({ description: 'ID of the quote of the transaction. Absent if there is none.' }),
  ),
  refund: Type.Optional(RefundSchema),
  counterpartyInformation: Type.Optional(CounterpartyInformation),
  reconciliationInstructions: Type.Optional(
    named(
      'ReconciliationInstructions',
      Type.Object(
        {
          reference: Type.Optional(
            Type.String({ description: 'Reference of the payment on its rail.' }),
          ),
          transactionHash: Type.Optional(
            Type.String({
              deprecated: true,
              description: 'Hash of the blockchain transaction. Use `onChainTransaction`.',
            }),
          ),
        },
        {
          minProperties: 1,
          description: 'Identifiers for matching the transaction with bank or rail records.',
        },
      ),
    ),
  ),
  fees: Type.Optional(
    withDescription(
      Amount,
      'Total fees, in minor units of the sending currency. They are part of `sentAmount`. ' +
        'Absent if the transaction was not priced.',
    ),
  ),
  senderUmaAddress: Type.Optional(
    Type.String({
      deprecated: true,
      description: 'UMA address of the sender. Use `source.umaAddress`.',
    }),
  ),
  receiverUmaAddress: Type.Optional(
    Type.String({
      deprecated: true,
      description: 'UMA address of the receiver. Use `destination.umaAddress`.',
    }),
  ),
};

const OUTGOING_FAILURES =
  'Reason for the failure. Absent unless the status is FAILED or EXPIRED. QUOTE_EXPIRED: the ' +
  'quote was not executed or funded in time. QUOTE_RATE_UNAVAILABLE: no rate was available at ' +
  'execution. QUOTE_EXECUTION_FAILED: the payment could not be executed or was canceled. ' +
  'FUNDING_AMOUNT_MISMATCH: the amount paid in is not `totalSendingAmount`. SCA_NOT_COMPLETED: ' +
  'the customer did not authorize the payment in time. No funds were transferred. ' +
  'PAYOUT_RETURNED: the receiving bank returned the funds. LIMIT_EXCEEDED: a limit of the ' +
  'platform or of the provider was exceeded. ' +
  'ACCOUNT_CANNOT_RECEIVE: the destination account exists and cannot be credited. ' +
  'ACCOUNT_INVALID: an account of the payment does not exist or is closed. COMPLIANCE_REJECTED: ' +
  'compliance controls rejected the payment. LIGHTNING_PAYMENT_FAILED: the Lightning payment ' +
  'failed. COUNTERPARTY_POST_TX_FAILED: the receiving provider did not complete the payment.';

const INCOMING_FAILURES =
  'Reason for the failure. Absent unless the status is FAILED. LNURLP_FAILED: ' +
  'the UMA address request failed. PAY_REQUEST_FAILED: the platform rejected ' +
  'the payment or the sending provider did not complete it. ' +
  'PAYMENT_APPROVAL_WEBHOOK_ERROR: the approval webhook returned an unexpected ' +
  'response. PAYMENT_APPROVAL_TIMED_OUT: the platform did not decide in time. ' +
  'OFFRAMP_FAILED: the payout to the external account failed. ' +
  'MISSING_MANDATORY_PAYEE_DATA: required information about the receiver is ' +
  'missing. QUOTE_EXPIRED: the quote expired. QUOTE_EXECUTION_FAILED: the ' +
  'payment could not be executed. COMPLIANCE_REJECTED: compliance controls ' +
  'rejected the payment. COLLECTION_FAILED: the funds could not be collected or ' +
  'credited.';

export const OutgoingTransaction = named(
  'OutgoingTransaction',
  Type.Object(
    {
      type: subsetOf(TransactionType, ['OUTGOING']),
      ...commonFields,
      status: subsetOf(TransactionStatus, [
        'PENDING',
        'PENDING_AUTHORIZATION',
        'EXPIRED',
        'PROCESSING',
        'COMPLETED',
        'FAILED',
      ]),
      source: withDescription(TransactionSource, 'Party that sends the funds.'),
      sentAmount: withDescription(CurrencyAmount, 'Amount debited, including fees.'),
      receivedAmount: Type.Optional(
        withDescription(CurrencyAmount, 'Amount credited to the receiver.'),
      ),
      platformFees: Type.Optional(
        withDescription(
          Amount,
          'Platform fees, in minor units of the sending currency. They are part of ' + '`fees`.',
        ),
      ),
      paymentInstructions: Type.Optional(
        Type.Array(PaymentInstructions, {
          description:
            'Payment instructions of the quote. Absent if there are none, and until a ' +
            'REALTIME_FUNDING payment is authorized.',
        }),
      ),
      rateDetails: Type.Optional(RateDetails),
      failureReason: Type.Optional(
        oneOf(FAILURE_REASONS.OUTGOING, { description: OUTGOING_FAILURES }),
      ),
      paymentRail: Type.Optional(
        nullable(
          oneOf(PAYMENT_RAILS, {
            description:
              'Rail of the payout. Null for payments to internal accounts, wallets and UMA ' +
              'addresses.',
          }),
        ),
      ),
      railSelectionMode: Type.Optional(
        nullable(
          oneOf(['AUTO', 'MANUAL'], {
            description:
              'AUTO: the service selected the rail. MANUAL: the request named the rail. Null if ' +
              'there is no rail.',
          }),
        ),
      ),
      expectedSettlementAt: Type.Optional(
        nullable({
          ...Timestamp,
          description:
            'Expected time of settlement. Null for instant rails and if there is no rail.',
        }),
      ),
      settlementTimelineSeconds: Type.Optional(
        nullable(
          Type.Integer({
            description:
              'Usual settlement time of the rail, in seconds from the creation of the ' +
              'transaction. Null if there is no rail.',
          }),
        ),
      ),
    },
    { description: 'A payment that the customer or the platform sends.' },
  ),
);

export const IncomingTransaction = named(
  'IncomingTransaction',
  Type.Object(
    {
      type: subsetOf(TransactionType, ['INCOMING']),
      ...commonFields,
      status: TransactionStatus,
      source: Type.Optional(withDescription(TransactionSource, 'Party that sends the funds.')),
      sentAmount: Type.Optional(
        withDescription(
          CurrencyAmount,
          'Amount debited from the sender. Absent if the amount is unknown.',
        ),
      ),
      receivedAmount: withDescription(
        CurrencyAmount,
        'Amount credited, or to be credited, to the receiver.',
      ),
      failureReason: Type.Optional(
        oneOf(FAILURE_REASONS.INCOMING, { description: INCOMING_FAILURES }),
      ),
    },
    { description: 'A payment that the customer or the platform receives.' },
  ),
);

export const TransactionOneOf = named(
  'TransactionOneOf',
  variant('type', {
    INCOMING: IncomingTransaction,
    OUTGOING: OutgoingTransaction,
    CARD: CardTransaction,
  }),
);
