// The lifecycle of an outgoing payment. Each function is one step and stages status, postings and
// events together. A repeated or late result has no effect, so a rail can report a status
// repeatedly. Externally funded payments differ only in the first step, which holds their funds on
// `inbound`.

import type { OnChain } from '../../../connectors/ports/index.ts';
import type { JobDefinition } from '../../../kernel/contract/job.ts';
import { isId } from '../../../kernel/id.ts';
import { type Money, sum } from '../../../kernel/money.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { insufficientFunds } from '../../../runtime/operation/operate.ts';
import type { InternalAccountRow } from '../../balances/internal-accounts/index.ts';
import { readLedgerAccount } from '../../balances/ledger-accounts/index.ts';
import { repayShortfall } from '../../balances/shortfalls/index.ts';
import { reverseUsage } from '../../balances/velocity-limits/index.ts';
import {
  emitPayment,
  incomingPayment,
  outgoingPayment,
  postAndNotify,
} from '../presentation/index.ts';
import {
  type CancelInput,
  hold,
  type Legs,
  legsOf,
  openRefund,
  PAY_REFUND,
  payDirect,
  postFunding,
  SEND_PAYOUT,
  settle,
  submit,
} from '../refunds/index.ts';
import {
  changeTransaction,
  type FailureReason,
  type IncomingRow,
  type OutgoingRow,
  type PaymentRow,
  receivedOf,
  transactionFeature,
} from '../transactions/index.ts';

/** Funds received for a payment, in the sending currency, with the originator's details. */
export interface ReceivedFunds extends Money {
  origin?: OutgoingRow['source'] | undefined;
  chain?: OnChain | undefined;
}

/**
 * The status of a payment whose funds are available. A payment funded by debit is already
 * PROCESSING.
 */
const processingStatusOf = (row: OutgoingRow) =>
  row.status === 'PROCESSING' && row.funds === 'AWAITED'
    ? row.status
    : transactionFeature.states.outgoing.next(row.status, 'start');

const paymentLegsOf = (ctx: Ctx, row: OutgoingRow): Legs => legsOf(row, ctx.caller.environment);

const isWaitingForDeposit = ({ source }: OutgoingRow) => source.sourceType === 'REALTIME_FUNDING';

/**
 * Throws INSUFFICIENT_FUNDS if the available balance of the source is too low. Called before a
 * proof is requested from the customer. The commit that holds the funds repeats the check.
 */
export async function checkFunds(ctx: Ctx, row: OutgoingRow): Promise<void> {
  const id = row.source_account ?? '';
  if (!isId(id, 'InternalAccount')) return;
  const account = await readLedgerAccount(ctx, id);
  const { amount } = sum(row.sent_currency, paymentLegsOf(ctx, row).source);
  if (account && account.balance - account.held - amount >= (account.floor ?? 0n)) return;
  throw insufficientFunds();
}

const fundingColumnsOf = (row: OutgoingRow, funds: ReceivedFunds | undefined) =>
  funds && {
    funded_amount: funds.amount,
    source: { ...row.source, ...funds.origin },
    source_chain: funds.chain ?? null,
  };

/**
 * Emits the PENDING event before the first change. For an authorized payment the event was emitted
 * earlier, except with REALTIME_FUNDING.
 */
function emitPending(ctx: Ctx, row: OutgoingRow): void {
  if (row.status === 'PENDING') emitPayment(ctx, outgoingPayment.PENDING, row);
}

/**
 * The payment waits for the customer's authorization of its first or a further step. No funds are
 * held. The PENDING event of a REALTIME_FUNDING payment is emitted when its funds arrive.
 */
export function awaitAuthorization(ctx: Ctx, row: OutgoingRow): OutgoingRow {
  const isFurtherStep = row.status === 'PENDING_AUTHORIZATION';
  const status = isFurtherStep
    ? row.status
    : transactionFeature.states.outgoing.next(row.status, 'authorize');
  if (!isWaitingForDeposit(row)) emitPending(ctx, row);
  const waitingPayment = changeTransaction(ctx, row, { status });
  emitPayment(ctx, outgoingPayment.PENDING_AUTHORIZATION, waitingPayment);
  return waitingPayment;
}

/** Releases an authorized payment that awaits its funds: PENDING_AUTHORIZATION → PENDING. */
export const releasePayment = (ctx: Ctx, row: OutgoingRow): OutgoingRow =>
  changeTransaction(ctx, row, {
    status: transactionFeature.states.outgoing.next(row.status, 'release'),
  });

/**
 * Fails a payment whose authorization has expired. No funds were posted. The velocity usage of an
 * agent is reversed.
 */
