// Refunds of payments: to the source account, to the external payer, or to suspense if the funds
// cannot be returned automatically. A refund releases held legs of the payment, or reverses posted
// legs. External funds are then returned by a further posting.

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
import { awaitDecision, refundReferenceOf } from '../suspense/index.ts';
import {
  changeTransaction,
  type OutgoingRow,
  type PaymentRow,
  sourceAccountOf,
  transactionFeature,
} from '../transactions/index.ts';
import { type Leg, legsOf, postToSuspense, release, reverse } from './legs.ts';

/** The funds received for an externally funded payment. Throws for other payments. */
export function fundedOf({
  id,
  sent_currency: currency,
  funded_amount: amount,
}: OutgoingRow): Money {
  if (amount === null) throw new Error(`${id} has no external funding`);
  return { currency, amount };
}

export const PaymentInput = Type.Object({ transactionId: Type.String() });

export const CancelInput = Type.Object({
  ...PaymentInput.properties,
  /** Delay of the next retry. Absent in the first attempt. */
  waitMs: Type.Optional(Type.Number()),
});

export const SEND_PAYOUT = defineJob('payout.send', PaymentInput);
export const CHECK_PAYOUT = defineJob('payout.check', PaymentInput);
export const CANCEL_PAYOUT = defineJob('payout.cancel', CancelInput);
export const PAY_REFUND = defineJob(
  'refund.pay',
  Type.Object({
    ...PaymentInput.properties,
    /** False: the funds cannot be returned automatically. */
    refundable: Type.Boolean(),
    /** `check` after the refund was sent to the rail. */
    request: Type.Optional(Type.Literal('check')),
  }),
);

type Refund = NonNullable<PaymentRow['refund']>;

export const openRefund = (ctx: Ctx, row: PaymentRow, reason: Refund['reason']): Refund => ({
  reference: refundReferenceOf(row.id),
  initiatedAt: iso(ctx.now),
  status: transactionFeature.states.refund.next('NONE', 'open') as 'PENDING',
  reason,
});

/** Whether the payment is funded by a debit, or by a deposit that belongs to it. */
export const isExternallyFunded = (row: OutgoingRow): boolean => row.funded_amount !== null;

/** Whether the refund is sent over a rail. */
export const isRefundedByRail = (row: OutgoingRow): boolean =>
  isExternallyFunded(row) && (row.source.sourceType === 'ACCOUNT' || isFiat(row.sent_currency));

/** Returns an earned platform fee. The part that the platform has spent is a shortfall. */
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

/** Reverses the legs to the source, or to `suspense`. */
async function reverseLegs(ctx: Ctx, row: OutgoingRow, suspense?: string): Promise<void> {
  if (row.funds === 'FUNDED') return;
  const legs = legsOf(row, ctx.caller.environment);
  if (row.funds === 'HELD') {
    release(ctx, row.id, legs);
    if (suspense) postToSuspense(ctx, row.id, legs, suspense);
    return;
  }
  if (row.funds === 'SETTLED') reverse(ctx, row.id, legs.settle);
  reverse(ctx, row.id, legs.destination);
  const otherLegs = legs.source.filter((leg) => leg.step !== 'fee.platform');
  reverse(ctx, row.id, otherLegs, suspense);
  for (const leg of legs.source) {
    if (otherLegs.includes(leg)) continue;
    await returnPlatformFee(ctx, leg, row, suspense ?? leg.debit);
  }
}

/**
 * The account that receives the refund of a digital asset, or undefined if no account is ACTIVE. Digital
 * assets are never returned to the sending wallet.
 */
export async function findRefundBalance(
  db: Ctx['db'],
  row: OutgoingRow,
): Promise<InternalAccountRow | undefined> {
  const ownerAccounts = await findInternalAccounts(db, {
    platform_id: row.platform_id,
    customer_id: row.customer_id,
    currency: row.sent_currency,
  });
  // The funds were not debited from this account, so a frozen account does not receive them.
  return ownerAccounts.find((each) => each.status === 'ACTIVE' && isBalance(each));
}

/**
 * Statuses in which an account receives refunds of funds that it paid. Refunds on a frozen account
 * cannot be spent.
 */
