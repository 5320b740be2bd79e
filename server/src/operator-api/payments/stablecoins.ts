// Stablecoins of platforms: decisions about their use by the service, and mints and burns.
import { Type } from '@sinclair/typebox';
import {
  decideStablecoin,
  endStablecoinOperation,
  OPERATION_STATUSES,
  OUTCOMES,
  SERVICE_STATUSES,
  type ServiceDecision,
  Stablecoin,
  SUPPLY_MEASURES,
  searchStablecoinOperations,
  searchStablecoins,
  stablecoinHistory,
  stablecoinSupply,
} from '../../features/stablecoins/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { Fault } from '../../kernel/fault.ts';
import { isId } from '../../kernel/id.ts';
import {
  named,
  nullable,
  oneOf,
  PageQuery,
  page,
  text,
  time,
  withDescription,
} from '../../kernel/schema.ts';
import { type OperatorCall, operatorHandle } from '../handle.ts';
import { OptionalReason, PlatformFilter, Reason, RejectionBody } from '../schemas.ts';
import { Actions, PlatformId } from './schemas.ts';

const TAG = 'Stablecoins';

const COIN = {
  ...Stablecoin.properties,
  platformId: PlatformId,
  circulating: text('Circulating supply in minor units, from the ledger.'),
};
const Coin = named(
  'StablecoinOfPlatform',
  Type.Object(COIN, { description: 'A stablecoin of a platform, with its circulating supply.' }),
);
const CoinDecision = named(
  'StablecoinDecision',
  Type.Object(
    { ...COIN, reason: nullable(text('Reason, or null if there is none.')) },
    { description: 'The stablecoin after the decision.' },
  ),
);

const OperationStatus = oneOf(OPERATION_STATUSES, {
  description:
    'CREATED: not submitted to the provider. PENDING_FUNDING: awaits funds. PENDING_PROVIDER, ' +
    'PROCESSING: in progress at the provider. COMPLETED, FAILED: final. EXPIRED: not funded in time. ' +
    'An expired operation continues if its funds arrive within a week.',
});

const OPERATION = {
  operationId: text('ID of the mint or burn.'),
  platformId: PlatformId,
  stablecoinId: text('ID of the stablecoin.'),
  type: oneOf(['MINT', 'BURN'], { description: 'Type of the operation.' }),
  status: OperationStatus,
  amount: text('Amount in minor units of the stablecoin.'),
  readable: nullable(
    text('Amount in major units, with the symbol, or null if the stablecoin no longer exists.'),
  ),
  source: text('Type of the source of funds or tokens.'),
  rail: nullable(text('Rail of the payout of a burn, or null for a mint.')),
  providerStatus: nullable(text('Status at the provider, or null if none was reported.')),
  failureReason: nullable(text('Reason for the failure, or null if it did not fail.')),
  uncounted: nullable(
    text(
      'Amount of a late payment that is not part of the circulating supply, in minor units, or null ' +
        'if there is none.',
    ),
  ),
  submittedAt: nullable(time('Time of the submission to the provider, or null until then.')),
  expiresAt: nullable(time('Time at which the operation expires, or null if there is none.')),
  createdAt: time('Time of the request.'),
  updatedAt: time('Time of the last change.'),
};
const Operation = named(
  'MintOrBurn',
  Type.Object(OPERATION, { description: 'A mint or burn of a platform.' }),
);
const EndedOperation = named(
  'EndedMintOrBurn',
  Type.Object(
    { ...OPERATION, reason: text('Evidence of the result.') },
    { description: 'The mint or burn after its result was recorded.' },
  ),
);

const coinParams = Type.Object({ stablecoinId: text('ID of the stablecoin.') });
const operationParams = Type.Object({
  stablecoinOperationId: text('ID of the mint or burn.'),
});

const listCoins = operation({
  operationId: 'searchStablecoins',
  method: 'GET',
  path: '/stablecoins',
  tag: TAG,
  summary: 'List stablecoins',
  description:
    'Returns stablecoins, oldest first. Stablecoins with the status `PENDING_APPROVAL` need a decision.',
  auth: 'operator',
  operatorPermission: 'stablecoins.read',
  oldestFirst: true,
  commands: ['stablecoins list'],
  query: Type.Object({
    ...PlatformFilter,
    status: Type.Optional(
      oneOf(SERVICE_STATUSES, {
        description: 'Return only stablecoins with this `serviceOperationsStatus`.',
      }),
    ),
    ...PageQuery,
  }),
  replies: {
    200: named(
      'StablecoinOfPlatformPage',
      page(Coin, { description: 'A page of stablecoins, oldest first.' }),
    ),
  },
  errors: ['NOT_FOUND'],
});

