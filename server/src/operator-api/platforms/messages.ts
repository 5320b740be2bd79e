// E-mails and text messages with their delivery status. Recipient and content are personal data.
import { Type } from '@sinclair/typebox';
import { customerById, dataKeyOf } from '../../features/customers/records/index.ts';
import {
  MESSAGE_CHANNELS,
  MESSAGE_FAILURES,
  MESSAGE_STATUSES,
  messageDetails,
  pageOfMessages,
} from '../../features/notifications/messages/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { named, nullable, oneOf, PageQuery, page, text, time } from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { PlatformFilter } from '../schemas.ts';

const TAG = 'Messages';
const optional = Type.Optional;

const Status = named(
  'MessageStatus',
  oneOf(MESSAGE_STATUSES, {
    description:
      'QUEUED: not sent yet. SENT: accepted by the provider. KEPT: stored but not sent, because ' +
      'the sandbox has no provider for the channel. FAILED: not sent.',
  }),
);

const MESSAGE = {
  messageId: text('ID of the message.'),
  platformId: text('ID of the platform.'),
  customerId: nullable(text('Customer of the message, or null if there is none.')),
  channel: oneOf(MESSAGE_CHANNELS, { description: 'Channel of the message.' }),
  kind: text('Purpose of the message, such as `CONTACT_CODE`.'),
  status: Status,
  failure: nullable(
    oneOf(MESSAGE_FAILURES, {
      description:
        'REFUSED: the provider rejected the message. EXPIRED: not sent before `expiresAt`. ERASED: the ' +
        'content was erased. NOT_CONNECTED: no provider is configured. Null unless the status is FAILED.',
    }),
  ),
  attempts: Type.Integer({ description: 'Number of attempts. 0 until the status is final.' }),
  createdAt: time('Time at which the message was created.'),
  sentAt: nullable(text('Time at which the message was sent, or null if it was not sent.')),
  expiresAt: time('Time after which the message is no longer sent.'),
};
const Message = named(
  'Message',
  Type.Object(MESSAGE, { description: 'A message without its recipient and content.' }),
);

const list = operation({
  operationId: 'listMessages',
  method: 'GET',
  path: '/messages',
  tag: TAG,
  summary: 'List messages',
  description: 'Returns e-mails and text messages, newest first, without recipient and content.',
  auth: 'operator',
  operatorPermission: 'messages.read',
  commands: ['messages list'],
  query: Type.Object({
    ...PlatformFilter,
    customerId: optional(text('Return only messages for this customer.')),
    status: optional(
      oneOf(MESSAGE_STATUSES, { description: 'Return only messages with this status.' }),
    ),
    ...PageQuery,
  }),
  replies: {
    200: named(
      'MessagePage',
      page(Message, {
        description:
          'A page of e-mails and text messages without recipient and content, newest first.',
      }),
    ),
  },
  errors: ['NOT_FOUND', 'PLATFORM_NOT_FOUND'],
});

const get = operation({
  operationId: 'getMessage',
  method: 'GET',
  path: '/messages/{messageId}',
  tag: TAG,
  summary: 'Get a message',
  description:
    'Returns a message with recipient and content, unless they were deleted. The content is ' +
    'deleted when the message is SENT or FAILED.',
  auth: 'operator',
  operatorPermission: 'personal-data.reveal',
  reveals: true,
  commands: ['messages show'],
  params: Type.Object({ messageId: text('ID of the message.') }),
  replies: {
    200: named(
      'MessageDetails',
      Type.Object(
        {
          ...MESSAGE,
          to: optional(
            text('E-mail address or telephone number of the recipient. Absent if it was deleted.'),
          ),
          subject: optional(
            text('Subject of an e-mail. Absent for a text message, or if it was deleted.'),
          ),
          text: optional(text('Content of the message. Absent if it was deleted.')),
          senderName: optional(
            text('Name of the sender of an e-mail. Absent if there is none, or if it was deleted.'),
          ),
          replyTo: optional(
            text(
              'Address for replies to an e-mail. Absent if there is none, or if it was deleted.',
            ),
          ),
        },
        { description: 'A message with its recipient and content.' },
      ),
    ),
  },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const messageOperations = [
  operatorHandle(list, async ({ installation }, { query }) => ({
    status: 200,
    body: await pageOfMessages(installation.runtime, query),
  })),
  operatorHandle(get, async ({ installation }, { params: { messageId } }) => ({
    status: 200,
    body: await messageDetails(
      installation.runtime,
      async (reader, id) => dataKeyOf(await customerById(reader, id)),
      messageId,
    ),
  })),
];
