// Transactions over HTTP: reading one by id or a page of those that match, calling one back, and noting that
// a receipt was delivered.

import type { Static } from '@sinclair/typebox';
import { pullRailOf } from '../../../catalog/accounts/account-info.ts';
import { type PaymentRail, RAILS } from '../../../catalog/rails/rails.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Filter } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { findCustomers } from '../../customers/records/index.ts';
import { readExternalAccount } from '../../payees/external-accounts/index.ts';
import {
  cancelTransaction,
  confirmReceiptDelivery,
  getTransactionById,
  listTransactions,
  patch,
  paymentReference,
  presentTransaction,
  type TransactionOneOf,
  transactionOfReference,
} from '../presentation/index.ts';
import {
  asPayment,
  type PaymentRow,
  sourceAccountOf,
  type TransactionRow,
  transactions,
} from '../transactions/index.ts';
import { requestCancel } from './payment.ts';
import { CANCEL_PAYOUT, CancelInput } from './refund.ts';

type Presented = Static<typeof TransactionOneOf>;
type Query = Static<(typeof listTransactions)['query']>;

const notThere = () => new Fault('TRANSACTION_NOT_FOUND', 'No such transaction.');

/** A transaction of the caller's platform, none with a card; 404 for any other id. */
export async function transactionOf(ctx: Ctx, id: string): Promise<PaymentRow> {
  const row = isId(id, 'Transaction') ? await ctx.read(transactions, id) : undefined;
  if (!row || row.platform_id !== ctx.caller.platformId) throw notThere();
  return asPayment(row);
}

/** The same, of payments with cards as well: they may be looked at and nothing else. */
export async function anyTransactionOf(ctx: Ctx, id: string): Promise<TransactionRow> {
  if (!isId(id, 'CardTransaction')) return transactionOf(ctx, id);
  const row = await ctx.read(transactions, id);
  if (row?.platform_id !== ctx.caller.platformId) throw notThere();
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
  const named = await findCustomers(ctx.db, {
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

/** Jobs that call pulls back: of incoming money, and of money that a payment is made with. */
export const CANCEL_PULL = defineJob('incoming.cancel', CancelInput);
export const CANCEL_FUNDING = defineJob('funding.cancel', CancelInput);

const underWay = (row: PaymentRow) => row.status === 'PENDING' || row.status === 'PROCESSING';

/** What of a transaction could be called back: which movement, over which rail, and whether it is open. */
async function movementOf(ctx: Ctx, row: PaymentRow) {
  const awaited = row.funds === 'AWAITED';
  if (row.type === 'INCOMING') {
    const pull = row.source?.sourceType === 'ACCOUNT';
    // What is held for a person to decide is with us already.
    const open = underWay(row) && (awaited || row.funds === 'HELD') && row.pending_reason === null;
    return { job: CANCEL_PULL, rail: pull ? row.rail : null, open };
  }
  if (awaited) {
    const source = await readExternalAccount(ctx, sourceAccountOf(row));
    return { job: CANCEL_FUNDING, rail: (source && pullRailOf(source.info)) ?? null, open: true };
  }
  const open = row.status === 'PROCESSING' && (row.funds === 'HELD' || row.funds === 'HANDED');
  return { job: CANCEL_PAYOUT, rail: row.rail, open };
}

/** Stages the request to call a payment back, or throws why it cannot be. */
async function cancel(ctx: Ctx, row: PaymentRow): Promise<PaymentRow> {
  const { job, rail, open } = await movementOf(ctx, row);
  if (!open || row.refund) {
    const why =
      'The payment is not on its way: it has not begun, has settled, or goes back already.';
    throw new Fault('TRANSACTION_NOT_CANCELLABLE', why);
  }
  if (rail === null || !RAILS[rail as PaymentRail].cancellable) {
    const why = 'Only payments over ACH or wire can be called back.';
    throw new Fault('INVALID_INPUT', why, { paymentRail: rail });
  }
  return requestCancel(ctx, row, job);
}

export const transactionOperations = [
  handle(cancelTransaction, async (ctx, { params }) => {
    const row = await cancel(ctx, await transactionOf(ctx, params.transactionId));
    return { status: 200, body: presentTransaction(row) as Presented };
  }),
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
    body: presentTransaction(await anyTransactionOf(ctx, params.transactionId)) as Presented,
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
