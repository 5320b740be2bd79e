// The change stream, with which consoles update their views.
import { Type } from '@sinclair/typebox';
import { operation } from '../../kernel/contract/operation.ts';
import { text } from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';

const follow = operation({
  operationId: 'followChanges',
  method: 'GET',
  path: '/stream',
  tag: 'Changes',
  summary: 'Follow changes',
  description:
    'Sends changes as server-sent events, within a second of their commit by any process. The ' +
    'first event is `ready`. `change` has the data `{type, resourceId, platformId, customerId?, ' +
    'createdAt}` of an event of a platform that the operator may access. After a change by an ' +
    'operator, it has the type `OPERATOR.CHANGE` and `createdAt`. Operators with `audit.read` ' +
    'receive this type for each audit record, with `operationId`, `subject?` and `platformId?`. ' +
    '`reset` reports that changes were omitted. Load all data again. If a resource changes ' +
    'several times in a short period, only the last change may be sent. Above 200 changes a ' +
    'second, `reset` replaces them. The last event is `end`, with a `reason`: `SESSION_ENDED`, ' +
    '`ACCESS_CHANGED` or `SERVER_STOPPING`. A comment is sent after 15 seconds without an ' +
    'event. Each event has an `id`, after which the stream can be resumed. Each process serves ' +
    'at most ten streams of an operator, and 500 in total. An open stream does not extend a ' +
    'session.',
  auth: 'operator',
  operatorPermission: 'webhooks.read',
  commands: [],
  streams: true,
  query: Type.Object({
    after: Type.Optional(
      text('`id` of the last event that was received. The header `Last-Event-ID` has priority.', {
        maxLength: 400,
      }),
    ),
  }),
  headers: Type.Object({
    'last-event-id': Type.Optional(
      text('`id` of the last event that was received. Sent by browsers.', { maxLength: 400 }),
    ),
  }),
  replies: { 200: text('Server-sent events.') },
  errors: [],
});

export const streamOperations = [
  operatorHandle(follow, async ({ changes, operator }, { query, headers, disconnect }) => {
    const cursor = headers['last-event-id'] ?? query.after;
    const stream = await changes.open(operator, cursor);
    const close = () => void stream.destroy();
    disconnect?.addEventListener('abort', close);
    if (disconnect?.aborted) close();
    return { status: 200, body: '', stream };
  }),
];
