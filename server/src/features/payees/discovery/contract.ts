// Operations before a payment: exchange rates, and the institutions that hold accounts.
import { Type } from '@sinclair/typebox';
import { WITHDRAWAL_NETWORKS } from '../../../catalog/crypto/crypto-networks.ts';
import { PAYMENT_RAILS } from '../../../catalog/rails/rails.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  Amount,
  CountryCode,
  Currency,
  named,
  oneOf,
  Timestamp,
  withDescription,
} from '../../../kernel/schema.ts';

/** Default amount in minor units: 100 dollars. */
export const DEFAULT_SENDING_AMOUNT = 10_000;

const ExchangeRateFees = named(
  'ExchangeRateFees',
  Type.Object(
    {
      fixed: withDescription(
        Amount,
        'Fixed fees, including network fees, in minor units of the source currency.',
      ),
      total: withDescription(
        Amount,
        'Total fees on `sendingAmount`, in minor units of the source currency.',
      ),
    },
    { description: 'Fees of the service and of the platform.' },
  ),
);

const ExchangeRateRail = named(
  'ExchangeRateRail',
  oneOf([...PAYMENT_RAILS, ...WITHDRAWAL_NETWORKS], {
    description: 'Payment rail of the payout, or network of a digital asset.',
  }),
);

const ExchangeRate = named(
  'ExchangeRate',
  Type.Object(
    {
      sourceCurrency: withDescription(Currency, 'Sending currency.'),
      sendingAmount: withDescription(
        Amount,
        'Amount to send, including fees, in minor units of the source currency, as requested.',
      ),
      minSendingAmount: withDescription(
        Amount,
        'Minimum for one payment, in minor units of the source currency.',
      ),
      maxSendingAmount: withDescription(
        Amount,
        'Maximum for one payment, in minor units of the source currency.',
      ),
      destinationCurrency: withDescription(Currency, 'Receiving currency.'),
      destinationPaymentRail: ExchangeRateRail,
      receivingAmount: withDescription(
        Amount,
        'Amount credited after fees, in minor units of the destination currency.',
      ),
      exchangeRate: Type.Number({
        exclusiveMinimum: 0,
        description:
          'Sending amount including fees divided by receiving amount, both in major ' +
          'units. If `receivingAmount` is 0, the rate does not include fees. The `exchangeRate` ' +
          'of a quote never includes fees.',
      }),
      fees: ExchangeRateFees,
      updatedAt: withDescription(Timestamp, 'Time of the rate, at most 5 minutes ago.'),
    },
    { description: 'Indicative rate and fees for one currency pair and rail.' },
  ),
);

const currencyCode = (description: string) => Type.String({ maxLength: 10, description });

export const getExchangeRates = operation({
  operationId: 'getExchangeRates',
  method: 'GET',
  path: '/exchange-rates',
  tag: 'Exchange Rates',
  summary: 'List exchange rates',
  description:
    'Returns indicative rates with the fees of the service and the platform, one ' +
    'for each currency pair and rail or network. The rates can be up to 5 minutes ' +
    'old and are not guaranteed. Use `createQuote` for a guaranteed rate.',
  permission: 'VIEW',
  rateClass: 'quotes',
  query: Type.Object({
    sourceCurrency: Type.Optional(
      currencyCode(
        'Filter by code of the sending currency. Default: all currencies that the platform can ' +
          'send.',
      ),
    ),
    destinationCurrency: Type.Optional(
      Type.Array(currencyCode('Currency code.'), {
        maxItems: 100,
        description:
          'Filter by receiving currency. Repeat the parameter or separate values with commas.',
      }),
    ),
    sendingAmount: Type.Optional(
      Type.Integer({
        format: 'int64',
        minimum: 0,
        maximum: 9_000_000_000_000_000,
        default: DEFAULT_SENDING_AMOUNT,
        description: 'Amount to price, in minor units of each source currency. Defaults to 10,000.',
      }),
    ),
  }),
  replies: {
    200: named(
      'ExchangeRateListResponse',
      Type.Object({
        data: Type.Array(ExchangeRate, {
          description: 'Rates, one for each currency pair and rail.',
        }),
      }),
    ),
  },
  errors: ['INVALID_CURRENCY'],
});

const Discovery = named(
  'Discovery',
  Type.Object(
    {
      bankName: Type.String({ description: 'Exact value for `bankName` of account details.' }),
      displayName: Type.String({ description: 'Name of the institution, for display.' }),
      country: withDescription(CountryCode, 'Country of the institution, ISO 3166-1 alpha-2.'),
      currency: Type.String({ description: 'Currency code of the accounts at the institution.' }),
    },
    { description: 'A bank or mobile wallet operator.' },
  ),
);

export const getDiscoveries = operation({
  operationId: 'getDiscoveries',
  method: 'GET',
  path: '/discoveries',
  tag: 'Discoveries',
  summary: 'List institutions',
  description:
    'Returns the banks and mobile wallet operators at which an account can be ' +
    'registered, filtered by country and currency. Use this operation before ' +
    '`createCustomerExternalAccount`.',
  permission: 'VIEW',
  query: Type.Object({
    country: Type.Optional(
      withDescription(CountryCode, 'Filter by country of the institution, ISO 3166-1 alpha-2.'),
    ),
    currency: Type.Optional(
      Type.String({ pattern: '^[A-Z]{3}$', description: 'Filter by currency code.' }),
    ),
  }),
  replies: {
    200: named(
      'DiscoveryListResponse',
      Type.Object({
        data: Type.Array(Discovery, { description: 'Institutions that match the filters.' }),
      }),
    ),
  },
  errors: [],
});
