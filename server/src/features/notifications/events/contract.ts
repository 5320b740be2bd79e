// Contracts of the list of events and of one event.
import { Type } from '@sinclair/typebox';
import { EVENT_TYPES } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import { NO_QUERY, named, nullable, oneOf, PageQuery, text, time } from '../../../kernel/schema.ts';

const TAG = 'Events';
/** Shorter than the period after which idle connections are closed. */
const MAX_WAIT_S = 60;
const MAX_CURSOR = 400;

const EventResource = named(
  'Event',
  Type.Object(
    {
      id: text('ID of the event. Its webhook has the same ID.'),
      type: text('Type of the event, such as `OUTGOING_PAYMENT.COMPLETED`.'),
      timestamp: time('Time of the event.'),
      resourceId: text('ID of the resource that the event is about.'),
      data: nullable(
        Type.Object(
          {},
          {
            additionalProperties: true,
            description:
              'The resource as the webhook of the event shows it: the state directly after the ' +
              'event. Null if the data was erased together with a customer or is unreadable.',
          },
        ),
      ),
      test: Type.Optional(
        Type.Boolean({ description: 'True for a test event. Absent otherwise.' }),
      ),
    },
    { description: 'A change of a resource of the platform.' },
  ),
);

const EventListResponse = named(
  'EventListResponse',
  Type.Object(
    {
      data: Type.Array(EventResource, {
        description: 'Events: oldest first with `after`, newest first otherwise.',
      }),
      hasMore: Type.Boolean({
        description:
          'Whether the list continues in this direction. A page with a filter can have fewer ' +
          'events than `limit`, or none, although further events follow.',
      }),
      after: text(
        'Cursor after the newest event that this reply covers. Pass it as `after` for the events ' +
          'after it.',
      ),
      before: Type.Optional(
        text(
          'Cursor before the oldest event that this reply covers. Pass it as `before` for the ' +
            'events before it. Absent on the last page of a list with the newest events first, ' +
            'and with `after` if the reply has no events.',
        ),
      ),
    },
    { description: 'A page of events, with cursors in both directions.' },
  ),
);

export const listEvents = operation({
  operationId: 'listEvents',
  method: 'GET',
  path: '/events',
  tag: TAG,
  summary: 'List or follow events',
  description:
    'Returns the events of the platform that match every filter, with or without a webhook ' +
    'endpoint. Without a cursor the newest events are first. With `after` the oldest are first. ' +
    'A client that passes `after` of each reply to the next request receives every event ' +
    'exactly once, in a fixed order. With `wait`, such a request waits for the ' +
    'next event. Events are retained for 30 days unless the operator has set another period. An ' +
    'older cursor is rejected, because events may be missing. At most 20 requests of a platform ' +
    'wait at a time in each server process. Further requests are rejected with 429.',
  permission: 'VIEW',
  query: Type.Object(
    {
      type: Type.Optional(
        Type.Array(oneOf(EVENT_TYPES), {
          maxItems: 50,
          description: 'Return only events of these types, separated by commas.',
        }),
      ),
      resourceId: Type.Optional(
        text('Return only events about this resource, such as a transaction or an account.', {
          maxLength: 200,
        }),
      ),
      customerId: Type.Optional(
        text('Return only events about this customer, its accounts, cards and payments.', {
          maxLength: 200,
        }),
      ),
      createdAfter: Type.Optional(time('Return only events at or after this time.')),
      createdBefore: Type.Optional(time('Return only events at or before this time.')),
      after: Type.Optional(
        text(
          'Return events after this position, oldest first. The value is `after` of an earlier ' +
            'reply. `beginning` selects all events of the retention period except its first hour.',
          { maxLength: MAX_CURSOR },
        ),
      ),
      before: Type.Optional(
        text('Return events before this position, newest first: `before` of an earlier reply.', {
          maxLength: MAX_CURSOR,
        }),
      ),
      wait: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: MAX_WAIT_S,
          default: 0,
          description:
            'Seconds to wait for an event if no event follows `after`, 0 to 60. The reply is ' +
            'sent as soon as an event occurs. Otherwise it has no events and a new `after`.',
        }),
      ),
      limit: PageQuery.limit,
    },
    { additionalProperties: false },
  ),
  replies: { 200: EventListResponse },
  errors: [],
  waits: true,
});

export const getEventById = operation({
  operationId: 'getEventById',
  method: 'GET',
  path: '/events/{eventId}',
  tag: TAG,
  summary: 'Get an event',
  description: 'Returns one event of the platform, with the same data as its webhook.',
  permission: 'VIEW',
  params: Type.Object({ eventId: text('ID of the event.') }),
  query: NO_QUERY,
  replies: { 200: EventResource },
  errors: [],
  notFound: 'NOT_FOUND',
});
