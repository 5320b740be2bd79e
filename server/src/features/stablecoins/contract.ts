// Contracts for linking a platform to its stablecoin provider, registering its tokens, and
// requesting their use by the service. Tokens are created by the provider only.
import { Type } from '@sinclair/typebox';
import { ISSUANCE_STATUSES } from '../../connectors/ports/stablecoins.ts';
import { operation } from '../../kernel/contract/operation.ts';
import {
  named,
  oneOf,
  PageQuery,
  page,
  Timestamp,
  time,
  withDescription,
} from '../../kernel/schema.ts';
import { LINK_STATUSES, SERVICE_STATUSES } from './states.ts';

export const TAG = 'Stablecoins';

const optional = Type.Optional;

/** A name or secret at the provider. */
const identifier = (description: string, maxLength = 255) =>
  Type.String({ minLength: 1, maxLength, description });

export const StablecoinProvider = named(
  'StablecoinProvider',
  oneOf(['BRALE'], { description: 'Stablecoin provider, the issuer of the tokens.' }),
);

export const StablecoinProviderEnvironment = named(
  'StablecoinProviderEnvironment',
  oneOf(['SANDBOX', 'PRODUCTION'], {
    description:
      'Environment at the provider: SANDBOX for sandbox platforms, PRODUCTION for production ' +
      'platforms.',
  }),
);

const StablecoinProviderAccountStatus = named(
  'StablecoinProviderAccountStatus',
  oneOf(LINK_STATUSES, {
    description:
      'ACTIVE: the provider accepts the credentials. INVALID: the provider rejects the ' +
      'credentials. REVOKED: the provider revoked the credentials. Link the same provider ' +
      'account again with valid credentials. The account becomes ACTIVE under the same ID.',
  }),
);

const StablecoinNetwork = named(
  'StablecoinNetwork',
  oneOf(['SPARK'], { description: 'Network of the token.' }),
);

const StablecoinIssuanceStatus = named(
  'StablecoinIssuanceStatus',
  oneOf(ISSUANCE_STATUSES, {
    description: 'Issuance status. Only a PROVISIONED token can be minted and burned.',
  }),
);

const StablecoinServiceOperationsStatus = named(
  'StablecoinServiceOperationsStatus',
  oneOf(SERVICE_STATUSES, {
    description:
      'Whether accounts and payments of the service can use the token. Only an ENABLED token can ' +
      'be used.',
  }),
);

const StablecoinProviderAccount = named(
  'StablecoinProviderAccount',
  Type.Object(
    {
      id: Type.String({
        description: 'ID of the provider account, `StablecoinProviderAccount:<uuid>`.',
      }),
      provider: StablecoinProvider,
      providerAccountId: Type.String({ description: 'ID of the account at the provider.' }),
      providerEnvironment: StablecoinProviderEnvironment,
      status: StablecoinProviderAccountStatus,
      lastVerifiedAt: optional({
        ...Timestamp,
        description:
          'Time at which the credentials were last verified. Linking the account verifies the ' +
          'credentials.',
      }),
      createdAt: time('Time at which the account was linked.'),
      updatedAt: time('Time of the last change.'),
    },
    { description: 'A linked account at a stablecoin provider, without its credentials.' },
  ),
);

const PROVIDER_NAME = 'ID of the token at the provider.';
const NETWORK_NAME = 'ID of the token on its network.';

export const Stablecoin = named(
  'Stablecoin',
  Type.Object(
    {
      id: Type.String({ description: 'ID of the stablecoin, `Stablecoin:<uuid>`.' }),
      name: Type.String({ description: 'Name of the token at the provider.' }),
      symbol: Type.String({ description: 'Ticker symbol at the provider.' }),
      baseCurrency: Type.String({
        description: 'Currency that the token is pegged to, one to one.',
      }),
      decimals: Type.Integer({ description: 'Number of decimal places.' }),
      network: StablecoinNetwork,
      issuanceStatus: StablecoinIssuanceStatus,
      serviceOperationsStatus: StablecoinServiceOperationsStatus,
      networkTokenIdentifier: Type.String({ description: NETWORK_NAME }),
      currency: optional(
        Type.String({
          description:
            'Currency code in accounts and payments. Absent unless the token is ENABLED.',
        }),
      ),
      provider: StablecoinProvider,
      stablecoinProviderAccountId: Type.String({
        description: 'ID of the provider account that the token was registered with.',
      }),
      providerEnvironment: StablecoinProviderEnvironment,
      providerTokenIdentifier: Type.String({ description: PROVIDER_NAME }),
      createdAt: time('Time at which the stablecoin was registered.'),
      updatedAt: time('Time of the last change.'),
    },
    { description: 'A registered token of a provider.' },
  ),
);

export const StablecoinProviderAccountLinkRequest = named(
  'StablecoinProviderAccountLinkRequest',
  Type.Object(
    {
      provider: StablecoinProvider,
      apiClientId: identifier('ID of an API client at the provider.'),
      apiClientSecret: {
        ...identifier('Secret of the API client. Stored encrypted and not returned.', 1_024),
        writeOnly: true,
      },
      providerAccountId: optional(
        identifier('ID of the account at the provider. Required if the client has more than one.'),
      ),
    },
    {
      description: 'Credentials of an account at the provider.',
      examples: [
        {
          provider: 'BRALE',
          apiClientId: 'client-7d31',
          apiClientSecret: 'the-secret-of-the-client',
        },
      ],
    },
  ),
);

