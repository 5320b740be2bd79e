// Contracts of webhook deliveries: the list, one delivery with its attempts, and sending again.
import { type TSchema, Type } from '@sinclair/typebox';
import { EVENT_TYPES, WebhookType } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  NO_QUERY,
  named,
  oneOf,
  PageQuery,
  page,
  text,
  time,
  withDescription,
} from '../../../kernel/schema.ts';

const TAG = 'Webhook Deliveries';
const MAX_ID_LENGTH = 200;

const optionalOf = <T extends TSchema>(schema: T) => Type.Optional(schema);

const Status = named(
  'WebhookDeliveryStatus',
  oneOf(['PENDING', 'DELIVERED', 'FAILED'], {
    description:
      'PENDING: an attempt follows, or the delivery can be pulled. DELIVERED: the endpoint ' +
      'accepted or acknowledged it. FAILED: the last attempt failed or the delivery expired, ' +
      'and no further attempt follows.',
  }),
);

const ATTEMPT_FIELDS = {
  number: Type.Integer({ minimum: 1, description: 'Number of the attempt, from 1.' }),
  at: time('Start of the attempt.'),
  result: oneOf(['DELIVERED', 'RETRY', 'FAILED'], {
    description:
      'DELIVERED: the endpoint accepted the event. RETRY: another attempt follows or has ' +
      'followed. FAILED: this was the last attempt.',
  }),
  responseStatus: optionalOf(
    Type.Integer({ description: 'HTTP status of the response. Absent without a response.' }),
  ),
  error: optionalOf(text('Error that prevented a response. Absent if there was a response.')),
  durationMs: Type.Integer({
    minimum: 0,
    description: 'Milliseconds from the start to the response or the error.',
  }),
};

const AttemptSummary = named(
  'WebhookAttemptSummary',
  Type.Object(ATTEMPT_FIELDS, { description: 'An attempt to deliver an event.' }),
);

const Attempt = named(
  'WebhookAttempt',
  Type.Object(
    {
      ...ATTEMPT_FIELDS,
      responseHeaders: optionalOf(
        Type.Record(Type.String(), Type.String(), {
          description:
            'Headers of the response, at most 1 KB. Values are `***`, except in common ' +
            'headers without secrets, such as `content-type`, `retry-after` and `x-request-id`. ' +
            '`location` has no credentials and no values of parameters. Headers of the ' +
            'connection and `date` are omitted. Absent if no header remains.',
        }),
      ),
      responseBody: optionalOf(
        text(
          'Start of the response body, at most 1 KB. Possible secrets and personal data are ' +
            'replaced by `[masked]`, with the last four digits of a card or an account. Absent ' +
            'without a response.',
        ),
      ),
    },
    { description: 'An attempt to deliver an event, with the response.' },
  ),
);

const DELIVERY_FIELDS = {
  id: text('ID of the delivery.'),
  endpointId: text('ID of the endpoint. The endpoint may have been deleted.'),
  eventId: text('ID of the event.'),
  eventType: WebhookType,
  resourceId: text('ID of the resource that the event is about.'),
  eventCreatedAt: time('Time of the event.'),
  status: Status,
  attemptCount: Type.Integer({ minimum: 0, description: 'Number of attempts.' }),
  nextAttemptAt: optionalOf(
    time(
      'Time of the next attempt. Present while the delivery is pending, unless the endpoint is ' +
        'paused or its deliveries are pulled.',
    ),
  ),
};

export const WebhookDelivery = named(
  'WebhookDelivery',
  Type.Object(
    {
      ...DELIVERY_FIELDS,
      lastAttempt: optionalOf(
        withDescription(AttemptSummary, 'The latest attempt. Absent before the first attempt.'),
      ),
    },
    { description: 'The delivery of an event to an endpoint.' },
  ),
);

export const WebhookDeliveryDetails = named(
  'WebhookDeliveryDetails',
  Type.Object(
    {
      ...DELIVERY_FIELDS,
      attempts: Type.Array(Attempt, { description: 'All attempts, oldest first.' }),
    },
    { description: 'The delivery of an event to an endpoint, with its attempts.' },
  ),
);

