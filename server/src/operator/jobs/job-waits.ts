// What the cancellation of a job leaves to the operator. Only a job brings in the rail's answer about
// a transfer, so a cancellation opens the same wait as a rail that gives no answers: `payouts list`
// shows the transfer and the verbs of `payouts` record its result.

import { goesBackByRail } from '../../features/payments/refunds/index.ts';
import { awaitNotice, isWanted, type WaitKind } from '../../features/payments/suspense/index.ts';
import { asOutgoing, readTransaction } from '../../features/payments/transactions/index.ts';
import type { Job } from '../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { refused } from '../cli/verb.ts';

/** The transfer that a job of this kind sends or follows. */
const TRANSFER_OF: Readonly<Record<string, WaitKind>> = {
  'payout.send': 'payout',
  'payout.check': 'payout',
  'refund.pay': 'refund',
  'funding.send': 'pull',
  'funding.check': 'pull',
  'incoming.collect': 'pull',
  'incoming.pull': 'pull',
  'incoming.pass-on': 'payout',
  'incoming.send-back': 'refund',
};

/** Stages the wait for the transfer of a job that is cancelled, where the transfer is still open. */
export async function awaitOperator(ctx: Ctx, { kind, input }: Job): Promise<void> {
  const transfer = TRANSFER_OF[kind];
  const row = transfer && (await readTransaction(ctx, String(input.transactionId)));
  if (!row || !isWanted(row, transfer)) return;
  if (kind === 'refund.pay' && !goesBackByRail(asOutgoing(row))) {
    throw refused('It returns funds to an account here and no rail is involved. Retry it instead.');
  }
  // The verbs of `payouts` are for production.
  if (ctx.caller.environment === 'production') await awaitNotice(ctx, row, transfer);
}
