// Transactions over HTTP: reading one by id or a page of those that match, calling one back, and noting that
// a receipt was delivered.
import type { Static } from '@sinclair/typebox';
import { type PaymentRail, RAILS } from '../../catalog/rails.ts';
import { Fault, invalidField } from '../../kernel/fault.ts';
import { isId } from '../../kernel/id.ts';
import type { Ctx } from '../../runtime/context.ts';
import type { Filter } from '../../runtime/database.ts';
import { handle } from '../../runtime/handle.ts';
import { customers } from '../customers/index.ts';
import {
  cancelTransaction,
  confirmReceiptDelivery,
  getTransactionById,
  listTransactions,
  type TransactionOneOf,
} from './contract.ts';
import { requestCancel } from './payment.ts';
import {
  paymentReference,
  presentTransaction,
  type TransactionRow,
  transactionOfReference,
} from './present.ts';
import { CANCEL_PAYOUT } from './refund.ts';
import { patch } from './staging.ts';
import { transactions } from './store.ts';

type Presented = Static<typeof TransactionOneOf>;
type Query = Static<(typeof listTransactions)['query']>;

/** A transaction of the caller's platform; 404 for any other id. */
export async function transactionOf(ctx: Ctx, id: string): Promise<TransactionRow> {
  const row = isId(id, 'Transaction') ? await ctx.read(transactions, id) : undefined;
  if (!row || row.platform_id !== ctx.caller.platformId) {
    throw new Fault('TRANSACTION_NOT_FOUND', 'No such transaction.');
  }
  return row;
}

/** Id of the transaction that a reference of a payment or of a refund names; empty for none. */
async function idOfReference(ctx: Ctx, reference: string): Promise<string> {
  const id = transactionOfReference(reference);
  const row = id === undefined ? undefined : await ctx.read(transactions, id);
  const names = row && [paymentReference(row.id), row.refund?.reference];
  return names?.includes(reference) ? (id as string) : '';
}

/** Who has this id of the platform's own, or had it before being deleted: payments are found by owner. */
async function ownersNamed(ctx: Ctx, platformCustomerId: string): Promise<Filter[]> {
  const { platformId } = ctx.caller;
  const named = await ctx.db.find(customers, {
    platform_id: platformId,
    platform_customer_id: platformCustomerId,
  });
  const owners = named.map(({ id }): Filter => ({ column: 'customer_id', op: '=', value: id }));
  if (platformCustomerId === platformId) owners.push({ column: 'customer_id', op: 'isNull' });
  return owners;
}

async function filtersOf(ctx: Ctx, query: Query): Promise<Filter[]> {
  const { platformId } = ctx.caller;
  const filters: Filter[] = [{ column: 'platform_id', op: '=', value: platformId }];
  const equal = (column: string, value: unknown) => {
    if (value !== undefined) filters.push({ column, op: '=', value });
  };
  if (query.customerId === platformId) filters.push({ column: 'customer_id', op: 'isNull' });
  else equal('customer_id', query.customerId);
  if (query.platformCustomerId !== undefined) {
    filters.push({ or: await ownersNamed(ctx, query.platformCustomerId) });
  }
  equal('source_account', query.senderAccountIdentifier);
  equal('destination_account', query.receiverAccountIdentifier);
  equal('status', query.status);
  equal('type', query.type);
  if (query.accountIdentifier !== undefined) {
    const value = query.accountIdentifier;
    filters.push({
      or: [
        { column: 'source_account', op: '=', value },
        { column: 'destination_account', op: '=', value },
      ],
    });
  }
  if (query.reference !== undefined) equal('id', await idOfReference(ctx, query.reference));
  if (query.startDate !== undefined) {
    filters.push({ column: 'created_at', op: '>=', value: Date.parse(query.startDate) });
  }
  if (query.endDate !== undefined) {
    filters.push({ column: 'created_at', op: '<=', value: Date.parse(query.endDate) });
  }
  return filters;
}

/** The job that calls a pull back; its handler belongs to incoming money. */
export const CANCEL_PULL = 'incoming.cancel';

const underWay = (row: TransactionRow) => row.status === 'PENDING' || row.status === 'PROCESSING';

/** Stages the request to call a payment back, or throws why it cannot be. */
function cancel(ctx: Ctx, row: TransactionRow): TransactionRow {
  const pull = row.type === 'INCOMING' && row.source?.sourceType === 'ACCOUNT';
  const rail = row.rail as PaymentRail | null;
  if (rail === null || !RAILS[rail].cancellable || (row.type === 'INCOMING' && !pull)) {
    const why = 'Only payments over ACH or wire can be called back.';
    throw new Fault('INVALID_INPUT', why, { paymentRail: rail });
  }
  const open = pull
    ? underWay(row) && (row.funds === 'AWAITED' || row.funds === 'HELD')
    : row.status === 'PROCESSING' && (row.funds === 'HELD' || row.funds === 'HANDED');
  if (!open || row.refund) {
    const why =
      'The payment is not on its way: it has not begun, has settled, or goes back already.';
    throw new Fault('TRANSACTION_NOT_CANCELLABLE', why);
  }
  return requestCancel(ctx, row, pull ? CANCEL_PULL : CANCEL_PAYOUT);
}

export const transactionOperations = [
  handle(cancelTransaction, async (ctx, { params }) => ({
    status: 200,
    body: presentTransaction(
      cancel(ctx, await transactionOf(ctx, params.transactionId)),
    ) as Presented,
  })),
  handle(confirmReceiptDelivery, async (ctx, { params, body }) => {
    const row = await transactionOf(ctx, params.transactionId);
    const given = body.receiptDeliveryConfirmedAt;
    const at = given === undefined ? ctx.now : Date.parse(given);
    if (at > ctx.now) throw invalidField('receiptDeliveryConfirmedAt', 'lies in the future');
    const done = patch(ctx, row, { receipt_confirmed_at: at });
    return { status: 200, body: presentTransaction(done) as Presented };
  }),
  handle(getTransactionById, async (ctx, { params }) => ({
    status: 200,
    body: presentTransaction(await transactionOf(ctx, params.transactionId)) as Presented,
  })),
  handle(listTransactions, async (ctx, { query }) => {
    const { limit = 20, cursor, sortOrder = 'desc' } = query;
    const filters = await filtersOf(ctx, query);
    const { rows, ...rest } = await ctx.db.page(transactions, {
      filters,
      sort: sortOrder,
      limit,
      cursor,
    });
    return { status: 200, body: { data: rows.map(presentTransaction) as Presented[], ...rest } };
  }),
];
