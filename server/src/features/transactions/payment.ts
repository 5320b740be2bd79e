// How an outgoing payment moves: each function is one step of its life and stages everything that step
// means, status, money and events together. Steps that arrive twice or too late find the payment moved on
// and do nothing, so a rail may repeat itself.
import { isId } from '../../kernel/id.ts';
import { iso } from '../../kernel/world.ts';
import { house } from '../../ledger/chart.ts';
import { ledgerAccounts } from '../../ledger/store.ts';
import type { Ctx } from '../../runtime/context.ts';
import { emitBalance, internalAccounts } from '../internal-accounts/index.ts';
import {
  handOver,
  hold,
  type Legs,
  legsOf,
  park,
  payThrough,
  release,
  reverse,
  settle,
} from './legs.ts';
import { presentTransaction, refundReference, type TransactionRow } from './present.ts';
import { type FailureReason, paymentStates, refundStates } from './states.ts';
import { type Refund, transactions } from './store.ts';

/** The kinds of jobs that follow a payment. */
export const SEND_PAYOUT = 'payout.send';
export const CHECK_PAYOUT = 'payout.check';
export const PAY_REFUND = 'refund.pay';

const legs = (ctx: Ctx, row: TransactionRow, inside: string | null = null): Legs =>
  legsOf(row, ctx.caller.environment, inside);

function tell(ctx: Ctx, row: TransactionRow, what: string): void {
  ctx.emit(`${row.type}_PAYMENT.${what}`, row.id, presentTransaction(row));
}

/** Stages movements, and one balance event for each internal account that they touch. */
async function moveAndTell(ctx: Ctx, stage: () => void): Promise<void> {
  const first = ctx.set.transfers.length;
  stage();
  const touched = ctx.set.transfers
    .slice(first)
    .flatMap(({ phase, debit, credit }) =>
      phase === 'pending' || phase === 'release' ? [debit] : [debit, credit],
    );
  const ids = [...new Set(touched)].filter((id) => isId(id, 'InternalAccount'));
  const rows = await Promise.all(ids.map((id) => ctx.read(internalAccounts, id)));
  for (const row of rows) if (row) emitBalance(ctx, row);
}

const patch = (
  ctx: Ctx,
  row: TransactionRow,
  change: Parameters<typeof ctx.update<typeof transactions>>[2],
) => ctx.update(transactions, row, { ...change, updated_at: ctx.now });

/** PENDING → PROCESSING with the money set aside; the payout itself is a job. */
export async function startPayout(ctx: Ctx, row: TransactionRow): Promise<TransactionRow> {
  tell(ctx, row, 'PENDING');
  await moveAndTell(ctx, () => hold(ctx, row.id, legs(ctx, row)));
  const status = paymentStates.next(row.status, 'start');
  const started = patch(ctx, row, { status, funds: 'HELD' });
  tell(ctx, started, 'PROCESSING');
  ctx.later(SEND_PAYOUT, { transactionId: row.id, sentAt: ctx.now });
  return started;
}

/** The whole way at once, between two internal accounts. The twin is the receiver's transaction. */
export async function payInside(
  ctx: Ctx,
  row: TransactionRow,
  twin: TransactionRow | null,
): Promise<TransactionRow> {
  tell(ctx, row, 'PENDING');
  const started = paymentStates.next(row.status, 'start');
  tell(ctx, { ...row, status: started, updated_at: ctx.now }, 'PROCESSING');
  await moveAndTell(ctx, () => payThrough(ctx, row.id, legs(ctx, row, row.destination_account)));
  const status = paymentStates.next(started, 'settle');
  const done = patch(ctx, row, { status, funds: 'SETTLED', settled_at: ctx.now });
  tell(ctx, done, 'COMPLETED');
  if (twin) tell(ctx, twin, 'COMPLETED');
  return done;
}

/** The rail has taken it over: what was set aside leaves the balance. */
export async function handOverPayout(ctx: Ctx, row: TransactionRow): Promise<TransactionRow> {
  if (row.funds !== 'HELD' || row.status !== 'PROCESSING' || row.refund) return row;
  await moveAndTell(ctx, () => handOver(ctx, row.id, legs(ctx, row)));
  return patch(ctx, row, { funds: 'HANDED' });
}

/** PROCESSING → COMPLETED. */
export async function settlePayout(ctx: Ctx, given: TransactionRow): Promise<TransactionRow> {
  if (given.status !== 'PROCESSING' || given.refund) return given;
  const row = await handOverPayout(ctx, given);
  settle(ctx, row.id, legs(ctx, row));
  const status = paymentStates.next(row.status, 'settle');
  const done = patch(ctx, row, { status, funds: 'SETTLED', settled_at: ctx.now });
  tell(ctx, done, 'COMPLETED');
  return done;
}

