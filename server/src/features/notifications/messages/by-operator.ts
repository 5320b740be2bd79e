// Messages of every platform, for the operator. In the sandbox without a connector, messages are
// not sent. The operator reads their codes here. The list contains no personal data, so it is read
// without the master key.

import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { equals } from '../../../runtime/db/database.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { platformById } from '../../tenancy/platform/index.ts';
import { type CustomerKey, openMessageOf } from './send.ts';
import { type MessageRow, messages } from './store.ts';

const summaryOf = (row: MessageRow) => ({
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

interface MessageFilter {
  platformId?: string | undefined;
  customerId?: string | undefined;
  status?: string | undefined;
}

const filtersOf = ({ platformId, customerId, status }: MessageFilter) =>
  equals({ platform_id: platformId, customer_id: customerId, status });

/** Messages, latest first, optionally filtered by platform, customer and status. */
export async function searchMessages(
  { db }: Runtime,
  { limit, ...filter }: MessageFilter & { limit: number },
) {
  const filters = filtersOf(filter);
  return (await db.page(messages, { filters, sort: 'desc', limit })).rows.map(summaryOf);
}

/** A page of messages, like `searchMessages`. Throws PLATFORM_NOT_FOUND. */
export async function pageOfMessages(
  runtime: Runtime,
  {
    limit = 20,
    cursor,
    ...filter
  }: MessageFilter & { limit?: number | undefined; cursor?: string | undefined },
) {
  const { platformId } = filter;
  if (platformId !== undefined) await platformById(runtime, platformId);
  const query = { filters: filtersOf(filter), sort: 'desc', limit, cursor } as const;
  const { rows, ...rest } = await runtime.db.page(messages, query);
  return { data: rows.map(summaryOf), ...rest };
}

/** A message with its recipient and content, unless they were cleared. Throws NOT_FOUND. */
export async function messageDetails(
  runtime: Runtime,
  customerKey: CustomerKey,
  messageId: string,
) {
  const row = isId(messageId, 'Message') ? await runtime.db.read(messages, messageId) : undefined;
  if (!row) throw new Fault('NOT_FOUND', 'Message not found.');
  return { ...summaryOf(row), ...(await openMessageOf(runtime, customerKey, row)) };
}
