// The three things every step of a payment does: change its row, move money with the balances told, and
// tell the platform. Apart from the steps so that outgoing payments, their refunds and their funding share
// one way of doing them.
import { isId } from '../../../kernel/id.ts';
import type { PatchOf } from '../../../runtime/db/table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { emitBalance, internalAccounts } from '../../balances/internal-accounts/index.ts';
import { presentTransaction, type TransactionRow } from './present.ts';
import { transactions } from './store.ts';

/** Stages the event `OUTGOING_PAYMENT.<what>` or `INCOMING_PAYMENT.<what>` with the row as it is now. */
export function tell(ctx: Ctx, row: TransactionRow, what: string): void {
  ctx.emit(`${row.type}_PAYMENT.${what}`, row.id, presentTransaction(row));
}

/** Stages a change of the row. */
export const patch = (
  ctx: Ctx,
  row: TransactionRow,
  change: PatchOf<typeof transactions>,
): TransactionRow => ctx.update(transactions, row, { ...change, updated_at: ctx.now });

/** Stages movements, and one balance event for each internal account that they touch. */
export async function moveAndTell(ctx: Ctx, stage: () => unknown): Promise<void> {
  const first = ctx.set.transfers.length;
  await stage();
  const touched = ctx.set.transfers
    .slice(first)
    .flatMap(({ phase, debit, credit }) =>
      phase === 'pending' || phase === 'release' ? [debit] : [debit, credit],
    );
  const ids = [...new Set(touched)].filter((id) => isId(id, 'InternalAccount'));
  const rows = await Promise.all(ids.map((id) => ctx.read(internalAccounts, id)));
  for (const row of rows) if (row) emitBalance(ctx, row);
}
