// Operations on receivers: payee discovery, providers and VASPs, and fee estimates. A payee
// discovery is stored for a later quote. All other operations are read-only.
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
  named,
  oneOf,
  PageQuery,
  PositiveAmount,
  page,
  text,
  withDescription,
} from '../../../kernel/schema.ts';

const TAG = 'Cross-Currency Transfers';

const CurrencyPreference = named(
  'CurrencyPreference',
  Type.Object(
    {
      currency: withDescription(Currency, 'Currency that can be received.'),
      estimatedExchangeRate: Type.Number({
        exclusiveMinimum: 0,
        description:
          'Indicative rate: receiving amount for one unit of the sending currency, both ' +
          'in major units, before fees. The sending currency is the first currency that ' +
          'the sender can send.',
      }),
      min: withDescription(
        PositiveAmount,
        'Minimum for one payment, in minor units of the currency.',
      ),
      max: withDescription(
        PositiveAmount,
        'Maximum for one payment, in minor units of the currency.',
      ),
    },
    { description: 'A currency that the receiver accepts.' },
  ),
);

const discoveryFields = {
  supportedCurrencies: Type.Array(CurrencyPreference, {
    description: 'Currencies that the receiver accepts, the preferred currency first.',
  }),
  requiredPayerDataFields: Type.Optional(
    Type.Array(CounterpartyFieldDefinition, {
      description:
        'Information about the sender that the receiver requires. Send it in ' +
        '`senderCustomerInfo` of `createQuote` unless the customer record contains ' +
        'it.',
    }),
  ),
  lookupId: text('ID of the payee discovery for `createQuote`. Valid for 10 minutes.'),
};

const senderQuery = Type.Object({
  senderUmaAddress: Type.Optional(text('UMA address of the sending customer.', { maxLength: 320 })),
  customerId: Type.Optional(
    text(
      'ID of the sending customer. Default: the customer with `senderUmaAddress`, or the platform.',
    ),
  ),
});

