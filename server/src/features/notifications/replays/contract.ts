// Contracts of replays: sending the events of a time range to one endpoint again, as a job.
import { type TSchema, Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  described,
  NO_QUERY,
  named,
  oneOf,
  PageQuery,
  page,
  text,
  time,
} from '../../../kernel/schema.ts';

const TAG = 'Webhook deliveries';

/** Events of one replay, and the longest range. */
export const MAX_EVENTS = 100_000;
export const MAX_DAYS = 31;

const count = (description: string) => Type.Integer({ minimum: 0, description });
const optionalOf = <T extends TSchema>(schema: T) => Type.Optional(schema);

const Scope = named(
  'WebhookReplayScope',
  oneOf(['UNDELIVERED', 'ALL'], {
    description:
      'UNDELIVERED: deliveries to the endpoint that failed or are pending. ALL: all events of a ' +
      'type that the endpoint gets, also if they were delivered or the endpoint did not exist ' +
      'yet.',
  }),
);

const Status = named(
  'WebhookReplayStatus',
  oneOf(['PROCESSING', 'COMPLETED', 'FAILED'], {
    description:
      'PROCESSING: events are being queued. COMPLETED: all were queued; their deliveries show ' +
      'whether they arrived. FAILED: it ended early.',
  }),
);

const WebhookReplay = named(
  'WebhookReplay',
  Type.Object(
    {
      id: text('Identifier of the replay.'),
      endpointId: text('The endpoint that gets the events.'),
      scope: Scope,
      from: time('Time of the first events.'),
      to: time('Time of the last events.'),
      status: Status,
      total: count('Number of events when the replay was created.'),
      done: count(
        'Number of events that were queued so far. At the end it is less than `total` if ' +
          'deliveries succeeded or data was erased in the meantime.',
      ),
      failureReason: optionalOf(text('Why it ended early. Present if the status is FAILED.')),
      createdAt: time('Time at which the replay was created.'),
      updatedAt: time('Time of the last progress.'),
    },
    { description: 'Events of a time range that are sent to an endpoint again.' },
  ),
);

const REQUEST = {
  endpointId: text('The endpoint to send to.'),
  from: time('Time of the first events, inclusive.'),
  to: optionalOf(time('Time of the last events, inclusive. Defaults to the time of the request.')),
  scope: optionalOf(described(Scope, 'Which events are sent. Defaults to UNDELIVERED.')),
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
              `Whether there are more than ${MAX_EVENTS}, so that the range must be replayed in ` +
              'parts: from `from` to `newestEventAt`, and from there.',
          }),
          oldestEventAt: optionalOf(time('Time of the oldest event. Absent if there is none.')),
          newestEventAt: optionalOf(
            time(
              'Time of the newest event, or if there are too many, the end of a range that has ' +
                'few enough. Absent if there is none.',
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
    'Sends the events of a time range to one endpoint again, in the background: poll ' +
    '`getWebhookReplayById`. Events keep their id and body; an event can be sent more than once, so ' +
    'the endpoint must recognize repeated ids. An endpoint gets at most a thousand of them ahead of ' +
    `newer events. ${RULES} Returns CONFLICT while another replay to the endpoint is in progress.`,
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
  description: 'Returns the status and the progress of a replay. Replays are kept for 30 days.',
  permission: 'VIEW',
  params: Type.Object({ replayId: text('Identifier of the replay.') }),
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
  description: 'Returns the replays of the platform, newest first. Replays are kept for 30 days.',
  permission: 'VIEW',
  query: Type.Object(
    {
      endpointId: optionalOf(text('Return only replays to this endpoint.', { maxLength: 200 })),
      status: optionalOf(described(Status, 'Return only replays with this status.')),
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
