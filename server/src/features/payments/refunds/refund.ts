// The way back of money that was taken for a payment: to the account it came from, to whoever paid it in,
// or into suspense when it cannot go back by itself. A refund undoes the payment's own legs, last first, and
// then, for money that came from outside, takes one step more.

import { Type } from '@sinclair/typebox';
import { isFiat } from '../../../catalog/currencies/currencies.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import { iso } from '../../../kernel/effects.ts';
import type { Money } from '../../../kernel/money.ts';
import { systemAccount } from '../../../ledger/chart.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  findInternalAccounts,
  type InternalAccountRow,
  isBalance,
  readInternalAccount,
  requireInternalAccount,
} from '../../balances/internal-accounts/index.ts';
import { debitWithShortfall, repayShortfall } from '../../balances/shortfalls/index.ts';
import { reverseUsage } from '../../balances/velocity-limits/index.ts';
import { readCustomer, requireCustomer } from '../../customers/records/index.ts';
import { emitPayment, outgoingPayment, postAndNotify } from '../presentation/index.ts';
import { awaitDecision, refundReference } from '../suspense/index.ts';
import {
  changeTransaction,
  type OutgoingRow,
  type PaymentRow,
  sourceAccountOf,
  transactionFeature,
} from '../transactions/index.ts';
import { type Leg, legsOf, park, release, reverse } from './legs.ts';

/** What came in for a payment that is funded from outside. Throws for any other. */
export function fundedOf({
  id,
  sent_currency: currency,
  funded_amount: amount,
}: OutgoingRow): Money {
  if (amount === null) throw new Error(`${id} has no external funding`);
  return { currency, amount };
}

/** The input of the jobs that follow a payment. */
export const PaymentInput = Type.Object({ transactionId: Type.String() });

/** The input of a job that asks the rail for a cancellation. */
export const CancelInput = Type.Object({
  ...PaymentInput.properties,
  /** How long the next postponement lasts; absent at first. */
  waitMs: Type.Optional(Type.Number()),
});

export const SEND_PAYOUT = defineJob('payout.send', PaymentInput);
export const CHECK_PAYOUT = defineJob('payout.check', PaymentInput);
export const CANCEL_PAYOUT = defineJob('payout.cancel', CancelInput);
export const PAY_REFUND = defineJob(
  'refund.pay',
  Type.Object({
    ...PaymentInput.properties,
    /** False: the money cannot return by itself. */
    refundable: Type.Boolean(),
    /** `check` once the rail has the refund. */
    ask: Type.Optional(Type.Literal('check')),
  }),
);

/** A refund as it begins. */
type Refund = NonNullable<PaymentRow['refund']>;

export const openRefund = (ctx: Ctx, row: PaymentRow, reason: Refund['reason']): Refund => ({
  reference: refundReference(row.id),
  initiatedAt: iso(ctx.now),
  status: transactionFeature.states.refund.next('NONE', 'open') as 'PENDING',
  reason,
});

/** Whether the money came from outside for this payment alone: pulled, or paid in for it. */
export const isExternallyFunded = (row: OutgoingRow): boolean => row.funded_amount !== null;

/** Whether a rail has to carry the refund to where the money came from. */
export const isRefundedByRail = (row: OutgoingRow): boolean =>
  isExternallyFunded(row) && (row.source.sourceType === 'ACCOUNT' || isFiat(row.sent_currency));

/**
 * Gives a platform fee back that the platform has earned. What it has spent of it by now, it owes.
 */
async function returnPlatformFee(ctx: Ctx, leg: Leg, row: OutgoingRow, to: string) {
  const account = await readInternalAccount(ctx, leg.credit);
  if (!account) return reverse(ctx, row.id, [leg]);
  const { currency, amount } = leg;
  const step = `refund.${leg.step}`;
  await debitWithShortfall(ctx, account, {
    transactionId: row.id,
    step,
    currency,
    amount,
    creditTo: to,
  });
}

/** Back to the source, or to `keeper` in its stead. */
async function moveBack(ctx: Ctx, row: OutgoingRow, keeper?: string): Promise<void> {
  if (row.funds === 'FUNDED') return;
  const all = legsOf(row, ctx.caller.environment);
  if (row.funds === 'HELD') {
    release(ctx, row.id, all);
    if (keeper) park(ctx, row.id, all, keeper);
    return;
  }
  if (row.funds === 'SETTLED') reverse(ctx, row.id, all.settle);
  reverse(ctx, row.id, all.onward);
  const ours = all.source.filter((leg) => leg.step !== 'fee.platform');
  reverse(ctx, row.id, ours, keeper);
  for (const leg of all.source) {
    if (ours.includes(leg)) continue;
    await returnPlatformFee(ctx, leg, row, keeper ?? leg.debit);
  }
}

