// Lists and transitions of internal accounts for operators. Transitions are recorded with their
// reasons. A freeze is effective from its commit and rejects new payments. Held funds of payments
// are then still posted, refunds are still credited, and deposits are held.

import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { equals, type Filter } from '../../../runtime/db/database.ts';
import { cursorOf } from '../../../runtime/db/paging.ts';
import { pageInSteps } from '../../../runtime/db/steps.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { listSteps, type OperatorListQuery } from '../../tenancy/operator-lists/index.ts';
import { platformById, systemCaller } from '../../tenancy/platform/index.ts';
import { type ActionsQuery, pageOfAccountActions } from '../account-actions/index.ts';
import { readLedgerAccount } from '../ledger-accounts/index.ts';
import { ACTIVATE_ACCOUNTS, type CustomersOfAccounts } from './jobs.ts';
import { checkClosable, type PaymentsOfAccount, transitionInternalAccount } from './lifecycle.ts';
import { type InternalAccountEvent, internalAccountStates } from './states.ts';
import { type InternalAccountRow, internalAccounts } from './store.ts';

const accountNotFound = () => new Fault('ACCOUNT_NOT_FOUND', 'Account not found.');

interface Holding {
  balance: bigint;
  held: bigint;
}

const presentAccount = (row: InternalAccountRow, { balance, held }: Holding) => ({
  accountId: row.id,
  platformId: row.platform_id,
  customerId: row.customer_id,
  currency: row.currency,
  status: row.status,
  balance: Number(balance - held),
  held: Number(held),
  owed: Number(row.owed),
  updatedAt: iso(row.updated_at),
});

type AccountSummary = ReturnType<typeof presentAccount>;

async function viewsOf({ db }: Runtime, rows: readonly InternalAccountRow[]) {
  const ledgerAccounts = await Promise.all(rows.map((row) => readLedgerAccount(db, row.id)));
  return rows.map((row, index) =>
    presentAccount(row, ledgerAccounts[index] ?? { balance: 0n, held: 0n }),
  );
}

/** An internal account by its ID. Throws ACCOUNT_NOT_FOUND. */
async function accountById({ db }: Runtime, id: string): Promise<InternalAccountRow> {
  const row = isId(id, 'InternalAccount') ? await db.read(internalAccounts, id) : undefined;
  if (!row) throw accountNotFound();
  return row;
}

interface ListInput {
  platformId?: string | undefined;
  status?: string | undefined;
  accountId?: string | undefined;
  /** Only accounts with a shortfall. */
  isOwing?: boolean | undefined;
  /** ID of the last account of the previous page. */
  after?: string | undefined;
  /** `nextCursor` of the previous page. Ignored if `after` is set. */
  cursor?: string | undefined;
  limit: number;
}

/** Accounts with balances and shortfalls, oldest first. */
async function listAccounts(
  runtime: Runtime,
  { accountId, platformId, status, isOwing, after, cursor: position, limit }: ListInput,
) {
  const filters: Filter<typeof internalAccounts>[] = [];
  if (accountId !== undefined) filters.push({ column: 'id', op: '=', value: accountId });
  if (platformId !== undefined) filters.push({ column: 'platform_id', op: '=', value: platformId });
  if (status !== undefined) filters.push({ column: 'status', op: '=', value: status });
  if (isOwing) filters.push({ column: 'owed', op: '>=', value: 1n });
  const cursor = after === undefined ? position : cursorOf(await accountById(runtime, after));
  const query = { filters, sort: 'asc', limit, cursor } as const;
  const { rows, ...rest } = await runtime.db.page(internalAccounts, query);
  return { data: await viewsOf(runtime, rows), ...rest };
}

/** Operator actions on an account, with their reasons. Throws ACCOUNT_NOT_FOUND. */
const accountHistory = async (runtime: Runtime, id: string, query: ActionsQuery = {}) =>
  pageOfAccountActions(runtime, await accountById(runtime, id), query);

interface PageInput extends OperatorListQuery {
  currency?: string | undefined;
  status?: string | undefined;
  /** Accounts of customers, or of platforms. */
  owner?: 'CUSTOMER' | 'PLATFORM' | undefined;
}

/** A page of accounts with balances, newest first. */
async function pageOfAccounts(runtime: Runtime, query: PageInput) {
  const { currency, status, owner } = query;
  const filters: Filter<typeof internalAccounts>[] = equals({ currency, status });
  if (owner === 'PLATFORM') filters.push({ column: 'customer_id', op: 'isNull' });
  // Matches every customer ID. Accounts of platforms have the customer ID null.
  if (owner === 'CUSTOMER') filters.push({ column: 'customer_id', op: '>=', value: '' });
  const { rows, ...rest } = await pageInSteps(runtime.db, internalAccounts, {
    ...(await listSteps(runtime.db, query, filters)),
    resources: ['InternalAccount'],
  });
  const views = await viewsOf(runtime, rows);
  const data = views.map((view, index) => ({
    ...view,
    type: rows[index]?.type ?? 'INTERNAL_FIAT',
    createdAt: iso(rows[index]?.created_at ?? 0),
  }));
  return { data, ...rest };
}

/** Read functions for operators. */
export const accountsByOperator = {
  history: accountHistory,
  list: listAccounts,
  page: pageOfAccounts,
  /** Throws ACCOUNT_NOT_FOUND. */
  byId: accountById,
};

interface TransitionDeps extends PaymentsOfAccount, Pick<CustomersOfAccounts, 'isCustomerDeleted'> {
  runtime: Runtime;
}

interface TransitionInput {
  accountId: string;
  event: InternalAccountEvent;
  reason: string | null;
}

/** Conditions in addition to the lifecycle table. */
async function checkTransition(
  ctx: Ctx,
  deps: TransitionDeps,
  row: InternalAccountRow,
  event: InternalAccountEvent,
): Promise<void> {
  if (event === 'close') await checkClosable(ctx, deps, row);
  if (event !== 'unfreeze' && event !== 'retry') return;
  if (row.customer_id === null || !(await deps.isCustomerDeleted(ctx, row.customer_id))) return;
  const reason = 'The customer of the account is deleted. It cannot be unfrozen or activated.';
  throw new Fault('CUSTOMER_DELETED', reason);
}

/** Throws ACCOUNT_NOT_FOUND, CUSTOMER_DELETED or CONFLICT. */
export async function transitionAccount(
  deps: TransitionDeps,
  { accountId, event, reason }: TransitionInput,
): Promise<AccountSummary> {
  const { runtime } = deps;
  const { id, platform_id } = await accountById(runtime, accountId);
  const { environment } = await platformById(runtime, platform_id);
  const caller = systemCaller(platform_id, environment);
  const updatedAccount = await operate(runtime, caller, async (ctx) => {
    const row = await ctx.read(internalAccounts, id);
    if (!row) throw accountNotFound();
    if (internalAccountStates.targetOf(row.status, event) === undefined) {
      const sources = internalAccountStates.sourcesOf(event).join(' or ');
      throw new Fault(
        'CONFLICT',
        `The account is ${row.status}. This action requires the status ${sources}.`,
      );
    }
    await checkTransition(ctx, deps, row, event);
    const accountAfter = transitionInternalAccount(ctx, row, event, { actor: 'operator', reason });
    if (event === 'retry') {
      ctx.later(ACTIVATE_ACCOUNTS, { platformId: platform_id, accountIds: [id] });
    }
    return accountAfter;
  });
  const [summary] = (await viewsOf(runtime, [updatedAccount])) as [AccountSummary];
  return summary;
}
