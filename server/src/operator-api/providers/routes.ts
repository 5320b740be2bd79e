// Operations on routes, which select the provider of a transfer, and on messages of providers.
import { Type } from '@sinclair/typebox';
import { pageOfMessages, STORED_RESULTS } from '../../features/payments/provider-messages/index.ts';
import { PROVIDER_SCHEMAS, routeManagement } from '../../features/providers/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import {
  named,
  nullable,
  oneOf,
  PageQuery,
  PositiveAmount,
  page,
  text,
  time,
} from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { OptionalReason, RemovalQuery } from '../schemas.ts';
import { managerOf } from './providers.ts';
import {
  CHANGES_PROVIDERS,
  READS_PROVIDERS,
  Route,
  RouteChoice,
  TransactionChoices,
} from './schemas.ts';

const { Environment, NEW_ROUTE, TRANSFER_FIELDS } = PROVIDER_SCHEMAS;

const optional = Type.Optional;

const list = operation({
  ...READS_PROVIDERS,
  operationId: 'listProviderRoutes',
  method: 'GET',
  path: '/provider-routes',
  summary: 'List routes',
  description: 'Returns all routes, in the order of their priorities.',
  commands: ['providers routes'],
  replies: {
    200: named(
      'Routes',
      Type.Object(
        {
          data: Type.Array(Route, { description: 'Routes in the order of their priorities.' }),
        },
        { description: 'All provider routes, in the order of their priorities.' },
      ),
    ),
  },
  errors: [],
});

const create = operation({
  ...CHANGES_PROVIDERS,
  operationId: 'createProviderRoute',
  method: 'POST',
  path: '/provider-routes',
  summary: 'Add a route',
  description:
    'Adds a rule that selects the provider of new transfers. The rule takes effect within a second. ' +
    'Transfers already sent are not affected. Returns CONFLICT if 500 routes exist.',
  commands: ['providers add-route'],
  body: Type.Object({ ...NEW_ROUTE, ...OptionalReason }),
  replies: { 201: Route },
  errors: ['NOT_FOUND', 'CONFLICT'],
});

const remove = operation({
  ...CHANGES_PROVIDERS,
  operationId: 'deleteProviderRoute',
  method: 'DELETE',
  path: '/provider-routes/{routeId}',
  summary: 'Delete a route',
  description: 'Deletes a route. Transfers already sent are not affected.',
  commands: ['providers delete-route'],
  params: Type.Object({ routeId: text('ID of the route.') }),
  query: RemovalQuery,
  replies: { 200: Route },
  errors: ['NOT_FOUND'],
});

const explain = operation({
  ...READS_PROVIDERS,
  operationId: 'explainProviderRoute',
  method: 'GET',
  path: '/provider-routes/choice',
  summary: 'Simulate the selection of a provider',
  description:
    'Returns the provider that would execute this transfer now, and the verdict of each route. No ' +
    'transfer is sent.',
  commands: ['providers explain'],
  query: Type.Object({
    environment: Environment,
    platformId: text('ID of the platform of the transfer.'),
    kind: TRANSFER_FIELDS.kind,
    rail: optional(TRANSFER_FIELDS.rail),
    currency: TRANSFER_FIELDS.currency,
    country: optional(TRANSFER_FIELDS.country),
    amount: optional({
      ...PositiveAmount,
      description:
        'Amount in minor units. The default is 1. Omit it for cards, which have no amount.',
    }),
  }),
  replies: { 200: RouteChoice },
  errors: [],
});

const explainTransaction = operation({
  ...READS_PROVIDERS,
  operationId: 'explainProviderOfTransaction',
  method: 'GET',
  path: '/provider-choices/{transactionId}',
  summary: 'Explain the provider of a payment',
  description:
    'Returns the providers of the transfers of a transaction, with the verdicts that were stored when ' +
    'each was selected. Empty if no transfer was sent, or if there were no routes.',
  commands: ['providers explain'],
  params: Type.Object({ transactionId: text('ID of the transaction.') }),
  replies: { 200: TransactionChoices },
  errors: [],
});

const messages = operation({
  ...READS_PROVIDERS,
  operationId: 'listProviderMessages',
  method: 'GET',
  path: '/provider-messages',
  summary: 'List messages of providers',
  description: 'Returns the messages that providers sent, newest first, with their results.',
  commands: ['providers messages'],
  query: Type.Object({
    providerId: optional(text('Return only messages of this provider.')),
    result: optional(
      oneOf(STORED_RESULTS, { description: 'Return only messages with this result.' }),
    ),
    ...PageQuery,
  }),
  replies: {
    200: named(
      'ProviderMessagePage',
      page(
        Type.Object(
          {
            messageId: text(
              'ID that the provider assigned. For an invalid message: a digest of its body.',
            ),
            providerId: text('Name of the provider.'),
            type: nullable(text('Type of the message, or null if it is invalid.')),
            platformId: nullable(
              text('ID of the platform that the message concerns, or null if none is known.'),
            ),
            transactionId: nullable(
              text('ID of the payment, or null if the message belongs to no known payment.'),
            ),
            result: oneOf(STORED_RESULTS, {
              description:
                'APPLIED: the message was applied. IGNORED: the message has no effect. REJECTED: ' +
                'the message is invalid. CONTRADICTORY: the message contradicts the recorded state. An ' +
                'operator must decide.',
            }),
            problem: nullable(
              text(
                'Problem of the message, such as why it was not applied, or null if there is none.',
              ),
            ),
            receivedAt: time('Time at which the message was received.'),
          },
          { description: 'A message of a provider.' },
        ),
        {
          description: 'A page of messages that providers sent, with their results, newest first.',
        },
      ),
    ),
  },
  errors: [],
});

export const routeOperations = [
  operatorHandle(list, async (call) => ({
    status: 200,
    body: { data: routeManagement.list(await managerOf(call)) },
  })),
  operatorHandle(create, async (call, { body }) => ({
    status: 201,
    body: await routeManagement.create(await managerOf(call), body),
  })),
  operatorHandle(remove, async (call, { params }) => ({
    status: 200,
    body: await routeManagement.delete(await managerOf(call), params.routeId),
  })),
  operatorHandle(explain, async (call, { query: { amount = 1, rail = null, ...transfer } }) => ({
    status: 200,
    body: await routeManagement.explain(await managerOf(call), {
      ...{ ...transfer, rail, amount: BigInt(amount) },
    }),
  })),
  operatorHandle(explainTransaction, async (call, { params }) => ({
    status: 200,
    body: await routeManagement.explainTransaction(await managerOf(call), params.transactionId),
  })),
  operatorHandle(messages, async ({ installation }, { query }) => ({
    status: 200,
    body: await pageOfMessages(installation.runtime, { ...query, limit: query.limit ?? 20 }),
  })),
];