/** The account that a digital asset goes back to, never the wallet it came from. */
export async function balanceFor(
  db: Ctx['db'],
  row: OutgoingRow,
): Promise<InternalAccountRow | undefined> {
  const own = await findInternalAccounts(db, {
    platform_id: row.platform_id,
    customer_id: row.customer_id,
    currency: row.sent_currency,
  });
  // Money that was never the account's own does not reach one that is frozen.
  return own.find((each) => each.status === 'ACTIVE' && isBalance(each));
}

/** Accounts in these states take back what was theirs, a frozen one out of its owner's reach. */
const REFUND_STATUSES = ['ACTIVE', 'FROZEN'];

/** Whether money may go back onto an account: it is not closed, and its owner is still there. */
export async function canReceiveRefund(
  db: Ctx['db'],
  { status, customer_id: id }: InternalAccountRow,
): Promise<boolean> {
  if (!REFUND_STATUSES.includes(status)) return false;
  const owner = id === null ? undefined : await readCustomer(db, id);
  return !owner || owner.deleted_at === null;
}

/** The account inside that a refund goes to; undefined where it can take nothing any more. */
async function receiverOf(ctx: Ctx, row: OutgoingRow): Promise<InternalAccountRow | undefined> {
  const account = isExternallyFunded(row)
    ? await balanceFor(ctx.db, row)
    : await readInternalAccount(ctx, sourceAccountOf(row));
  if (!account || !(await canReceiveRefund(ctx.db, account))) return undefined;
  const owner = account.customer_id && (await readCustomer(ctx, account.customer_id));
  if (owner) requireCustomer(ctx, owner);
  // One that owes is changed by the refund itself, which guards it as well.
  if (account.owed === 0n) requireInternalAccount(ctx, account);
  return account;
}

function moveOut(ctx: Ctx, row: OutgoingRow, step: string, target: string): void {
  ctx.transfer({
    transactionId: row.id,
    step,
    debit: systemAccount(ctx.caller.environment, 'inbound', row.sent_currency),
    credit: target,
    ...fundedOf(row),
    force: true,
  });
}

/** Onto the balance of its owner, and out of it again what they owe. */
function returnInside(ctx: Ctx, row: OutgoingRow, account: InternalAccountRow): void {
  moveOut(ctx, row, 'refund.out', account.id);
  repayShortfall(ctx, account, { transactionId: row.id, step: 'refund.owed', ...fundedOf(row) });
}

/** The refund itself: back to the source, or into suspense when the money cannot go back by itself. */
export async function payRefund(
  ctx: Ctx,
  row: OutgoingRow,
  refundable: boolean,
): Promise<OutgoingRow> {
  if (row.refund?.status !== 'PENDING') return row;
  const byRail = isRefundedByRail(row);
  const account = byRail || !refundable ? undefined : await receiverOf(ctx, row);
  const back = refundable && (byRail || account !== undefined);
  const [suspense, railInTransit] = (['suspense', 'rail_in_transit'] as const).map((purpose) =>
    systemAccount(ctx.caller.environment, purpose, row.sent_currency),
  ) as [string, string];
  await reverseUsage(ctx, row);
  await postAndNotify(ctx, async () => {
    await moveBack(ctx, row, back ? undefined : suspense);
    if (account && isExternallyFunded(row)) returnInside(ctx, row, account);
    else if (back && byRail) moveOut(ctx, row, 'refund.out', railInTransit);
    else if (row.funds === 'FUNDED') moveOut(ctx, row, 'park.fund', suspense);
  });
  const status = transactionFeature.states.refund.next('PENDING', back ? 'pay' : 'park') as
    | 'COMPLETED'
    | 'FAILED';
  const settledAt: { settledAt?: string } = back ? { settledAt: iso(ctx.now) } : {};
  const done = changeTransaction(ctx, row, {
    funds: back ? 'RETURNED' : 'SUSPENSE',
    refund: { ...row.refund, status, ...settledAt },
  });
  if (!back) await awaitDecision(ctx, done);
  emitPayment(ctx, back ? outgoingPayment.REFUND_COMPLETED : outgoingPayment.REFUND_FAILED, done);
  if (done.status !== 'PROCESSING') return done;
  const completed = changeTransaction(ctx, done, {
    status: transactionFeature.states.outgoing.next(done.status, 'settle'),
    settled_at: ctx.now,
  });
  emitPayment(ctx, outgoingPayment.COMPLETED, completed);
  return completed;
}
