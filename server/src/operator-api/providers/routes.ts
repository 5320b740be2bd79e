// Routes that select the provider of a transfer, and the messages that providers sent.
import { Type } from '@sinclair/typebox';
import { pageOfMessages, STORED_RESULTS } from '../../features/payments/provider-messages/index.ts';
import {
  createRoute,
  deleteRoute,
  explainRoute,
  listRoutes,
} from '../../features/providers/index.ts';
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
import { OptionalReason } from '../schemas.ts';
import { managerOf } from './providers.ts';
import {
  CHANGES_PROVIDERS,
  Environment,
  NEW_ROUTE,
  READS_PROVIDERS,
  Route,
  RouteChoice,
  TRANSFER_FIELDS,
} from './schemas.ts';

const optional = Type.Optional;

const list = operation({
  ...READS_PROVIDERS,
  operationId: 'listProviderRoutes',
  method: 'GET',
  path: '/provider-routes',
  summary: 'List routes',
  description: 'Returns all routes, in the order in which they are tried.',
  commands: ['providers routes'],
  replies: {
    200: named(
      'Routes',
      Type.Object({ data: Type.Array(Route, { description: 'Routes in their order.' }) }),
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
    'Adds a rule that selects the provider of new transfers. It applies in every process within a ' +
    'second, and never to a transfer that was sent before.',
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
  description: 'Deletes a route. Transfers that it selected a provider for are unchanged.',
  commands: ['providers delete-route'],
  params: Type.Object({ routeId: text('ID of the route.') }),
  replies: { 200: Route },
  errors: ['NOT_FOUND'],
});

const explain = operation({
  ...READS_PROVIDERS,
  operationId: 'explainProviderRoute',
  method: 'GET',
  path: '/provider-routes/choice',
  summary: 'Explain the choice of a provider',
  description:
    'Returns which provider would execute such a transfer now, and why each route is selected or not.',
  commands: ['providers explain'],
  query: Type.Object({
    environment: Environment,
    platformId: text('Platform of the transfer.'),
    kind: TRANSFER_FIELDS.kind,
    rail: optional(TRANSFER_FIELDS.rail),
    currency: TRANSFER_FIELDS.currency,
    amount: optional({
      ...PositiveAmount,
      description: 'Amount of a transfer in minor units. Default: 1. A card has none.',
    }),
  }),
  replies: { 200: RouteChoice },
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
            messageId: text('ID that the provider assigned, or the digest of an invalid message.'),
            providerId: text('Name of the provider.'),
            type: nullable(text('Type of the message; null if it is invalid.')),
            platformId: nullable(text('Platform of the payment; null if there is none.')),
            transactionId: nullable(text('The payment; null if there is none.')),
            result: oneOf(STORED_RESULTS, {
              description:
                'IGNORED: the state was known. REJECTED: the message is invalid. CONTRADICTORY: it ' +
                'contradicts what is known, and an operator decides.',
            }),
            problem: nullable(text('Why it was rejected or not applied; null otherwise.')),
            receivedAt: time('Time at which it was received.'),
          },
          { description: 'A message of a provider.' },
        ),
      ),
    ),
  },
  errors: [],
});

export const routeOperations = [
  operatorHandle(list, async (call) => ({
    status: 200,
    body: { data: listRoutes(await managerOf(call)) },
  })),
  operatorHandle(create, async (call, { body }) => ({
    status: 201,
    body: await createRoute(await managerOf(call), body),
  })),
  operatorHandle(remove, async (call, { params }) => ({
    status: 200,
    body: await deleteRoute(await managerOf(call), params.routeId),
  })),
  operatorHandle(explain, async (call, { query: { amount = 1, rail = null, ...facts } }) => ({
    status: 200,
    body: explainRoute(await managerOf(call), { ...facts, rail, amount: BigInt(amount) }),
  })),
  operatorHandle(messages, async ({ installation }, { query }) => ({
    status: 200,
    body: await pageOfMessages(installation.runtime, { ...query, limit: query.limit ?? 20 }),
  })),
];
