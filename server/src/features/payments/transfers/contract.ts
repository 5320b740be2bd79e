// Outgoing same-currency transfers. Deprecated in favor of quotes and supported because clients use them.

import { Type } from '@sinclair/typebox';
import { PurposeOfPayment } from '../../../catalog/rails/purposes.ts';
import { PaymentRail } from '../../../catalog/rails/rails.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { named, PositiveAmount, withDescription } from '../../../kernel/schema.ts';
import { TransactionOneOf } from '../presentation/index.ts';

export interface TransferDeps {
  connectors(environment: Mode): Connectors;
}

export const InternalAccountReference = named(
  'InternalAccountReference',
  Type.Object(
    { accountId: Type.String({ description: 'ID of the internal account.' }) },
    { description: 'Reference to an internal account.' },
  ),
);

export const createTransferOut = operation({
  operationId: 'createTransferOut',
  method: 'POST',
  path: '/transfer-out',
  tag: 'Same-Currency Transfers',
  summary: 'Create an outgoing same-currency transfer',
  description:
    'Pays from an internal account to an external account in the same currency. The external ' +
    'account belongs to the same owner or to the platform. The funds are held immediately and ' +
    'the transaction is returned as PENDING. Follow the transaction with `getTransactionById`. ' +
    'The network fee of a payment to a wallet is deducted from the amount. Deprecated: use ' +
    '`createQuote`.',
  permission: 'TRANSACT',
  deprecated: true,
  body: named(
    'TransferOutRequest',
    Type.Object(
      {
        source: InternalAccountReference,
        destination: named(
          'ExternalAccountDestinationReference',
          Type.Object(
            {
              accountId: Type.String({ description: 'ID of the external account to credit.' }),
              paymentRail: Type.Optional(
                withDescription(
                  PaymentRail,
                  'Rail to use. One of the `paymentRails` of the account. Default: the service ' +
                    'selects the rail.',
                ),
              ),
            },
            { description: 'Destination of an outgoing transfer.' },
          ),
        ),
        amount: Type.Optional(
          withDescription(
            PositiveAmount,
            'Amount to debit, in minor units of the account currency. Required.',
          ),
        ),
        remittanceInformation: Type.Optional(
          Type.String({
            maxLength: 80,
            pattern: '^[\\x20-\\x7e]*$',
            description:
              'Remittance information for the receiver. Printable ASCII. It is sent on ' +
              'rails that support it.',
          }),
        ),
        purposeOfPayment: Type.Optional(
          withDescription(
            PurposeOfPayment,
            'Purpose of the payment. Required for payments in INR.',
          ),
        ),
      },
      { description: 'Outgoing transfer to create.' },
    ),
  ),
  // `amount` is optional in the published schema but required by a transfer.
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
    'END_USER_TERMS_NOT_ACCEPTED',
    'ACCOUNT_NOT_FOUND',
    'CONFLICT',
    'BANK_ACCOUNT_VALIDATION_PENDING',
    'CUSTOMER_DELETED',
    'DAILY_VOLUME_LIMIT_EXCEEDED',
    'NOT_IMPLEMENTED',
  ],
  money: true,
});
