// Suspense items, whose funds an operator returns, and shortfalls, whose settlement an operator records.
import { Type } from '@sinclair/typebox';
import {
  listSuspense,
  returnSuspense,
  settleShortfall,
} from '../../features/payments/manual/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { MODES } from '../../kernel/mode.ts';
import { named, nullable, oneOf, PageQuery, page, text, time } from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { OptionalReason, PlatformFilter } from '../schemas.ts';
import {
  CurrencyCode,
  FUNDS_DESCRIPTION,
  MajorUnitAmount,
  PlatformId,
  RefundStatus,
  TransactionFailureReason,
  TransactionId,
  TransactionStatus,
  TransactionType,
  transactionParams,
} from './schemas.ts';

const TAG = 'Suspense';

const Environment = oneOf(MODES, {
  description: 'Environment of the platform.',
});

const SuspenseItem = named(
  'SuspenseItem',
  Type.Object(
    {
      transactionId: TransactionId,
      platformId: PlatformId,
      environment: Environment,
      since: time('Time since which the funds are in suspense.'),
      type: TransactionType,
      status: TransactionStatus,
      failureReason: TransactionFailureReason,
      amount: Type.Integer({
        format: 'int64',
        description: 'Amount in minor units of the currency. Negative for a shortfall.',
      }),
      currency: CurrencyCode,
      readable: MajorUnitAmount,
      to: nullable(
        text(
          'Destination of a return: the ID of an internal account, or `outside` for a transfer by the ' +
            'operator to an external account. Null for a shortfall.',
        ),
      ),
      outside: nullable(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'Known details of the external account, or null if there is none.',
        }),
      ),
    },
    { description: 'Funds in suspense, or a shortfall.' },
  ),
);

const DecisionResult = named(
  'SuspenseDecision',
  Type.Object(
    {
      transactionId: TransactionId,
      platformId: PlatformId,
      status: TransactionStatus,
      refund: RefundStatus,
      funds: oneOf(
        [
          ...(['NONE', 'AWAITED', 'FUNDED', 'HELD'] as const),
          ...(['SUBMITTED', 'SETTLED', 'RETURNED', 'SUSPENSE'] as const),
        ],
        { description: FUNDS_DESCRIPTION },
      ),
    },
    { description: 'The transaction after the decision.' },
  ),
);

const listItems = operation({
  operationId: 'listSuspenseItems',
  method: 'GET',
  path: '/suspense-items',
  tag: TAG,
  summary: 'List suspense items',
  description:
    'Returns suspense items and shortfalls, oldest first. The items contain names and account details, ' +
    'so this request is recorded.',
  auth: 'operator',
  operatorPermission: 'payments.settle',
  oldestFirst: true,
  reveals: true,
  commands: ['suspense list'],
  query: Type.Object({
    ...PlatformFilter,
    environment: Type.Optional(Environment),
    ...PageQuery,
  }),
  replies: {
    200: named(
      'SuspenseItemPage',
      page(SuspenseItem, { description: 'A page of suspense items and shortfalls, oldest first.' }),
    ),
  },
  errors: ['NOT_FOUND'],
});

const returnItem = operation({
  operationId: 'returnSuspenseItem',
  postsMoney: true,
  method: 'POST',
  path: '/suspense-items/{transactionId}/return',
  tag: TAG,
  summary: 'Return a suspense item',
  description:
    'Credits the funds to the internal account in `to` of the item, or records that the operator sent ' +
    'them to an external account. The amount is the amount in suspense in the ledger.',
  auth: 'operator',
  operatorPermission: 'payments.settle',
  commands: ['suspense return'],
  params: transactionParams,
  body: Type.Object({
    reference: Type.Optional(
      text(
        'Bank reference of the transfer to the external account. Required if `to` of the item is ' +
          '`outside`, and otherwise not allowed.',
        {
          minLength: 1,
          maxLength: 255,
        },
      ),
    ),
    ...OptionalReason,
  }),
  bodyOptional: true,
  replies: { 200: DecisionResult },
  errors: ['NOT_FOUND', 'CONFLICT'],
  notFound: 'TRANSACTION_NOT_FOUND',
});

const settle = operation({
  operationId: 'settleShortfall',
  postsMoney: true,
  method: 'POST',
  path: '/suspense-items/{transactionId}/settle',
  tag: TAG,
  summary: 'Record a settled shortfall',
  description: 'Records the receipt of funds that cover a shortfall.',
  auth: 'operator',
  operatorPermission: 'payments.settle',
  commands: ['suspense settle'],
  params: transactionParams,
  body: Type.Object({
    reference: text('Reference that the bank assigned to the received funds.', {
      minLength: 1,
      maxLength: 255,
    }),
    ...OptionalReason,
  }),
  replies: { 200: DecisionResult },
  errors: ['NOT_FOUND', 'CONFLICT'],
  notFound: 'TRANSACTION_NOT_FOUND',
});

export const suspenseOperations = [
  operatorHandle(listItems, async ({ installation }, { query }) => ({
    status: 200,
    body: await listSuspense(installation.runtime, { ...query, limit: query.limit ?? 20 }),
  })),
  operatorHandle(returnItem, async ({ installation }, { params, body }) => ({
    status: 200,
    body: await returnSuspense(installation.runtime, { ...params, ...body }),
  })),
  operatorHandle(settle, async ({ installation }, { params, body }) => ({
    status: 200,
    body: await settleShortfall(installation.runtime, { ...params, ...body }),
  })),
];
