// Events and webhook deliveries of all platforms or of one.
import { Type } from '@sinclair/typebox';
import {
  listWebhookDeliveries,
  pageOfDeliveriesByOperator,
  pageOfDeliveriesOfPlatforms,
  WebhookDelivery,
} from '../../features/notifications/deliveries/index.ts';
import {
  eventByOperator,
  pageOfEventsByOperator,
} from '../../features/notifications/events/index.ts';
import type { Operator } from '../../kernel/caller.ts';
import { EVENT_TYPES } from '../../kernel/contract/event.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { named, nullable, oneOf, page, text, time, withDescription } from '../../kernel/schema.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import { assertPlatform, operatorHandle } from '../handle.ts';
import { PlatformFilter } from '../schemas.ts';
import { ListQuery, SHORT_PAGES } from './schemas.ts';
import { hitsById } from './search-by-id.ts';

const TAG = 'Webhooks';
const optional = Type.Optional;
const platformId = text('Platform of the event.');

const EVENT = {
  id: text('ID of the event.'),
  platformId,
  type: text('Type of the event, such as `OUTGOING_PAYMENT.COMPLETED`.'),
  resourceId: text('ID of the resource that the event is about.'),
  createdAt: time('Time of the event.'),
};

export const OperatorEvent = named(
  'OperatorEvent',
  Type.Object(EVENT, { description: 'An event without its data.' }),
);

const list = operation({
  operationId: 'listEventsOfPlatforms',
  method: 'GET',
  path: '/events',
  tag: TAG,
  summary: 'List events',
  description:
    'Returns events without their data, newest first. A filter by resource or customer implies its ' +
    'platform. Resources that `searchResources` does not find by ID require `platformId`. ' +
    `Events are deleted after their retention period, by default 30 days. ${SHORT_PAGES}`,
  auth: 'operator',
  operatorPermission: 'webhooks.read',
  commands: [],
  query: Type.Object({
    ...ListQuery,
    type: optional(
      Type.Array(oneOf(EVENT_TYPES), {
        maxItems: 50,
        description: 'Return only events of these types, separated by commas.',
      }),
    ),
    resourceId: optional(text('Return only events about this resource.')),
    customerId: optional(text('Return only events about this customer.')),
  }),
  replies: {
    200: named(
      'OperatorEventPage',
      page(OperatorEvent, { description: 'A page of events without their data, newest first.' }),
    ),
  },
  errors: ['NOT_FOUND', 'PLATFORM_NOT_FOUND'],
});

const get = operation({
  operationId: 'getEventOfPlatform',
  method: 'GET',
  path: '/events/{eventId}',
  tag: TAG,
  summary: 'Get an event',
  description:
    'Returns an event with its data, as in its webhook. The data may be personal, so this request is ' +
    'recorded.',
  auth: 'operator',
  operatorPermission: 'personal-data.reveal',
  reveals: true,
  commands: [],
  params: Type.Object({ eventId: EVENT.id }),
  replies: {
    200: Type.Object({
      ...EVENT,
      customerId: nullable(
        text('Customer for whom the data is encrypted, or null if it is not encrypted.'),
      ),
      data: nullable(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'The resource after the event, or null if it was erased.',
        }),
      ),
    }),
  },
  errors: [],
  notFound: 'NOT_FOUND',
});

const { sortOrder: _, ...DELIVERY_FILTERS } = listWebhookDeliveries.query.properties;

const allDeliveries = operation({
  operationId: 'listDeliveriesOfPlatforms',
  method: 'GET',
  path: '/webhook-deliveries',
  tag: TAG,
  summary: 'List webhook deliveries',
  listOrder: () => ({ keyOf: (item) => `${item.eventCreatedAt}`, isOldestFirst: false }),
  description:
    'Returns the deliveries of all platforms or of one in the order of their events, newest first, ' +
    `with their last attempt. ${SHORT_PAGES}`,
  auth: 'operator',
  operatorPermission: 'webhooks.read',
  commands: [],
  query: Type.Object({
    ...PlatformFilter,
    ...DELIVERY_FILTERS,
    // The description without `sortOrder`, which this operation does not have.
    resourceId: optional(
      withDescription(
        DELIVERY_FILTERS.resourceId,
        'Return only deliveries of events about this resource.',
      ),
    ),
  }),
  replies: {
    200: named(
      'DeliveryOfPlatformPage',
      page(Type.Intersect([Type.Object({ platformId }), WebhookDelivery]), {
        description: 'A page of webhook deliveries with their platforms, newest events first.',
      }),
    ),
  },
  errors: ['NOT_FOUND', 'PLATFORM_NOT_FOUND'],
});

const deliveries = operation({
  operationId: 'listDeliveriesOfPlatform',
  method: 'GET',
  path: '/platforms/{platformId}/webhook-deliveries',
  tag: TAG,
  summary: 'List webhook deliveries of a platform',
  description:
    'Returns the pending, delivered and failed deliveries of a platform with their last attempts, in ' +
    'the order of their events, newest first by default. With filters a page may be ' +
    'shorter than `limit`, or empty, although `hasMore` is true.',
  auth: 'operator',
  operatorPermission: 'webhooks.read',
  commands: [],
  params: Type.Object({ platformId: text('ID of the platform.') }),
  query: listWebhookDeliveries.query,
  replies: {
    200: named(
      'OperatorDeliveryPage',
      page(WebhookDelivery, {
        description: 'A page of webhook deliveries of a platform, newest events first by default.',
      }),
    ),
  },
  errors: [],
  notFound: 'PLATFORM_NOT_FOUND',
});

/** The platform of the filter or of the resource. The index by resource contains the platform. */
async function platformOf(
  runtime: Runtime,
  operator: Operator,
  platformId: string | undefined,
  resourceId: string | undefined,
): Promise<string | undefined> {
  if (platformId !== undefined || resourceId === undefined) return platformId;
  const [hit] = await hitsById(runtime, resourceId);
  if (hit) assertPlatform(operator, hit.platformId);
  return hit?.platformId;
}

export const eventListOperations = [
  operatorHandle(list, async ({ installation: { runtime }, operator }, { query }) => {
    const filteredId = query.resourceId ?? query.customerId;
    const platformId = await platformOf(runtime, operator, query.platformId, filteredId);
    return { status: 200, body: await pageOfEventsByOperator(runtime, { ...query, platformId }) };
  }),
  operatorHandle(allDeliveries, async ({ installation: { runtime }, operator }, { query }) => {
    const platformId = await platformOf(runtime, operator, query.platformId, query.resourceId);
    const body = await pageOfDeliveriesOfPlatforms(runtime, { ...query, platformId });
    return { status: 200, body };
  }),
  operatorHandle(get, async ({ installation, operator }, { params: { eventId } }) => {
    const body = await eventByOperator(installation.runtime, eventId);
    assertPlatform(operator, body.platformId, 'Event not found.');
    return { status: 200, body };
  }),
  operatorHandle(deliveries, async ({ installation }, { params, query }) => ({
    status: 200,
    body: await pageOfDeliveriesByOperator(installation.runtime, params.platformId, query),
  })),
];
