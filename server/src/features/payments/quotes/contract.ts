// Schemas of quotes, and the operations on them.
import { Type } from '@sinclair/typebox';
import { CounterpartyInformation } from '../../../catalog/accounts/field-names.ts';
import { PaymentInstructions } from '../../../catalog/rails/payment-instructions.ts';
import { PurposeOfPayment } from '../../../catalog/rails/purposes.ts';
import { PaymentRail } from '../../../catalog/rails/rails.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import type { FieldError } from '../../../kernel/fault.ts';
import {
  Amount,
  Currency,
  named,
  oneOf,
  PositiveAmount,
  Timestamp,
  variant,
  withDescription,
} from '../../../kernel/schema.ts';
import { SignedRequestChallenge } from '../../customers/registration/index.ts';
import { ScaChallenge, ScaFactor } from '../../sca/authentication/index.ts';
import { FixedFee } from '../../tenancy/config/index.ts';
import { RateDetails } from '../presentation/index.ts';
import { QUOTE_STATUSES } from './states.ts';

const SourceType = named(
  'QuoteSourceType',
  oneOf(['ACCOUNT', 'REALTIME_FUNDING'], {
    description:
      'ACCOUNT: funds of an existing account. REALTIME_FUNDING: funds that the ' +
      'payer sends for this quote by an instant payment method.',
  }),
);
const DestinationType = named(
  'DestinationType',
  oneOf(['ACCOUNT', 'UMA_ADDRESS'], {
    description:
      'ACCOUNT: an internal or external account. UMA_ADDRESS: a receiver at a UMA ' + 'provider.',
  }),
);

const QuoteSource = named(
  'QuoteSource',
  variant(
    'sourceType',
    {
      ACCOUNT: named(
        'AccountQuoteSource',
        Type.Object(
          {
            accountId: Type.String({
              description:
                'ID of the account to debit: an internal account, or an external account that ' +
                'supports debits (USD_ACCOUNT).',
            }),
            customerId: Type.Optional(
              Type.String({
                description:
                  'ID of the customer on whose behalf the payment is made. Default: the owner ' +
                  'of the account. Required to pay for a customer from an account of the ' +
                  'platform.',
              }),
            ),
          },
          { description: 'Source: an existing account.' },
        ),
      ),
      REALTIME_FUNDING: named(
        'RealtimeFundingQuoteSource',
        Type.Object(
          {
            currency: Type.String({
              description:
                'Currency of the funds to be sent: ISO 4217 code, or ticker of a digital ' +
                'asset.',
            }),
            customerId: Type.Optional(
              Type.String({
                description:
                  'ID of the customer on whose behalf the payment is made. Default: the platform.',
              }),
            ),
            cryptoNetwork: Type.Optional(
              Type.String({
                description:
                  'Blockchain or network over which a digital asset is sent. Required for ' +
                  'digital assets, ignored for fiat currencies.',
              }),
            ),
          },
          { description: 'Source: funds that the payer sends after the quote is created.' },
        ),
      ),
    },
    { tagType: SourceType },
  ),
);

const QuoteDestination = named(
  'QuoteDestination',
  variant(
    'destinationType',
    {
      ACCOUNT: named(
        'AccountDestination',
        Type.Object(
          {
            accountId: Type.String({
              description:
                'ID of the internal or external account to credit. Its currency is the ' +
                'receiving currency.',
            }),
            paymentRail: Type.Optional(
              withDescription(
                PaymentRail,
                'Rail to use. One of the `paymentRails` of the account. Default: the service ' +
                  'selects the rail.',
              ),
            ),
          },
          { description: 'Destination: a registered account.' },
        ),
      ),
      UMA_ADDRESS: named(
        'UmaAddressDestination',
        Type.Object(
          {
            umaAddress: Type.String({
              description: 'UMA address of the receiver, `$name@domain`.',
            }),
            currency: Type.Optional(
              Type.String({
                description:
                  'Receiving currency. One of the `supportedCurrencies` of the payee ' +
                  'discovery. Default: the first of them.',
              }),
            ),
          },
          { description: 'Destination: a receiver at a UMA provider.' },
        ),
      ),
    },
    { tagType: DestinationType },
  ),
);

