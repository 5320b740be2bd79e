// What a platform may look up before it makes a payment: what it would deliver, and which institutions can
// be named in account details.
import { Type } from '@sinclair/typebox';
import { WITHDRAWAL_NETWORKS } from '../../../catalog/crypto/crypto-networks.ts';
import { PAYMENT_RAILS } from '../../../catalog/rails/rails.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  Amount,
  CountryCode,
  Currency,
  described,
  named,
  oneOf,
  Timestamp,
} from '../../../kernel/schema.ts';

/** Smallest units of the source currency: 100 dollars. */
export const DEFAULT_SENDING = 10_000;

const ExchangeRateFees = named(
  'ExchangeRateFees',
  Type.Object(
    {
      fixed: described(Amount, 'The part that does not depend on the amount.'),
      total: described(Amount, 'All fees on `sendingAmount`.'),
    },
    { description: 'Fees of the service and of the platform, in the source currency.' },
  ),
);

const ExchangeRateRail = named(
  'ExchangeRateRail',
  oneOf([...PAYMENT_RAILS, ...WITHDRAWAL_NETWORKS], {
    description: 'What carries the payout: a payment rail, or the network of a digital asset.',
  }),
);

const ExchangeRate = named(
  'ExchangeRate',
  Type.Object(
    {
      sourceCurrency: Currency,
      sendingAmount: described(Amount, 'The amount that was asked about, fees included.'),
      minSendingAmount: described(Amount, 'The least that can be sent at once.'),
      maxSendingAmount: described(Amount, 'The most that can be sent at once.'),
      destinationCurrency: Currency,
      destinationPaymentRail: ExchangeRateRail,
      receivingAmount: described(Amount, 'What arrives, in the destination currency.'),
      exchangeRate: Type.Number({
        exclusiveMinimum: 0,
        description:
          'Whole units sent for one whole unit received, fees included: the price a payer sees.',
      }),
      fees: ExchangeRateFees,
      updatedAt: described(Timestamp, 'When the rate was last taken; at most 5 minutes ago.'),
    },
    { description: 'What sending an amount would deliver over one rail, were it sent now.' },
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
    'Indicative prices, one for each pair of currencies and rail, with the fees of the service and ' +
    'of the platform. To a digital asset there is one price for each network that it is paid out ' +
    'over, with the fee of that network. A quote holds a price; this does not.',
  permission: 'VIEW',
  rateClass: 'quotes',
  query: Type.Object({
    sourceCurrency: Type.Optional(
      currencyCode('Only from this currency; every currency of the platform unless named.'),
    ),
    destinationCurrency: Type.Optional(
      Type.Array(currencyCode('Code of a currency.'), {
        maxItems: 100,
        description: 'Only to these currencies; repeat the parameter or separate with commas.',
      }),
    ),
    sendingAmount: Type.Optional(
      Type.Integer({
        format: 'int64',
        minimum: 0,
        maximum: 9_000_000_000_000_000,
        default: DEFAULT_SENDING,
        description: 'Amount to price, in the smallest unit of each source currency.',
      }),
    ),
  }),
  replies: {
    200: named(
      'ExchangeRateListResponse',
      Type.Object({ data: Type.Array(ExchangeRate, { description: 'The prices.' }) }),
    ),
  },
  errors: ['INVALID_CURRENCY'],
});

const Discovery = named(
  'Discovery',
  Type.Object(
    {
      bankName: Type.String({ description: 'What to send as `bankName`, letter for letter.' }),
      displayName: Type.String({ description: 'What to show to people.' }),
      country: CountryCode,
      currency: Type.String({ description: 'Currency of the accounts it serves.' }),
    },
    { description: 'A bank or wallet operator that account details can name.' },
  ),
);

export const getDiscoveries = operation({
  operationId: 'getDiscoveries',
  method: 'GET',
  path: '/discoveries',
  tag: 'Discoveries',
  summary: 'List institutions',
  description: 'Banks and wallet operators by country and currency; all of them without a filter.',
  permission: 'VIEW',
  query: Type.Object({
    country: Type.Optional(described(CountryCode, 'Only institutions in this country.')),
    currency: Type.Optional(
      Type.String({ pattern: '^[A-Z]{3}$', description: 'Only accounts in this currency.' }),
    ),
  }),
  replies: {
    200: named(
      'DiscoveryListResponse',
      Type.Object({ data: Type.Array(Discovery, { description: 'The institutions.' }) }),
    ),
  },
  errors: [],
});