const REFUND_STATUSES = ['ACTIVE', 'FROZEN'];

/** Whether an account can receive a refund: its status is ACTIVE or FROZEN, and its owner is not deleted. */
export async function canReceiveRefund(
  db: Ctx['db'],
  { status, customer_id: id }: InternalAccountRow,
): Promise<boolean> {
  if (!REFUND_STATUSES.includes(status)) return false;
  const owner = id === null ? undefined : await readCustomer(db, id);
  return !owner || owner.deleted_at === null;
}

/** The internal account that receives the refund, or undefined if no account can receive it. */
async function receiverOf(ctx: Ctx, row: OutgoingRow): Promise<InternalAccountRow | undefined> {
  const account = isExternallyFunded(row)
    ? await findRefundBalance(ctx.db, row)
    : await readInternalAccount(ctx, sourceAccountOf(row));
  if (!account || !(await canReceiveRefund(ctx.db, account))) return undefined;
  const owner = account.customer_id && (await readCustomer(ctx, account.customer_id));
  if (owner) requireCustomer(ctx, owner);
  // The row must be unchanged at the commit. With a shortfall, the refund changes the row, so no further
  // check is needed.
  if (account.owed === 0n) requireInternalAccount(ctx, account);
  return account;
}

function postFromInbound(ctx: Ctx, row: OutgoingRow, step: string, target: string): void {
  ctx.transfer({
    transactionId: row.id,
    step,
    debit: systemAccount(ctx.caller.environment, 'inbound', row.sent_currency),
    credit: target,
    ...fundedOf(row),
    force: true,
  });
}

/** Credits the owner's balance and repays its shortfall. */
function refundToBalance(ctx: Ctx, row: OutgoingRow, account: InternalAccountRow): void {
  postFromInbound(ctx, row, 'refund.out', account.id);
  repayShortfall(ctx, account, { transactionId: row.id, step: 'refund.owed', ...fundedOf(row) });
}

/** Posts the refund: to the source, or to suspense if the funds cannot be returned automatically. */
export async function payRefund(
  ctx: Ctx,
  row: OutgoingRow,
  refundable: boolean,
): Promise<OutgoingRow> {
  if (row.refund?.status !== 'PENDING') return row;
  const isByRail = isRefundedByRail(row);
  const account = isByRail || !refundable ? undefined : await receiverOf(ctx, row);
  const isReturned = refundable && (isByRail || account !== undefined);
  const [suspense, railInTransit] = (['suspense', 'rail_in_transit'] as const).map((purpose) =>
    systemAccount(ctx.caller.environment, purpose, row.sent_currency),
  ) as [string, string];
  await reverseUsage(ctx, row);
  await postAndNotify(ctx, async () => {
    await reverseLegs(ctx, row, isReturned ? undefined : suspense);
    if (account && isExternallyFunded(row)) refundToBalance(ctx, row, account);
    else if (isReturned && isByRail) postFromInbound(ctx, row, 'refund.out', railInTransit);
    else if (row.funds === 'FUNDED') postFromInbound(ctx, row, 'suspense.fund', suspense);
  });
  const status = transactionFeature.states.refund.next('PENDING', isReturned ? 'pay' : 'fail') as
    | 'COMPLETED'
    | 'FAILED';
  const settledAt: { settledAt?: string } = isReturned ? { settledAt: iso(ctx.now) } : {};
  const updatedPayment = changeTransaction(ctx, row, {
    funds: isReturned ? 'RETURNED' : 'SUSPENSE',
    refund: { ...row.refund, status, ...settledAt },
  });
  if (!isReturned) await awaitDecision(ctx, updatedPayment);
  emitPayment(
    ctx,
    isReturned ? outgoingPayment.REFUND_COMPLETED : outgoingPayment.REFUND_FAILED,
    updatedPayment,
  );
  if (updatedPayment.status !== 'PROCESSING') return updatedPayment;
  const completedPayment = changeTransaction(ctx, updatedPayment, {
    status: transactionFeature.states.outgoing.next(updatedPayment.status, 'settle'),
    settled_at: ctx.now,
  });
  emitPayment(ctx, outgoingPayment.COMPLETED, completedPayment);
  return completedPayment;
}
