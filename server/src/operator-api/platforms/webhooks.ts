// Webhook deliveries of any platform, and sending events again.
import { Type } from '@sinclair/typebox';
import {
  deliveriesOfEvent,
  pageOfDroppedEvents,
  pageOfPending,
  resendEventByOperator,
  WebhookDelivery,
  WebhookDeliveryDetails,
} from '../../features/notifications/deliveries/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { named, PageQuery, page, text, time } from '../../kernel/schema.ts';
import { assertPlatform, operatorHandle } from '../handle.ts';
import { OptionalReason, PlatformFilter } from '../schemas.ts';

const TAG = 'Webhooks';
const params = Type.Object({ eventId: text('ID of the event.') });
const platformId = text('ID of the platform.');
const platformParams = Type.Object({ platformId });

const listPending = operation({
  operationId: 'listPendingWebhookDeliveries',
  method: 'GET',
  path: '/webhook-deliveries/pending',
  tag: TAG,
  summary: 'List pending webhook deliveries',
  description: 'Returns pending deliveries, by platform and endpoint, oldest events first.',
  auth: 'operator',
  operatorPermission: 'webhooks.read',
  commands: ['webhooks pending'],
  query: Type.Object({ ...PlatformFilter, ...PageQuery }),
  replies: {
    200: named(
      'PendingDeliveryPage',
      page(Type.Intersect([platformParams, WebhookDelivery]), {
        description:
          'A page of pending webhook deliveries, by platform and endpoint, oldest events first.',
      }),
    ),
  },
  errors: ['NOT_FOUND'],
});

const listDropped = operation({
  operationId: 'listDroppedEvents',
  method: 'GET',
  path: '/events/dropped',
  tag: TAG,
  summary: 'List discarded events',
  description:
    'Returns events whose last attempt failed and that were not resent since, once for each ' +
    'endpoint. The latest attempt is first.',
  auth: 'operator',
  operatorPermission: 'webhooks.read',
  commands: ['webhooks dropped'],
  query: Type.Object({ ...PlatformFilter, ...PageQuery }),
  replies: {
    200: named(
      'DroppedEventPage',
      page(
        Type.Object(
          {
            eventId: text('ID of the event.'),
            platformId,
            type: text('Type of the event, such as `OUTGOING_PAYMENT.COMPLETED`.'),
            subject: text('ID of the resource of the event.'),
            createdAt: time('Time of the event.'),
            attempts: Type.Integer({ description: 'Number of attempts.' }),
          },
          { description: 'An event that was discarded without delivery to the endpoint.' },
        ),
        {
          description:
            'A page of discarded events, once for each endpoint. The latest attempt is first.',
        },
      ),
    ),
  },
  errors: ['NOT_FOUND'],
});

const listDeliveries = operation({
  operationId: 'listDeliveriesOfEvent',
  method: 'GET',
  path: '/events/{eventId}/deliveries',
  tag: TAG,
  summary: 'Get all delivery attempts of an event',
  description: 'Returns the delivery to each endpoint with all attempts, oldest first.',
  auth: 'operator',
  operatorPermission: 'webhooks.read',
  commands: ['webhooks attempts'],
  params,
  replies: {
    200: Type.Object({
      eventId: text('ID of the event.'),
      platformId,
      type: text('Type of the event, such as `OUTGOING_PAYMENT.COMPLETED`.'),
      resourceId: text('ID of the resource of the event.'),
      deliveries: Type.Array(WebhookDeliveryDetails, {
        description: 'Deliveries of the event, one for each endpoint.',
      }),
    }),
  },
  errors: [],
  notFound: 'NOT_FOUND',
});

const resend = operation({
  operationId: 'resendEventOfPlatform',
  method: 'POST',
  path: '/events/{eventId}/resend',
  tag: TAG,
  summary: 'Send an event again',
  description:
    'Sends an event, with the same ID and body, to one endpoint or to all endpoints that ' +
    'receive its type, regardless of earlier attempts. Returns CONFLICT if the data of the ' +
    'event was erased or no endpoint receives its type.',
  auth: 'operator',
  operatorPermission: 'webhooks.manage',
  commands: ['webhooks resend'],
  params,
  body: Type.Object({
    endpointId: Type.Optional(
      text('ID of the endpoint. Defaults to all endpoints that receive the type of the event.'),
    ),
    ...OptionalReason,
  }),
  bodyOptional: true,
  replies: {
    200: Type.Object({
      eventId: text('ID of the event.'),
      platformId,
      deliveryIds: Type.Array(Type.String(), {
        description: 'IDs of the pending deliveries, one for each endpoint.',
      }),
    }),
  },
  errors: [],
  notFound: 'NOT_FOUND',
  callsExternal: true,
});

export const webhookOperations = [
  operatorHandle(listPending, async ({ installation }, { query }) => ({
    status: 200,
    body: await pageOfPending(installation.runtime, query),
  })),
  operatorHandle(listDropped, async ({ installation }, { query }) => ({
    status: 200,
    body: await pageOfDroppedEvents(installation.runtime, query),
  })),
  operatorHandle(listDeliveries, async ({ installation, operator }, { params: { eventId } }) => {
    const body = await deliveriesOfEvent(installation.runtime, eventId);
    assertPlatform(operator, body.platformId, 'Event not found.');
    return { status: 200, body };
  }),
  operatorHandle(resend, async ({ installation, operator }, { params: { eventId }, body }) => {
    const { platformIds } = operator;
    const request = { eventId, endpointId: body.endpointId, platformIds };
    return { status: 200, body: await resendEventByOperator(installation.runtime, request) };
  }),
];
