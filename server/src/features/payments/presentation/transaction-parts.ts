// The parts of a transaction in the API: its status, its source and destination, its refund and its rate.

import { Type } from '@sinclair/typebox';
import { PaymentRail } from '../../../catalog/rails/rails.ts';
import {
  Amount,
  named,
  oneOf,
  Timestamp,
  variant,
  withDescription,
} from '../../../kernel/schema.ts';

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

export const TransactionStatus = named(
  'TransactionStatus',
  oneOf(TRANSACTION_STATUSES, {
    description:
      'PENDING: created, or held for approval or review. PENDING_AUTHORIZATION: ' +
      'waiting for strong customer authentication. PROCESSING: funds are in ' +
      'transfer. COMPLETED: delivered, or canceled and refunded. The status changes to ' +
      'FAILED if a bank returns the funds. FAILED: see `failureReason` and `refund`. EXPIRED: ' +
      'the quote was not executed or funded in time. CREATED, REJECTED and REFUNDED are not used.',
  }),
);
export const TransactionType = named(
  'TransactionType',
  oneOf(['INCOMING', 'OUTGOING'], {
    description:
      'INCOMING: the customer or the platform receives the funds. OUTGOING: the ' +
      'customer or the platform sends the funds.',
  }),
);
const SourceType = named(
  'TransactionSourceType',
  oneOf(['ACCOUNT', 'UMA_ADDRESS', 'REALTIME_FUNDING'], {
    description:
      'ACCOUNT: an internal or external account. UMA_ADDRESS: a sender at a UMA ' +
      'provider. REALTIME_FUNDING: a deposit for this payment.',
  }),
);
const DestinationType = named(
  'TransactionDestinationType',
  oneOf(['ACCOUNT', 'UMA_ADDRESS'], {
    description:
      'ACCOUNT: an internal or external account. UMA_ADDRESS: a receiver at a UMA ' + 'provider.',
  }),
);

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
      transactionHash: Type.String({ description: 'Hash of the blockchain transaction.' }),
      network: named(
        'CryptoNetwork',
        oneOf(CRYPTO_NETWORKS, {
          description: 'Blockchain or network. Sandbox and production use the same names.',
        }),
      ),
    },
    {
      description:
        'Blockchain transaction that transferred the funds. Absent until the blockchain ' +
        'transaction settles. It can settle after the payment is COMPLETED.',
    },
  ),
);

const currencyOfLeg = Type.Optional(
  Type.String({ description: 'Currency code of this account or party.' }),
);
const accountOfLeg = Type.String({ description: 'ID of an internal or external account.' });
const umaOfLeg = Type.String({ description: 'UMA address, `$name@domain`.' });

export const TransactionSource = named(
  'TransactionSource',
  variant(
    'sourceType',
    {
      ACCOUNT: named(
        'AccountTransactionSource',
        Type.Object(
          {
            accountId: accountOfLeg,
            currency: currencyOfLeg,
            onChainTransaction: Type.Optional(OnChainTransaction),
          },
          { description: 'Source: an account.' },
        ),
      ),
      UMA_ADDRESS: named(
        'UmaAddressTransactionSource',
        Type.Object(
          { umaAddress: umaOfLeg, currency: currencyOfLeg },
          { description: 'Source: a sender at a UMA provider.' },
        ),
      ),
      REALTIME_FUNDING: named(
        'RealtimeFundingTransactionSource',
        Type.Object(
          {
            currency: Type.String({ description: 'Currency code of the funds paid in.' }),
            customerId: Type.Optional(
              Type.String({
                description:
                  'ID of the customer for whom the funds were paid in. Absent for funds of the ' +
                  'platform.',
              }),
            ),
            accountHolderName: Type.Optional(
              Type.String({ description: 'Name of the originator, if the rail provides it.' }),
            ),
            accountIdentifier: Type.Optional(
              Type.String({
                description:
                  'Account number, IBAN or wallet address of the originator, possibly masked.',
              }),
            ),
            bankName: Type.Optional(Type.String({ description: 'Name of the originating bank.' })),
            bankIdentifier: Type.Optional(
              Type.String({
                description: 'Identifier of the originating bank: BIC or routing number.',
              }),
            ),
            paymentRail: Type.Optional(
              withDescription(PaymentRail, 'Rail over which the funds arrived.'),
            ),
            remittanceInformation: Type.Optional(
              Type.String({ description: 'Remittance information from the originator.' }),
            ),
            endToEndId: Type.Optional(
              Type.String({ description: 'End-to-end identifier that the originator assigned.' }),
            ),
            traceNumber: Type.Optional(
              Type.String({
                description:
                  'Reference that the bank assigned, such as an ACH trace number or an IMAD.',
              }),
            ),
            onChainTransaction: Type.Optional(OnChainTransaction),
          },
          {
            description:
              'Source: a deposit for this payment. Details of the originator are present if ' +
              'the rail provides them.',
          },
        ),
      ),
    },
    { tagType: SourceType },
  ),
);

