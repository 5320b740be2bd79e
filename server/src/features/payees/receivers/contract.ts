// What a platform may ask about whoever is to receive money: what they take, who runs wallets, and what a
// chain would cost. A lookup leaves an id behind that a quote can name; nothing else here changes anything.
import { Type } from '@sinclair/typebox';
import { CounterpartyFieldDefinition } from '../../../catalog/accounts/field-names.ts';
import {
  isWithdrawalNetwork,
  NETWORKS,
  WithdrawalNetwork,
} from '../../../catalog/crypto/crypto-networks.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import type { FieldError } from '../../../kernel/fault.ts';
import {
  Amount,
  CountryCode,
  Currency,
  described,
  named,
  oneOf,
  PageQuery,
  PositiveAmount,
  page,
} from '../../../kernel/schema.ts';

const TAG = 'Cross-Currency Transfers';

const text = (description: string, more: Record<string, unknown> = {}) =>
  Type.String({ description, ...more });

const CurrencyPreference = named(
  'CurrencyPreference',
  Type.Object(
    {
      currency: Currency,
      estimatedExchangeRate: Type.Number({
        exclusiveMinimum: 0,
        description:
          "Whole units received for one whole unit of the sender's first currency, before fees. A " +
          'quote holds a price; this does not.',
      }),
      min: described(
        PositiveAmount,
        'The least that can be received at once, in its smallest unit.',
      ),
      max: described(
        PositiveAmount,
        'The most that can be received at once, in its smallest unit.',
      ),
    },
    { description: 'A currency that the receiver takes.' },
  ),
);

const found = {
  supportedCurrencies: Type.Array(CurrencyPreference, {
    description: 'What the receiver takes, the preferred currency first.',
  }),
  requiredPayerDataFields: Type.Optional(
    Type.Array(CounterpartyFieldDefinition, {
      description: "What the receiver's side wants to know of the payer.",
    }),
  ),
  lookupId: text('Names this lookup in a quote, for ten minutes.'),
};

const sender = Type.Object({
  senderUmaAddress: Type.Optional(
    text('UMA address of the customer who would pay.', { maxLength: 320 }),
  ),
  customerId: Type.Optional(
    text('The customer who would pay; without either it is the platform itself.'),
  ),
});

export const lookupUma = operation({
  operationId: 'lookupUma',
  method: 'GET',
  path: '/receiver/uma/{receiverUmaAddress}',
  tag: TAG,
  summary: 'Look up a UMA address',
  description:
    "Asks the receiver's provider what the address takes and wants to know. A payment to a UMA " +
    'address needs the lookup it gives.',
  permission: 'VIEW',
  callsExternal: true,
  params: Type.Object({ receiverUmaAddress: text('UMA address, `$name@host`; `$` may be `%24`.') }),
  query: sender,
  replies: {
    200: named(
      'ReceiverUmaLookupResponse',
      Type.Object(
        { receiverUmaAddress: text('The address, in small letters.'), ...found },
        { description: 'What was found about a UMA address.' },
      ),
    ),
  },
  errors: [
    'INVALID_UMA_ADDRESS',
    'CERT_CHAIN_INVALID',
    'CERT_CHAIN_EXPIRED',
    'INVALID_PUBKEY_FORMAT',
    'MISSING_REQUIRED_UMA_PARAMETERS',
    'INVALID_TIMESTAMP',
    'INVALID_NONCE',
    'SELF_PAYMENT',
    'LOOKUP_REQUEST_FAILED',
    'PARSE_LNURLP_RESPONSE_ERROR',
    'INVALID_SIGNATURE',
    'COUNTERPARTY_NOT_ALLOWED',
    'USER_NOT_FOUND',
    'UMA_NOT_FOUND',
    'CUSTOMER_NOT_FOUND',
    'PAYMENT_URL_NOT_FOUND',
    'PLATFORM_NOT_FOUND',
    'CUSTOMER_DELETED',
    'UNSUPPORTED_UMA_VERSION',
    'COUNTERPARTY_PUBKEY_FETCH_ERROR',
    'NO_COMPATIBLE_UMA_VERSION',
    'LNURLP_REQUEST_FAILED',
    'NOT_IMPLEMENTED',
  ],
});

export const lookupExternalAccount = operation({
  operationId: 'lookupExternalAccount',
  method: 'GET',
  path: '/receiver/external-account/{accountId}',
  tag: TAG,
  summary: 'Look up an external account',
  description: 'What an account of the platform takes and what a payment to it has to say.',
  permission: 'VIEW',
  params: Type.Object({ accountId: text('Id of the external account.') }),
  query: sender,
  replies: {
    200: named(
      'ReceiverExternalAccountLookupResponse',
      Type.Object(
        { accountId: text('Id of the external account.'), ...found },
        { description: 'What was found about an external account.' },
      ),
    ),
  },
  errors: [
    'INVALID_UMA_ADDRESS',
    'INVALID_RECEIVER',
    'LOOKUP_REQUEST_FAILED',
    'QUOTE_RATE_UNAVAILABLE',
    'USER_NOT_FOUND',
    'CUSTOMER_DELETED',
    'NOT_IMPLEMENTED',
  ],
  notFound: 'ACCOUNT_NOT_FOUND',
});

