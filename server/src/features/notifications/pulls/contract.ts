// Contracts of pulled deliveries: reading and acknowledging the deliveries of an endpoint without a
// URL.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  NO_QUERY,
  named,
  PageQuery,
  Timestamp,
  text,
  withDescription,
} from '../../../kernel/schema.ts';

const TAG = 'Webhook Endpoints';
const MAX_WAIT_S = 60;
const MAX_CURSOR = 400;
const MAX_IDS = 1_000;

const PulledDelivery = named(
  'PulledWebhookDelivery',
  Type.Object(
    {
      id: text('ID of the delivery, as in the list of deliveries.'),
      eventId: text(
        'ID of the event. Use it to detect duplicates and to acknowledge the delivery.',
      ),
      eventType: text('Type of the event, such as `OUTGOING_PAYMENT.COMPLETED`.'),
      createdAt: withDescription(Timestamp, 'Time of the event.'),
      attempt: Type.Integer({
        minimum: 1,
        description:
          'Number of the attempt: 1, or more if the event was sent again after it had been ' +
          'acknowledged or had expired. Pulling a delivery again does not change the number.',
      }),
      headers: Type.Record(Type.String(), Type.String(), {
        description:
          'Headers of the webhook, with signatures created for this reply. Receivers reject ' +
          'a `webhook-timestamp` that is more than five minutes old. To forward a delivery ' +
          'later, read it again.',
      }),
      body: text('Body of the webhook, exactly the text that is signed.'),
    },
    { description: 'A webhook that is ready to be processed or forwarded.' },
  ),
);

const PullResponse = named(
  'PulledWebhookDeliveryListResponse',
  Type.Object(
    {
      data: Type.Array(PulledDelivery, {
        description:
          'The oldest deliveries that are not acknowledged, in an order that never changes.',
      }),
      hasMore: Type.Boolean({ description: 'Whether more deliveries can be read now.' }),
      cursor: Type.Optional(
        text(
          'Position after the last delivery of this reply. Absent without deliveries. Use it to ' +
            'acknowledge all deliveries up to this position, or pass it as `after`.',
        ),
      ),
    },
    { description: 'Deliveries of an endpoint without a URL.' },
  ),
);

const params = Type.Object({ endpointId: text('ID of the endpoint.') });

export const pullWebhookDeliveries = operation({
  operationId: 'pullWebhookDeliveries',
  method: 'GET',
  path: '/webhook-endpoints/{endpointId}/deliveries',
  tag: TAG,
  summary: 'Pull webhook deliveries',
  description:
    'Returns the oldest unacknowledged deliveries of an endpoint without a URL. ' +
    'Deliveries are returned again until they are acknowledged, even after a restart, for at ' +
    'least seven days. Each contains a body and headers with signatures, ready to be ' +
    'forwarded. With `wait`, the request waits for the next delivery. Use one client for ' +
    'each endpoint, because two clients receive the same deliveries. A paused endpoint ' +
    'returns none. At most 20 requests of a platform wait at a time in each server process, ' +
    'together with those that follow events. Further requests are rejected with 429.',
  permission: 'VIEW',
  params,
  query: Type.Object(
    {
      after: Type.Optional(
        text(
          'Return deliveries after this cursor: `cursor` of an earlier reply. Absent for the ' +
            'oldest. Deliveries before the cursor are not acknowledged by this request.',
          { maxLength: MAX_CURSOR },
        ),
      ),
      wait: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: MAX_WAIT_S,
          default: 0,
          description:
            'Seconds to wait for a delivery if none is pending, 0 to 60. The reply is sent as ' +
            'soon as a delivery is available.',
        }),
      ),
      limit: PageQuery.limit,
    },
    { additionalProperties: false },
  ),
  replies: { 200: PullResponse },
  errors: ['CONFLICT'],
  notFound: 'NOT_FOUND',
  waits: true,
});

export const acknowledgeWebhookDeliveries = operation({
  operationId: 'acknowledgeWebhookDeliveries',
  method: 'POST',
  path: '/webhook-endpoints/{endpointId}/acknowledgments',
  tag: TAG,
  summary: 'Acknowledge pulled webhook deliveries',
  description:
    'Acknowledges deliveries of an endpoint without a URL: all up to a cursor, or individual ' +
    'deliveries. Call this operation after the results of processing are stored. Unknown and ' +
    'already acknowledged IDs are ignored, so the request can be repeated.',
  permission: 'MANAGE',
  params,
  query: NO_QUERY,
  body: named(
    'WebhookDeliveryAcknowledgeRequest',
    Type.Object(
      {
        cursor: Type.Optional(
          text('Acknowledge every delivery up to this position: `cursor` of an earlier reply.', {
            maxLength: MAX_CURSOR,
          }),
        ),
        eventIds: Type.Optional(
          Type.Array(text('ID of the event.', { maxLength: 200 }), {
            minItems: 1,
            maxItems: MAX_IDS,
            description: `Acknowledge the deliveries of these events, at most ${MAX_IDS}.`,
          }),
        ),
      },
      { additionalProperties: false, description: 'Either `cursor` or `eventIds`.' },
    ),
  ),
  bodyRules(body) {
    const { cursor, eventIds } = body as { cursor?: unknown; eventIds?: unknown };
    if ((cursor === undefined) !== (eventIds === undefined)) return [];
    const message =
      cursor === undefined
        ? 'is required unless `eventIds` is set'
        : 'must be absent if `eventIds` is set';
    return [{ field: 'cursor', message }];
  },
  idempotency: 'none',
  replies: {
    200: named(
      'WebhookDeliveryAcknowledgeResponse',
      Type.Object(
        {
          acknowledged: Type.Integer({
            description: 'Number of deliveries that this request has acknowledged.',
          }),
          hasMore: Type.Boolean({
            description:
              'Whether deliveries up to the cursor may remain, because one request acknowledges ' +
              'at most 20,000. If true, repeat the request.',
          }),
        },
        { description: 'Result of an acknowledgment.' },
      ),
    ),
  },
  errors: ['CONFLICT'],
  notFound: 'NOT_FOUND',
});
