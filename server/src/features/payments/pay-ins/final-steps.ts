// The shared steps of incoming payments: status checks, holds, completion, failure without funds,
// and failure with a return of the funds. Row, postings and events are in one change set. Callers
// check the state of the row first, except for the close of a return.

import type { Progress, FailureReason as RailReason } from '../../../connectors/ports/index.ts';
import type { JobDefinition } from '../../../kernel/contract/job.ts';
import { iso } from '../../../kernel/effects.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  type InternalAccountRow,
  requireInternalAccount,
} from '../../balances/internal-accounts/index.ts';
import { repayShortfall } from '../../balances/shortfalls/index.ts';
import type { RailTransferInput } from '../payouts/index.ts';
import { emitPayment, incomingPayment, postAndNotify } from '../presentation/index.ts';
import { openRefund } from '../refunds/index.ts';
import { awaitDecision, awaitRailResult, type WaitKind } from '../suspense/index.ts';
import {
  changeTransaction,
  type FailureReason,
  type IncomingRow,
  receivedOf,
  transactionFeature,
} from '../transactions/index.ts';
import { RETURN_DEPOSIT } from './kinds.ts';
import {
  creditAndHold,
  postCredit,
  postReturn,
  postToInbound,
  postToSuspense,
} from './postings.ts';

/**
 * Schedules the next status check, or awaits an operator's result if the rail accepted the transfer
 * and stated no time.
 */
export async function followUp(
  ctx: Ctx,
  row: IncomingRow,
  [job, kind]: [job: JobDefinition<typeof RailTransferInput>, kind: WaitKind],
  progress: Progress,
): Promise<void> {
  const checkAfterMs = 'checkAfterMs' in progress ? progress.checkAfterMs : undefined;
  if (checkAfterMs !== undefined) {
    ctx.later(job, { transactionId: row.id, request: 'check' }, ctx.now + checkAfterMs);
  } else if (progress.state === 'accepted') await awaitRailResult(ctx, row, kind);
}

/** Maps the reason of a rail to a failure reason of incoming payments. */
export const incomingReason = (reason: RailReason, defaultReason: FailureReason): FailureReason =>
  reason === 'COMPLIANCE_REJECTED' ? reason : defaultReason;

/** Credits an account and repays its shortfall. */
export async function creditAndRepay(
  ctx: Ctx,
  row: IncomingRow,
  account: InternalAccountRow,
): Promise<void> {
  postCredit(ctx, row, account.id);
  await repayFrom(ctx, row, account);
}

/** Credits an account and holds the amount, which is then in the total balance only. */
export async function hold(ctx: Ctx, row: IncomingRow, account: InternalAccountRow): Promise<void> {
  const isFrozen = account.status === 'FROZEN';
  // A closed ledger account is frozen too. Only the status distinguishes the two.
  if (isFrozen) requireInternalAccount(ctx, account);
  await postAndNotify(ctx, () => creditAndHold(ctx, row, account.id, isFrozen));
}

/**
 * Repays a shortfall from funds that became available. The row of an account without a shortfall may change
 * concurrently, because deposits to a busy account would otherwise conflict. A shortfall that arises
 * concurrently is repaid by the next credit. Until then the account cannot pay.
 */
export async function repayFrom(
  ctx: Ctx,
  row: IncomingRow,
  account: InternalAccountRow,
): Promise<void> {
  if (account.owed === 0n) return;
  await repayShortfall(ctx, account, { transactionId: row.id, step: 'owed', ...receivedOf(row) });
}

/** Stages the row and the event. The caller stages the postings in the same change set. */
export function complete(ctx: Ctx, row: IncomingRow): IncomingRow {
  const updatedPayment = changeTransaction(ctx, row, {
    status: transactionFeature.states.incoming.next(row.status, 'settle'),
    funds: 'SETTLED',
    pending_reason: null,
    cancel_requested_at: null,
    settled_at: ctx.now,
  });
  emitPayment(ctx, incomingPayment.COMPLETED, updatedPayment);
  return updatedPayment;
}

/** Stages the row and the event. `funds` is the state of the funds afterwards. */
export function fail(
  ctx: Ctx,
  row: IncomingRow,
  reason: FailureReason,
  funds: IncomingRow['funds'],
): IncomingRow {
  const event = row.status === 'COMPLETED' ? 'return' : 'fail';
  const failedPayment = changeTransaction(ctx, row, {
    status: transactionFeature.states.incoming.next(row.status, event),
    funds,
    failure_reason: reason,
    pending_reason: null,
    cancel_requested_at: null,
  });
  emitPayment(ctx, incomingPayment.FAILED, failedPayment);
  return failedPayment;
}

/** Starts the return of funds that are in `inbound`. */
export function openDepositReturn(ctx: Ctx, row: IncomingRow): IncomingRow {
  const refundingPayment = changeTransaction(ctx, row, {
    refund: openRefund(ctx, row, 'TRANSACTION_FAILED'),
  });
  emitPayment(ctx, incomingPayment.REFUND_PENDING, refundingPayment);
  ctx.later(RETURN_DEPOSIT, { transactionId: row.id, request: 'send' });
  return refundingPayment;
}

/** Fails a payment whose funds have arrived and cannot be credited, and returns them. */
export function failAndReturn(ctx: Ctx, row: IncomingRow, reason: FailureReason): IncomingRow {
  postToInbound(ctx, row);
  return openDepositReturn(ctx, fail(ctx, row, reason, 'HELD'));
}

/** Closes a deposit return: the funds are returned to the payer, or posted to suspense. */
export async function closeDepositReturn(
  ctx: Ctx,
  row: IncomingRow,
  isReturned: boolean,
): Promise<IncomingRow> {
  if (row.refund?.status !== 'PENDING') return row;
  (isReturned ? postReturn : postToSuspense)(ctx, row);
  const status = transactionFeature.states.refund.next('PENDING', isReturned ? 'pay' : 'fail') as
    | 'COMPLETED'
    | 'FAILED';
  const settledAt = isReturned ? { settledAt: iso(ctx.now) } : {};
  const updatedPayment = changeTransaction(ctx, row, {
    funds: isReturned ? 'RETURNED' : 'SUSPENSE',
    refund: { ...row.refund, status, ...settledAt },
  });
  if (!isReturned) await awaitDecision(ctx, updatedPayment);
  emitPayment(
    ctx,
    isReturned ? incomingPayment.REFUND_COMPLETED : incomingPayment.REFUND_FAILED,
    updatedPayment,
  );
  return updatedPayment;
}

/** Completes a payment and credits the account. The payment event precedes the balance event. */
export async function completeOn(
  ctx: Ctx,
  row: IncomingRow,
  account: InternalAccountRow,
): Promise<IncomingRow> {
  const completedPayment = complete(ctx, row);
  await postAndNotify(ctx, () => creditAndRepay(ctx, completedPayment, account));
  return completedPayment;
}
