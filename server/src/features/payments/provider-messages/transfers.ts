// Applies a transfer state that a provider reports, by the same steps as a polled state or an operator's
// result. A state that is already recorded has no effect. A contradictory state is not applied.

import type { Progress } from '../../../connectors/ports/index.ts';
import type { ReportResult } from '../../../connectors/ports/providers/port.ts';
import type { Message } from '../../../connectors/ports/providers/protocol.ts';
import { assertNever } from '../../../kernel/assert-never.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Money } from '../../../kernel/money.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { providerOfTransfer } from '../../providers/index.ts';
import { onAnyTransaction, providerReports } from '../manual/index.ts';
import { debitOf, payoutOf, refundOf } from '../payouts/index.ts';
import { isExpected, railResultsOf, type WaitKind } from '../suspense/index.ts';
import { asPayment, type TransactionRow } from '../transactions/index.ts';

export type TransferMessage = Extract<Message, { type: 'transfer.updated' }>;

/** Result of a message. `problem` explains a contradiction, or why the message had no effect. */
export interface Outcome {
  result: ReportResult;
  /** Absent for a result that concerns no platform or no payment. */
  platformId?: string;
  transactionId?: string;
  problem?: string;
}

const INSTRUCTION_OF = { payout: payoutOf, debit: debitOf, refund: refundOf };

/** The transaction and the kind of a transfer, from its ID. */
export function subjectOf(transferId: string): { transactionId: string; kind: WaitKind } {
  const [transactionId = '', suffix] = transferId.split('/');
  if (suffix === 'pull') return { transactionId, kind: 'debit' };
  return { transactionId, kind: suffix === 'refund' ? 'refund' : 'payout' };
}

/** Effect of a reported state on a transfer that is expected, settled, or neither. */
function effectOf(row: TransactionRow, kind: WaitKind, { state }: Progress): Outcome['result'] {
  const isOpen = isExpected(row, kind);
  const isSettled =
    kind === 'refund' ? row.refund?.status === 'COMPLETED' : providerReports.hasSettled(row, kind);
  switch (state) {
    case 'accepted':
    case 'unknown':
      return isOpen ? 'APPLIED' : 'IGNORED';
    case 'settled':
      if (isOpen) return 'APPLIED';
      return isSettled ? 'IGNORED' : 'CONTRADICTORY';
    case 'failed':
    case 'cancelled':
      if (isOpen) return 'APPLIED';
      return isSettled ? 'CONTRADICTORY' : 'IGNORED';
    case 'returned':
      return isOpen || isSettled ? 'APPLIED' : 'IGNORED';
    default:
      return assertNever(state, 'state of a transfer');
  }
}

/** Error if the amount or currency of a message differs from the transfer. Otherwise undefined. */
function amountProblem({ amount, currency }: TransferMessage, expectedAmount: Money) {
  const isSame =
    (amount === undefined || BigInt(amount) === expectedAmount.amount) &&
    (currency === undefined || currency === expectedAmount.currency);
  if (isSame) return undefined;
  return (
    `The message has ${amount ?? 'no amount'} ${currency ?? ''}, ` +
    `but the transfer has ${expectedAmount.amount} ${expectedAmount.currency} (minor units).`
  );
}

/** Whether a result with this state is already recorded. */
const isRecorded = async (ctx: Ctx, { id }: TransactionRow, kind: WaitKind, state: string) =>
  (await railResultsOf(ctx.db, id)).some((each) => each.kind === kind && each.state === state);

/** Throws NOT_FOUND for a transfer that was not sent to this provider. */
export async function applyTransferMessage(
  runtime: Runtime,
  providerId: string,
  message: TransferMessage,
  progress: Progress,
): Promise<Outcome> {
  const { transferId } = message;
  if ((await providerOfTransfer(runtime, transferId)) !== providerId) {
    throw new Fault('NOT_FOUND', 'This transfer was not sent to this provider.');
  }
  const { transactionId, kind } = subjectOf(transferId);
  return onAnyTransaction(runtime, transactionId, async (ctx, row): Promise<Outcome> => {
    const subject = { platformId: row.platform_id, transactionId };
    const instruction = await INSTRUCTION_OF[kind](runtime, asPayment(row));
    const problem = amountProblem(message, instruction);
    if (problem) return { result: 'CONTRADICTORY', ...subject, problem };
    const result = effectOf(row, kind, progress);
    if (result === 'CONTRADICTORY') {
      const currentStatus = `${row.status}${row.refund ? `, its refund ${row.refund.status}` : ''}`;
      return {
        result,
        ...subject,
        problem: `The reported state is ${progress.state}, but the payment is ${currentStatus}.`,
      };
    }
    const isFinal = progress.state !== 'accepted' && progress.state !== 'unknown';
    if (result === 'IGNORED' || !isFinal) return { result: 'IGNORED', ...subject };
    if (await isRecorded(ctx, row, kind, progress.state)) return { result: 'IGNORED', ...subject };
    await providerReports.apply(ctx, row, kind, progress);
    return { result, ...subject };
  });
}
