// The platform's word on a payment that waits for it: yes or no.
import { Type } from '@sinclair/typebox';
import { operation } from '../../kernel/operation.ts';
import { named } from '../../kernel/schema.ts';
import { IncomingTransaction } from '../transactions/index.ts';

const common = {
  method: 'POST',
  tag: 'Transactions',
  permission: 'TRANSACT',
  params: Type.Object({ transactionId: Type.String() }),
  bodyOptional: true,
  replies: { 200: IncomingTransaction },
  errors: [400, 404, 409],
  notFound: 'TRANSACTION_NOT_FOUND',
} as const;

export const approvePendingPayment = operation({
  ...common,
  operationId: 'approvePendingPayment',
  path: '/transactions/{transactionId}/approve',
  summary: 'Approve a payment that waits for you',
  description:
    'For a payment whose webhook was answered with 202. There are five seconds for it after that.',
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
  path: '/transactions/{transactionId}/reject',
  summary: 'Reject a payment that waits for you',
  description: 'The payment fails. Nothing has moved by then.',
  body: named(
    'RejectPaymentRequest',
    Type.Object({ reason: Type.Optional(Type.String({ description: 'Why; for your own use.' })) }),
  ),
});
