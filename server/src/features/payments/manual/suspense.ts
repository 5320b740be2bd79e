// Funds in suspense, which need an operator's decision. The list shows platform and return
// destination. Decisions apply in the sandbox too, because refunds can fail there. A decision has
// no amount, because the amount is calculated from the ledger.

import { formatAmount } from '../../../catalog/currencies/money-format.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { isId } from '../../../kernel/id.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import {
  findSuspenseReturnAccount,
  refundOf,
  returnSuspenseFunds,
  settleSuspenseShortfall,
  suspenseCurrencyOf,
} from '../payouts/index.ts';
import { readSuspenseAmounts } from '../suspense/index.ts';
import { loadTransaction, type TransactionRow } from '../transactions/index.ts';
import { onAnyTransaction } from './notice.ts';
import { type ListQuery, pageOfItems, type Start, startOf } from './pages.ts';

const SUSPENSE_ITEMS_SQL = `select id, platform_id, since from suspense_items
  where ($1::text is null or platform_id = $1) and (since, id) > ($2::timestamptz, $3)
  order by since, id limit $4`;

interface SuspenseItemRow {
  id: string;
  platform_id: string;
  since: Time;
}

interface SuspenseItem extends SuspenseItemRow {
  environment: Mode;
}

interface SuspenseQuery extends ListQuery {
  environment?: Mode | undefined;
}

/**
 * The oldest items of one environment or of both. The rows do not contain the environment, so this
 * function filters them.
 */
async function suspenseItemsOf(
  { db }: Runtime,
  { platformId, environment: mode, limit, cursor }: SuspenseQuery,
): Promise<SuspenseItem[]> {
  const items: SuspenseItem[] = [];
  let start: Start = startOf({ cursor });
  for (;;) {
    const position = [new Date(start.since), start.id];
    const rows = await db.query<SuspenseItemRow>(SUSPENSE_ITEMS_SQL, [
      platformId ?? null,
      ...position,
      limit,
    ]);
    const rowsWithEnvironment = await Promise.all(
      rows.map(async (row) => {
        const { environment } = await callerOf(db, row.platform_id);
        return { ...row, environment };
      }),
    );
    items.push(
      ...rowsWithEnvironment.filter((each) => mode === undefined || each.environment === mode),
    );
    const lastRow = rows.at(-1);
    if (!lastRow || rows.length < limit || items.length >= limit) return items.slice(0, limit);
    start = lastRow;
  }
}

/**
 * Destination to which the funds would be returned: a balance, or an external account with its
 * known details.
 */
async function findReturnDestination(runtime: Runtime, row: TransactionRow) {
  const account = await findSuspenseReturnAccount(runtime.db, row);
  if (account) return { to: account.id, outside: null };
  // The account that paid is closed or its owner is deleted, and no external account of the owner is known.
  const isFromBalance =
    isId(row.source_account ?? '', 'InternalAccount') && row.type === 'OUTGOING';
  if (isFromBalance || row.type === 'CARD') {
    return { to: 'outside', outside: null };
  }
  const refund = await refundOf(runtime, row);
  const { beneficiary: _, ...accountDetails } = refund.account;
  return { to: 'outside', outside: { beneficiaryName: refund.beneficiaryName, ...accountDetails } };
}

async function presentSuspense(
  runtime: Runtime,
  suspenseItem: SuspenseItem,
  row: TransactionRow,
  net: bigint,
) {
  const isShortfall = net < 0n;
  const currency = suspenseCurrencyOf(row);
  return {
    transactionId: row.id,
    platformId: row.platform_id,
    environment: suspenseItem.environment,
    since: iso(suspenseItem.since),
    type: row.type,
    status: row.status,
    failureReason: row.failure_reason,
    amount: Number(net),
    currency,
    readable: formatAmount({ currency, amount: net }),
    ...(isShortfall ? { to: null, outside: null } : await findReturnDestination(runtime, row)),
  };
}

/** Suspense items and shortfalls, oldest first. */
export async function listSuspense(runtime: Runtime, query: SuspenseQuery) {
  const { db } = runtime;
  const suspenseItems = await suspenseItemsOf(runtime, { ...query, limit: query.limit + 1 });
  const ids = suspenseItems.map((each) => each.id);
  const netAmounts = await readSuspenseAmounts(db, ids);
  const items = await Promise.all(
    suspenseItems.map(async (each) =>
      presentSuspense(
        runtime,
        each,
        await loadTransaction(db, each.id),
        netAmounts.get(each.id) ?? 0n,
      ),
    ),
  );
  return pageOfItems(items, query.limit);
}

interface SuspenseInput {
  transactionId: string;
  /** Bank reference of the manual transfer. */
  reference?: string | undefined;
  reason?: string | undefined;
}

/** Applies a decision and returns the transaction. Throws TRANSACTION_NOT_FOUND and CONFLICT. */
const decide =
  (work: typeof returnSuspenseFunds | typeof settleSuspenseShortfall) =>
  async (runtime: Runtime, { transactionId: id, reference, reason }: SuspenseInput) => {
    const operatorInput = { reference, reason };
    await onAnyTransaction(runtime, id, async (ctx, row) => {
      await work(ctx, row, operatorInput);
    });
    const row = await loadTransaction(runtime.db, id);
    const refund = row.refund?.status ?? null;
    const { platform_id: platformId, status, funds } = row;
    return { transactionId: id, platformId, status, refund, funds };
  };

/** Returns funds from suspense: to a balance, or to an external account after a manual transfer. */
export const returnSuspense = decide(returnSuspenseFunds);
/** Records funds that cover a shortfall in suspense. */
export const settleShortfall = decide(settleSuspenseShortfall);