const PlatformFeeOverride = named(
  'PlatformFeeOverride',
  Type.Object(
    {
      platformFixedFee: withDescription(
        FixedFee,
        'Fixed fee of the platform. Its currency must be the sending currency.',
      ),
      platformVariableFeeBps: Type.Integer({
        minimum: 0,
        maximum: 10_000,
        description: 'Variable fee of the platform in basis points (100 is 1 %).',
      }),
    },
    {
      description:
        'Platform fees of this payment. They replace the fees in the platform ' +
        'configuration. Zero waives them. Applies only to payments from USD.',
    },
  ),
);

const LockSide = named(
  'QuoteLockSide',
  oneOf(['SENDING', 'RECEIVING'], {
    description:
      'Side of the payment whose amount is fixed by `lockedCurrencyAmount`. ' +
      'SENDING: the sending amount, including fees. RECEIVING: the receiving ' +
      'amount.',
  }),
);

export const QuoteRequest = named(
  'QuoteRequest',
  Type.Object(
    {
      source: QuoteSource,
      destination: QuoteDestination,
      lockedCurrencySide: LockSide,
      lockedCurrencyAmount: withDescription(
        PositiveAmount,
        'Fixed amount, in minor units of the sending or receiving currency, as ' +
          '`lockedCurrencySide` states.',
      ),
      lookupId: Type.Optional(
        Type.String({
          description:
            'ID of a payee discovery (`lookupUma`, `lookupExternalAccount`), valid for 10 ' +
            'minutes. Required for UMA addresses.',
        }),
      ),
      immediatelyExecute: Type.Optional(
        Type.Boolean({
          description:
            'Executes the quote in the same request. Default: false. Not allowed for ' +
            'REALTIME_FUNDING and embedded wallets.',
        }),
      ),
      description: Type.Optional(
        Type.String({
          maxLength: 255,
          description:
            'Internal note of the platform. It is shown on the quote and the transaction ' +
            'and is not sent to the receiver.',
        }),
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
          'Purpose of the payment. Required for payments to external accounts in INR.',
        ),
      ),
      platformFeeOverride: Type.Optional(PlatformFeeOverride),
      scaFactor: Type.Optional(
        withDescription(
          ScaFactor,
          'Factor for the authorization of the payment, where strong customer authentication ' +
            'applies: SMS_OTP or PASSKEY. Default: SMS_OTP if the customer has it, otherwise ' +
            'PASSKEY.',
        ),
      ),
      senderCustomerInfo: Type.Optional(
        Type.Object(
          {},
          {
            additionalProperties: true,
            description:
              'Information about the sender, keyed by field name. It must contain the ' +
              'mandatory `requiredPayerDataFields` of the payee discovery that the customer ' +
              'record does not contain.',
          },
        ),
      ),
    },
    { description: 'Payment for which a price is requested.' },
  ),
);

