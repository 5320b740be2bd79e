// The platform's word on a payment that waits for it: yes or no.

import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { named, oneOf } from '../../../kernel/schema.ts';
import { IncomingTransaction, OutgoingTransaction } from '../presentation/index.ts';
import { FAILURE_REASONS } from '../transactions/index.ts';

// One object and no union: who reads it as an incoming payment, which most are, finds what they look for.
export const DecidedTransaction = named(
  'DecidedTransaction',
  Type.Object(
    {
      ...OutgoingTransaction.properties,
      ...IncomingTransaction.properties,
      type: oneOf(['INCOMING', 'OUTGOING']),
      failureReason: Type.Optional(
        oneOf([...new Set([...FAILURE_REASONS.INCOMING, ...FAILURE_REASONS.OUTGOING])]),
      ),
    },
    { description: 'The payment: one that comes in, or one that an agent asked for.' },
  ),
);

const common = {
  method: 'POST',
  tag: 'Transactions',
  permission: 'TRANSACT',
  params: Type.Object({ transactionId: Type.String() }),
  bodyOptional: true,
  replies: { 200: DecidedTransaction },
  notFound: 'TRANSACTION_NOT_FOUND',
} as const;

export const approvePendingPayment = operation({
  ...common,
  operationId: 'approvePendingPayment',
  path: '/transactions/{transactionId}/approve',
  summary: 'Approve a payment that waits for you',
  description:
    'For a payment whose webhook was answered with 202: there are five seconds for it after that. Also for ' +
    'the payment of an agent that waits for you, which is carried out then.',
  errors: [
    'MISSING_MANDATORY_USER_INFO',
    'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL',
    'ACCOUNT_LOCKED',
  ],
  body: named(
    'ApprovePaymentRequest',
    Type.Object({
      receiverCustomerInfo: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'The fields about your customer that the webhook asked for, by name.',
        }),
      ),
    }),
  ),
});

export const rejectPendingPayment = operation({
  ...common,
  operationId: 'rejectPendingPayment',
  errors: ['TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL'],
  path: '/transactions/{transactionId}/reject',
  summary: 'Reject a payment that waits for you',
  description: 'The payment fails, or the quote stays unexecuted. Nothing has moved by then.',
  body: named(
    'RejectPaymentRequest',
    Type.Object({ reason: Type.Optional(Type.String({ description: 'Why; for your own use.' })) }),
  ),
});
