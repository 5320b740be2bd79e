// What a person decides about money in suspense. Parked money goes where its refund would have put it: onto
// a balance inside, or out through clearing when somebody has sent it back by hand; the refund that had
// failed is complete then. Money that is missing, because a bank took a pull back and nobody had an account
// to answer for it, is made good with money that came in for it. Each is done once: the row of the queue
// goes with it.

import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Money } from '../../../kernel/money.ts';
import { type SystemAccount, systemAccount } from '../../../ledger/chart.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  type InternalAccountRow,
  readInternalAccount,
  requireInternalAccount,
} from '../../balances/internal-accounts/index.ts';
import { repayShortfall } from '../../balances/shortfalls/index.ts';
import { emitPayment, eventsOf, postAndNotify } from '../presentation/index.ts';
import {
  balanceFor,
  canReceiveRefund,
  isExternallyFunded,
  isRefundedByRail,
} from '../refunds/index.ts';
import { inSuspense, occurrenceOf, recordDecision, type Said } from '../suspense/index.ts';
import {
  type CardPaymentRow,
  changeTransaction,
  sourceAccountOf,
  type TransactionRow,
  transactionFeature,
} from '../transactions/index.ts';

/** The currency in which a transaction's money is parked: that of whoever gets it back. */
export const suspenseCurrency = (row: TransactionRow): string =>
  row.type === 'INCOMING' ? row.received_currency : row.sent_currency;

/**
 * The balance that parked money goes back to; none when it came from outside and has to go back there, or
 * when its account is closed or its owner gone: then somebody has to find them.
 */
export async function suspenseReturnAccount(
  db: Ctx['db'],
  row: TransactionRow,
): Promise<InternalAccountRow | undefined> {
  // What a card payment has there is of an account that was closed.
  if (row.type !== 'OUTGOING' || isRefundedByRail(row)) return undefined;
  const account = isExternallyFunded(row)
    ? await balanceFor(db, row)
    : await readInternalAccount(db, sourceAccountOf(row));
  return account && (await canReceiveRefund(db, account)) ? account : undefined;
}

const purse = (ctx: Ctx, row: TransactionRow, purpose: SystemAccount): string =>
  systemAccount(ctx.caller.environment, purpose, suspenseCurrency(row));

const ownNet = async (ctx: Ctx, row: TransactionRow): Promise<Money> => ({
  currency: suspenseCurrency(row),
  amount: (await inSuspense(ctx.db, [row.id])).get(row.id) ?? 0n,
});

/** Out of suspense; an account pays off with it what its owner owes. */
function moveBack(
  ctx: Ctx,
  row: TransactionRow,
  account: InternalAccountRow | undefined,
  money: Money,
) {
  const transactionId = row.id;
  ctx.transfer({
    transactionId,
    step: `resolve${occurrenceOf(row)}`,
    debit: purse(ctx, row, 'suspense'),
    credit: account?.id ?? purse(ctx, row, 'rail_in_transit'),
    ...money,
    // The account may be frozen: what goes back was its own.
    force: true,
  });
  if (!account) return;
  // Its gate is not asked, so that it is not closed meanwhile is asked of the row.
  if (account.owed === 0n) requireInternalAccount(ctx, account);
  repayShortfall(ctx, account, { transactionId, step: 'resolve.owed', ...money });
}

/**
 * A payment with a card goes on while its money waits: what it has in suspense and whether that is on the
 * list are of one moment only if nothing happened to it meanwhile, on either side.
 */
const lean = (ctx: Ctx, row: CardPaymentRow): void => void changeTransaction(ctx, row, {});

const sendFirst = (): Fault =>
  new Fault(
    'CONFLICT',
    'The funds return to an outside account. Send them, then pass the bank ' +
      'reference as --reference.',
  );

/** What came back of a payment with a card for a closed account was sent to its owner by hand. */
async function sentByHand(ctx: Ctx, row: CardPaymentRow, said: Said): Promise<CardPaymentRow> {
  const parked = await ownNet(ctx, row);
  if (parked.amount <= 0n) throw new Fault('CONFLICT', 'The transaction has no funds in suspense.');
  if (said.reference === undefined) throw sendFirst();
  lean(ctx, row);
  moveBack(ctx, row, undefined, parked);
  await recordDecision(ctx, row, 'returned', said);
  return row;
}

/** Everything that the transaction has in suspense goes back; throws CONFLICT where nothing can. */
export async function returnSuspenseFunds(
  ctx: Ctx,
  row: TransactionRow,
  said: Said,
): Promise<TransactionRow> {
  if (row.type === 'CARD') return sentByHand(ctx, row, said);
  if (row.funds !== 'SUSPENSE' || row.refund?.status !== 'FAILED') {
    const refund = row.refund ? `, and its refund is ${row.refund.status}` : '';
    throw new Fault(
      'CONFLICT',
      `The transaction has no funds in suspense: it is ${row.status}${refund}.`,
    );
  }
  const account = await suspenseReturnAccount(ctx.db, row);
  if (account && said.reference !== undefined) {
    throw new Fault(
      'CONFLICT',
      `The funds return to ${account.id}. Do not send them manually; omit --reference.`,
    );
  }
  if (!account && said.reference === undefined) throw sendFirst();
  const parked = await ownNet(ctx, row);
  // Nothing is left where the bank has taken back the pull that brought it.
  if (parked.amount > 0n) await postAndNotify(ctx, () => moveBack(ctx, row, account, parked));
  const status = transactionFeature.states.refund.next('FAILED', 'resolve') as 'COMPLETED';
  const done = changeTransaction(ctx, row, {
    funds: 'RETURNED',
    refund: { ...row.refund, status, settledAt: iso(ctx.now) },
  });
  emitPayment(ctx, eventsOf(done).REFUND_COMPLETED, done);
  await recordDecision(ctx, done, 'returned', said);
  return done;
}

/** Money has come in for what was missing; throws CONFLICT where nothing is. */
export async function settleSuspenseShortfall(
  ctx: Ctx,
  row: TransactionRow,
  said: Said,
): Promise<void> {
  const { currency, amount } = await ownNet(ctx, row);
  if (amount >= 0n) throw new Fault('CONFLICT', 'The transaction has no shortfall in suspense.');
  if (row.type === 'CARD') lean(ctx, row);
  ctx.transfer({
    transactionId: row.id,
    step: `found${occurrenceOf(row)}`,
    debit: purse(ctx, row, 'rail_in_transit'),
    credit: purse(ctx, row, 'suspense'),
    currency,
    amount: -amount,
  });
  await recordDecision(ctx, row, 'settled', said);
}