const openRefund = (ctx: Ctx, row: TransactionRow, reason: Refund['reason']): Refund => ({
  reference: refundReference(row.id),
  initiatedAt: iso(ctx.now),
  status: refundStates.next('NONE', 'open') as 'PENDING',
  reason,
});

/** Failed before or after it was settled: money that was taken goes back, or is parked when it cannot. */
export function failPayout(
  ctx: Ctx,
  row: TransactionRow,
  reason: FailureReason,
  refundable: boolean,
): TransactionRow {
  const event = row.status === 'COMPLETED' ? 'return' : 'fail';
  const status = row.refund ? undefined : paymentStates.peek(row.status, event);
  if (!status) return row;
  const failed = patch(ctx, row, { status, failure_reason: reason });
  tell(ctx, failed, 'FAILED');
  if (row.funds === 'NONE') return failed;
  const refunding = patch(ctx, failed, { refund: openRefund(ctx, row, 'TRANSACTION_FAILED') });
  tell(ctx, refunding, 'REFUND_PENDING');
  ctx.later(PAY_REFUND, { transactionId: row.id, refundable });
  return refunding;
}

/** Called back by hand while on its way: the money returns and the payment ends COMPLETED. */
export function cancelPayout(ctx: Ctx, row: TransactionRow): TransactionRow {
  if (row.status !== 'PROCESSING' || row.refund) return row;
  const refunding = patch(ctx, row, { refund: openRefund(ctx, row, 'USER_CANCELLATION') });
  tell(ctx, refunding, 'REFUND_PENDING');
  ctx.later(PAY_REFUND, { transactionId: row.id, refundable: true });
  return refunding;
}

/** Who gives a platform fee back: the platform, or we on its behalf when it has spent the fee. */
async function feePayer(ctx: Ctx, row: TransactionRow): Promise<string | null> {
  const id = row.platform_fee_account;
  if (!id || !row.platform_fees || !row.sent_currency || row.funds === 'HELD') return null;
  const account = await ctx.db.read(ledgerAccounts, id);
  const spendable = account ? account.balance - account.held : 0n;
  if (spendable >= row.platform_fees) return id;
  return house(ctx.caller.environment, 'receivable', row.sent_currency);
}

/** Back to the source, or to `keeper` in its stead. */
function moveBack(ctx: Ctx, row: TransactionRow, payer: string | null, keeper?: string): void {
  const all = legs(ctx, row);
  if (row.funds === 'HELD') {
    release(ctx, row.id, all);
    if (keeper) park(ctx, row.id, all, keeper);
    return;
  }
  if (row.funds === 'SETTLED') reverse(ctx, row.id, all.settle);
  reverse(ctx, row.id, all.onward);
  reverse(ctx, row.id, all.source, {
    payer: (leg) => (leg.step === 'fee.platform' && payer ? payer : leg.credit),
    ...(keeper ? { keeper } : {}),
  });
}

/** The refund itself: back to the source, or into suspense when the money cannot go back by itself. */
export async function payRefund(ctx: Ctx, row: TransactionRow, refundable: boolean): Promise<void> {
  if (row.refund?.status !== 'PENDING') return;
  const keeper = refundable
    ? undefined
    : house(ctx.caller.environment, 'suspense', row.sent_currency as string);
  const payer = await feePayer(ctx, row);
  await moveAndTell(ctx, () => moveBack(ctx, row, payer, keeper));
  const status = refundStates.next('PENDING', refundable ? 'pay' : 'park') as
    | 'COMPLETED'
    | 'FAILED';
  const settledAt: { settledAt?: string } = refundable ? { settledAt: iso(ctx.now) } : {};
  const done = patch(ctx, row, {
    funds: refundable ? 'RETURNED' : 'PARKED',
    refund: { ...row.refund, status, ...settledAt },
  });
  tell(ctx, done, refundable ? 'REFUND_COMPLETED' : 'REFUND_FAILED');
  if (done.status !== 'PROCESSING') return;
  const completed = patch(ctx, done, {
    status: paymentStates.next(done.status, 'settle'),
    settled_at: ctx.now,
  });
  tell(ctx, completed, 'COMPLETED');
}

/** A pending payment whose quote ran out. */
export function expirePayment(ctx: Ctx, row: TransactionRow): void {
  const status = paymentStates.peek(row.status, 'expire');
  if (!status) return;
  tell(ctx, patch(ctx, row, { status, failure_reason: 'QUOTE_EXPIRED' }), 'EXPIRED');
}
