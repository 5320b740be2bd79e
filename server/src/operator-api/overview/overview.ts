// The overview: queues, deliveries, open work, balances and providers.
import { Type } from '@sinclair/typebox';
import { LEDGER_ACCOUNT_TYPES } from '../../features/accounting/index.ts';
import { MAX_COUNTED } from '../../features/notifications/deliveries/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { MODES } from '../../kernel/mode.ts';
import { named, oneOf, text, time } from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { SummedPlatform } from '../schemas.ts';
import { MAX_WORK, overviewOf, WORK_NAMES } from './overview-parts.ts';
import { ModeFilter } from './schemas.ts';

const optional = Type.Optional;
const count = (description: string) => Type.Integer({ minimum: 0, description });
const Mode = oneOf(MODES, { description: 'Environment: sandbox or production.' });

const JobGroup = named(
  'JobGroup',
  Type.Object(
    {
      group: text('First part of the kind, such as `payout` of `payout.send`.'),
      queued: count('Queued jobs, due or not. At most 10,000 of each kind are counted.'),
      dead: count(
        'Jobs that failed permanently and need an operator. At most 10,000 of all kinds are counted.',
      ),
      oldestSeconds: count('Age of the oldest job that is due, in seconds.'),
    },
    { description: 'Jobs of one group of kinds.' },
  ),
);

const PlatformDeliveries = named(
  'PlatformDeliveries',
  Type.Object(
    {
      platformId: text('ID of the platform.'),
      pending: count(`Pending deliveries, counted up to ${MAX_COUNTED}.`),
      failed: count(
        `Failed deliveries of events of the last 24 hours, counted up to ${MAX_COUNTED}.`,
      ),
      oldestPendingAt: optional(
        time('Time of the oldest pending event. Absent without pending deliveries.'),
      ),
    },
    { description: 'Webhook deliveries of one platform.' },
  ),
);

const Work = named(
  'OpenWork',
  Type.Object(
    {
      name: oneOf(WORK_NAMES, { description: 'Kind of work.' }),
      count: count(`Number of open items, counted up to ${MAX_WORK}.`),
      hasMore: Type.Boolean({ description: `Whether there are more than ${MAX_WORK} items.` }),
      oldestAt: optional(
        time('Time since which the oldest item is open. Absent without open items.'),
      ),
    },
    { description: 'Work that needs an operator.' },
  ),
);

const Balances = Type.Object(
  {
    isComplete: Type.Boolean({
      description:
        'False if the platforms have more than 5,000 accounts. The totals are then too low.',
    }),
    data: Type.Array(
      named(
        'OverviewBalance',
        Type.Object(
          {
            mode: Mode,
            currency: text('Currency code.'),
            type: oneOf(LEDGER_ACCOUNT_TYPES, { description: 'Type of the ledger accounts.' }),
            net: Type.Integer({
              format: 'int64',
              description: 'Sum of the balances in minor units.',
            }),
          },
          { description: 'Balance of a currency and type of account.' },
        ),
      ),
      {
        description:
          'Nonzero balances. For an operator of all platforms and without `platformId`, CUSTOMER ' +
          'includes the accounts of platforms.',
      },
    ),
  },
  { description: 'Balances of the ledger. Requires `ledger.read`.' },
);

const Connectors = Type.Object(
  {
    environments: Type.Array(
      Type.Object({
        mode: Mode,
        capabilities: Type.Array(Type.String(), {
          description: 'Capabilities for which the environment has a provider.',
        }),
      }),
      { description: 'Providers by environment.' },
    ),
    circuits: Type.Array(
      Type.Object({
        provider: text('Name of the provider.'),
        state: text(
          'State of the circuit breaker: `closed`, `half-open`, or `open` (calls fail without being sent).',
        ),
      }),
      { description: 'Circuit breakers of providers in the process that replied.' },
    ),
  },
  { description: 'Providers. Present for operators of all platforms.' },
);

const get = operation({
  operationId: 'getOverview',
  method: 'GET',
  path: '/overview',
  tag: 'Metrics',
  summary: 'Get an overview',
  description:
    'Returns queues, webhook deliveries, open work, balances and providers. A part is absent if ' +
    'the operator may not read it. Numbers are at most one second old. For an operator of all ' +
    'platforms without `platformId`, `mode` filters the first 100 items of open work and does ' +
    'not filter jobs. For an operator who is restricted to some platforms, `mode` filters every ' +
    'part, and the numbers cover up to 200 platforms.',
  auth: 'operator',
  operatorPermission: 'platforms.read',
  sumsPlatforms: true,
  commands: [],
  query: Type.Object({ ...SummedPlatform, ...ModeFilter }),
  replies: {
    200: Type.Object({
      at: time('Time at which the numbers were read.'),
      platforms: count('Number of selected platforms.'),
      jobs: optional(Type.Array(JobGroup, { description: 'Jobs. Requires `jobs.read`.' })),
      webhooks: optional(
        Type.Array(PlatformDeliveries, {
          description:
            'Platforms with pending or failed deliveries, among the first 200. Requires ' +
            '`webhooks.read`.',
        }),
      ),
      work: Type.Array(Work, { description: 'Open work that the operator may read.' }),
      balances: optional(Balances),
      connectors: optional(Connectors),
    }),
  },
  errors: ['NOT_FOUND'],
});

export const stateOperations = [
  operatorHandle(get, async (call, { query }) => ({
    status: 200,
    body: await overviewOf(call, query),
  })),
];
