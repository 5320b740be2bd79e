// The operations by which a platform approves or rejects a pending payment.

import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { named, oneOf } from '../../../kernel/schema.ts';
import { IncomingTransaction, OutgoingTransaction } from '../presentation/index.ts';
import { FAILURE_REASONS } from '../transactions/index.ts';

// The schema is an object without a union, so that clients can parse each result as the usual
// incoming payment.
export const DecidedTransaction = named(
  'DecidedTransaction',
  Type.Object(
    {
      ...OutgoingTransaction.properties,
      ...IncomingTransaction.properties,
      type: oneOf(['INCOMING', 'OUTGOING'], {
        description: 'Direction of the payment for its customer.',
      }),
      failureReason: Type.Optional(
        oneOf([...new Set([...FAILURE_REASONS.INCOMING, ...FAILURE_REASONS.OUTGOING])], {
          description:
            'Reason for the failure. See IncomingTransaction and OutgoingTransaction. ' +
            'Absent if the payment has not failed.',
        }),
      ),
    },
    {
      description:
        'The transaction after the decision: an incoming payment, or a payment that ' +
        'an agent requested.',
    },
  ),
);

const commonContract = {
  method: 'POST',
  tag: 'Transactions',
  permission: 'TRANSACT',
  params: Type.Object({ transactionId: Type.String({ description: 'ID of the transaction.' }) }),
  bodyOptional: true,
  replies: { 200: DecidedTransaction },
  notFound: 'TRANSACTION_NOT_FOUND',
} as const;

export const approvePendingPayment = operation({
  ...commonContract,
  operationId: 'approvePendingPayment',
  path: '/transactions/{transactionId}/approve',
  summary: 'Approve a pending payment',
  description:
    'Approves an incoming payment from a UMA address whose ' +
    'INCOMING_PAYMENT.PENDING webhook received the response 202, within 5 seconds of ' +
    'that response. The payment becomes PROCESSING and its funds are collected from ' +
    'the sending provider. Also approves a payment that an agent requested and ' +
    'the agent policy holds for approval. The payment is then executed. Use ' +
    '`rejectPendingPayment` to decline.',
  errors: [
    'MISSING_MANDATORY_USER_INFO',
    'QUOTE_RATE_UNAVAILABLE',
    'VELOCITY_LIMIT_EXCEEDED',
    'SCA_SESSION_REQUIRED',
    'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL',
    'BANK_ACCOUNT_VALIDATION_PENDING',
    'ACCOUNT_LOCKED',
    'DAILY_VOLUME_LIMIT_EXCEEDED',
  ],
  body: named(
    'ApprovePaymentRequest',
    Type.Object(
      {
        receiverCustomerInfo: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), {
            description:
              'Information about the receiving customer, keyed by field name: the ' +
              '`requestedReceiverCustomerInfoFields` of the webhook.',
          }),
        ),
      },
      { description: 'Information that the approval requires.' },
    ),
  ),
});

export const rejectPendingPayment = operation({
  ...commonContract,
  operationId: 'rejectPendingPayment',
  errors: ['TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL'],
  path: '/transactions/{transactionId}/reject',
  summary: 'Reject a pending payment',
  description:
    'Rejects an incoming payment from a UMA address, or a payment of an agent, that is ' +
    'pending approval. The incoming payment or the payment of a transfer becomes FAILED. ' +
    'The quote of an agent can be executed until it expires. No funds are posted.',
  body: named(
    'RejectPaymentRequest',
    Type.Object(
      {
        reason: Type.Optional(
          Type.String({
            description:
              'Reason for the rejection. For an action of an agent, at most 255 characters, ' +
              'returned as `rejectionReason` of the action. The sender of a payment does not ' +
              'receive the reason.',
          }),
        ),
      },
      { description: 'Optional details of the rejection.' },
    ),
  ),
});
