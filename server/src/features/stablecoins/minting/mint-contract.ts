// Contracts of mints and burns. Amounts are decimal strings, because minor units of a token can
// exceed the range of exact integers in JSON.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  named,
  oneOf,
  PageQuery,
  page,
  text,
  time,
  variant,
  withDescription,
  withErrorText,
} from '../../../kernel/schema.ts';
import { BURN_RAILS, BURN_SOURCES, MINT_SOURCES } from '../coins/rails.ts';
import { coinParams, StablecoinProvider, StablecoinProviderEnvironment, TAG } from '../contract.ts';
import { OPERATION_STATUSES } from '../states.ts';

const optional = Type.Optional;

/** Enough for every amount that the database can store, with leading zeros. */
const MAX_DIGITS = 40;

const UnitsText = withErrorText(
  Type.String({
    pattern: '^[0-9]+$',
    maxLength: MAX_DIGITS,
    description:
      'Amount in minor units of the token, as a string. Must be a whole number of cents. At most ' +
      '4,000,000,000,000,000,000.',
  }),
  `must consist of at most ${MAX_DIGITS} digits`,
);

const Description = Type.String({
  maxLength: 1024,
  description: 'Purpose, shown with the operation. Must not contain personal data.',
});

const bankToDebit = {
  externalAccountId: Type.String({ description: 'ID of the US bank account that is debited.' }),
};
const ownAccount = {
  accountId: Type.String({ description: 'ID of an internal account. Not supported.' }),
};

const MintSourceType = named(
  'StablecoinMintFundingSourceType',
  oneOf(MINT_SOURCES, { description: 'Funding source of a mint.' }),
);
const BurnSourceType = named(
  'StablecoinBurnSourceType',
  oneOf(BURN_SOURCES, { description: 'Source of the tokens of a burn.' }),
);

const MintFundingSource = named(
  'StablecoinMintFundingSource',
  variant(
    'type',
    {
      WIRE: named(
        'StablecoinWireFundingSource',
        Type.Object({}, { description: 'Wire transfer according to `fundingInstructions`.' }),
      ),
      ACH_DEBIT: named(
        'StablecoinAchDebitFundingSource',
        Type.Object(bankToDebit, { description: 'ACH debit of a bank account.' }),
      ),
      SAME_DAY_ACH_DEBIT: named(
        'StablecoinSameDayAchDebitFundingSource',
        Type.Object(bankToDebit, { description: 'Same-day ACH debit of a bank account.' }),
      ),
      SERVICE_INTERNAL_ACCOUNT: named(
        'StablecoinServiceInternalFundingSource',
        Type.Object(ownAccount, {
          description: 'Internal account. Not supported: the operation is rejected.',
        }),
      ),
      PROVIDER_INTERNAL_BALANCE: named(
        'StablecoinProviderBalanceFundingSource',
        Type.Object(
          {
            sourceTokenIdentifier: Type.String({ description: 'Token that funds the mint.' }),
            cryptoNetwork: Type.String({
              description: 'Network of the token that funds the mint.',
            }),
          },
          { description: 'Balance at the provider. Not supported: the operation is rejected.' },
        ),
      ),
    },
    { tagType: MintSourceType, description: 'Funding source of the mint.' },
  ),
);

const BurnSource = named(
  'StablecoinBurnSource',
  variant(
    'type',
    {
      EXTERNAL_ACCOUNT: named(
        'StablecoinExternalAccountBurnSource',
        Type.Object(
          {},
          { description: 'Tokens sent from any wallet to `fundingInstructions.address`.' },
        ),
      ),
      SERVICE_INTERNAL_ACCOUNT: named(
        'StablecoinServiceInternalBurnSource',
        Type.Object(ownAccount, {
          description: 'Internal account. Not supported: the operation is rejected.',
        }),
      ),
      PROVIDER_INTERNAL_BALANCE: named(
        'StablecoinProviderBalanceBurnSource',
        Type.Object({}, { description: 'Balance at the provider.' }),
      ),
    },
    { tagType: BurnSourceType, description: 'Source of the tokens that are burned.' },
  ),
);

const BurnRail = oneOf(BURN_RAILS, { description: 'Rail of the payout to the bank account.' });

const MintDestination = named(
  'StablecoinMintDestination',
  Type.Object(
    { accountId: text('ID of an active external account of type SPARK_WALLET.') },
    { description: 'Destination of the tokens.' },
  ),
);

const BurnDestination = named(
  'StablecoinBurnDestination',
  Type.Object(
    {
      type: oneOf(['EXTERNAL_ACCOUNT'], {
        description: 'Only external accounts can receive the payout.',
      }),
      externalAccountId: text('ID of an active external account of type USD_ACCOUNT.'),
      rail: BurnRail,
    },
    { description: 'Destination of the payout.' },
  ),
);

