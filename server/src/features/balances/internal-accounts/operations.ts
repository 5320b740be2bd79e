// Reads internal accounts: one by ID, accounts of customers in pages, accounts of the platform in
// one list. Balances are read by ID after the rows, so a list needs two round trips.
import type { Static } from '@sinclair/typebox';
import type { Filter } from '../../../runtime/db/database.ts';
import { equals } from '../../../runtime/db/paging.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { presentInternalAccount } from './account.ts';
import {
  getInternalAccountById,
  type InternalAccount,
  listCustomerInternalAccounts,
  listInternalAccounts,
  listPlatformInternalAccounts,
} from './contract.ts';
import { balancesOf, internalAccountOf } from './provision.ts';
import { type InternalAccountRow, internalAccounts } from './store.ts';

type AccountView = Static<typeof InternalAccount>;
type ListQuery = Static<(typeof listCustomerInternalAccounts)['query']>;

async function present(ctx: Ctx, rows: readonly InternalAccountRow[]): Promise<AccountView[]> {
  const balanceOf = await balancesOf(
    ctx,
    rows.map((row) => row.id),
  );
  return rows.map((row) => presentInternalAccount(row, balanceOf(row.id)) as AccountView);
}

/** A page of customer accounts, restricted to `accountIds` unless it is null. */
export async function listInternalAccountsOf(
  ctx: Ctx,
  query: ListQuery,
  accountIds: readonly string[] | null = null,
) {
  const { currency, customerId, type, limit = 20, cursor } = query;
  const filters: Filter[] = [{ column: 'platform_id', op: '=', value: ctx.caller.platformId }];
  // Matches every customer ID. Accounts of the platform have the customer ID null.
  filters.push(
    customerId === undefined
      ? { column: 'customer_id', op: '>=', value: '' }
      : { column: 'customer_id', op: '=', value: customerId },
  );
  if (currency !== undefined) filters.push({ column: 'currency', op: '=', value: currency });
  if (accountIds) filters.push({ column: 'id', op: 'in', value: accountIds });
  const { rows, ...rest } = await ctx.db.page(internalAccounts, {
    filters,
    unindexed: equals({ type }),
    sort: 'asc',
    limit,
    cursor,
  });
  return { status: 200, body: { data: await present(ctx, rows), ...rest } } as const;
}

export const internalAccountOperations = [
  handle(listCustomerInternalAccounts, (ctx, { query }) => listInternalAccountsOf(ctx, query)),
  handle(listInternalAccounts, (ctx, { query }) => listInternalAccountsOf(ctx, query)),
  handle(listPlatformInternalAccounts, async (ctx, { query }) => {
    const platformAccounts = { platform_id: ctx.caller.platformId, customer_id: null };
    const rows = await ctx.db.find(internalAccounts, platformAccounts, { orderBy: 'id' });
    const matchingAccounts = rows.filter(
      (row) =>
        (query.currency === undefined || row.currency === query.currency) &&
        (query.type === undefined || row.type === query.type),
    );
    return { status: 200, body: { data: await present(ctx, matchingAccounts) } };
  }),
  handle(getInternalAccountById, async (ctx, { params }) => {
    const row = await internalAccountOf(ctx, params.id);
    const balanceOf = await balancesOf(ctx, [row.id]);
    return { status: 200, body: presentInternalAccount(row, balanceOf(row.id)) as AccountView };
  }),
];
