// The queue of money that waits for a person's decision: a row for each transaction that has put money into
// suspense, or has taken some out that nobody had. It is written with the step that does so and removed with
// the one that decides, so finding it needs no index on what changes in every payment. The row has no amount:
// the ledger says how much of suspense is the transaction's, whatever legs it came by.

import type { Progress } from '../../../connectors/ports/index.ts';
import type { Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { systemAccountPattern } from '../../../ledger/chart.ts';
import { netIn } from '../../../runtime/committer/ledger-reads.ts';
import { col, table } from '../../../runtime/db/table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { TransactionRow } from '../transactions/index.ts';
import { recordRailResult } from './rail-results.ts';

/** The id is the transaction's. */
const suspenseItems = table('suspense_items', {
  id: col.text,
  platform_id: col.text,
  since: col.time.mut,
  version: col.int4,
});

/** What a person says with a decision, kept for those who look later. */
export interface Said {
  /** The bank's own, of what was paid by hand. */
  reference?: string | undefined;
  reason?: string | undefined;
}

/** How much of suspense belongs to each transaction; below zero where money is missing. */
export const inSuspense = (
  db: Ctx['db'],
  ids: readonly string[],
): Promise<ReadonlyMap<string, bigint>> => netIn(db, systemAccountPattern('suspense'), ids);

const CARD_PAYMENTS = `select id, since from suspense_items
  where id like 'CardTransaction:%' and ($1::text is null or platform_id = $1)
  order by since, id limit $2`;

/** Card payments with money in suspense, of one platform or of all, oldest first. */
export const cardPaymentsInSuspense = (
  db: Ctx['db'],
  { platformId, limit }: { platformId?: string | undefined; limit: number },
): Promise<{ id: string; since: Time }[]> => db.query(CARD_PAYMENTS, [platformId ?? null, limit]);

/** Puts the transaction before a person. */
export async function awaitDecision(ctx: Ctx, row: TransactionRow): Promise<void> {
  const before = await ctx.read(suspenseItems, row.id);
  if (before) ctx.update(suspenseItems, before, { since: ctx.now });
  else ctx.insert(suspenseItems, { id: row.id, platform_id: row.platform_id, since: ctx.now });
}

/** Takes the transaction off the list where nobody need decide. */
export async function cancelDecision(ctx: Ctx, { id }: { id: string }): Promise<void> {
  const waiting = await ctx.read(suspenseItems, id);
  if (waiting) ctx.remove(suspenseItems, waiting);
}

/**
 * Ends names that are there once for a transaction. To a payment with a card it may happen again that money
 * cannot go back, and its row has changed by then.
 */
export const occurrenceOf = ({ type, version }: TransactionRow): string =>
  type === 'CARD' ? `.${version}` : '';

/** Takes it off the list and keeps what was said. */
export async function recordDecision(
  ctx: Ctx,
  row: TransactionRow,
  state: Progress['state'],
  { reference, reason }: Said,
): Promise<void> {
  const waiting = await ctx.read(suspenseItems, row.id);
  if (!waiting) throw new Fault('CONFLICT', 'The transaction has no funds in suspense.');
  ctx.remove(suspenseItems, waiting);
  recordRailResult(ctx, row, {
    kind: 'suspense',
    name: `${state}${occurrenceOf(row)}`,
    state,
    reference,
    reason,
  });
}
