// Payment metrics for charts.
import { Type } from '@sinclair/typebox';
import { PaymentRail } from '../../catalog/rails/rails.ts';
import {
  BUCKETS,
  GROUPS,
  MAX_BUCKETS,
  paymentMetrics,
  recountPayments,
} from '../../features/payments/monitoring/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { named, nullable, oneOf, text, time, withDescription } from '../../kernel/schema.ts';
import { assertPlatform, operatorHandle } from '../handle.ts';
import { TransactionType } from '../payments/schemas.ts';
import { OptionalReason, SummedPlatform } from '../schemas.ts';
import { summedPlatforms } from '../several-platforms.ts';
import { ModeFilter } from './schemas.ts';

const TAG = 'Metrics';
const optional = Type.Optional;
const countField = (description: string) => Type.Integer({ minimum: 0, description });
/** Sums may exceed the integers that JSON readers represent exactly. */
const sum = (description: string) =>
  text(`${description}, in minor units: an integer as text.`, { pattern: '^(0|[1-9][0-9]*)$' });
const rate = (description: string) =>
  nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: `${description}, or null without such payments.`,
    }),
  );
const platformId = text('ID of the platform.');

const Sums = named(
  'PaymentSums',
  Type.Object(
    {
      start: time('Start of the interval (bucket), UTC.'),
      type: TransactionType,
      currency: text(
        'Currency of the amounts: the received currency of an incoming payment, and the sent currency of ' +
          'other payments.',
      ),
      rail: optional(
        nullable(
          text('Rail, or null if the payments have none. Present only with `groupBy` rail.'),
        ),
      ),
      platformId: optional(text('ID of the platform. Present only with `groupBy` platform.')),
      payments: countField('Executed payments that were created in the bucket.'),
      completed: countField('Completed payments that were not returned.'),
      failed: countField('Payments that failed or were canceled before completion.'),
      returned: countField('Completed payments that were returned or refunded later.'),
      open: countField('Payments in progress.'),
      amount: sum('Amount of all payments'),
      completedAmount: sum('Amount of completed payments'),
      returnedAmount: sum('Amount of returned payments'),
      successRate: rate('Completed and returned payments as a share of all final payments'),
      returnRate: rate('Returned payments as a share of completed and returned payments'),
    },
    { description: 'Payments of one bucket, type and currency.' },
  ),
);

const get = operation({
  operationId: 'getPaymentMetrics',
  method: 'GET',
  path: '/metrics/payments',
  tag: TAG,
  summary: 'Get payment metrics',
  description:
    'Returns counts and amounts of payments by creation time, type and currency. A ' +
    'payment between two customers is counted on both sides, once as OUTGOING and once as ' +
    'INCOMING. Later results change the sums of the bucket in which the payment was created. Weeks ' +
    'begin on Monday. All times are UTC. Currencies are never added to each other.',
  auth: 'operator',
  operatorPermission: 'payments.read',
  sumsPlatforms: true,
  commands: [],
  query: Type.Object({
    ...SummedPlatform,
    ...ModeFilter,
    type: optional(withDescription(TransactionType, 'Count only transactions of this type.')),
    currency: optional(text('Count only payments in this currency.')),
    rail: optional(withDescription(PaymentRail, 'Count only payments over this rail.')),
    bucket: optional(
      oneOf(BUCKETS, {
        default: 'day',
        description:
          'Length of the intervals (buckets) by which payments are grouped. Defaults to day.',
      }),
    ),
    groupBy: optional(
      Type.Array(oneOf(GROUPS), {
        maxItems: GROUPS.length,
        description:
          'Additional dimensions, separated by commas. A request with more than 10,000 results ' +
          'is rejected.',
      }),
    ),
    from: optional(
      time(
        `Start of the period, at most ${MAX_BUCKETS} buckets before \`until\`. Defaults to 30 buckets ` +
          'before `until`.',
      ),
    ),
    until: optional(time('End of the period, exclusive. Defaults to now.')),
  }),
  replies: {
    200: Type.Object({
      bucket: oneOf(BUCKETS, {
        description: 'Length of the intervals (buckets) by which payments are grouped.',
      }),
      from: time('Start of the first hour or day that is counted.'),
      until: time('End of the period.'),
      completeUntil: nullable(
        time(
          'Changes of payments up to this time are included, or null while the payments are recounted.',
        ),
      ),
      data: Type.Array(Sums, {
        description: 'Metrics in chronological order. Empty buckets are absent.',
      }),
    }),
  },
  errors: ['NOT_FOUND'],
});

const recount = operation({
  operationId: 'recountPaymentMetrics',
  method: 'POST',
  path: '/platforms/{platformId}/payment-metrics/recount',
  tag: TAG,
  summary: 'Recount payments',
  description:
    'Discards the metrics of a platform and recounts its payments in the background. Until the recount ' +
    'is complete, `completeUntil` is null and the metrics are too low.',
  auth: 'operator',
  operatorPermission: 'jobs.manage',
  commands: [],
  params: Type.Object({ platformId }),
  body: Type.Object(OptionalReason),
  bodyOptional: true,
  replies: { 200: Type.Object({ platformId }) },
  errors: [],
  notFound: 'PLATFORM_NOT_FOUND',
  callsExternal: true,
});

export const metricsOperations = [
  operatorHandle(get, async ({ installation, operator }, { query }) => ({
    status: 200,
    body: await paymentMetrics(installation.runtime, {
      ...query,
      platformIds: summedPlatforms(operator, query),
    }),
  })),
  operatorHandle(recount, async ({ installation, operator }, { params }) => {
    assertPlatform(operator, params.platformId);
    return { status: 200, body: await recountPayments(installation.runtime, params.platformId) };
  }),
];
