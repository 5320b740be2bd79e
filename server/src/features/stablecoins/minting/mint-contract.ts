// What mints and burns look like, in requests and in replies. Amounts are texts of digits: smallest units
// of a token do not fit into the numbers of JSON.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  described,
  named,
  oneOf,
  PageQuery,
  page,
  ruled,
  Timestamp,
  variant,
} from '../../../kernel/schema.ts';
import { BURN_RAILS, BURN_SOURCES, MINT_SOURCES } from '../coins/rails.ts';
import { coinParams, StablecoinProvider, StablecoinProviderEnvironment, TAG } from '../contract.ts';
import { OPERATION_STATUSES } from '../states.ts';

const maybe = Type.Optional;
const text = (description: string) => Type.String({ description });

/** The longest that any table of ours could hold, with room for zeros in front. */
const MAX_DIGITS = 40;

const UnitsText = ruled(
  Type.String({
    pattern: '^[0-9]+$',
    maxLength: MAX_DIGITS,
    description:
      'Whole number of the smallest unit of the token, as text; worth a whole number of cents.',
  }),
  `must be digits alone, ${MAX_DIGITS} at most`,
);

const Description = Type.String({
  maxLength: 1024,
  description: 'What it is for; shown with the operation. Nothing personal.',
});

const bankToDebit = {
  externalAccountId: Type.String({ description: 'A US bank account, which is debited.' }),
};
const ownAccount = {
  accountId: Type.String({ description: 'An account with the service. Reserved.' }),
};

const MintSourceType = named(
  'StablecoinMintFundingSourceType',
  oneOf(MINT_SOURCES, { description: 'What pays for a mint.' }),
);
const BurnSourceType = named(
  'StablecoinBurnSourceType',
  oneOf(BURN_SOURCES, { description: 'What the tokens of a burn are taken from.' }),
);

const MintFundingSource = named(
  'StablecoinMintFundingSource',
  variant(
    'type',
    {
      WIRE: named(
        'StablecoinWireFundingSource',
        Type.Object({}, { description: 'Pay by wire, as `fundingInstructions` say.' }),
      ),
      ACH_DEBIT: named(
        'StablecoinAchDebitFundingSource',
        Type.Object(bankToDebit, { description: 'Pay by debit of a bank account.' }),
      ),
      SAME_DAY_ACH_DEBIT: named(
        'StablecoinSameDayAchDebitFundingSource',
        Type.Object(bankToDebit, { description: 'Pay by debit of a bank account, the same day.' }),
      ),
      SERVICE_INTERNAL_ACCOUNT: named(
        'StablecoinServiceInternalFundingSource',
        Type.Object(ownAccount, { description: 'From an account with the service. Reserved.' }),
      ),
      PROVIDER_INTERNAL_BALANCE: named(
        'StablecoinProviderBalanceFundingSource',
        Type.Object(
          {
            sourceTokenIdentifier: Type.String({ description: 'The token that pays.' }),
            cryptoNetwork: Type.String({ description: 'The network it is on.' }),
          },
          { description: 'From what the provider holds for you. Reserved.' },
        ),
      ),
    },
    { tagType: MintSourceType, description: 'Where the money comes from.' },
  ),
);

const BurnSource = named(
  'StablecoinBurnSource',
  variant(
    'type',
    {
      EXTERNAL_ACCOUNT: named(
        'StablecoinExternalAccountBurnSource',
        Type.Object({}, { description: 'Any wallet sends them to `fundingInstructions.address`.' }),
      ),
      SERVICE_INTERNAL_ACCOUNT: named(
        'StablecoinServiceInternalBurnSource',
        Type.Object(ownAccount, { description: 'From an account with the service. Reserved.' }),
      ),
      PROVIDER_INTERNAL_BALANCE: named(
        'StablecoinProviderBalanceBurnSource',
        Type.Object({}, { description: 'What the provider holds for you.' }),
      ),
    },
    { tagType: BurnSourceType, description: 'Where the tokens come from.' },
  ),
);

const BurnRail = oneOf(BURN_RAILS, { description: 'How the money goes to the bank account.' });

const MintDestination = named(
  'StablecoinMintDestination',
  Type.Object(
    { accountId: text('An active Spark wallet among external accounts.') },
    { description: 'Where the tokens go.' },
  ),
);

const BurnDestination = named(
  'StablecoinBurnDestination',
  Type.Object(
    {
      type: oneOf(['EXTERNAL_ACCOUNT'], { description: 'Money goes to nothing else.' }),
      externalAccountId: text('An active US bank account.'),
      rail: BurnRail,
    },
    { description: 'Where the money goes.' },
  ),
);