export const Quote = named(
  'Quote',
  Type.Object(
    {
      id: Type.String({ description: 'ID of the quote, `Quote:<uuid>`.' }),
      status: oneOf(QUOTE_STATUSES, {
        description:
          'PENDING: waiting for execution or funding. PENDING_AUTHORIZATION: waiting ' +
          'for strong customer authentication. PROCESSING: the payment is in progress. ' +
          'COMPLETED: the payment has completed. A later return by the receiving bank ' +
          'changes only the transaction. FAILED: the payment has failed. EXPIRED: not ' +
          'executed or funded before `expiresAt`.',
      }),
      createdAt: withDescription(Timestamp, 'Time of creation.'),
      expiresAt: withDescription(
        Timestamp,
        'End of the period in which the quote can be executed or funded. At most 5 minutes after ' +
          'the creation, or 15 minutes for a REALTIME_FUNDING source.',
      ),
      source: withDescription(QuoteSource, 'Source of the funds, as requested.'),
      destination: withDescription(QuoteDestination, 'Receiver of the funds, as requested.'),
      sendingCurrency: withDescription(Currency, 'Currency that is debited.'),
      receivingCurrency: withDescription(Currency, 'Currency that is credited.'),
      totalSendingAmount: withDescription(
        PositiveAmount,
        'Amount debited, including fees, in minor units of the sending currency.',
      ),
      totalReceivingAmount: withDescription(
        PositiveAmount,
        'Amount credited to the receiver, in minor units of the receiving currency.',
      ),
      exchangeRate: Type.Number({
        exclusiveMinimum: 0,
        description:
          'Exchange rate: sending amount after fees divided by receiving amount, both ' +
          'in major units. 1 if both currencies are the same.',
      }),
      feesIncluded: withDescription(
        Amount,
        'Total fees, in minor units of the sending currency. They are part of ' +
          '`totalSendingAmount`.',
      ),
      platformFeesIncluded: Type.Optional(
        withDescription(
          Amount,
          'Platform fees, in minor units of the sending currency. They are part of ' +
            '`feesIncluded`.',
        ),
      ),
      paymentInstructions: Type.Optional(
        Type.Array(PaymentInstructions, {
          description:
            'Instructions to fund a REALTIME_FUNDING quote, or the payload that an embedded ' +
            'wallet signs. Payment by one of the instructions is sufficient. Empty if neither ' +
            'applies, and until a REALTIME_FUNDING quote is authorized.',
        }),
      ),
      transactionId: Type.String({
        description: 'ID of the transaction of this quote. Read it with `getTransactionById`.',
      }),
      counterpartyInformation: Type.Optional(CounterpartyInformation),
      rateDetails: Type.Optional(RateDetails),
      scaChallenge: Type.Optional(
        withDescription(
          ScaChallenge,
          'Challenge that the customer completes with `authorizeQuote`. Present only ' +
            'in status PENDING_AUTHORIZATION.',
        ),
      ),
      lockedCurrencySide: Type.Optional(LockSide),
      lockedCurrencyAmount: Type.Optional(
        withDescription(
          PositiveAmount,
          'Fixed amount as requested, in minor units of the locked currency.',
        ),
      ),
      description: Type.Optional(
        Type.String({
          description: 'Internal note of the platform, as requested. Absent if there is none.',
        }),
      ),
    },
    { description: 'Price of a payment with a guaranteed rate, and the status of its execution.' },
  ),
);

/** Properties that are allowed only with one type of source or destination. */
const TYPED_PROPERTIES = [
  ['source', 'sourceType', 'ACCOUNT', 'accountId'],
  ['destination', 'destinationType', 'ACCOUNT', 'accountId'],
  ['destination', 'destinationType', 'UMA_ADDRESS', 'umaAddress'],
] as const;

/** Rejects a source or destination whose properties contradict its type. */
const partyErrors = (body: unknown): FieldError[] =>
  TYPED_PROPERTIES.flatMap(([side, tag, kind, name]) => {
    const party = (body as Record<string, unknown> | null)?.[side] as Record<
      string,
      unknown
    > | null;
    if (typeof party !== 'object' || party === null || !(name in party)) return [];
    if (party[tag] === kind) return [];
    return [{ field: `${side}.${name}`, message: `is allowed only with ${tag} ${kind}` }];
  });

const TAG = 'Cross-Currency Transfers';
const params = Type.Object({ quoteId: Type.String({ description: 'ID of the quote.' }) });

