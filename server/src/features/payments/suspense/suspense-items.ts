// The queue of funds that need an operator's decision: one row for each transaction with funds or a
// shortfall in suspense. The step that posts to suspense writes the row, and the decision removes it. The
// queue therefore needs no index on columns that change with every payment. A row has no amount, because
// the ledger has the suspense balance of each transaction.

import type { Progress } from '../../../connectors/ports/index.ts';
import type { Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { systemAccountPattern } from '../../../ledger/chart.ts';
import { netIn } from '../../../runtime/committer/ledger-reads.ts';
import { col, table } from '../../../runtime/db/table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { TransactionRow } from '../transactions/index.ts';
import { recordRailResult } from './rail-results.ts';

/** `id` is the transaction's ID. */
const suspenseItems = table('suspense_items', {
  id: col.text,
  platform_id: col.text,
  since: col.time.mut,
  version: col.int4,
});

/** Details that an operator records with a decision. */
export interface OperatorInput {
  /** Bank reference of a manual transfer. */
  reference?: string | undefined;
  reason?: string | undefined;
}

/** Suspense balance of each transaction. Negative for a shortfall. */
export const readSuspenseAmounts = (
  db: Ctx['db'],
  ids: readonly string[],
): Promise<ReadonlyMap<string, bigint>> => netIn(db, systemAccountPattern('suspense'), ids);

const CARD_PAYMENTS = `select id, since from suspense_items
  where id like 'CardTransaction:%' and ($1::text is null or platform_id = $1)
    and (since, id) > ($3::timestamptz, $4)
  order by since, id limit $2`;

interface SuspenseQuery {
  platformId?: string | undefined;
  /** Position of the last payment of the previous page. */
  after: { created_at: Time; id: string };
  limit: number;
}

/** Card payments in suspense after a position, of one platform or of all, oldest first. */
export const findCardPaymentsInSuspense = (
  db: Ctx['db'],
  { platformId, after, limit }: SuspenseQuery,
): Promise<{ id: string; since: Time }[]> =>
  db.query(CARD_PAYMENTS, [platformId ?? null, limit, new Date(after.created_at), after.id]);

/** Adds the transaction to the queue. */
export async function awaitDecision(ctx: Ctx, row: TransactionRow): Promise<void> {
  const suspenseItemBefore = await ctx.read(suspenseItems, row.id);
  if (suspenseItemBefore) ctx.update(suspenseItems, suspenseItemBefore, { since: ctx.now });
  else ctx.insert(suspenseItems, { id: row.id, platform_id: row.platform_id, since: ctx.now });
}

/** Removes the transaction from the queue without a decision. */
export async function cancelDecision(ctx: Ctx, { id }: { id: string }): Promise<void> {
  const suspenseItem = await ctx.read(suspenseItems, id);
  if (suspenseItem) ctx.remove(suspenseItems, suspenseItem);
}

/**
 * Suffix of names that are unique within a transaction. A card payment can be in suspense several times, at
 * different versions of its row.
 */
export const occurrenceOf = ({ type, version }: TransactionRow): string =>
  type === 'CARD' ? `.${version}` : '';

/** Removes the transaction from the queue and records the decision. */
export async function recordDecision(
  ctx: Ctx,
  row: TransactionRow,
  state: Progress['state'],
  { reference, reason }: OperatorInput,
): Promise<void> {
  const suspenseItem = await ctx.read(suspenseItems, row.id);
  if (!suspenseItem) throw new Fault('CONFLICT', 'The transaction has no funds in suspense.');
  ctx.remove(suspenseItems, suspenseItem);
  recordRailResult(ctx, row, {
    kind: 'suspense',
    name: `${state}${occurrenceOf(row)}`,
    state,
    reference,
    reason,
  });
}