export async function failUnauthorized(ctx: Ctx, row: OutgoingRow): Promise<void> {
  if (row.status !== 'PENDING_AUTHORIZATION') return;
  const status = transactionFeature.states.outgoing.next(row.status, 'fail');
  const failedPayment = changeTransaction(ctx, row, {
    status,
    failure_reason: 'SCA_NOT_COMPLETED',
  });
  emitPayment(ctx, outgoingPayment.FAILED, failedPayment);
  if (row.agent_id !== null) await reverseUsage(ctx, row);
}

/**
 * PENDING → PROCESSING while a rail collects the funds. The caller adds the job that sends the
 * debit.
 */
export function awaitFunds(ctx: Ctx, row: OutgoingRow): OutgoingRow {
  const status = transactionFeature.states.outgoing.next(row.status, 'start');
  emitPending(ctx, row);
  const startedPayment = changeTransaction(ctx, row, {
    status,
    funds: 'AWAITED',
    sent_at: ctx.now,
  });
  emitPayment(ctx, outgoingPayment.PROCESSING, startedPayment);
  return startedPayment;
}

/** Holds the funds and adds the job that sends them. A pending payment becomes PROCESSING. */
export async function startPayout(
  ctx: Ctx,
  row: OutgoingRow,
  funds?: ReceivedFunds,
): Promise<OutgoingRow> {
  const status = processingStatusOf(row);
  const isStart = status !== row.status;
  emitPending(ctx, row);
  await postAndNotify(ctx, () => {
    if (funds) postFunding(ctx, row, funds);
    hold(ctx, row.id, paymentLegsOf(ctx, row));
  });
  // A debit whose cancellation was requested can still settle.
  const change = { status, funds: 'HELD', sent_at: ctx.now, cancel_requested_at: null } as const;
  const startedPayment = changeTransaction(ctx, row, {
    ...change,
    ...fundingColumnsOf(row, funds),
  });
  if (isStart) emitPayment(ctx, outgoingPayment.PROCESSING, startedPayment);
  ctx.later(SEND_PAYOUT, { transactionId: row.id });
  return startedPayment;
}

interface InternalParties {
  /** Undefined for external funds. */
  source: InternalAccountRow | undefined;
  target: InternalAccountRow;
  /** The counterparty transaction. */
  incoming: IncomingRow | null;
}

/** Completes a payment to an internal account and repays the shortfall of that account. */
export async function payInternal(
  ctx: Ctx,
  row: OutgoingRow,
  { source, target, incoming }: InternalParties,
  funds?: ReceivedFunds,
): Promise<OutgoingRow> {
  const startedStatus = processingStatusOf(row);
  const isStart = startedStatus !== row.status;
  emitPending(ctx, row);
  const processingPayment = changeTransaction(ctx, row, {
    status: startedStatus,
    ...fundingColumnsOf(row, funds),
  });
  if (isStart) emitPayment(ctx, outgoingPayment.PROCESSING, processingPayment);
  const stage = () => {
    if (funds) postFunding(ctx, row, funds);
    payDirect(ctx, row.id, paymentLegsOf(ctx, row));
    repayShortfall(ctx, target, { transactionId: row.id, step: 'owed', ...receivedOf(row) });
  };
  await postAndNotify(ctx, stage, [source, target]);
  const status = transactionFeature.states.outgoing.next(startedStatus, 'settle');
  const updatedPayment = changeTransaction(ctx, processingPayment, {
    status,
    funds: 'SETTLED',
    settled_at: ctx.now,
    cancel_requested_at: null,
  });
  emitPayment(ctx, outgoingPayment.COMPLETED, updatedPayment);
  if (incoming) emitPayment(ctx, incomingPayment.COMPLETED, incoming);
  return updatedPayment;
}

/** Fails a payment that cannot be executed with the received funds, and refunds them. */
export async function rejectFunds(
  ctx: Ctx,
  row: OutgoingRow,
  funds: ReceivedFunds,
  reason: FailureReason,
): Promise<OutgoingRow> {
  const status = processingStatusOf(row);
  const isStart = status !== row.status;
  emitPending(ctx, row);
  await postAndNotify(ctx, () => postFunding(ctx, row, funds));
  const fundedPayment = changeTransaction(ctx, row, {
    status,
    funds: 'FUNDED',
    ...fundingColumnsOf(row, funds),
  });
  if (isStart) emitPayment(ctx, outgoingPayment.PROCESSING, fundedPayment);
  return failPayout(ctx, fundedPayment, reason, true);
}

