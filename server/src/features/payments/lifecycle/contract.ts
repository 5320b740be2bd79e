// Operations on transactions: cancel, and confirm receipt delivery.

import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { named, Timestamp, withDescription } from '../../../kernel/schema.ts';
import { TransactionOneOf } from '../presentation/index.ts';

const TAG = 'Transactions';

export const cancelTransaction = operation({
  operationId: 'cancelTransaction',
  method: 'POST',
  path: '/transactions/{transactionId}/cancel',
  tag: TAG,
  summary: 'Cancel a payment',
  description:
    'Requests the cancellation of an ACH or wire payment that has started and has not settled. ' +
    'The rail responds later, so the reply can still show the previous state. Read the result ' +
    'from the events or with `getTransactionById`. A canceled payout is refunded to its source ' +
    'with reason USER_CANCELLATION and then becomes COMPLETED. A canceled debit becomes FAILED.',
  permission: 'TRANSACT',
  params: Type.Object({ transactionId: Type.String({ description: 'ID of the transaction.' }) }),
  body: named(
    'CancelTransactionRequest',
    Type.Object(
      {
        reason: Type.Optional(
          Type.String({
            maxLength: 255,
            description: 'Informational. The reason is not stored and not sent to the rail.',
          }),
        ),
      },
      { description: 'Optional details of a cancellation.' },
    ),
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
  summary: 'Confirm delivery of a receipt',
  description:
    'Records when the platform delivered the receipt of a transaction to its ' +
    'customer. A repeated call replaces the time. The call does not change funds or ' +
    'status.',
  permission: 'TRANSACT',
  params: Type.Object({ transactionId: Type.String({ description: 'ID of the transaction.' }) }),
  body: named(
    'ConfirmReceiptDeliveryRequest',
    Type.Object(
      {
        receiptDeliveryConfirmedAt: Type.Optional(
          withDescription(
            Timestamp,
            'Time of delivery. Must not be in the future. Defaults to the current time.',
          ),
        ),
      },
      { description: 'Time of receipt delivery.' },
    ),
  ),
  bodyOptional: true,
  replies: { 200: TransactionOneOf },
  errors: [],
  notFound: 'TRANSACTION_NOT_FOUND',
});
