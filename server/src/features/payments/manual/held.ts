// Lists funds that are held for review, oldest first. Mutable columns of transactions are not
// indexed, so the funds are found by their pending job `incoming.review-expiry`. Jobs of decided
// transactions are skipped.

import { formatAmount } from '../../../catalog/currencies/money-format.ts';
import { iso } from '../../../kernel/effects.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { REVIEW_EXPIRY } from '../pay-ins/index.ts';
import {
  asIncoming,
  type IncomingRow,
  loadTransaction,
  receivedOf,
} from '../transactions/index.ts';
import { type ListQuery, pageOfItems, startOf } from './pages.ts';

// Of a held row, only a confirmation of receipt delivery changes `updated_at`. Otherwise
// `updated_at` is the start of the hold.
const HELD_PAYMENTS_SQL = `select t.id from jobs j join transactions t on t.id = j.input ->> 'transactionId'
  where j.kind = $1 and t.funds = 'HELD' and t.pending_reason is not null
    and ($2::text is null or t.platform_id = $2) and (t.updated_at, t.id) > ($3::timestamptz, $4)
  order by t.updated_at, t.id limit $5`;

function presentHeldFunds(row: IncomingRow) {
  const money = receivedOf(row);
  return {
    transactionId: row.id,
    platformId: row.platform_id,
    customerId: row.customer_id,
    accountId: row.destination_account,
    since: iso(row.updated_at),
    reason: row.pending_reason,
    amount: Number(money.amount),
    currency: money.currency,
    readable: formatAmount(money),
    source: String(row.source.sourceType),
  };
}

export async function listHeldFunds({ db }: Runtime, { platformId, limit, ...rest }: ListQuery) {
  const { since, id } = startOf(rest);
  const values = [REVIEW_EXPIRY.kind, platformId ?? null, new Date(since), id, limit + 1];
  const ids = await db.query<{ id: string }>(HELD_PAYMENTS_SQL, values);
  const rows = await Promise.all(ids.map((each) => loadTransaction(db, each.id)));
  return pageOfItems(
    rows.map((row) => presentHeldFunds(asIncoming(row))),
    limit,
  );
}
