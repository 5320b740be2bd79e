// Reads transactions: one by ID, or a page by filters.

import type { Static } from '@sinclair/typebox';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Filter } from '../../../runtime/db/database.ts';
import { equals } from '../../../runtime/db/paging.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { findCustomers } from '../../customers/records/index.ts';
import { paymentReferenceOf, transactionIdOfReference } from '../suspense/index.ts';
import {
  asPayment,
  type PaymentRow,
  readTransaction,
  type TransactionRow,
  transactionPages,
} from '../transactions/index.ts';
import { getTransactionById, listTransactions } from './contract.ts';
import { presentTransaction } from './present.ts';
import type { TransactionOneOf } from './transaction-schemas.ts';

type TransactionView = Static<typeof TransactionOneOf>;
type Query = Static<(typeof listTransactions)['query']>;

const transactionNotFound = () => new Fault('TRANSACTION_NOT_FOUND', 'Transaction not found.');

/** A transaction of the caller's platform, other than a card payment. Throws TRANSACTION_NOT_FOUND. */
export async function transactionOf(ctx: Ctx, id: string): Promise<PaymentRow> {
  const row = isId(id, 'Transaction') ? await readTransaction(ctx, id) : undefined;
  if (!row || row.platform_id !== ctx.caller.platformId) throw transactionNotFound();
  return asPayment(row);
}

/**
 * A transaction of the caller's platform, including card payments. Card payments are read-only for
 * platforms. Throws TRANSACTION_NOT_FOUND.
 */
export async function anyTransactionOf(ctx: Ctx, id: string): Promise<TransactionRow> {
  if (!isId(id, 'CardTransaction')) return transactionOf(ctx, id);
  const row = await readTransaction(ctx, id);
  if (row?.platform_id !== ctx.caller.platformId) throw transactionNotFound();
  return row;
}

/** ID of the transaction with this payment or refund reference. Empty if there is none. */
async function idOfReference(ctx: Ctx, reference: string): Promise<string> {
  const id = transactionIdOfReference(reference);
  const row = id === undefined ? undefined : await readTransaction(ctx, id);
  if (!row) return '';
  return [paymentReferenceOf(row.id), row.refund?.reference].includes(reference) ? row.id : '';
}

/**
 * Filters by the customers that have this `platformCustomerId`, deleted customers included. The ID of
 * the platform also selects its own transactions.
 */
async function ownerFilters(ctx: Ctx, platformCustomerId: string): Promise<Filter[]> {
  const { platformId } = ctx.caller;
  const customers = await findCustomers(ctx.db, {
    platform_id: platformId,
    platform_customer_id: platformCustomerId,
  });
  const owners = customers.map(({ id }): Filter => ({ column: 'customer_id', op: '=', value: id }));
  if (platformCustomerId === platformId) owners.push({ column: 'customer_id', op: 'isNull' });
  return owners;
}

async function filtersOf(ctx: Ctx, query: Query): Promise<Filter[]> {
  const { platformId } = ctx.caller;
  const filters: Filter[] = [{ column: 'platform_id', op: '=', value: platformId }];
  const addEqualFilter = (column: string, value: unknown) => {
    if (value !== undefined) filters.push({ column, op: '=', value });
  };
  if (query.customerId === platformId) filters.push({ column: 'customer_id', op: 'isNull' });
  else addEqualFilter('customer_id', query.customerId);
  if (query.platformCustomerId !== undefined) {
    filters.push({ or: await ownerFilters(ctx, query.platformCustomerId) });
  }
  addEqualFilter('source_account', query.senderAccountIdentifier);
  addEqualFilter('destination_account', query.receiverAccountIdentifier);
  if (query.accountIdentifier !== undefined) {
    const value = query.accountIdentifier;
    filters.push({
      or: [
        { column: 'source_account', op: '=', value },
        { column: 'destination_account', op: '=', value },
      ],
    });
  }
  if (query.reference !== undefined)
    addEqualFilter('id', await idOfReference(ctx, query.reference));
  if (query.startDate !== undefined) {
    filters.push({ column: 'created_at', op: '>=', value: Date.parse(query.startDate) });
  }
  if (query.endDate !== undefined) {
    filters.push({ column: 'created_at', op: '<=', value: Date.parse(query.endDate) });
  }
  return filters;
}

export const transactionOperations = [
  handle(getTransactionById, async (ctx, { params }) => ({
    status: 200,
    body: presentTransaction(await anyTransactionOf(ctx, params.transactionId)) as TransactionView,
  })),
  handle(listTransactions, async (ctx, { query }) => {
    const { limit = 20, cursor, sortOrder = 'desc' } = query;
    const filters = await filtersOf(ctx, query);
    const { rows, ...rest } = await transactionPages.byFilters(ctx, {
      filters,
      unindexed: equals({ status: query.status, type: query.type }),
      sort: sortOrder,
      limit,
      cursor,
    });
    return {
      status: 200,
      body: { data: rows.map(presentTransaction) as TransactionView[], ...rest },
    };
  }),
];
