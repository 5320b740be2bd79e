// What mints and burns look like, in requests and in replies. Amounts are texts of digits: smallest units
// of a token do not fit into the numbers of JSON.
import { Type } from '@sinclair/typebox';
import { operation } from '../../kernel/operation.ts';
import { named, oneOf, PageQuery, page, ruled, Timestamp, variant } from '../../kernel/schema.ts';
import { StablecoinProvider, StablecoinProviderEnvironment, TAG } from './contract.ts';
import { BURN_RAILS, BURN_SOURCES, MINT_SOURCES } from './rails.ts';
import { OPERATION_STATUSES } from './states.ts';

const maybe = Type.Optional;

/** The longest that any table of ours could hold, with room for zeros in front. */
const MOST_DIGITS = 40;

const UnitsText = ruled(
  Type.String({
    pattern: '^[0-9]+$',
    maxLength: MOST_DIGITS,
    description:
      'Whole number of the smallest unit of the token, as text; worth a whole number of cents.',
  }),
  `must be digits alone, ${MOST_DIGITS} at most`,
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

const MintSourceType = named('StablecoinMintFundingSourceType', oneOf(MINT_SOURCES));
const BurnSourceType = named('StablecoinBurnSourceType', oneOf(BURN_SOURCES));

const MintFundingSource = named(
  'StablecoinMintFundingSource',
  variant(
    'type',
    {
      WIRE: named(
        'StablecoinWireFundingSource',
        Type.Object({}, { description: 'Pay by wire, as `fundingInstructions` say.' }),
      ),
      ACH_DEBIT: named('StablecoinAchDebitFundingSource', Type.Object(bankToDebit)),
      SAME_DAY_ACH_DEBIT: named('StablecoinSameDayAchDebitFundingSource', Type.Object(bankToDebit)),
      SERVICE_INTERNAL_ACCOUNT: named(
        'StablecoinServiceInternalFundingSource',
        Type.Object(ownAccount),
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
        Type.Object(ownAccount),
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
  Type.Object({
    accountId: Type.String({ description: 'An active Spark wallet among external accounts.' }),
  }),
);

const BurnDestination = named(
  'StablecoinBurnDestination',
  Type.Object({
    type: oneOf(['EXTERNAL_ACCOUNT']),
    externalAccountId: Type.String({ description: 'An active US bank account.' }),
    rail: BurnRail,
  }),
);

export const StablecoinMintRequest = named(
  'StablecoinMintRequest',
  Type.Object({
    amount: UnitsText,
    fundingSource: MintFundingSource,
    destination: MintDestination,
    description: maybe(Description),
  }),
);

export const StablecoinBurnRequest = named(
  'StablecoinBurnRequest',
  Type.Object({
    amount: UnitsText,
    source: BurnSource,
    destination: BurnDestination,
    description: maybe(Description),
  }),
);

const OperationType = named('StablecoinOperationType', oneOf(['MINT', 'BURN']));

const OperationSource = named(
  'StablecoinOperationSource',
  Type.Object({
    type: oneOf([...new Set([...MINT_SOURCES, ...BURN_SOURCES])]),
    externalAccountId: maybe(Type.String()),
    accountId: maybe(Type.String()),
    sourceTokenIdentifier: maybe(Type.String()),
    cryptoNetwork: maybe(Type.String()),
  }),
);

const OperationDestination = named(
  'StablecoinOperationDestination',
  Type.Object({
    accountId: Type.String({ description: 'The external account at the other end.' }),
    rail: maybe(BurnRail),
  }),
);

const FundingInstructions = named(
  'StablecoinFundingInstructions',
  Type.Object(
    {
      rail: maybe(Type.String()),
      network: maybe(Type.String()),
      address: maybe(Type.String()),
      valueType: maybe(Type.String()),
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
      rail: maybe(Type.String()),
      amount: maybe(Type.String({ pattern: '^[0-9]+$' })),
      currency: maybe(Type.String()),
      timing: maybe(Type.String()),
    },
    { additionalProperties: true, description: 'Guidance by the provider, and no promise.' },
  ),
);

const StablecoinOperation = named(
  'StablecoinOperation',
  Type.Object({
    id: Type.String(),
    stablecoinId: Type.String(),
    operationType: OperationType,
    status: named(
      'StablecoinOperationStatus',
      oneOf(OPERATION_STATUSES, {
        description:
          'COMPLETED, FAILED and EXPIRED are final. There are no webhooks about it: ask again.',
      }),
    ),
    amount: Type.String({ description: 'Smallest units of the token.' }),
    provider: StablecoinProvider,
    providerEnvironment: StablecoinProviderEnvironment,
    stablecoinProviderAccountId: Type.String(),
    source: maybe(OperationSource),
    fundingInstructions: maybe(FundingInstructions),
    destination: maybe(OperationDestination),
    estimatedDelivery: maybe(EstimatedDelivery),
    expiresAt: maybe(Timestamp),
    providerStatus: maybe(Type.String({ description: 'In the words of the provider.' })),
    failureReason: maybe(Type.String({ description: 'A word that stays the same, for programs.' })),
    description: maybe(Type.String()),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  }),
);

const coinParams = Type.Object({ stablecoinId: Type.String() });

const ordered = {
  method: 'POST',
  tag: TAG,
  permission: 'TRANSACT',
  params: coinParams,
  notFound: 'STABLECOIN_NOT_FOUND',
  replies: { 201: StablecoinOperation },
  errors: [400, 403, 404, 409, 501, 503],
  talks: true,
  keyRequired: true,
} as const;

export const createStablecoinMint = operation({
  ...ordered,
  operationId: 'createStablecoinMint',
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
  query: Type.Object({ operationType: maybe(OperationType), ...PageQuery }),
  notFound: 'STABLECOIN_NOT_FOUND',
  replies: { 200: named('StablecoinOperationListResponse', page(StablecoinOperation)) },
  errors: [400, 403, 404],
});

export const getStablecoinOperation = operation({
  operationId: 'getStablecoinOperation',
  method: 'GET',
  path: '/stablecoin-operations/{stablecoinOperationId}',
  tag: TAG,
  summary: 'Get a mint or burn',
  permission: 'VIEW',
  params: Type.Object({ stablecoinOperationId: Type.String() }),
  notFound: 'STABLECOIN_OPERATION_NOT_FOUND',
  replies: { 200: StablecoinOperation },
  errors: [403, 404],
});
