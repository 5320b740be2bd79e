// Same-currency transfers: an older, shorter way to pay out than a quote. Kept because clients use it.

import { Type } from '@sinclair/typebox';
import { PurposeOfPayment } from '../../../catalog/rails/purposes.ts';
import { PaymentRail } from '../../../catalog/rails/rails.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { named, PositiveAmount } from '../../../kernel/schema.ts';
import { TransactionOneOf } from '../presentation/index.ts';

/** What transfers are made with. */
export interface TransferParts {
  connectors(environment: Mode): Connectors;
}

export const InternalAccountReference = named(
  'InternalAccountReference',
  Type.Object({ accountId: Type.String({ description: 'Id of an internal account.' }) }),
);

export const createTransferOut = operation({
  operationId: 'createTransferOut',
  method: 'POST',
  path: '/transfer-out',
  tag: 'Same-Currency Transfers',
  summary: 'Pay out in the same currency',
  description:
    'Sends money from an internal account to an external one. Quotes do this too. What the network of a ' +
    'wallet takes comes out of the amount.',
  permission: 'TRANSACT',
  deprecated: true,
  body: named(
    'TransferOutRequest',
    Type.Object({
      source: InternalAccountReference,
      destination: named(
        'ExternalAccountDestinationReference',
        Type.Object({
          accountId: Type.String({ description: 'External account that receives.' }),
          paymentRail: Type.Optional(PaymentRail),
        }),
      ),
      amount: Type.Optional(PositiveAmount),
      remittanceInformation: Type.Optional(
        Type.String({ maxLength: 80, pattern: '^[\\x20-\\x7e]*$' }),
      ),
      purposeOfPayment: Type.Optional(PurposeOfPayment),
    }),
  ),
  // The published schema leaves it optional, and a transfer of nothing is none.
  bodyRules: (body) =>
    (body as { amount?: unknown } | null)?.amount === undefined
      ? [{ field: 'amount', message: 'is required' }]
      : [],
  replies: { 201: TransactionOneOf },
  errors: [
    'MISSING_MANDATORY_USER_INFO',
    'AMOUNT_OUT_OF_RANGE',
    'INVALID_CURRENCY',
    'INVALID_BANK_ACCOUNT',
    'INVALID_AMOUNT',
    'TRANSACTION_SIZE_LIMIT_EXCEEDED',
    'EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED',
    'INSUFFICIENT_FUNDS',
    'USER_NOT_READY',
    'VELOCITY_LIMIT_EXCEEDED',
    'ACCOUNT_NOT_FOUND',
    'CONFLICT',
    'BANK_ACCOUNT_VALIDATION_PENDING',
    'CUSTOMER_DELETED',
    'DAILY_VOLUME_LIMIT_EXCEEDED',
    'NOT_IMPLEMENTED',
  ],
  money: true,
});
