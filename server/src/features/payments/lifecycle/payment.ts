// How an outgoing payment moves: each function is one step of its life and stages everything that step
// means, status, money and events together. Steps that arrive twice or too late find the payment moved on
// and do nothing, so a rail may repeat itself. Where the money comes from makes no difference after the
// first step: what came in for a payment waits in `inbound` as another's waits on its account.

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
  fund,
  hold,
  type Legs,
  legsOf,
  openRefund,
  PAY_REFUND,
  payDirect,
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

/** Money that has come in for a payment, in the sending currency, and what is known of who sent it. */
export interface ReceivedFunds extends Money {
  origin?: OutgoingRow['source'] | undefined;
  chain?: OnChain | undefined;
}

/** The status of a payment whose money is here; a pulled one has begun already. Throws when too late. */
const begun = (row: OutgoingRow) =>
  row.status === 'PROCESSING' && row.funds === 'AWAITED'
    ? row.status
    : transactionFeature.states.outgoing.next(row.status, 'start');

const legs = (ctx: Ctx, row: OutgoingRow): Legs => legsOf(row, ctx.caller.environment);

const waitsForDeposit = ({ source }: OutgoingRow) => source.sourceType === 'REALTIME_FUNDING';

/**
 * Throws INSUFFICIENT_FUNDS where the account that pays does not hold enough now. Only the commit that takes
 * the money decides; this is for telling somebody before they are put to any trouble.
 */
export async function checkFunds(ctx: Ctx, row: OutgoingRow): Promise<void> {
  const id = row.source_account ?? '';
  if (!isId(id, 'InternalAccount')) return;
  const account = await readLedgerAccount(ctx, id);
  const { amount } = sum(row.sent_currency, legs(ctx, row).source);
  if (account && account.balance - account.held - amount >= (account.floor ?? 0n)) return;
  throw insufficientFunds();
}

const cameIn = (row: OutgoingRow, came: ReceivedFunds | undefined) =>
  came && {
    funded_amount: came.amount,
    source: { ...row.source, ...came.origin },
    source_chain: came.chain ?? null,
  };

/** A payment that was pending is told as that before it goes on; one that was authorised was told already. */
function tellPending(ctx: Ctx, row: OutgoingRow): void {
  if (row.status === 'PENDING') emitPayment(ctx, outgoingPayment.PENDING, row);
}

/**
 * Its customer is asked to authorise it, or a further step of it. Nothing is held meanwhile. Money that is
 * to be paid in for it is not: the payment is told as pending once that is here.
 */
export function awaitAuthorization(ctx: Ctx, row: OutgoingRow): OutgoingRow {
  const again = row.status === 'PENDING_AUTHORIZATION';
  const status = again
    ? row.status
    : transactionFeature.states.outgoing.next(row.status, 'authorize');
  if (!waitsForDeposit(row)) tellPending(ctx, row);
  const waiting = changeTransaction(ctx, row, { status });
  emitPayment(ctx, outgoingPayment.PENDING_AUTHORIZATION, waiting);
  return waiting;
}

/** Authorised, and its money is still to be paid in: PENDING_AUTHORIZATION → PENDING. */
export const releasePayment = (ctx: Ctx, row: OutgoingRow): OutgoingRow =>
  changeTransaction(ctx, row, {
    status: transactionFeature.states.outgoing.next(row.status, 'release'),
  });

/** Nobody authorised it in time: no money has moved. What an agent spent by it is given back. */
export async function failUnauthorized(ctx: Ctx, row: OutgoingRow): Promise<void> {
  if (row.status !== 'PENDING_AUTHORIZATION') return;
  const status = transactionFeature.states.outgoing.next(row.status, 'fail');
  const failed = changeTransaction(ctx, row, { status, failure_reason: 'SCA_NOT_COMPLETED' });
  emitPayment(ctx, outgoingPayment.FAILED, failed);
  if (row.agent_id !== null) await reverseUsage(ctx, row);
}

