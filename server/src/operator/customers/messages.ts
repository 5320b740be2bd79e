// `messages list|show`: what was written to people, and how far it came. In the sandbox nothing goes out;
// there `show` is where the code stands that a test waits for. The list says nothing personal, so it needs
// no master key.
import {
  type MessageRow,
  messageKeyOf,
  messages,
  openMessage,
} from '../../features/notifications/messages/index.ts';
import { isId } from '../../kernel/id.ts';
import { iso } from '../../kernel/world.ts';
import { equals } from '../../runtime/db/database.ts';
import type { Given } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { record, table } from '../cli/table.ts';
import { notFound, type Output, type System, type Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

const STATUSES = ['QUEUED', 'SENT', 'KEPT', 'FAILED'];

const view = (row: MessageRow) => ({
  messageId: row.id,
  platformId: row.platform_id,
  customerId: row.customer_id,
  channel: row.channel,
  kind: row.kind,
  status: row.status,
  failure: row.failure,
  attempts: row.attempts,
  createdAt: iso(row.created_at),
  sentAt: row.sent_at === null ? null : iso(row.sent_at),
  expiresAt: iso(row.expires_at),
});

async function list(system: System, given: Given): Promise<Output> {
  const { db } = system.runtime;
  const wanted = {
    platform_id: await platformIn(system, given),
    customer_id: given.text('customer'),
    status: given.text('status'),
  };
  const filters = equals(wanted);
  const { rows } = await db.page(messages, { filters, sort: 'desc', limit: limitIn(given) });
  const json = rows.map(view);
  const heads = ['CREATED', 'MESSAGE', 'CHANNEL', 'KIND', 'STATUS', 'CUSTOMER'];
  const text = table(
    heads.map((head) => ({ head })),
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

async function show({ runtime }: System, given: Given): Promise<Output> {
  const id = given.needed('message');
  const row = isId(id, 'Message') ? await runtime.db.read(messages, id) : undefined;
  if (!row) throw notFound('message');
  const key = await messageKeyOf(runtime.db, row);
  const opened = openMessage(runtime.vault, key, row);
  const json = { ...view(row), ...opened };
  const text = record([
    ['Message', json.messageId],
    ['Platform', json.platformId],
    ['Customer', json.customerId ?? 'none'],
    ['Channel', json.channel],
    ['Kind', json.kind],
    ['Status', json.failure ? `${json.status}, ${json.failure}` : json.status],
    ['Created', json.createdAt],
    ['Sent', json.sentAt ?? 'no'],
    ['To', json.to ?? 'forgotten'],
    ...(json.channel === 'EMAIL' ? [['Subject', json.subject ?? 'forgotten'] as const] : []),
    ['Text', json.text ?? 'forgotten'],
  ]);
  return { json, text };
}

export const messageVerbs: readonly Verb[] = [
  {
    noun: 'messages',
    verb: 'list',
    summary: 'List e-mails and text messages, latest first',
    flags: {
      platform: { value: 'PLATFORM', help: 'Of one platform (all)' },
      customer: { value: 'CUSTOMER', help: 'To one customer (all)' },
      status: { value: 'STATUS', choices: STATUSES, help: 'In one status (all)' },
      ...LIMIT,
    },
    run: list,
  },
  {
    noun: 'messages',
    verb: 'show',
    summary: 'Show a message; what was sent is forgotten, what the sandbox kept is not',
    flags: { message: { value: 'MESSAGE', required: true, help: 'Id of the message' } },
    bare: 'message',
    run: show,
  },
];
