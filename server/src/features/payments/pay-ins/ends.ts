// How incoming money ends, whatever kind it is: it completes, it fails without having come, or it fails
// and goes back. Each function stages the row, the money and the events together, and finds a row that has
// moved on already as it is.

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
import { credit, creditAside, keep, park, sendBack } from './books.ts';
import { SEND_BACK } from './kinds.ts';

/** Asks the rail again when it said to, or waits for word from one that says it takes its time. */
export async function followUp(
  ctx: Ctx,
  row: IncomingRow,
  [job, movement]: [job: JobDefinition<typeof RailTransferInput>, movement: WaitKind],
  progress: Progress,
): Promise<void> {
  const checkAfterMs = 'checkAfterMs' in progress ? progress.checkAfterMs : undefined;
  if (checkAfterMs !== undefined) {
    ctx.later(job, { transactionId: row.id, ask: 'check' }, ctx.now + checkAfterMs);
  } else if (progress.state === 'accepted') await awaitRailResult(ctx, row, movement);
}

/** Why money did not come, in the words for incoming payments. */
export const incomingReason = (reason: RailReason, usual: FailureReason): FailureReason =>
  reason === 'COMPLIANCE_REJECTED' ? reason : usual;

/** Onto an account, and out of it again what its owner owes us. */
export async function creditAndRepay(
  ctx: Ctx,
  row: IncomingRow,
  account: InternalAccountRow,
): Promise<void> {
  credit(ctx, row, account.id);
  await repayFrom(ctx, row, account);
}

/** Onto an account, where it shows in the total and cannot be spent. */
export async function hold(ctx: Ctx, row: IncomingRow, account: InternalAccountRow): Promise<void> {
  const frozen = account.status === 'FROZEN';
  // Its gate is shut either way, so its state is what tells frozen from closed.
  if (frozen) requireInternalAccount(ctx, account);
  await postAndNotify(ctx, () => creditAside(ctx, row, account.id, frozen));
}

/**
 * Out of what has just become spendable. Where nothing is owed the account's row is not leaned on: busy
 * accounts would otherwise refuse each other's deposits. A debt that is made in the same moment waits for
 * the next money in, which harms nobody, as an account that owes cannot pay.
 */
export async function repayFrom(
  ctx: Ctx,
  row: IncomingRow,
  account: InternalAccountRow,
): Promise<void> {
  if (account.owed === 0n) return;
  await repayShortfall(ctx, account, { transactionId: row.id, step: 'owed', ...receivedOf(row) });
}

/** The row is done and the platform told; whoever calls moves the money in the same change set. */
export function complete(ctx: Ctx, row: IncomingRow): IncomingRow {
  const done = changeTransaction(ctx, row, {
    status: transactionFeature.states.incoming.next(row.status, 'settle'),
    funds: 'SETTLED',
    pending_reason: null,
    cancel_requested_at: null,
    settled_at: ctx.now,
  });
  emitPayment(ctx, incomingPayment.COMPLETED, done);
  return done;
}

/** The row has failed and the platform is told. `funds` says where that leaves the money. */
export function fail(
  ctx: Ctx,
  row: IncomingRow,
  reason: FailureReason,
  funds: IncomingRow['funds'],
): IncomingRow {
  const event = row.status === 'COMPLETED' ? 'return' : 'fail';
  const failed = changeTransaction(ctx, row, {
    status: transactionFeature.states.incoming.next(row.status, event),
    funds,
    failure_reason: reason,
    pending_reason: null,
    cancel_requested_at: null,
  });
  emitPayment(ctx, incomingPayment.FAILED, failed);
  return failed;
}

/** Opens the way back of money that lies in our keeping. */
export function openDepositReturn(ctx: Ctx, row: IncomingRow): IncomingRow {
  const refunding = changeTransaction(ctx, row, {
    refund: openRefund(ctx, row, 'TRANSACTION_FAILED'),
  });
  emitPayment(ctx, incomingPayment.REFUND_PENDING, refunding);
  ctx.later(SEND_BACK, { transactionId: row.id, ask: 'send' });
  return refunding;
}

/** Money that came and cannot stay: into our keeping, and back. */
export function failAndReturn(ctx: Ctx, row: IncomingRow, reason: FailureReason): IncomingRow {
  keep(ctx, row);
  return openDepositReturn(ctx, fail(ctx, row, reason, 'HELD'));
}

/** The way back has ended: with whoever paid, or, where they cannot be reached, with a person. */
export async function closeDepositReturn(
  ctx: Ctx,
  row: IncomingRow,
  reached: boolean,
): Promise<IncomingRow> {
  if (row.refund?.status !== 'PENDING') return row;
  (reached ? sendBack : park)(ctx, row);
  const status = transactionFeature.states.refund.next('PENDING', reached ? 'pay' : 'park') as
    | 'COMPLETED'
    | 'FAILED';
  const settledAt = reached ? { settledAt: iso(ctx.now) } : {};
  const done = changeTransaction(ctx, row, {
    funds: reached ? 'RETURNED' : 'SUSPENSE',
    refund: { ...row.refund, status, ...settledAt },
  });
  if (!reached) await awaitDecision(ctx, done);
  emitPayment(
    ctx,
    reached ? incomingPayment.REFUND_COMPLETED : incomingPayment.REFUND_FAILED,
    done,
  );
  return done;
}

/** Completed with the money on the account: told first, then what it does to the balance. */
export async function completeOn(
  ctx: Ctx,
  row: IncomingRow,
  account: InternalAccountRow,
): Promise<IncomingRow> {
  const done = complete(ctx, row);
  await postAndNotify(ctx, () => creditAndRepay(ctx, done, account));
  return done;
}