export const TransactionDestination = named(
  'TransactionDestination',
  variant(
    'destinationType',
    {
      ACCOUNT: named(
        'AccountTransactionDestination',
        Type.Object(
          {
            accountId: accountOfLeg,
            currency: currencyOfLeg,
            onChainTransaction: Type.Optional(OnChainTransaction),
          },
          { description: 'Destination: an account.' },
        ),
      ),
      UMA_ADDRESS: named(
        'UmaAddressTransactionDestination',
        Type.Object(
          { umaAddress: umaOfLeg, currency: currencyOfLeg },
          { description: 'Destination: a receiver at a UMA provider.' },
        ),
      ),
    },
    { tagType: DestinationType },
  ),
);

export const RefundSchema = named(
  'Refund',
  Type.Object(
    {
      reference: Type.String({
        description: 'Reference of the refund. `listTransactions` accepts it as `reference`.',
      }),
      initiatedAt: withDescription(Timestamp, 'Time at which the refund started.'),
      settledAt: Type.Optional(
        withDescription(Timestamp, 'Time at which the refund completed. Absent until then.'),
      ),
      status: oneOf(['PENDING', 'COMPLETED', 'FAILED'], {
        description:
          'PENDING: in progress. COMPLETED: the funds are returned. FAILED: the funds ' +
          'could not be returned and are in suspense for manual resolution.',
      }),
      reason: Type.Optional(
        oneOf(['TRANSACTION_FAILED', 'USER_CANCELLATION', 'TIMEOUT'], {
          description:
            'TRANSACTION_FAILED: the payment failed. USER_CANCELLATION: the payment was ' +
            'canceled. TIMEOUT is not used.',
        }),
      ),
    },
    {
      description:
        'Return of the funds of a failed or canceled payment to their source. Absent if there is ' +
        'none.',
    },
  ),
);

export const RateDetails = named(
  'OutgoingRateDetails',
  Type.Object(
    {
      counterpartyMultiplier: Type.Number({
        exclusiveMinimum: 0,
        description: 'Conversion factor of the receiving provider. 1 without a conversion.',
      }),
      counterpartyFixedFee: withDescription(
        Amount,
        'Fixed fee of the receiving provider, in minor units of the receiving currency.',
      ),
      serviceApiMultiplier: Type.Number({
        exclusiveMinimum: 0,
        description:
          'Receiving amount for one unit of the sending amount after fees, both in ' +
          'major units.',
      }),
      serviceApiFixedFee: withDescription(
        Amount,
        'Fixed fee of the service, in minor units of the sending currency, including ' +
          'the network fee of a payment to a wallet.',
      ),
      serviceApiVariableFeeRate: Type.Number({
        minimum: 0,
        description: 'Variable fee of the service as a fraction: 0.003 is 0.3 %.',
      }),
      serviceApiVariableFeeAmount: Type.Number({
        minimum: 0,
        description: 'Variable fee of the service, in minor units of the sending currency.',
      }),
    },
    {
      description:
        'Components of the rate and the fees, without platform fees. Absent if the transaction ' +
        'was not priced.',
    },
  ),
);
