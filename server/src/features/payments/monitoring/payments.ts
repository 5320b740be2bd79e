// Payments of all platforms for the operator, without personal data. Parties and texts of senders
// are omitted. Accounts are shown by their IDs.
import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isAnyId, isId } from '../../../kernel/id.ts';
import { equals, type Filter } from '../../../runtime/db/database.ts';
import { mergeParts } from '../../../runtime/db/merge.ts';
import { cursorOf, positionOf } from '../../../runtime/db/paging.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { listSteps, type OperatorListQuery } from '../../tenancy/operator-lists/index.ts';
import { recallOf } from '../recalls/index.ts';
import {
  awaitedResultOf,
  isExpected,
  paymentReferenceOf,
  railResultsOf,
} from '../suspense/index.ts';
import { readTransaction, type TransactionRow, transactionPages } from '../transactions/index.ts';

/** Filters of a list of payments. An absent filter has no effect. */
export interface PaymentQuery extends OperatorListQuery {
  type?: TransactionRow['type'] | undefined;
  status?: string | undefined;
  /** Sent or received currency. */
  currency?: string | undefined;
  rail?: string | undefined;
  /** Debited or credited account. */
  accountId?: string | undefined;
}

const DEFAULT_LIMIT = 20;

type Position = Pick<TransactionRow, 'created_at' | 'id'>;

const money = (amount: bigint | null, currency: string | null) =>
  amount === null || currency === null ? null : { amount: Number(amount), currency };

const timeOrNull = (time: number | null) => (time === null ? null : iso(time));

/** The ID of an account, or null for an address, which is personal data. */
const accountIdOrNull = (account: string | null) => (account && isAnyId(account) ? account : null);

const presentPayment = (row: TransactionRow) => ({
  id: row.id,
  platformId: row.platform_id,
  customerId: row.customer_id,
  type: row.type,
  direction: row.direction,
  status: row.status,
  funds: row.funds,
  sentAmount: money(row.sent_amount, row.sent_currency),
  receivedAmount: money(row.received_amount, row.received_currency),
  fees: money(row.fees, row.sent_currency),
  sourceAccountId: accountIdOrNull(row.source_account),
  destinationAccountId: accountIdOrNull(row.destination_account),
  quoteId: row.quote_id,
  agentId: row.agent_id,
  rail: row.rail,
  railMode: row.rail_mode,
  reference: row.type === 'CARD' ? null : paymentReferenceOf(row.id),
  failureReason: row.failure_reason,
  pendingReason: row.pending_reason,
  refundStatus: row.refund?.status ?? null,
  settledAt: timeOrNull(row.settled_at),
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

/** Rows of a page, newest first. `scope` selects an index other than the index of the owner. */
export async function transactionsPage(
  { db }: Runtime,
  query: PaymentQuery,
  extraFilters: readonly Filter[] = [],
  scope: readonly Filter[] = [],
) {
  const { type, status, currency, rail } = query;
  const filters: Filter[] = [...equals({ type, status, rail }), ...extraFilters];
  if (currency !== undefined) {
    filters.push({ or: equals({ sent_currency: currency, received_currency: currency }) });
  }
  const steps = await listSteps(db, query, filters);
  if (scope.length === 0) return transactionPages.inSteps(db, steps);
  const filteredSteps = { ...steps, scope, filters: [...steps.scope, ...steps.filters] };
  return transactionPages.inSteps(db, filteredSteps);
}

const newestFirst = (first: Position, second: Position) =>
  second.created_at - first.created_at ||
  (first.id < second.id ? 1 : first.id > second.id ? -1 : 0);

/** Payments from or to an account, read by two indexes. */
async function pageOfAccount(runtime: Runtime, query: PaymentQuery, account: string) {
  const parts = await Promise.all(
    ['source_account', 'destination_account'].map(async (column) => {
      const scope = [{ column, op: '=' as const, value: account }];
      const { rows, nextCursor } = await transactionsPage(runtime, query, [], scope);
      return { items: rows, end: nextCursor === undefined ? undefined : positionOf(nextCursor) };
    }),
  );
  const order = { limit: query.limit ?? DEFAULT_LIMIT, compare: newestFirst };
  const { items, end } = mergeParts(parts, { ...order, positionOf: (row) => row });
  return {
    rows: items,
    hasMore: end !== undefined,
    ...(end === undefined ? {} : { nextCursor: cursorOf(end) }),
  };
}

/** A page of payments, newest first. */
export async function pageOfPayments(runtime: Runtime, query: PaymentQuery) {
  const { accountId: account } = query;
  const { rows, ...pageInfo } = await (account === undefined
    ? transactionsPage(runtime, query)
    : pageOfAccount(runtime, query, account));
  return { data: rows.map(presentPayment), ...pageInfo };
}

/**
 * A payment of any platform, with the results of banks and providers. Throws TRANSACTION_NOT_FOUND.
 */
export async function paymentById({ db }: Pick<Runtime, 'db'>, id: string) {
  const isTransactionId = isId(id, 'Transaction') || isId(id, 'CardTransaction');
  const row = isTransactionId ? await readTransaction(db, id) : undefined;
  if (!row) throw new Fault('TRANSACTION_NOT_FOUND', 'Transaction not found.');
  const [recordedResults, awaitedResult, recall] = await Promise.all([
    railResultsOf(db, id),
    awaitedResultOf(db, row),
    recallOf(db, id),
  ]);
  const results = recordedResults.map(({ created_at, ...result }) => ({
    ...result,
    createdAt: iso(created_at),
  }));
  const awaitedTransfer =
    awaitedResult && isExpected(row, awaitedResult.kind) ? awaitedResult.kind : null;
  return { ...presentPayment(row), awaitedTransfer, recall, results };
}