const params = Type.Object({ deliveryId: text('ID of the delivery.') });
export const listWebhookDeliveries = operation({
  operationId: 'listWebhookDeliveries',
  method: 'GET',
  path: '/webhook-deliveries',
  tag: TAG,
  summary: 'List webhook deliveries',
  description:
    'Returns the deliveries that match every filter, in the order of their events, newest ' +
    'first by default. Test events are included. With a filter, a page can have fewer ' +
    'deliveries than `limit`, or none, although more follow. Continue while `hasMore` is ' +
    'true. Deliveries are retained as long as their events, for 30 days unless the operator has ' +
    'set another period.',
  permission: 'VIEW',
  query: Type.Object(
    {
      endpointId: optionalOf(
        text('Return only deliveries to this endpoint.', { maxLength: MAX_ID_LENGTH }),
      ),
      status: optionalOf(withDescription(Status, 'Return only deliveries with this status.')),
      eventId: optionalOf(
        text('Return only deliveries of this event.', { maxLength: MAX_ID_LENGTH }),
      ),
      eventType: optionalOf(
        Type.Array(oneOf(EVENT_TYPES), {
          maxItems: 50,
          description: 'Return only deliveries of events of these types, separated by commas.',
        }),
      ),
      resourceId: optionalOf(
        text(
          'Return only deliveries of events about this resource. With `sortOrder` asc the list ' +
            'starts at the creation of the resource.',
          { maxLength: MAX_ID_LENGTH },
        ),
      ),
      createdAfter: optionalOf(time('Return only deliveries of events at or after this time.')),
      createdBefore: optionalOf(time('Return only deliveries of events at or before this time.')),
      ...PageQuery,
      cursor: optionalOf(
        text('`nextCursor` of the previous page. Absent for the first page.', { maxLength: 200 }),
      ),
      sortOrder: optionalOf(
        oneOf(['asc', 'desc'], {
          default: 'desc',
          description:
            '`asc`: oldest events first. `desc`: newest events first. Defaults to `desc`.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  replies: {
    200: named(
      'WebhookDeliveryListResponse',
      page(WebhookDelivery, { description: 'A page of webhook deliveries, without a total.' }),
    ),
  },
  errors: [],
});

export const getWebhookDeliveryById = operation({
  operationId: 'getWebhookDeliveryById',
  method: 'GET',
  path: '/webhook-deliveries/{deliveryId}',
  tag: TAG,
  summary: 'Get a webhook delivery',
  description: 'Returns one delivery with all its attempts and the responses of the endpoint.',
  permission: 'VIEW',
  params,
  query: NO_QUERY,
  replies: { 200: WebhookDeliveryDetails },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const resendWebhookDelivery = operation({
  operationId: 'resendWebhookDelivery',
  method: 'POST',
  path: '/webhook-deliveries/{deliveryId}/resend',
  tag: TAG,
  summary: 'Send an event to an endpoint again',
  description:
    'Sends the event again, with the same ID and body, regardless of earlier attempts. At ' +
    'least one more attempt is made, with retries until a week after the event. The endpoint ' +
    'must recognize repeated events by their ID. Returns CONFLICT if the data of the event ' +
    'was erased or the endpoint was deleted.',
  permission: 'MANAGE',
  params,
  query: NO_QUERY,
  replies: { 202: WebhookDelivery },
  errors: [],
  notFound: 'NOT_FOUND',
  callsExternal: true,
});

export const resendEvent = operation({
  operationId: 'resendEvent',
  method: 'POST',
  path: '/events/{eventId}/resend',
  tag: TAG,
  summary: 'Send an event again',
  description:
    'Sends an event, with the same ID and body, to one endpoint or to all endpoints that ' +
    'receive its type. Endpoints that were created after the event are included. Returns ' +
    'CONFLICT if the data of the event was erased or no endpoint receives its type.',
  permission: 'MANAGE',
  query: NO_QUERY,
  params: Type.Object({ eventId: text('ID of the event.') }),
  body: named(
    'EventResendRequest',
    Type.Object(
      {
        endpointId: optionalOf(
          text('ID of the endpoint. Defaults to all endpoints that receive the type of the event.'),
        ),
      },
      { additionalProperties: false, description: 'The endpoint to send the event to.' },
    ),
  ),
  bodyOptional: true,
  replies: {
    202: named(
      'EventResendResponse',
      Type.Object(
        {
          deliveryIds: Type.Array(Type.String(), {
            description: 'IDs of the pending deliveries, one for each endpoint.',
          }),
        },
        { description: 'The deliveries of an event that is sent again.' },
      ),
    ),
  },
  errors: [],
  notFound: 'NOT_FOUND',
  callsExternal: true,
});
