// What a quote is asked for with and looks like, and the operations on quotes.
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
  described,
  named,
  oneOf,
  PositiveAmount,
  Timestamp,
  variant,
} from '../../../kernel/schema.ts';
import { SignedRequestChallenge } from '../../customers/registration/index.ts';
import { ScaChallenge, ScaFactor } from '../../sca/authentication/index.ts';
import { FixedFee } from '../../tenancy/config/index.ts';
import { RateDetails } from '../presentation/index.ts';
import { QUOTE_STATUSES } from './states.ts';

const SourceType = named('QuoteSourceType', oneOf(['ACCOUNT', 'REALTIME_FUNDING']));
const DestinationType = named('DestinationType', oneOf(['ACCOUNT', 'UMA_ADDRESS']));

const QuoteSource = named(
  'QuoteSource',
  variant(
    'sourceType',
    {
      ACCOUNT: named(
        'AccountQuoteSource',
        Type.Object({
          accountId: Type.String({ description: 'The account that pays.' }),
          customerId: Type.Optional(
            Type.String({ description: "On whose behalf; by default the account's owner." }),
          ),
        }),
      ),
      REALTIME_FUNDING: named(
        'RealtimeFundingQuoteSource',
        Type.Object({
          currency: Type.String({ description: 'Currency that will be paid in.' }),
          customerId: Type.Optional(
            Type.String({ description: 'Who pays; the platform if absent.' }),
          ),
          cryptoNetwork: Type.Optional(
            Type.String({ description: 'Chain a digital asset will come over.' }),
          ),
        }),
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
        Type.Object({
          accountId: Type.String({ description: 'Internal or external account that receives.' }),
          paymentRail: Type.Optional(PaymentRail),
        }),
      ),
      UMA_ADDRESS: named(
        'UmaAddressDestination',
        Type.Object({
          umaAddress: Type.String({ description: 'UMA address, `$name@domain`.' }),
          currency: Type.Optional(Type.String({ description: 'Currency to deliver.' })),
        }),
      ),
    },
    { tagType: DestinationType },
  ),
);

const PlatformFeeOverride = named(
  'PlatformFeeOverride',
  Type.Object(
    {
      platformFixedFee: FixedFee,
      platformVariableFeeBps: Type.Integer({ minimum: 0, maximum: 10_000 }),
    },
    { description: "Replaces the platform's standing fees for this payment; zero waives them." },
  ),
);

const LockSide = named(
  'QuoteLockSide',
  oneOf(['SENDING', 'RECEIVING'], { description: 'Which side `lockedCurrencyAmount` fixes.' }),
);

export const QuoteRequest = named(
  'QuoteRequest',
  Type.Object({
    source: QuoteSource,
    destination: QuoteDestination,
    lockedCurrencySide: LockSide,
    lockedCurrencyAmount: PositiveAmount,
    lookupId: Type.Optional(Type.String({ description: 'From a receiver lookup.' })),
    immediatelyExecute: Type.Optional(
      Type.Boolean({ description: 'Execute at once, at the rate of this moment.' }),
    ),
    description: Type.Optional(Type.String({ maxLength: 255, description: 'A memo of yours.' })),
    remittanceInformation: Type.Optional(
      Type.String({
        maxLength: 80,
        pattern: '^[\\x20-\\x7e]*$',
        description: 'Travels with the money on rails that carry a text. Printable ASCII.',
      }),
    ),
    purposeOfPayment: Type.Optional(PurposeOfPayment),
    platformFeeOverride: Type.Optional(PlatformFeeOverride),
    scaFactor: Type.Optional(ScaFactor),
    senderCustomerInfo: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: 'What the lookup asked for.' }),
    ),
  }),
);

export const Quote = named(
  'Quote',
  Type.Object({
    id: Type.String({ description: 'Quote:<uuid>' }),
    status: oneOf(QUOTE_STATUSES),
    createdAt: Timestamp,
    expiresAt: described(Timestamp, 'Until when it can be executed.'),
    source: QuoteSource,
    destination: QuoteDestination,
    sendingCurrency: Currency,
    receivingCurrency: Currency,
    totalSendingAmount: described(PositiveAmount, 'All that leaves the source, fees included.'),
    totalReceivingAmount: described(PositiveAmount, 'What arrives.'),
    exchangeRate: Type.Number({
      exclusiveMinimum: 0,
      description: 'Sending units, after fees, for one receiving unit.',
    }),
    feesIncluded: described(Amount, 'All fees, in the sending currency.'),
    platformFeesIncluded: Type.Optional(described(Amount, 'The part the platform earns.')),
    paymentInstructions: Type.Optional(Type.Array(PaymentInstructions)),
    transactionId: Type.String({ description: 'The payment this quote is for.' }),
    counterpartyInformation: Type.Optional(CounterpartyInformation),
    rateDetails: Type.Optional(RateDetails),
    scaChallenge: Type.Optional(ScaChallenge),
    lockedCurrencySide: Type.Optional(LockSide),
    lockedCurrencyAmount: Type.Optional(PositiveAmount),
    description: Type.Optional(Type.String()),
  }),
);

/** What names an end of one kind, and nothing on an end of another. */
const NAMES_AN_END = [
  ['source', 'sourceType', 'ACCOUNT', 'accountId'],
  ['destination', 'destinationType', 'ACCOUNT', 'accountId'],
  ['destination', 'destinationType', 'UMA_ADDRESS', 'umaAddress'],
] as const;

/** Ends that say one kind and name another: whose money is meant, or for whom, cannot be told. */
const endErrors = (body: unknown): FieldError[] =>
  NAMES_AN_END.flatMap(([side, tag, kind, name]) => {
    const end = (body as Record<string, unknown> | null)?.[side] as Record<string, unknown> | null;
    if (typeof end !== 'object' || end === null || !(name in end) || end[tag] === kind) return [];
    return [{ field: `${side}.${name}`, message: `is for the ${tag} ${kind} alone` }];
  });

const TAG = 'Cross-Currency Transfers';
const params = Type.Object({ quoteId: Type.String() });

export const createQuote = operation({
  operationId: 'createQuote',
  method: 'POST',
  path: '/quotes',
  tag: TAG,
  summary: 'Create a quote',
  description:
    'Prices a payment and holds the price until `expiresAt`. Within one currency the rate is 1. A quote ' +
    'that is paid in and must be authorised first is answered 202, without payment instructions.',
  permission: 'TRANSACT',
  body: QuoteRequest,
  bodyRules: endErrors,
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
    'Takes the money from the source and sends it on its way. Works once. For an embedded wallet the ' +
    '`payloadToSign` of the quote is signed first: its stamp alone will do, and without one the request ' +
    'is answered with what to sign. Other sources need no signature. Where strong authentication applies ' +
    'the quote is `PENDING_AUTHORIZATION` then, with the challenge that its customer answers first.',
  permission: 'TRANSACT',
  signedRetry: true,
  params,
  body: named('ExecuteQuoteRequest', Type.Object({ scaFactor: Type.Optional(ScaFactor) })),
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
