// Applies the result that an operator records for a transfer, by the same steps as a result from a
// rail.

import type { Progress } from '../../../connectors/ports/index.ts';
import { assertNever } from '../../../kernel/assert-never.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { transferOutcomes } from '../../providers/index.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { applyIncomingStatus } from '../pay-ins/index.ts';
import { applyPayoutStatus, applyRefundStatus } from '../payouts/index.ts';
import { applyFundingStatus } from '../quotes/index.ts';
import { awaitedResultOf, isExpected, recordNotice, type WaitKind } from '../suspense/index.ts';
import { asOutgoing, readTransaction, type TransactionRow } from '../transactions/index.ts';

/** Error for an action that the state of the transaction does not allow. */
export const conflict = (reason: string): Fault => new Fault('CONFLICT', reason);

const transactionNotFound = () => new Fault('TRANSACTION_NOT_FOUND', 'Transaction not found.');

async function apply(ctx: Ctx, row: TransactionRow, kind: WaitKind, progress: Progress) {
  if (row.type === 'INCOMING') return applyIncomingStatus(ctx, row, kind, progress);
  const payment = asOutgoing(row);
  switch (kind) {
    case 'debit':
      return applyFundingStatus(ctx, payment, progress);
    case 'refund':
      return applyRefundStatus(ctx, payment, progress);
    case 'payout':
      return applyPayoutStatus(ctx, payment, progress);
    default:
      return assertNever(kind, 'kind of transfer');
  }
}

type Work<R> = (ctx: Ctx, row: TransactionRow) => Promise<R>;

/** Runs `work` on a transaction, on behalf of its platform. Throws TRANSACTION_NOT_FOUND. */
export async function onAnyTransaction<R>(runtime: Runtime, id: string, work: Work<R>): Promise<R> {
  const knownTransaction = await readTransaction(runtime.db, id);
  const platform =
    knownTransaction && (await readPlatform(runtime.db, knownTransaction.platform_id));
  if (!platform) throw transactionNotFound();
  return operate(runtime, systemCaller(platform.id, platform.environment), async (ctx) => {
    const row = await readTransaction(ctx, id);
    if (!row) throw transactionNotFound();
    return work(ctx, row);
  });
}

/**
 * Runs `work` on a transaction of a production platform. In the sandbox, account numbers determine
 * outcomes.
 */
export const onProductionTransaction = <R>(
  runtime: Runtime,
  id: string,
  work: Work<R>,
): Promise<R> =>
  onAnyTransaction(runtime, id, (ctx, row) => {
    if (ctx.caller.environment === 'production') return work(ctx, row);
    throw conflict(
      'The transaction is in the sandbox, where account numbers determine results. Record results ' +
        'in production only.',
    );
  });

/** The kind of the transfer whose result is awaited. Throws CONFLICT if there is none. */
export async function awaitedOf(ctx: Ctx, row: TransactionRow): Promise<WaitKind> {
  const awaitedRow = await awaitedResultOf(ctx, row);
  if (awaitedRow && isExpected(row, awaitedRow.kind)) return awaitedRow.kind;
  throw conflict(
    `No result is expected, because the transaction is ${row.status} and no manual transfer is pending.`,
  );
}

/** Suffix that is appended to the transaction ID to form the ID of an instruction. */
const INSTRUCTION_SUFFIX: Record<WaitKind, string> = {
  payout: '',
  debit: '/pull',
  refund: '/refund',
};

/** Records and applies a result, and removes its awaited row. */
export async function applyNotice(
  ctx: Ctx,
  row: TransactionRow,
  kind: WaitKind,
  progress: Progress,
): Promise<void> {
  await recordNotice(ctx, row.id, kind, progress);
  await transferOutcomes.record(ctx, `${row.id}${INSTRUCTION_SUFFIX[kind]}`, progress);
  await apply(ctx, row, kind, progress);
}