/** PENDING → PROCESSING while a rail pulls the money; how that goes is a job's to find out. */
export function awaitFunds(ctx: Ctx, row: OutgoingRow): OutgoingRow {
  const status = transactionFeature.states.outgoing.next(row.status, 'start');
  tellPending(ctx, row);
  const started = changeTransaction(ctx, row, { status, funds: 'AWAITED', sent_at: ctx.now });
  emitPayment(ctx, outgoingPayment.PROCESSING, started);
  return started;
}

/** Sets the money aside and has it sent. A pending payment becomes PROCESSING by it. */
export async function startPayout(
  ctx: Ctx,
  row: OutgoingRow,
  came?: ReceivedFunds,
): Promise<OutgoingRow> {
  const status = begun(row);
  const fresh = status !== row.status;
  tellPending(ctx, row);
  await postAndNotify(ctx, () => {
    if (came) fund(ctx, row, came);
    hold(ctx, row.id, legs(ctx, row));
  });
  // A pull that somebody asked to call back has come after all.
  const held = { status, funds: 'HELD', sent_at: ctx.now, cancel_requested_at: null } as const;
  const started = changeTransaction(ctx, row, { ...held, ...cameIn(row, came) });
  if (fresh) emitPayment(ctx, outgoingPayment.PROCESSING, started);
  ctx.later(SEND_PAYOUT, { transactionId: row.id });
  return started;
}

/**
 * The whole way at once, into an internal account, and out of that again what its owner owes. The twin is
 * the receiver's transaction.
 */
export async function payInternal(
  ctx: Ctx,
  row: OutgoingRow,
  { target, twin }: { target: InternalAccountRow; twin: IncomingRow | null },
  came?: ReceivedFunds,
): Promise<OutgoingRow> {
  const started = begun(row);
  const fresh = started !== row.status;
  tellPending(ctx, row);
  const known = cameIn(row, came);
  const processing = changeTransaction(ctx, row, { status: started, ...known });
  if (fresh) emitPayment(ctx, outgoingPayment.PROCESSING, processing);
  await postAndNotify(ctx, () => {
    if (came) fund(ctx, row, came);
    payDirect(ctx, row.id, legs(ctx, row));
    repayShortfall(ctx, target, { transactionId: row.id, step: 'owed', ...receivedOf(row) });
  });
  const status = transactionFeature.states.outgoing.next(started, 'settle');
  const done = changeTransaction(ctx, processing, {
    status,
    funds: 'SETTLED',
    settled_at: ctx.now,
    cancel_requested_at: null,
  });
  emitPayment(ctx, outgoingPayment.COMPLETED, done);
  if (twin) emitPayment(ctx, incomingPayment.COMPLETED, twin);
  return done;
}

/** Money came in for a pending payment that cannot be made with it: it fails and the money goes back. */
export async function rejectFunds(
  ctx: Ctx,
  row: OutgoingRow,
  came: ReceivedFunds,
  reason: FailureReason,
): Promise<OutgoingRow> {
  const status = begun(row);
  const fresh = status !== row.status;
  tellPending(ctx, row);
  await postAndNotify(ctx, () => fund(ctx, row, came));
  const funded = changeTransaction(ctx, row, { status, funds: 'FUNDED', ...cameIn(row, came) });
  if (fresh) emitPayment(ctx, outgoingPayment.PROCESSING, funded);
  return failPayout(ctx, funded, reason, true);
}

/** The rail has taken it over: what was set aside leaves the balance. */
export async function submitPayout(ctx: Ctx, row: OutgoingRow): Promise<OutgoingRow> {
  if (row.funds !== 'HELD' || row.status !== 'PROCESSING' || row.refund) return row;
  await postAndNotify(ctx, () => submit(ctx, row.id, legs(ctx, row)));
  return changeTransaction(ctx, row, { funds: 'SUBMITTED' });
}