const SupplyLine = Type.Object({
  measure: oneOf(SUPPLY_MEASURES, {
    description:
      'ISSUED is the counterpart of CIRCULATING. HELD_FOR_MINTS and HELD_FOR_BURNS are amounts of ' +
      'operations in progress.',
  }),
  ledger: text('Amount in the ledger, in minor units.'),
  expected: text(
    'Expected amount, in minor units. CIRCULATING and ISSUED: the initial supply plus completed mints ' +
      'less completed burns. HELD_FOR_MINTS and HELD_FOR_BURNS: the mints or burns in progress.',
  ),
});

const getCoin = operation({
  operationId: 'getStablecoinSupply',
  method: 'GET',
  path: '/stablecoins/{stablecoinId}',
  tag: TAG,
  summary: 'Get a stablecoin with its supply',
  description:
    'Returns a stablecoin with its supply in the ledger, and the supply that its mints and burns ' +
    'require, in one snapshot. Both supplies exclude late payments that are not in the ledger.',
  auth: 'operator',
  operatorPermission: 'stablecoins.read',
  commands: [],
  params: coinParams,
  replies: {
    200: named(
      'StablecoinSupply',
      Type.Object(
        {
          ...COIN,
          supply: Type.Array(SupplyLine, {
            description: 'Amounts in the ledger and expected amounts.',
          }),
          ties: Type.Boolean({ description: 'Whether every amount is as expected.' }),
        },
        { description: 'A stablecoin with its supply.' },
      ),
    ),
  },
  errors: ['NOT_FOUND'],
  notFound: 'STABLECOIN_NOT_FOUND',
});

const coinHistory = operation({
  operationId: 'listStablecoinHistory',
  method: 'GET',
  path: '/stablecoins/{stablecoinId}/history',
  tag: TAG,
  summary: 'List decisions about a stablecoin',
  description:
    'Returns the decisions and automatic actions on a stablecoin with their reasons, oldest first.',
  auth: 'operator',
  operatorPermission: 'stablecoins.read',
  commands: ['stablecoins history'],
  params: coinParams,
  query: Type.Object(PageQuery),
  replies: { 200: Actions },
  errors: ['NOT_FOUND'],
  notFound: 'STABLECOIN_NOT_FOUND',
});

const DECISION = {
  method: 'POST',
  tag: TAG,
  auth: 'operator',
  operatorPermission: 'stablecoins.manage',
  params: coinParams,
  body: Type.Object(OptionalReason),
  bodyOptional: true,
  replies: { 200: CoinDecision },
  errors: ['NOT_FOUND', 'CONFLICT'],
  notFound: 'STABLECOIN_NOT_FOUND',
} as const;

const approve = operation({
  ...DECISION,
  operationId: 'approveStablecoin',
  path: '/stablecoins/{stablecoinId}/approve',
  summary: 'Approve a stablecoin',
  description:
    'Approves the use of a stablecoin in accounts and payments. The stablecoin is enabled once it is ' +
    'provisioned.',
  commands: ['stablecoins approve'],
});

const reject = operation({
  ...DECISION,
  operationId: 'rejectStablecoin',
  path: '/stablecoins/{stablecoinId}/reject',
  summary: 'Reject a stablecoin',
  description:
    'Rejects the request of a platform to use a stablecoin in accounts and payments. The platform may ' +
    'send the request again.',
  commands: ['stablecoins reject'],
  body: RejectionBody,
  bodyOptional: false,
});

const disable = operation({
  ...DECISION,
  operationId: 'disableStablecoin',
  path: '/stablecoins/{stablecoinId}/disable',
  summary: 'Disable a stablecoin',
  description: 'Disables a stablecoin. A disabled stablecoin can be approved again.',
  commands: ['stablecoins disable'],
});

