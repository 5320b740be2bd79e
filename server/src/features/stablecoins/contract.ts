// How a platform links itself to the provider that issues its stablecoins, registers the tokens that it has
// there, and asks to have one used by the service. Nothing here creates a token: the provider does.
import { Type } from '@sinclair/typebox';
import { ISSUANCE_STATUSES } from '../../connectors/ports/stablecoins.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { described, named, oneOf, PageQuery, page, Timestamp } from '../../kernel/schema.ts';
import { LINK_STATUSES, SERVICE_STATUSES } from './states.ts';

export const TAG = 'Stablecoins';

const maybe = Type.Optional;

/** A name or a secret of the provider's. */
const word = (description: string, maxLength = 255) =>
  Type.String({ minLength: 1, maxLength, description });

export const StablecoinProvider = named(
  'StablecoinProvider',
  oneOf(['BRALE'], { description: 'Who issues the token.' }),
);

export const StablecoinProviderEnvironment = named(
  'StablecoinProviderEnvironment',
  oneOf(['SANDBOX', 'PRODUCTION'], { description: 'That of your platform.' }),
);

const StablecoinProviderAccountStatus = named(
  'StablecoinProviderAccountStatus',
  oneOf(LINK_STATUSES, {
    description:
      'INVALID: the provider no longer takes the credentials. REVOKED: it took them back. Link the ' +
      'same provider account again, with credentials that are good, and it is ACTIVE under the same id.',
  }),
);

const StablecoinNetwork = named(
  'StablecoinNetwork',
  oneOf(['SPARK'], { description: 'The network that the token is on.' }),
);

const StablecoinIssuanceStatus = named(
  'StablecoinIssuanceStatus',
  oneOf(ISSUANCE_STATUSES, { description: 'Only a PROVISIONED token is minted and burnt.' }),
);

const StablecoinServiceOperationsStatus = named(
  'StablecoinServiceOperationsStatus',
  oneOf(SERVICE_STATUSES, {
    description: 'Whether the service may use the token in accounts and payments of its own.',
  }),
);

const StablecoinProviderAccount = named(
  'StablecoinProviderAccount',
  Type.Object(
    {
      id: Type.String({ description: 'StablecoinProviderAccount:<uuid>' }),
      provider: StablecoinProvider,
      providerAccountId: Type.String({ description: 'What the provider calls the account.' }),
      providerEnvironment: StablecoinProviderEnvironment,
      status: StablecoinProviderAccountStatus,
      lastVerifiedAt: maybe({
        ...Timestamp,
        description: 'When the credentials were shown to the provider and found to be good.',
      }),
      createdAt: Timestamp,
      updatedAt: Timestamp,
    },
    { description: 'An account at a provider of stablecoins. It never shows the credentials.' },
  ),
);

const PROVIDER_NAME = 'What the provider calls the token.';
const NETWORK_NAME = 'What the network calls the token.';

const Stablecoin = named(
  'Stablecoin',
  Type.Object(
    {
      id: Type.String({ description: 'Stablecoin:<uuid>' }),
      name: Type.String({ description: 'As the provider has it, and so are the next three.' }),
      symbol: Type.String({ description: 'Its short name.' }),
      baseCurrency: Type.String({ description: 'What one whole token is worth one of.' }),
      decimals: Type.Integer({ description: 'Of its smallest unit.' }),
      network: StablecoinNetwork,
      issuanceStatus: StablecoinIssuanceStatus,
      serviceOperationsStatus: StablecoinServiceOperationsStatus,
      networkTokenIdentifier: Type.String({ description: NETWORK_NAME }),
      currency: maybe(
        Type.String({ description: 'What accounts and payments call it, once it is ENABLED.' }),
      ),
      provider: StablecoinProvider,
      stablecoinProviderAccountId: Type.String({
        description: 'The provider account that it was registered from.',
      }),
      providerEnvironment: StablecoinProviderEnvironment,
      providerTokenIdentifier: Type.String({ description: PROVIDER_NAME }),
      createdAt: Timestamp,
      updatedAt: Timestamp,
    },
    { description: 'A token that you have at a provider.' },
  ),
);

export const StablecoinProviderAccountLinkRequest = named(
  'StablecoinProviderAccountLinkRequest',
  Type.Object(
    {
      provider: StablecoinProvider,
      apiClientId: word('Of an API client that you made at the provider.'),
      apiClientSecret: {
        ...word('Its secret. It is kept sealed and never shown.', 1_024),
        writeOnly: true,
      },
      providerAccountId: maybe(word('Needed where the client opens more than one account.')),
    },
    {
      description: 'The client by which your account at the provider is opened.',
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
      providerTokenIdentifier: word(PROVIDER_NAME),
      networkTokenIdentifier: word(NETWORK_NAME),
      network: StablecoinNetwork,
      stablecoinProviderAccountId: maybe(
        Type.String({ description: 'Needed where more than one provider account is linked.' }),
      ),
    },
    {
      description: 'A token as its provider and its network call it.',
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
  stablecoinProviderAccountId: Type.String({ description: 'Id of the provider account.' }),
});
export const coinParams = Type.Object({
  stablecoinId: Type.String({ description: 'Id of the stablecoin.' }),
});

export const linkStablecoinProviderAccount = operation({
  operationId: 'linkStablecoinProviderAccount',
  method: 'POST',
  path: '/stablecoin-provider-accounts',
  tag: TAG,
  summary: 'Link an account at a provider of stablecoins',
  description: 'The credentials are shown to the provider before anything is kept.',
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
  description: 'Newest first.',
  permission: 'VIEW',
  query: Type.Object({
    provider: maybe(described(StablecoinProvider, 'Only those at this provider.')),
    status: maybe(described(StablecoinProviderAccountStatus, 'Only those in this state.')),
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
  summary: 'Show a linked provider account',
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
    'One that you have at the provider already. Name, symbol, decimals and what it is worth come from ' +
    'there. Where it is still being issued, `issuanceStatus` goes on by itself.',
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
  description: 'Newest first.',
  permission: 'VIEW',
  query: Type.Object({
    issuanceStatus: maybe(
      described(StablecoinIssuanceStatus, 'Only those whose issuance is so far.'),
    ),
    serviceOperationsStatus: maybe(
      described(StablecoinServiceOperationsStatus, 'Only those whose use by the service is so.'),
    ),
    provider: maybe(described(StablecoinProvider, 'Only those of this provider.')),
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
  summary: 'Show a stablecoin',
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
  summary: 'Ask to have a stablecoin used by the service',
  description:
    'The operator of the service decides. Asked again while that is awaited, it changes nothing.',
  permission: 'MANAGE',
  params: coinParams,
  replies: { 200: Stablecoin },
  errors: ['STABLECOIN_SERVICE_ENABLEMENT_NOT_REQUESTABLE'],
  notFound: 'STABLECOIN_NOT_FOUND',
});
