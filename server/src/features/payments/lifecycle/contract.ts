// What a platform may do about a transaction: call it back, and note that a receipt was delivered.

import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { described, named, Timestamp } from '../../../kernel/schema.ts';
import { TransactionOneOf } from '../presentation/index.ts';

const TAG = 'Transactions';

export const cancelTransaction = operation({
  operationId: 'cancelTransaction',
  method: 'POST',
  path: '/transactions/{transactionId}/cancel',
  tag: TAG,
  summary: 'Call a payment back',
  description:
    'Asks the rail to stop a payment that has not settled. How the rail decided is told by ' +
    'events. Works for ACH and wires.',
  permission: 'TRANSACT',
  params: Type.Object({ transactionId: Type.String() }),
  body: named(
    'CancelTransactionRequest',
    Type.Object({
      reason: Type.Optional(Type.String({ maxLength: 255, description: 'For your own records.' })),
    }),
  ),
  bodyOptional: true,
  replies: { 200: TransactionOneOf },
  errors: ['TRANSACTION_NOT_CANCELLABLE'],
  notFound: 'TRANSACTION_NOT_FOUND',
  money: true,
});

export const confirmReceiptDelivery = operation({
  operationId: 'confirmReceiptDelivery',
  method: 'POST',
  path: '/transactions/{transactionId}/confirm',
  tag: TAG,
  summary: 'Confirm that a receipt was delivered',
  description:
    'Notes when you gave your customer the receipt. A later call replaces an earlier one.',
  permission: 'TRANSACT',
  params: Type.Object({ transactionId: Type.String() }),
  body: named(
    'ConfirmReceiptDeliveryRequest',
    Type.Object({
      receiptDeliveryConfirmedAt: Type.Optional(
        described(Timestamp, 'When it was delivered; now if absent. Not in the future.'),
      ),
    }),
  ),
  bodyOptional: true,
  replies: { 200: TransactionOneOf },
  errors: [],
  notFound: 'TRANSACTION_NOT_FOUND',
});