export const createQuote = operation({
  operationId: 'createQuote',
  method: 'POST',
  path: '/quotes',
  tag: TAG,
  summary: 'Create a quote',
  description:
    'Prices a payment and guarantees the rate and fees until `expiresAt`. No ' +
    'funds are held and the balance is not checked until execution. Continue with ' +
    '`executeQuote`, or send the funds by the `paymentInstructions` for a ' +
    'REALTIME_FUNDING source. With `immediatelyExecute` the payment starts in ' +
    'this request. Returns 202 without payment instructions if the customer must ' +
    'authorize a REALTIME_FUNDING quote first. Continue with `authorizeQuote`.',
  permission: 'TRANSACT',
  body: QuoteRequest,
  bodyRules: partyErrors,
  replies: { 201: Quote, 202: Quote },
  errors: [
    'MISSING_MANDATORY_USER_INFO',
    'INVALID_UMA_ADDRESS',
    'QUOTE_REQUEST_FAILED',
    'INVALID_PAYREQ_RESPONSE',
    'INVALID_RECEIVER',
    'PARSE_PAYREQ_RESPONSE_ERROR',
    'CERT_CHAIN_INVALID',
    'CERT_CHAIN_EXPIRED',
    'INVALID_PUBKEY_FORMAT',
    'MISSING_REQUIRED_UMA_PARAMETERS',
    'SENDER_NOT_ACCEPTED',
    'AMOUNT_OUT_OF_RANGE',
    'INVALID_CURRENCY',
    'INVALID_TIMESTAMP',
    'INVALID_NONCE',
    'INVALID_REQUEST_FORMAT',
    'INVALID_BANK_ACCOUNT',
    'SELF_PAYMENT',
    'INVALID_AMOUNT',
    'TRANSACTION_SIZE_LIMIT_EXCEEDED',
    'EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED',
    'INSUFFICIENT_FUNDS',
    'QUOTE_RATE_UNAVAILABLE',
    'INVALID_SIGNATURE',
    'USER_NOT_READY',
    'COUNTERPARTY_NOT_ALLOWED',
    'VELOCITY_LIMIT_EXCEEDED',
    'END_USER_TERMS_NOT_ACCEPTED',
    'LOOKUP_REQUEST_NOT_FOUND',
    'ACCOUNT_NOT_FOUND',
    'CUSTOMER_NOT_FOUND',
    'REQUEST_NOT_FOUND',
    'SCA_SESSION_REQUIRED',
    'BANK_ACCOUNT_VALIDATION_PENDING',
    'WALLET_NOT_PROVISIONED',
    'CUSTOMER_DELETED',
    'UNSUPPORTED_UMA_VERSION',
    'ACCOUNT_LOCKED',
    'PAYREQ_REQUEST_FAILED',
    'COUNTERPARTY_PUBKEY_FETCH_ERROR',
    'NO_COMPATIBLE_UMA_VERSION',
    'DAILY_VOLUME_LIMIT_EXCEEDED',
    'SERVICE_SWITCH_ERROR',
    'UNRECOGNIZED_MANDATORY_PAYEE_DATA_KEY',
    'NOT_IMPLEMENTED',
  ],
  money: true,
  callsExternal: true,
  rateClass: 'quotes',
});

export const getQuoteById = operation({
  operationId: 'getQuoteById',
  method: 'GET',
  path: '/quotes/{quoteId}',
  tag: TAG,
  summary: 'Get a quote',
  description:
    'Returns a quote with its current status, its payment instructions and, while ' +
    'authorization is pending, its challenge.',
  permission: 'VIEW',
  params,
  replies: { 200: Quote },
  errors: [],
  notFound: 'QUOTE_NOT_FOUND',
});

export const executeQuote = operation({
  operationId: 'executeQuote',
  method: 'POST',
  path: '/quotes/{quoteId}/execute',
  tag: TAG,
  summary: 'Execute a quote',
  description:
    'Debits the source and starts the payment. The quote must be PENDING and not ' +
    'expired. A quote with a REALTIME_FUNDING source executes automatically when its ' +
    'funds arrive. For an embedded wallet, send the signature over the `payloadToSign` ' +
    'of the quote. Without a signature the request returns 202 with the payload. ' +
    'Where strong customer authentication applies, the quote becomes ' +
    'PENDING_AUTHORIZATION and no funds are held. Continue with `authorizeQuote`.',
  permission: 'TRANSACT',
  signedRetry: true,
  params,
  body: named(
    'ExecuteQuoteRequest',
    Type.Object(
      {
        scaFactor: Type.Optional(
          withDescription(
            ScaFactor,
            'Factor for the authorization, where strong customer authentication applies: ' +
              'SMS_OTP or PASSKEY. Default: SMS_OTP if the customer has it, otherwise PASSKEY.',
          ),
        ),
      },
      { description: 'Options for the execution of a quote.' },
    ),
  ),
  bodyOptional: true,
  replies: { 200: Quote, 202: SignedRequestChallenge },
  errors: [
    'INVALID_RECEIVER',
    'INVALID_BANK_ACCOUNT',
    'EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED',
    'INSUFFICIENT_FUNDS',
    'QUOTE_EXPIRED',
    'USER_NOT_READY',
    'VELOCITY_LIMIT_EXCEEDED',
    'ACCOUNT_NOT_FOUND',
    'SCA_SESSION_REQUIRED',
    'CONFLICT',
    'BANK_ACCOUNT_VALIDATION_PENDING',
    'CUSTOMER_DELETED',
    'ACCOUNT_LOCKED',
    'DAILY_VOLUME_LIMIT_EXCEEDED',
    'NOT_IMPLEMENTED',
  ],
  notFound: 'QUOTE_NOT_FOUND',
  money: true,
});