export const lookupUma = operation({
  operationId: 'lookupUma',
  method: 'GET',
  path: '/receiver/uma/{receiverUmaAddress}',
  tag: TAG,
  summary: 'Discover a payee by UMA address',
  description:
    'Requests the accepted currencies, limits and required sender information of ' +
    'a UMA address from its provider. A payment to a UMA address requires this ' +
    'operation. Continue with `createQuote` and the `lookupId`.',
  permission: 'VIEW',
  callsExternal: true,
  params: Type.Object({
    receiverUmaAddress: text(
      'UMA address of the receiver, `$name@domain`, with `$` URL-encoded as `%24`.',
    ),
  }),
  query: senderQuery,
  replies: {
    200: named(
      'ReceiverUmaLookupResponse',
      Type.Object(
        { receiverUmaAddress: text('UMA address in lower case.'), ...discoveryFields },
        { description: 'Result of the payee discovery of a UMA address.' },
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
    'QUOTE_RATE_UNAVAILABLE',
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
  summary: 'Discover a payee by external account',
  description:
    'Returns the currency, limits and required sender information of a registered ' +
    'external account. Payments to external accounts do not require this operation. ' +
    'Continue with `createQuote`.',
  permission: 'VIEW',
  params: Type.Object({ accountId: text('ID of the external account.') }),
  query: senderQuery,
  replies: {
    200: named(
      'ReceiverExternalAccountLookupResponse',
      Type.Object(
        { accountId: text('ID of the external account.'), ...discoveryFields },
        { description: 'Result of the payee discovery of an external account.' },
      ),
    ),
  },
  errors: [
    'INVALID_UMA_ADDRESS',
    'INVALID_RECEIVER',
    'LOOKUP_REQUEST_FAILED',
    'QUOTE_RATE_UNAVAILABLE',
    'USER_NOT_FOUND',
    'CUSTOMER_NOT_FOUND',
    'CUSTOMER_DELETED',
    'NOT_IMPLEMENTED',
  ],
  notFound: 'ACCOUNT_NOT_FOUND',
});

const EstimateRequest = named(
  'EstimateCryptoWithdrawalFeeRequest',
  Type.Object(
    {
      internalAccountId: text('ID of the internal account to withdraw from.'),
      currency: text('Digital asset to withdraw. It must be the currency of the account.', {
        maxLength: 10,
      }),
      cryptoNetwork: WithdrawalNetwork,
      amount: withDescription(
        PositiveAmount,
        'Amount to debit, including fees, in minor units of the currency.',
      ),
      destinationAddress: text('Destination address on the network.', {
        minLength: 1,
        maxLength: 4096,
      }),
    },
    { description: 'Withdrawal to estimate.' },
  ),
);

const EstimateResponse = named(
  'EstimateCryptoWithdrawalFeeResponse',
  Type.Object(
    {
      networkFee: withDescription(
        Amount,
        'Fee of the network, in minor units of `networkFeeAsset`.',
      ),
      networkFeeAsset: text('Asset in which the network charges its fee.'),
      applicationFee: withDescription(
        Amount,
        'Fee of the service, in minor units of the withdrawn currency.',
      ),
      totalFee: withDescription(
        Amount,
        'Network fee, converted, and service fee, in minor units of the withdrawn currency.',
      ),
      netAmount: withDescription(
        Amount,
        'Amount after fees, in minor units of the withdrawn currency.',
      ),
    },
    { description: 'Estimated fees of a withdrawal.' },
  ),
);

/** Errors of the fields that depend on the network. */
function estimateErrors(body: unknown): FieldError[] {
  const input = (body ?? {}) as Record<string, unknown>;
  const { cryptoNetwork: network, currency, destinationAddress: address } = input;
  if (typeof network !== 'string' || !isWithdrawalNetwork(network)) return [];
  const { currencies, isAddress } = NETWORKS[network];
  const errors: FieldError[] = [];
  if (typeof currency === 'string' && !currencies.includes(currency)) {
    const message = `must be one of ${currencies.join(', ')} on ${network}`;
    errors.push({ field: 'currency', constraint: { enum: [...currencies] }, message });
  }
  if (typeof address === 'string' && !isAddress(address, false)) {
    errors.push({ field: 'destinationAddress', message: `is not a valid address on ${network}` });
  }
  return errors;
}

export const estimateCryptoWithdrawalFee = operation({
  operationId: 'estimateCryptoWithdrawalFee',
  method: 'POST',
  path: '/crypto/estimate-withdrawal-fee',
  tag: TAG,
  summary: 'Estimate a withdrawal fee',
  description:
    'Estimates the fees for sending a digital asset to an address over a network. ' +
    'No funds are held and the fees are not guaranteed. To send, register the ' +
    'address with `createCustomerExternalAccount` and create a quote with ' +
    '`createQuote`.',
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
      name: text('Name of the UMA provider.'),
      supportedRegions: Type.Array(CountryCode, {
        description: 'Countries of residence of the customers of the provider.',
      }),
      domain: text('Domain of the UMA addresses of the provider.'),
      logoUrl: text('URL of the logo of the provider.', { format: 'uri' }),
      supportedCurrencies: Type.Array(Currency, {
        description: 'Currencies that the customers of the provider can receive.',
      }),
      lei: text('Legal entity identifier (LEI) of the provider, ISO 17442.'),
      allowListStatus: Type.Boolean({
        description:
          'Whether payments to and from the provider are allowed. False for a blocked ' +
          'provider.',
      }),
    },
    { description: 'A provider of UMA addresses.' },
  ),
);

export const getAvailableUmaProviders = operation({
  operationId: 'getAvailableUmaProviders',
  method: 'GET',
  path: '/uma-providers',
  tag: 'Available UMA Providers',
  summary: 'List UMA providers',
  description:
    'Returns a page of UMA providers by name, in descending order by default. Use ' +
    '`lookupUma` for an address of a provider.',
  permission: 'VIEW',
  query: Type.Object({
    countryCode: Type.Optional(
      withDescription(
        CountryCode,
        'Filter by country of residence of the customers, ISO 3166-1 alpha-2.',
      ),
    ),
    currencyCode: Type.Optional(
      text('Filter by currency that the customers can receive.', { pattern: '^[A-Z]{3,10}$' }),
    ),
    hasBlockedProviders: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Whether blocked providers are included. Defaults to true.',
      }),
    ),
    ...PageQuery,
    sortOrder: Type.Optional(
      oneOf(['asc', 'desc'], {
        default: 'desc',
        description:
          'Order of the names: `asc` from A to Z, `desc` from Z to A. Defaults to `desc`.',
      }),
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
      vaspName: text('Exact value for `vaspName` of a wallet.'),
      url: Type.Optional(text('URL of the website. Absent if it is not known.', { format: 'uri' })),
    },
    {
      description: 'A virtual asset service provider: an exchange or custodian that holds wallets.',
    },
  ),
);

export const listVasps = operation({
  operationId: 'listVasps',
  method: 'GET',
  path: '/vasps',
  tag: 'VASPs',
  summary: 'List exchanges and custodians',
  description:
    'Returns a page of the exchanges and custodians that can be the `vaspName` of ' +
    'a wallet, by name. Use this operation before `createCustomerExternalAccount`.',
  permission: 'VIEW',
  query: Type.Object(PageQuery),
  replies: {
    200: named(
      'VaspListResponse',
      Type.Object(
        {
          data: Type.Array(Vasp, { description: 'Items of this page.' }),
          hasMore: Type.Boolean({ description: 'Whether a further page exists.' }),
          nextCursor: Type.Optional(
            text('Value of `cursor` for the next page. Absent on the last page.'),
          ),
        },
        { description: 'A page of exchanges and custodians.' },
      ),
    ),
  },
  errors: [],
});