/** Posts the held funds of a payout that the rail has accepted. */
export async function submitPayout(ctx: Ctx, row: OutgoingRow): Promise<OutgoingRow> {
  if (row.funds !== 'HELD' || row.status !== 'PROCESSING' || row.refund) return row;
  await postAndNotify(ctx, () => submit(ctx, row.id, paymentLegsOf(ctx, row)));
  return changeTransaction(ctx, row, { funds: 'SUBMITTED' });
}

/** PROCESSING → COMPLETED. A payout in another status or with a refund is unchanged. */
export async function settlePayout(
  ctx: Ctx,
  currentPayment: OutgoingRow,
  chain?: OnChain,
): Promise<OutgoingRow> {
  if (currentPayment.status !== 'PROCESSING' || currentPayment.refund) return currentPayment;
  const row = await submitPayout(ctx, currentPayment);
  settle(ctx, row.id, paymentLegsOf(ctx, row));
  const status = transactionFeature.states.outgoing.next(row.status, 'settle');
  const updatedPayment = changeTransaction(ctx, row, {
    status,
    funds: 'SETTLED',
    settled_at: ctx.now,
    cancel_requested_at: null,
    ...(chain ? { destination_chain: chain } : {}),
  });
  emitPayment(ctx, outgoingPayment.COMPLETED, updatedPayment);
  return updatedPayment;
}

/**
 * Fails a payment before or after settlement. Debited funds are refunded, or posted to suspense if
 * a refund is impossible. A payment that has not started is unchanged.
 */
export async function failPayout(
  ctx: Ctx,
  row: OutgoingRow,
  reason: FailureReason,
  isRefundable: boolean,
): Promise<OutgoingRow> {
  const event = row.status === 'COMPLETED' ? 'return' : 'fail';
  const hasBegun = row.status === 'PROCESSING' || row.status === 'COMPLETED';
  const status =
    hasBegun && !row.refund
      ? transactionFeature.states.outgoing.targetOf(row.status, event)
      : undefined;
  if (!status) return row;
  const isNotDebited = row.funds === 'NONE' || row.funds === 'AWAITED';
  const failedPayment = changeTransaction(ctx, row, {
    status,
    failure_reason: reason,
    cancel_requested_at: null,
    ...(isNotDebited ? { funds: 'NONE' } : {}),
  });
  emitPayment(ctx, outgoingPayment.FAILED, failedPayment);
  if (isNotDebited) {
    await reverseUsage(ctx, row);
    return failedPayment;
  }
  const refundingPayment = changeTransaction(ctx, failedPayment, {
    refund: openRefund(ctx, row, 'TRANSACTION_FAILED'),
  });
  emitPayment(ctx, outgoingPayment.REFUND_PENDING, refundingPayment);
  ctx.later(PAY_REFUND, { transactionId: row.id, refundable: isRefundable });
  return refundingPayment;
}

/** Requests cancellation. `job` calls the rail. A repeated request has no effect. */
export function requestCancel(
  ctx: Ctx,
  row: PaymentRow,
  job: JobDefinition<typeof CancelInput>,
): PaymentRow {
  if (row.cancel_requested_at !== null) return row;
  ctx.later(job, { transactionId: row.id });
  return changeTransaction(ctx, row, { cancel_requested_at: ctx.now });
}

/** Cancels a payout in progress. The funds are refunded, then the payment becomes COMPLETED. */
export function cancelPayout(ctx: Ctx, row: OutgoingRow): OutgoingRow {
  if (row.status !== 'PROCESSING' || row.refund || row.funds === 'AWAITED') return row;
  const refund = openRefund(ctx, row, 'USER_CANCELLATION');
  const refundingPayment = changeTransaction(ctx, row, { refund, cancel_requested_at: null });
  emitPayment(ctx, outgoingPayment.REFUND_PENDING, refundingPayment);
  ctx.later(PAY_REFUND, { transactionId: row.id, refundable: true });
  return refundingPayment;
}

/** Continues a payment whose cancellation the rail rejected. */
export function rejectCancel(ctx: Ctx, row: PaymentRow): PaymentRow {
  if (row.cancel_requested_at === null) return row;
  return changeTransaction(ctx, row, { cancel_requested_at: null });
}

/** Expires a pending payment whose quote has expired. */
export function expirePayment(ctx: Ctx, row: OutgoingRow): void {
  const status = transactionFeature.states.outgoing.targetOf(row.status, 'expire');
  if (!status) return;
  const expiredPayment = changeTransaction(ctx, row, { status, failure_reason: 'QUOTE_EXPIRED' });
  emitPayment(ctx, outgoingPayment.EXPIRED, expiredPayment);
}
