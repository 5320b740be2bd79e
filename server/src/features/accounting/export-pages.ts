// Pages of the exports, for replies of bounded size. Each page is a separate statement, so pages of
// the current period can be inconsistent with each other.
import { iso, type Time } from '../../kernel/effects.ts';
import { invalidField } from '../../kernel/fault.ts';
import type { Mode } from '../../kernel/mode.ts';
import { cursorOf, positionOf } from '../../runtime/db/paging.ts';
import type { RowStream } from '../../runtime/db/stream.ts';
import {
  type BalanceLine,
  type ExportRange,
  exportBalances,
  exportPostings,
  exportTransactions,
  type PostingLine,
  type TransactionLine,
} from './export.ts';

const DAY_MS = 86_400_000;
const MAX_DAYS = 366;

interface ExportQuery {
  /** First day, UTC. */
  from: string;
  /** Last day, UTC, inclusive. */
  to: string;
  platformId?: string | undefined;
  environment?: Mode | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** The range of a query, with one more row than the page has. */
function rangeOf({ from, to, limit = 20, cursor, ...filter }: ExportQuery): ExportRange {
  const [firstDay, lastDay] = [Date.parse(from), Date.parse(to)];
  if (lastDay < firstDay) throw invalidField('to', 'must not be before `from`');
  if (lastDay - firstDay >= MAX_DAYS * DAY_MS) {
    throw invalidField('to', `must be less than ${MAX_DAYS} days after \`from\``);
  }
  const after = cursor === undefined ? undefined : positionOf(cursor);
  return { from: firstDay, until: lastDay + DAY_MS, ...filter, page: { after, limit: limit + 1 } };
}

type Position = Parameters<typeof cursorOf>[0];

async function pageOf<R, V>(
  chunks: AsyncIterable<R[]>,
  { limit = 20 }: ExportQuery,
  positionOfRow: (row: R) => Position,
  view: (row: R) => V,
) {
  const rows: R[] = [];
  for await (const chunk of chunks) rows.push(...chunk);
  const lastRow = rows[limit - 1];
  const hasMore = rows.length > limit;
  const nextCursor =
    hasMore && lastRow !== undefined ? cursorOf(positionOfRow(lastRow)) : undefined;
  const data = rows.slice(0, limit).map(view);
  return { data, hasMore, ...(nextCursor === undefined ? {} : { nextCursor }) };
}

const isoOrNull = (value: Time | null) => (value === null ? null : iso(value));
const numberOrNull = (value: bigint | null) => (value === null ? null : Number(value));

const transactionView = (row: TransactionLine) => ({
  transactionId: row.id,
  platformId: row.platform_id,
  environment: row.environment,
  customerId: row.customer_id,
  platformCustomerId: row.platform_customer_id,
  type: row.type,
  status: row.status,
  funds: row.funds,
  createdAt: iso(row.created_at),
  settledAt: isoOrNull(row.settled_at),
  sentCurrency: row.sent_currency,
  sentAmount: numberOrNull(row.sent_amount),
  receivedCurrency: row.received_currency,
  receivedAmount: numberOrNull(row.received_amount),
  fees: numberOrNull(row.fees),
  platformFees: numberOrNull(row.platform_fees),
  exchangeRate: row.exchange_rate,
  rail: row.rail,
  sourceAccount: row.source_account,
  destinationAccount: row.destination_account,
  quoteId: row.quote_id,
  failureReason: row.failure_reason,
  refundStatus: row.refund_status,
  refundReference: row.refund_reference,
  railReference: row.rail_reference,
  description: row.description,
});

/** A page of the transactions created in a period, oldest first. */
export const transactionsPage = (stream: RowStream, query: ExportQuery) =>
  pageOf(exportTransactions(stream, rangeOf(query)), query, (row) => row, transactionView);

const postingView = ({ platformId }: ExportQuery, row: PostingLine) => ({
  environment: row.environment,
  // A posting between two platforms belongs to both. The filter determines which platform is shown.
  platformId: platformId ?? row.platform_id,
  transactionId: row.transaction_id,
  step: row.step,
  phase: row.phase,
  createdAt: iso(row.created_at),
  debit: row.debit,
  credit: row.credit,
  currency: row.currency,
  amount: Number(row.amount),
});

/** A page of the postings of a period, oldest first. */
export const postingsPage = (stream: RowStream, query: ExportQuery) =>
  pageOf(
    exportPostings(stream, rangeOf(query)),
    query,
    ({ created_at, transaction_id, step }) => ({ created_at, id: `${transaction_id} ${step}` }),
    (row) => postingView(query, row),
  );

const balanceView = (row: BalanceLine) => ({
  environment: row.environment,
  platformId: row.platform_id,
  customerId: row.customer_id,
  account: row.account,
  currency: row.currency,
  day: row.day,
  opening: Number(row.opening),
  debits: Number(row.debits),
  credits: Number(row.credits),
  closing: Number(row.closing),
});

/** A page of balances by day. With `idle` also other days with a balance other than zero. */
export const balancesPage = (
  stream: RowStream,
  { idle = false, ...query }: ExportQuery & { idle?: boolean | undefined },
) =>
  pageOf(
    exportBalances(stream, { ...rangeOf(query), idle }),
    query,
    ({ day, account }) => ({ created_at: Date.parse(day), id: account }),
    balanceView,
  );