/** PROCESSING → COMPLETED. */
export async function settlePayout(
  ctx: Ctx,
  given: OutgoingRow,
  chain?: OnChain,
): Promise<OutgoingRow> {
  if (given.status !== 'PROCESSING' || given.refund) return given;
  const row = await submitPayout(ctx, given);
  settle(ctx, row.id, legs(ctx, row));
  const status = transactionFeature.states.outgoing.next(row.status, 'settle');
  const done = changeTransaction(ctx, row, {
    status,
    funds: 'SETTLED',
    settled_at: ctx.now,
    cancel_requested_at: null,
    ...(chain ? { destination_chain: chain } : {}),
  });
  emitPayment(ctx, outgoingPayment.COMPLETED, done);
  return done;
}

/**
 * Failed before or after it was settled: money that was taken goes back, or is parked when it cannot. One
 * that has not begun is nobody's to fail from outside.
 */
export async function failPayout(
  ctx: Ctx,
  row: OutgoingRow,
  reason: FailureReason,
  refundable: boolean,
): Promise<OutgoingRow> {
  const event = row.status === 'COMPLETED' ? 'return' : 'fail';
  const hasBegun = row.status === 'PROCESSING' || row.status === 'COMPLETED';
  const status =
    hasBegun && !row.refund
      ? transactionFeature.states.outgoing.peek(row.status, event)
      : undefined;
  if (!status) return row;
  const untouched = row.funds === 'NONE' || row.funds === 'AWAITED';
  const failed = changeTransaction(ctx, row, {
    status,
    failure_reason: reason,
    cancel_requested_at: null,
    ...(untouched ? { funds: 'NONE' } : {}),
  });
  emitPayment(ctx, outgoingPayment.FAILED, failed);
  if (untouched) {
    await reverseUsage(ctx, row);
    return failed;
  }
  const refunding = changeTransaction(ctx, failed, {
    refund: openRefund(ctx, row, 'TRANSACTION_FAILED'),
  });
  emitPayment(ctx, outgoingPayment.REFUND_PENDING, refunding);
  ctx.later(PAY_REFUND, { transactionId: row.id, refundable });
  return refunding;
}

/** A request to cancel it; `job` asks the rail. Asked twice, it is one request. */
export function requestCancel(
  ctx: Ctx,
  row: PaymentRow,
  job: JobDefinition<typeof CancelInput>,
): PaymentRow {
  if (row.cancel_requested_at !== null) return row;
  ctx.later(job, { transactionId: row.id });
  return changeTransaction(ctx, row, { cancel_requested_at: ctx.now });
}

/** Called back by hand while on its way: the money returns and the payment ends COMPLETED. */
export function cancelPayout(ctx: Ctx, row: OutgoingRow): OutgoingRow {
  if (row.status !== 'PROCESSING' || row.refund || row.funds === 'AWAITED') return row;
  const refund = openRefund(ctx, row, 'USER_CANCELLATION');
  const refunding = changeTransaction(ctx, row, { refund, cancel_requested_at: null });
  emitPayment(ctx, outgoingPayment.REFUND_PENDING, refunding);
  ctx.later(PAY_REFUND, { transactionId: row.id, refundable: true });
  return refunding;
}

/** The rail goes on with it although somebody asked to call it back. */
export function rejectCancel(ctx: Ctx, row: PaymentRow): PaymentRow {
  if (row.cancel_requested_at === null) return row;
  return changeTransaction(ctx, row, { cancel_requested_at: null });
}

/** A pending payment whose quote ran out. */
export function expirePayment(ctx: Ctx, row: OutgoingRow): void {
  const status = transactionFeature.states.outgoing.peek(row.status, 'expire');
  if (!status) return;
  const expired = changeTransaction(ctx, row, { status, failure_reason: 'QUOTE_EXPIRED' });
  emitPayment(ctx, outgoingPayment.EXPIRED, expired);
}