const EstimateRequest = named(
  'EstimateCryptoWithdrawalFeeRequest',
  Type.Object(
    {
      internalAccountId: text('The internal account it would leave from.'),
      currency: text('What would be withdrawn; the currency of the account.', { maxLength: 10 }),
      cryptoNetwork: WithdrawalNetwork,
      amount: described(PositiveAmount, 'What would leave the account, in the smallest unit.'),
      destinationAddress: text('Where it would go.', { minLength: 1, maxLength: 4096 }),
    },
    { description: 'A withdrawal to estimate.' },
  ),
);

const EstimateResponse = named(
  'EstimateCryptoWithdrawalFeeResponse',
  Type.Object(
    {
      networkFee: described(Amount, 'What the network takes, in the smallest unit of its asset.'),
      networkFeeAsset: text('The asset the network is paid in.'),
      applicationFee: described(Amount, 'What the service takes, in the currency withdrawn.'),
      totalFee: described(Amount, 'Both together, in the currency withdrawn.'),
      netAmount: described(Amount, 'What would arrive.'),
    },
    { description: 'What a withdrawal would cost.' },
  ),
);

/** What the parts of an estimate must be to each other. */
function estimateErrors(body: unknown): FieldError[] {
  const given = (body ?? {}) as Record<string, unknown>;
  const { cryptoNetwork: network, currency, destinationAddress: address } = given;
  if (typeof network !== 'string' || !isWithdrawalNetwork(network)) return [];
  const { currencies, isAddress } = NETWORKS[network];
  const errors: FieldError[] = [];
  if (typeof currency === 'string' && !currencies.includes(currency)) {
    const message = `on ${network} move ${currencies.join(' and ')}`;
    errors.push({ field: 'currency', constraint: { enum: [...currencies] }, message });
  }
  if (typeof address === 'string' && !isAddress(address, false)) {
    errors.push({ field: 'destinationAddress', message: `is not an address on ${network}` });
  }
  return errors;
}

export const estimateCryptoWithdrawalFee = operation({
  operationId: 'estimateCryptoWithdrawalFee',
  method: 'POST',
  path: '/crypto/estimate-withdrawal-fee',
  tag: TAG,
  summary: 'Estimate the fee of a withdrawal',
  description:
    'What sending a digital asset to an address would cost. Nothing is held or promised.',
  permission: 'VIEW',
  body: EstimateRequest,
  bodyRules: estimateErrors,
  replies: { 200: EstimateResponse },
  errors: ['AMOUNT_OUT_OF_RANGE', 'INVALID_CURRENCY', 'ACCOUNT_NOT_FOUND', 'NOT_IMPLEMENTED'],
});

const UmaProvider = named(
  'UmaProvider',
  Type.Object(
    {
      name: text('Name of the provider.'),
      supportedRegions: Type.Array(CountryCode, {
        description: 'Countries its customers can live in.',
      }),
      domain: text('What stands behind the @ of its addresses.'),
      logoUrl: text('A picture of its sign.', { format: 'uri' }),
      supportedCurrencies: Type.Array(Currency, { description: 'What its customers can receive.' }),
      lei: text('Legal entity identifier, ISO 17442.'),
      allowListStatus: Type.Boolean({
        description: 'Whether payments to it are allowed; false for a blocked provider.',
      }),
    },
    { description: 'A company whose customers have UMA addresses.' },
  ),
);

export const getAvailableUmaProviders = operation({
  operationId: 'getAvailableUmaProviders',
  method: 'GET',
  path: '/uma-providers',
  tag: 'Available UMA Providers',
  summary: 'List UMA providers',
  description: 'Providers whose customers can be paid, by name, the last name first unless told.',
  permission: 'VIEW',
  query: Type.Object({
    countryCode: Type.Optional(
      described(CountryCode, 'Only those that take customers in this country.'),
    ),
    currencyCode: Type.Optional(
      text('Only those whose customers can receive this currency.', { pattern: '^[A-Z]{3,10}$' }),
    ),
    hasBlockedProviders: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether blocked ones are listed too.' }),
    ),
    ...PageQuery,
    sortOrder: Type.Optional(
      oneOf(['asc', 'desc'], { default: 'desc', description: 'Direction of the names.' }),
    ),
  }),
  replies: {
    200: named('UmaProviderListResponse', {
      ...page(UmaProvider),
      description: 'A page of UMA providers.',
    }),
  },
  errors: [],
});

const Vasp = named(
  'Vasp',
  Type.Object(
    {
      vaspName: text('What to send as `vaspName` of a wallet, letter for letter.'),
      url: Type.Optional(text('Its page.', { format: 'uri' })),
    },
    { description: 'An exchange or custodian that holds wallets for others.' },
  ),
);

export const listVasps = operation({
  operationId: 'listVasps',
  method: 'GET',
  path: '/vasps',
  tag: 'VASPs',
  summary: 'List exchanges and custodians',
  description: 'Those that a wallet may name as its holder, by name.',
  permission: 'VIEW',
  query: Type.Object(PageQuery),
  replies: {
    200: named(
      'VaspListResponse',
      Type.Object(
        {
          data: Type.Array(Vasp, { description: 'The entries of this page.' }),
          hasMore: Type.Boolean({ description: 'Whether another page follows.' }),
          nextCursor: Type.Optional(text('Pass as `cursor` to get the next page.')),
        },
        { description: 'A page of exchanges and custodians.' },
      ),
    ),
  },
  errors: [],
});
