// Lists provider messages for operators.
import { iso } from '../../../kernel/effects.ts';
import { equals } from '../../../runtime/db/paging.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { type ProviderMessageRow, providerMessages, type StoredResult } from './store.ts';

export interface MessageQuery {
  providerId?: string | undefined;
  result?: StoredResult | undefined;
  limit: number;
  cursor?: string | undefined;
}

const presentMessage = (row: ProviderMessageRow) => ({
  messageId: row.id.slice(row.provider_id.length + 1),
  providerId: row.provider_id,
  type: row.type,
  platformId: row.platform_id,
  transactionId: row.transaction_id,
  result: row.result,
  problem: row.problem,
  receivedAt: iso(row.created_at),
});

/** A page of messages, newest first. */
export async function pageOfMessages(
  { db }: Pick<Runtime, 'db'>,
  { providerId, result, limit, cursor }: MessageQuery,
) {
  const filters = equals({ provider_id: providerId, result });
  const page = await db.page(providerMessages, { filters, sort: 'desc', limit, cursor });
  const { rows, ...rest } = page;
  return { data: rows.map(presentMessage), ...rest };
}