export const StablecoinMintRequest = named(
  'StablecoinMintRequest',
  Type.Object(
    {
      amount: UnitsText,
      fundingSource: MintFundingSource,
      destination: MintDestination,
      description: maybe(Description),
    },
    {
      description: 'Tokens to order.',
      examples: [
        {
          amount: '100000000',
          fundingSource: { type: 'WIRE' },
          destination: { accountId: 'ExternalAccount:019b8e2a-0c00-7000-8000-00000000e001' },
          description: 'Tokens for March',
        },
      ],
    },
  ),
);

export const StablecoinBurnRequest = named(
  'StablecoinBurnRequest',
  Type.Object(
    {
      amount: UnitsText,
      source: BurnSource,
      destination: BurnDestination,
      description: maybe(Description),
    },
    {
      description: 'Tokens to turn into money.',
      examples: [
        {
          amount: '25000000',
          source: { type: 'EXTERNAL_ACCOUNT' },
          destination: {
            type: 'EXTERNAL_ACCOUNT',
            externalAccountId: 'ExternalAccount:019b8e2a-0c00-7000-8000-00000000e002',
            rail: 'WIRE',
          },
        },
      ],
    },
  ),
);

const OperationType = named(
  'StablecoinOperationType',
  oneOf(['MINT', 'BURN'], { description: 'Whether tokens come to be or cease to be.' }),
);

const OperationSource = named(
  'StablecoinOperationSource',
  Type.Object(
    {
      type: oneOf([...new Set([...MINT_SOURCES, ...BURN_SOURCES])], {
        description: 'As the request said.',
      }),
      externalAccountId: maybe(text('The bank account that is debited.')),
      accountId: maybe(text('The account with the service. Reserved.')),
      sourceTokenIdentifier: maybe(text('The token that pays. Reserved.')),
      cryptoNetwork: maybe(text('The network that token is on. Reserved.')),
    },
    { description: 'What pays for a mint, or where the tokens of a burn come from.' },
  ),
);

const OperationDestination = named(
  'StablecoinOperationDestination',
  Type.Object(
    { accountId: text('The external account.'), rail: maybe(BurnRail) },
    { description: 'Where the tokens of a mint, or the money of a burn, go.' },
  ),
);

const FundingInstructions = named(
  'StablecoinFundingInstructions',
  Type.Object(
    {
      rail: maybe(text('How: WIRE, or the network of the token.')),
      network: maybe(text('The network that carries it.')),
      address: maybe(text('The bank account or wallet that it goes to.')),
      valueType: maybe(text('What to send: a currency, or the token as its network calls it.')),
    },
    {
      additionalProperties: true,
      description: 'Where somebody must pay, or send tokens, before the operation goes on.',
    },
  ),
);

const EstimatedDelivery = named(
  'StablecoinEstimatedDelivery',
  Type.Object(
    {
      rail: maybe(text('How it goes to the destination.')),
      amount: maybe(
        Type.String({ pattern: '^[0-9]+$', description: 'Smallest units of `currency`.' }),
      ),
      currency: maybe(text('What `amount` is in.')),
      timing: maybe(text('How long it takes, in a word of the provider.')),
    },
    { additionalProperties: true, description: 'Guidance by the provider, and no promise.' },
  ),
);

const StablecoinOperation = named(
  'StablecoinOperation',
  Type.Object(
    {
      id: text('StablecoinOperation:<uuid>'),
      stablecoinId: text('The stablecoin that is minted or burnt.'),
      operationType: OperationType,
      status: named(
        'StablecoinOperationStatus',
        oneOf(OPERATION_STATUSES, {
          description:
            'COMPLETED and FAILED are final. One that is EXPIRED goes on if it was paid for after ' +
            'all, for a week. There are no webhooks about it: ask again.',
        }),
      ),
      amount: Type.String({ description: 'Smallest units of the token.' }),
      provider: StablecoinProvider,
      providerEnvironment: StablecoinProviderEnvironment,
      stablecoinProviderAccountId: text('The provider account that it was ordered through.'),
      source: maybe(OperationSource),
      fundingInstructions: maybe(FundingInstructions),
      destination: maybe(OperationDestination),
      estimatedDelivery: maybe(EstimatedDelivery),
      expiresAt: maybe(Timestamp),
      providerStatus: maybe(Type.String({ description: 'In the words of the provider.' })),
      failureReason: maybe(
        Type.String({ description: 'A word that stays the same, for programs.' }),
      ),
      description: maybe(text('What it is for, as the request said.')),
      createdAt: Timestamp,
      updatedAt: Timestamp,
    },
    { description: 'A mint or a burn.' },
  ),
);