const listOperations = operation({
  operationId: 'searchStablecoinOperations',
  method: 'GET',
  path: '/stablecoin-operations',
  tag: TAG,
  summary: 'List mints and burns',
  description: 'Returns mints and burns, newest first.',
  auth: 'operator',
  operatorPermission: 'stablecoins.read',
  commands: ['stablecoins operations'],
  query: Type.Object({
    ...PlatformFilter,
    stablecoinId: Type.Optional(text('Return only mints and burns of this stablecoin.')),
    status: Type.Optional(
      withDescription(OperationStatus, 'Return only mints and burns with this status.'),
    ),
    ...PageQuery,
  }),
  replies: {
    200: named(
      'MintOrBurnPage',
      page(Operation, { description: 'A page of mints and burns, newest first.' }),
    ),
  },
  errors: ['NOT_FOUND'],
});

const operationHistory = operation({
  operationId: 'listStablecoinOperationHistory',
  method: 'GET',
  path: '/stablecoin-operations/{stablecoinOperationId}/history',
  tag: TAG,
  summary: 'List decisions about a mint or burn',
  description:
    'Returns the results that operators recorded and the automatic actions, with their reasons, ' +
    'oldest first.',
  auth: 'operator',
  operatorPermission: 'stablecoins.read',
  commands: ['stablecoins history'],
  params: operationParams,
  query: Type.Object(PageQuery),
  replies: { 200: Actions },
  errors: ['NOT_FOUND', 'STABLECOIN_NOT_FOUND'],
  notFound: 'STABLECOIN_OPERATION_NOT_FOUND',
});

const end = operation({
  operationId: 'endStablecoinOperation',
  postsMoney: true,
  method: 'POST',
  path: '/stablecoin-operations/{stablecoinOperationId}/end',
  tag: TAG,
  summary: 'Record the result of a mint or burn',
  description:
    'Records the verified result of a mint or burn that its provider does not report. The reason ' +
    'is the evidence.',
  auth: 'operator',
  operatorPermission: 'payments.settle',
  commands: ['stablecoins end'],
  params: operationParams,
  body: Type.Object({
    outcome: oneOf(OUTCOMES, {
      description:
        'completed: tokens and funds were transferred. failed: no tokens or funds were transferred.',
    }),
    reason: Reason,
  }),
  replies: { 200: EndedOperation },
  errors: ['NOT_FOUND', 'CONFLICT'],
  notFound: 'STABLECOIN_OPERATION_NOT_FOUND',
});

const decide = async (
  { installation }: OperatorCall,
  stablecoinId: string,
  decision: ServiceDecision,
  reason: string | undefined,
) => {
  const input = { stablecoinId, decision, reason: reason ?? null };
  return { status: 200, body: await decideStablecoin(installation.runtime, input) } as const;
};

export const stablecoinOperations = [
  operatorHandle(listCoins, async ({ installation }, { query: { status, ...query } }) => ({
    status: 200,
    body: await searchStablecoins(installation.runtime, {
      ...query,
      serviceStatus: status,
      limit: query.limit ?? 20,
    }),
  })),
  operatorHandle(getCoin, async ({ installation }, { params }) => ({
    status: 200,
    body: await stablecoinSupply(installation.runtime, params.stablecoinId),
  })),
  operatorHandle(coinHistory, async ({ installation }, { params: { stablecoinId: id }, query }) => {
    // The function also accepts the ID of a mint or burn.
    if (!isId(id, 'Stablecoin')) throw new Fault('STABLECOIN_NOT_FOUND', 'Stablecoin not found.');
    return {
      status: 200,
      body: await stablecoinHistory(installation.runtime, id, { limit: 20, ...query }),
    };
  }),
  operatorHandle(approve, (call, { params, body }) =>
    decide(call, params.stablecoinId, 'approve', body.reason),
  ),
  operatorHandle(reject, (call, { params, body }) =>
    decide(call, params.stablecoinId, 'reject', body.reason),
  ),
  operatorHandle(disable, (call, { params, body }) =>
    decide(call, params.stablecoinId, 'disable', body.reason),
  ),
  operatorHandle(listOperations, async ({ installation }, { query }) => ({
    status: 200,
    body: await searchStablecoinOperations(installation.runtime, {
      ...query,
      limit: query.limit ?? 20,
    }),
  })),
  operatorHandle(operationHistory, async ({ installation }, { params, query }) => ({
    status: 200,
    body: await stablecoinHistory(installation.runtime, params.stablecoinOperationId, {
      limit: 20,
      ...query,
    }),
  })),
  operatorHandle(end, async ({ installation }, { params, body: { outcome, reason } }) => {
    const input = { operationId: params.stablecoinOperationId, outcome, reason };
    return { status: 200, body: await endStablecoinOperation(installation.runtime, input) };
  }),
];