export const StablecoinRegisterRequest = named(
  'StablecoinRegisterRequest',
  Type.Object(
    {
      providerTokenIdentifier: identifier(PROVIDER_NAME),
      networkTokenIdentifier: identifier(NETWORK_NAME),
      network: StablecoinNetwork,
      stablecoinProviderAccountId: optional(
        Type.String({
          description: 'ID of the provider account. Required if more than one is ACTIVE.',
        }),
      ),
    },
    {
      description: 'Token to register.',
      examples: [
        {
          providerTokenIdentifier: 'acme-usd',
          networkTokenIdentifier: 'btkn1acmeusd',
          network: 'SPARK',
        },
      ],
    },
  ),
);

const accountParams = Type.Object({
  stablecoinProviderAccountId: Type.String({ description: 'ID of the provider account.' }),
});
export const coinParams = Type.Object({
  stablecoinId: Type.String({ description: 'ID of the stablecoin.' }),
});

export const linkStablecoinProviderAccount = operation({
  operationId: 'linkStablecoinProviderAccount',
  method: 'POST',
  path: '/stablecoin-provider-accounts',
  tag: TAG,
  summary: 'Link a stablecoin provider account',
  description:
    'Links an account at a stablecoin provider. The credentials are verified with the provider ' +
    'before they are stored.',
  permission: 'MANAGE',
  body: StablecoinProviderAccountLinkRequest,
  replies: { 201: StablecoinProviderAccount },
  errors: ['STABLECOIN_VERIFICATION_FAILED', 'NOT_IMPLEMENTED'],
  idempotency: 'required',
  callsExternal: true,
});

export const listStablecoinProviderAccounts = operation({
  operationId: 'listStablecoinProviderAccounts',
  method: 'GET',
  path: '/stablecoin-provider-accounts',
  tag: TAG,
  summary: 'List linked provider accounts',
  description: 'Lists the linked provider accounts, newest first.',
  permission: 'VIEW',
  query: Type.Object({
    provider: optional(withDescription(StablecoinProvider, 'Filter by provider.')),
    status: optional(withDescription(StablecoinProviderAccountStatus, 'Filter by status.')),
    ...PageQuery,
  }),
  replies: {
    200: named(
      'StablecoinProviderAccountListResponse',
      page(StablecoinProviderAccount, { description: 'A page of provider accounts.' }),
    ),
  },
  errors: [],
});

export const getStablecoinProviderAccount = operation({
  operationId: 'getStablecoinProviderAccount',
  method: 'GET',
  path: '/stablecoin-provider-accounts/{stablecoinProviderAccountId}',
  tag: TAG,
  summary: 'Get a linked provider account',
  description: 'Returns a linked provider account with its status.',
  permission: 'VIEW',
  params: accountParams,
  replies: { 200: StablecoinProviderAccount },
  errors: [],
  notFound: 'STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND',
});

export const registerStablecoin = operation({
  operationId: 'registerStablecoin',
  method: 'POST',
  path: '/stablecoins',
  tag: TAG,
  summary: 'Register a stablecoin',
  description:
    'Registers a token that exists at the provider. Name, symbol, decimals and base currency are ' +
    'taken from the provider. While the provider is issuing the token, `issuanceStatus` is ' +
    'updated automatically.',
  permission: 'MANAGE',
  body: StablecoinRegisterRequest,
  replies: { 201: Stablecoin },
  errors: [
    'STABLECOIN_PROVIDER_ACCOUNT_INVALID',
    'STABLECOIN_PROVIDER_ACCOUNT_REVOKED',
    'STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED',
    'STABLECOIN_VERIFICATION_FAILED',
    'STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND',
    'STABLECOIN_SYMBOL_ALREADY_EXISTS',
    'STABLECOIN_TOKEN_IDENTIFIER_ALREADY_EXISTS',
    'NOT_IMPLEMENTED',
  ],
  idempotency: 'required',
  callsExternal: true,
});

export const listStablecoins = operation({
  operationId: 'listStablecoins',
  method: 'GET',
  path: '/stablecoins',
  tag: TAG,
  summary: 'List stablecoins',
  description: 'Lists the registered stablecoins, newest first.',
  permission: 'VIEW',
  query: Type.Object({
    issuanceStatus: optional(
      withDescription(StablecoinIssuanceStatus, 'Filter by issuance status.'),
    ),
    serviceOperationsStatus: optional(
      withDescription(StablecoinServiceOperationsStatus, 'Filter by service operations status.'),
    ),
    provider: optional(withDescription(StablecoinProvider, 'Filter by provider.')),
    ...PageQuery,
  }),
  replies: {
    200: named(
      'StablecoinListResponse',
      page(Stablecoin, { description: 'A page of stablecoins.' }),
    ),
  },
  errors: [],
});

export const getStablecoin = operation({
  operationId: 'getStablecoin',
  method: 'GET',
  path: '/stablecoins/{stablecoinId}',
  tag: TAG,
  summary: 'Get a stablecoin',
  description: 'Returns a registered stablecoin.',
  permission: 'VIEW',
  params: coinParams,
  replies: { 200: Stablecoin },
  errors: [],
  notFound: 'STABLECOIN_NOT_FOUND',
});

export const requestStablecoinServiceEnablement = operation({
  operationId: 'requestStablecoinServiceEnablement',
  method: 'POST',
  path: '/stablecoins/{stablecoinId}/request-service-enablement',
  tag: TAG,
  summary: 'Request service enablement of a stablecoin',
  description:
    'Requests that accounts and payments of the service can use the token. The operator decides. ' +
    'A repeated request has no effect while a decision is pending.',
  permission: 'MANAGE',
  params: coinParams,
  replies: { 200: Stablecoin },
  errors: ['STABLECOIN_SERVICE_ENABLEMENT_NOT_REQUESTABLE'],
  notFound: 'STABLECOIN_NOT_FOUND',
});
