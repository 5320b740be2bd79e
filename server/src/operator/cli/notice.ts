// What an operator says about a movement of money, brought to the feature that the movement belongs to. It
// takes the same door as a bank's own word: the steps that follow are those of any other rail.
import type { Progress } from '../../connectors/ports/index.ts';
import {
  heedPayout,
  heedRefund,
  isWanted,
  noticeCame,
  railWaits,
  type TransactionRow,
  transactions,
  type WaitKind,
} from '../../features/payments/lifecycle/index.ts';
import { heedIncoming } from '../../features/payments/pay-ins/index.ts';
import { heedFunding } from '../../features/payments/quotes/index.ts';
import { platforms, systemCaller } from '../../features/tenancy/platform/index.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate } from '../../runtime/operation/operate.ts';
import { notFound, type System } from './verb.ts';

/** Something asked for that the state of the thing forbids: one line, exit 1. */
export const refused = (reason: string): Error => new Error(reason);

async function heed(ctx: Ctx, row: TransactionRow, kind: WaitKind, progress: Progress) {
  if (row.type === 'INCOMING') return heedIncoming(ctx, row, kind, progress);
  if (kind === 'pull') return heedFunding(ctx, row, progress);
  return kind === 'refund' ? heedRefund(ctx, row, progress) : heedPayout(ctx, row, progress);
}

/** Runs `work` on a transaction, as the server on its platform's behalf. */
export async function onAnyTransaction<R>(
  { runtime }: System,
  id: string,
  work: (ctx: Ctx, row: TransactionRow) => Promise<R>,
): Promise<R> {
  const known = await runtime.db.read(transactions, id);
  const platform = known && (await runtime.db.read(platforms, known.platform_id));
  if (!platform) throw notFound('transaction');
  return operate(runtime, systemCaller(platform.id, platform.environment), async (ctx) => {
    const row = await ctx.read(transactions, id);
    if (!row) throw notFound('transaction');
    return work(ctx, row);
  });
}

/**
 * The same of a production platform alone. The sandbox has a bank of its own, which nobody may contradict.
 */
export const onTransaction = <R>(
  system: System,
  id: string,
  work: (ctx: Ctx, row: TransactionRow) => Promise<R>,
): Promise<R> =>
  onAnyTransaction(system, id, (ctx, row) => {
    if (ctx.caller.environment === 'production') return work(ctx, row);
    throw refused('It belongs to the sandbox, where account numbers say what happens.');
  });

/** What is awaited of a transaction now; throws where nothing is. */
export async function awaitedOf(ctx: Ctx, row: TransactionRow): Promise<WaitKind> {
  const wait = await ctx.read(railWaits, row.id);
  if (wait && isWanted(row, wait.kind)) return wait.kind;
  throw refused(`Nothing is awaited of it: it is ${row.status}.`);
}

/** Stages what `progress` means for a movement, keeps the notice, and ends the wait. */
export async function takeNotice(
  ctx: Ctx,
  row: TransactionRow,
  kind: WaitKind,
  progress: Progress,
): Promise<void> {
  await noticeCame(ctx, row.id, kind, progress);
  await heed(ctx, row, kind, progress);
}
