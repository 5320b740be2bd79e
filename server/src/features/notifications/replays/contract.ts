// Contracts of replays: sending the events of a time range to one endpoint again, as a job.
import { type TSchema, Type } from '@sinclair/typebox';
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

/** Maximum number of events and of days of a replay. */
export const MAX_EVENTS = 100_000;
export const MAX_DAYS = 31;

const count = (description: string) => Type.Integer({ minimum: 0, description });
const optionalOf = <T extends TSchema>(schema: T) => Type.Optional(schema);

const Scope = named(
  'WebhookReplayScope',
  oneOf(['UNDELIVERED', 'ALL'], {
    description:
      'UNDELIVERED: deliveries to the endpoint that failed or are pending. ALL: all events ' +
      'of the types that the endpoint receives, including delivered events and events from ' +
      'before the endpoint was created.',
  }),
);

const Status = named(
  'WebhookReplayStatus',
  oneOf(['PROCESSING', 'COMPLETED', 'FAILED'], {
    description:
      'PROCESSING: events are being queued. COMPLETED: all events were queued. Their deliveries ' +
      'show the results. FAILED: the replay was stopped early.',
  }),
);

const WebhookReplay = named(
  'WebhookReplay',
  Type.Object(
    {
      id: text('ID of the replay.'),
      endpointId: text('ID of the endpoint that receives the events.'),
      scope: Scope,
      from: time('Start of the time range, inclusive.'),
      to: time('End of the time range, inclusive.'),
      status: Status,
      total: count('Number of events when the replay was created.'),
      done: count(
        'Number of events that were queued. The final number is less than `total` if ' +
          'deliveries succeeded or data was erased during the replay.',
      ),
      failureReason: optionalOf(text('Reason for the failure. Present if the status is FAILED.')),
      createdAt: time('Time at which the replay was created.'),
      updatedAt: time('Time of the last progress.'),
    },
    { description: 'Events of a time range that are sent to an endpoint again.' },
  ),
);

const REQUEST = {
  endpointId: text('ID of the endpoint to send to.'),
  from: time('Start of the time range, inclusive.'),
  to: optionalOf(time('End of the time range, inclusive. Defaults to the time of the request.')),
  scope: optionalOf(
    withDescription(Scope, 'Selection of the events to send. Defaults to UNDELIVERED.'),
  ),
};

const RULES =
  `A replay has at most ${MAX_EVENTS} events of at most ${MAX_DAYS} days. Test events are not ` +
  'replayed.';

export const previewWebhookReplay = operation({
  operationId: 'previewWebhookReplay',
  method: 'POST',
  path: '/webhook-replays/preview',
  tag: TAG,
  summary: 'Preview a replay',
  description: `Counts the events that a replay would send, without sending them. ${RULES}`,
  permission: 'VIEW',
  query: NO_QUERY,
  rateClass: 'quotes',
  idempotency: 'none',
  body: named(
    'WebhookReplayPreviewRequest',
    Type.Object(REQUEST, { additionalProperties: false, description: 'The events to count.' }),
  ),
  replies: {
    200: named(
      'WebhookReplayPreview',
      Type.Object(
        {
          count: count(`Number of events, counted up to ${MAX_EVENTS}.`),
          exceedsLimit: Type.Boolean({
            description:
              `Whether the range has more than ${MAX_EVENTS} events. If true, replay the range ` +
              'in parts: the first from `from` to `newestEventAt`, the next from `newestEventAt`.',
          }),
          oldestEventAt: optionalOf(
            time('Time of the oldest event. Absent if there are no events.'),
          ),
          newestEventAt: optionalOf(
            time(
              'Time of the newest event. If `exceedsLimit` is true, end of the first part ' +
                'that is within the limit. Absent if there are no events.',
            ),
          ),
        },
        { description: 'Events that a replay would send.' },
      ),
    ),
  },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const createWebhookReplay = operation({
  operationId: 'createWebhookReplay',
  method: 'POST',
  path: '/webhook-replays',
  tag: TAG,
  summary: 'Replay events to an endpoint',
  description:
    'Sends the events of a time range to one endpoint again, in the background. Poll ' +
    '`getWebhookReplayById` for the progress. Events keep their ID and body. An event can be ' +
    'sent more than once, so the endpoint must recognize repeated IDs. At most 1,000 events ' +
    `of a replay are sent to an enabled endpoint ahead of newer events. ${RULES} Returns ` +
    'CONFLICT while another replay to the endpoint is in progress.',
  permission: 'MANAGE',
  query: NO_QUERY,
  rateClass: 'quotes',
  body: named(
    'WebhookReplayCreateRequest',
    Type.Object(REQUEST, { additionalProperties: false, description: 'The events to send.' }),
  ),
  replies: { 202: WebhookReplay },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const getWebhookReplayById = operation({
  operationId: 'getWebhookReplayById',
  method: 'GET',
  path: '/webhook-replays/{replayId}',
  tag: TAG,
  summary: 'Get a replay',
  description: 'Returns the status and the progress of a replay. Replays are retained for 30 days.',
  permission: 'VIEW',
  params: Type.Object({ replayId: text('ID of the replay.') }),
  query: NO_QUERY,
  replies: { 200: WebhookReplay },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const listWebhookReplays = operation({
  operationId: 'listWebhookReplays',
  method: 'GET',
  path: '/webhook-replays',
  tag: TAG,
  summary: 'List replays',
  description:
    'Returns the replays of the platform, newest first. Replays are retained for 30 days.',
  permission: 'VIEW',
  query: Type.Object(
    {
      endpointId: optionalOf(text('Return only replays to this endpoint.', { maxLength: 200 })),
      status: optionalOf(withDescription(Status, 'Return only replays with this status.')),
      ...PageQuery,
    },
    { additionalProperties: false },
  ),
  replies: {
    200: named(
      'WebhookReplayListResponse',
      page(WebhookReplay, { description: 'A page of replays.' }),
    ),
  },
  errors: [],
});