export const StablecoinMintRequest = named(
  'StablecoinMintRequest',
  Type.Object(
    {
      amount: UnitsText,
      fundingSource: MintFundingSource,
      destination: MintDestination,
      description: optional(Description),
    },
    {
      description: 'Amount, funding source and destination of a mint.',
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
      description: optional(Description),
    },
    {
      description: 'Amount, source and destination of a burn.',
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
  oneOf(['MINT', 'BURN'], { description: 'MINT creates tokens, BURN destroys them.' }),
);

const OperationSource = named(
  'StablecoinOperationSource',
  Type.Object(
    {
      type: oneOf([...new Set([...MINT_SOURCES, ...BURN_SOURCES])], {
        description: 'Type of the source, as in the request.',
      }),
      externalAccountId: optional(
        text('ID of the bank account that is debited. Absent unless the source is an ACH debit.'),
      ),
      accountId: optional(text('ID of the internal account. Not returned at present.')),
      sourceTokenIdentifier: optional(text('Token that funds the mint. Not returned at present.')),
      cryptoNetwork: optional(
        text('Network of the token that funds the mint. Not returned at present.'),
      ),
    },
    { description: 'Funding source of a mint, or source of the tokens of a burn.' },
  ),
);

const OperationDestination = named(
  'StablecoinOperationDestination',
  Type.Object(
    {
      accountId: text('ID of the external account.'),
      rail: optional(
        withDescription(BurnRail, 'Rail of the payout to the bank account. Absent for a mint.'),
      ),
    },
    { description: 'Destination of the tokens of a mint, or of the payout of a burn.' },
  ),
);

const FundingInstructions = named(
  'StablecoinFundingInstructions',
  Type.Object(
    {
      rail: optional(text('Rail: WIRE, or the network of the token.')),
      network: optional(text('Network of the transfer.')),
      address: optional(text('Bank account or wallet address to send to.')),
      valueType: optional(
        text('Asset to send: a currency code, or the ID of the token on its network.'),
      ),
    },
    {
      additionalProperties: true,
      description:
        'Payment instructions, if a payment or a token transfer is required. The operation ' +
        'continues when the funds or tokens have arrived.',
    },
  ),
);

const EstimatedDelivery = named(
  'StablecoinEstimatedDelivery',
  Type.Object(
    {
      rail: optional(text('Rail to the destination.')),
      amount: optional(
        Type.String({ pattern: '^[0-9]+$', description: 'Amount in minor units of `currency`.' }),
      ),
      currency: optional(text('Currency of `amount`.')),
      timing: optional(text('Expected duration, as stated by the provider.')),
    },
    {
      additionalProperties: true,
      description:
        'Estimate of the provider, not guaranteed. Absent if the provider returned none.',
    },
  ),
);

const StablecoinOperation = named(
  'StablecoinOperation',
  Type.Object(
    {
      id: text('ID of the mint or burn, `StablecoinOperation:<uuid>`.'),
      stablecoinId: text('ID of the stablecoin.'),
      operationType: OperationType,
      status: named(
        'StablecoinOperationStatus',
        oneOf(OPERATION_STATUSES, {
          description:
            'COMPLETED and FAILED are final. An EXPIRED operation continues if its funds arrive ' +
            'within a week. No webhooks are sent for these operations. Poll ' +
            '`getStablecoinOperation`.',
        }),
      ),
      amount: Type.String({ description: 'Amount in minor units of the token, as a string.' }),
      provider: StablecoinProvider,
      providerEnvironment: StablecoinProviderEnvironment,
      stablecoinProviderAccountId: text('ID of the provider account.'),
      source: optional(OperationSource),
      fundingInstructions: optional(FundingInstructions),
      destination: optional(OperationDestination),
      estimatedDelivery: optional(EstimatedDelivery),
      expiresAt: optional(
        time('Time until which the funds or tokens must arrive. Absent without a limit.'),
      ),
      providerStatus: optional(
        Type.String({ description: 'Latest status that the provider reported, if any.' }),
      ),
      failureReason: optional(
        Type.String({
          description: 'Stable, machine-readable reason of the failure. Absent unless FAILED.',
        }),
      ),
      description: optional(text('Purpose, as in the request.')),
      createdAt: time('Time at which the mint or burn was ordered.'),
      updatedAt: time('Time of the last change.'),
    },
    { description: 'A mint or a burn.' },
  ),
);

const orderOperation = {
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
  ...orderOperation,
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
    'Orders new tokens from the provider, funded by a bank payment and sent to a wallet. If the ' +
    'funding requires a payment, the reply has the instructions and the time limit. The supply, ' +
    'including pending mints, is at most 4,000,000,000,000,000,000 minor units.',
  body: StablecoinMintRequest,
});

export const createStablecoinBurn = operation({
  ...orderOperation,
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
    'Destroys tokens and pays out their value to a bank account. The amount is held immediately, ' +
    'so that no more than the circulating supply can be burned.',
  body: StablecoinBurnRequest,
});

export const listStablecoinOperations = operation({
  operationId: 'listStablecoinOperations',
  method: 'GET',
  path: '/stablecoins/{stablecoinId}/operations',
  tag: TAG,
  summary: 'List mints and burns',
  description: 'Lists the mints and burns of a stablecoin, newest first.',
  permission: 'VIEW',
  params: coinParams,
  query: Type.Object({
    operationType: optional(withDescription(OperationType, 'Filter by type.')),
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
  description: 'Returns a mint or burn with its status.',
  permission: 'VIEW',
  params: Type.Object({ stablecoinOperationId: text('ID of the mint or burn.') }),
  notFound: 'STABLECOIN_OPERATION_NOT_FOUND',
  replies: { 200: StablecoinOperation },
  errors: [],
});