const ordered = {
  method: 'POST',
  tag: TAG,
  permission: 'TRANSACT',
  params: coinParams,
  notFound: 'STABLECOIN_NOT_FOUND',
  replies: { 201: StablecoinOperation },
  callsExternal: true,
  idempotency: 'required',
} as const;

export const createStablecoinMint = operation({
  ...ordered,
  operationId: 'createStablecoinMint',
  errors: [
    'STABLECOIN_PROVIDER_ACCOUNT_INVALID',
    'STABLECOIN_PROVIDER_ACCOUNT_REVOKED',
    'STABLECOIN_AMOUNT_NOT_REPRESENTABLE',
    'STABLECOIN_EXTERNAL_ACCOUNT_LINK_FAILED',
    'STABLECOIN_EXTERNAL_ACCOUNT_LINK_METHOD_REQUIRED',
    'STABLECOIN_EXTERNAL_ACCOUNT_NOT_LINKED',
    'STABLECOIN_EXTERNAL_ACCOUNT_NOT_SUPPORTED',
    'STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_FAILED',
    'STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_REQUIRED',
    'STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED',
    'STABLECOIN_NOT_PROVISIONED',
    'STABLECOIN_OPERATION_NOT_SUPPORTED',
    'STABLECOIN_PROVIDER_ERROR',
    'STABLECOIN_PROVIDER_SOURCE_NOT_LINKED',
    'STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND',
    'NOT_IMPLEMENTED',
  ],
  path: '/stablecoins/{stablecoinId}/mints',
  summary: 'Mint a stablecoin',
  description:
    'Orders new tokens from the provider, paid for in money and sent to a wallet. Where somebody ' +
    'has to pay first, the reply says how, and until when.',
  body: StablecoinMintRequest,
});

export const createStablecoinBurn = operation({
  ...ordered,
  operationId: 'createStablecoinBurn',
  errors: [
    'STABLECOIN_PROVIDER_ACCOUNT_INVALID',
    'STABLECOIN_PROVIDER_ACCOUNT_REVOKED',
    'STABLECOIN_AMOUNT_NOT_REPRESENTABLE',
    'STABLECOIN_BURN_SOURCE_NOT_SUPPORTED',
    'STABLECOIN_EXTERNAL_ACCOUNT_LINK_FAILED',
    'STABLECOIN_EXTERNAL_ACCOUNT_LINK_METHOD_REQUIRED',
    'STABLECOIN_EXTERNAL_ACCOUNT_NOT_LINKED',
    'STABLECOIN_EXTERNAL_ACCOUNT_NOT_SUPPORTED',
    'STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_FAILED',
    'STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_REQUIRED',
    'STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED',
    'STABLECOIN_NOT_PROVISIONED',
    'STABLECOIN_PROVIDER_ERROR',
    'STABLECOIN_PROVIDER_SOURCE_NOT_LINKED',
    'STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND',
    'NOT_IMPLEMENTED',
  ],
  path: '/stablecoins/{stablecoinId}/burns',
  summary: 'Burn a stablecoin',
  description:
    'Takes tokens out of circulation and has their money sent to a bank account. What is being ' +
    'burnt is set aside at once, so that no more can be burnt than circulates.',
  body: StablecoinBurnRequest,
});

export const listStablecoinOperations = operation({
  operationId: 'listStablecoinOperations',
  method: 'GET',
  path: '/stablecoins/{stablecoinId}/operations',
  tag: TAG,
  summary: 'List mints and burns',
  description: 'Of one stablecoin, newest first.',
  permission: 'VIEW',
  params: coinParams,
  query: Type.Object({
    operationType: maybe(described(OperationType, 'Only mints, or only burns.')),
    ...PageQuery,
  }),
  notFound: 'STABLECOIN_NOT_FOUND',
  replies: {
    200: named(
      'StablecoinOperationListResponse',
      page(StablecoinOperation, { description: 'A page of mints and burns.' }),
    ),
  },
  errors: [],
});

export const getStablecoinOperation = operation({
  operationId: 'getStablecoinOperation',
  method: 'GET',
  path: '/stablecoin-operations/{stablecoinOperationId}',
  tag: TAG,
  summary: 'Get a mint or burn',
  permission: 'VIEW',
  params: Type.Object({ stablecoinOperationId: text('Id of the mint or burn.') }),
  notFound: 'STABLECOIN_OPERATION_NOT_FOUND',
  replies: { 200: StablecoinOperation },
  errors: [],
});
