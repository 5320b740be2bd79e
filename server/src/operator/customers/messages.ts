// `messages list|show`: messages to people and their delivery status. Without a provider, the
// sandbox stores messages instead of sending them, and `show` prints their codes for tests. The
// list contains no personal data, so it needs no master key.
import {
  MESSAGE_STATUSES,
  messageDetails,
  searchMessages,
} from '../../features/notifications/messages/index.ts';
import { customerKey } from '../../features.ts';
import type { CommandArgs } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

async function list(system: System, args: CommandArgs): Promise<Output> {
  const json = await searchMessages(system.runtime, {
    platformId: await platformIn(system, args),
    customerId: args.text('customer'),
    status: args.text('status'),
    limit: limitIn(args),
  });
  const heads = ['CREATED', 'MESSAGE', 'CHANNEL', 'KIND', 'STATUS', 'CUSTOMER'];
  const text = table(
    heads,
    json.map((each) => [
      each.createdAt,
      each.messageId,
      each.channel,
      each.kind,
      each.failure ? `${each.status} ${each.failure}` : each.status,
      each.customerId ?? '-',
    ]),
  );
  return { json, text };
}

async function show({ runtime }: System, args: CommandArgs): Promise<Output> {
  const json = await messageDetails(runtime, customerKey, args.required('message'));
  const text = record([
    ['Message', json.messageId],
    ['Platform', json.platformId],
    ['Customer', json.customerId ?? 'none'],
    ['Channel', json.channel],
    ['Kind', json.kind],
    ['Status', json.failure ? `${json.status}, ${json.failure}` : json.status],
    ['Created', json.createdAt],
    ['Sent', json.sentAt ?? 'no'],
    ['To', json.to ?? 'deleted'],
    ...(json.channel === 'EMAIL' ? [['Subject', json.subject ?? 'deleted'] as const] : []),
    ['Text', json.text ?? 'deleted'],
  ]);
  return { json, text };
}

export const messageVerbs: readonly Verb[] = [
  {
    noun: 'messages',
    verb: 'list',
    summary: 'List e-mails and text messages, newest first',
    flags: {
      platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
      customer: { value: 'CUSTOMER', help: 'Filter by customer (default: all)' },
      status: {
        value: 'STATUS',
        choices: MESSAGE_STATUSES,
        help: 'Filter by status (default: all)',
      },
      ...LIMIT,
    },
    run: list,
  },
  {
    noun: 'messages',
    verb: 'show',
    summary: 'Show a message. The content of a SENT or FAILED message is deleted',
    flags: { message: { value: 'MESSAGE', required: true, help: 'ID of the message' } },
    positional: 'message',
    run: show,
  },
];
