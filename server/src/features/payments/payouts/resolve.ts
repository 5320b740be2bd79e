// Decisions on funds in suspense. Funds are returned to the destination of their refund: an internal
// balance, or rail in transit after a manual transfer. A shortfall in suspense is settled with funds that
// were received for it. A decision is applied once, because it removes the suspense item.

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
  canReceiveRefund,
  findRefundBalance,
  isExternallyFunded,
  isRefundedByRail,
} from '../refunds/index.ts';
import {
  type OperatorInput,
  occurrenceOf,
  readSuspenseAmounts,
  recordDecision,
} from '../suspense/index.ts';
import {
  type CardPaymentRow,
  changeTransaction,
  sourceAccountOf,
  type TransactionRow,
  transactionFeature,
} from '../transactions/index.ts';

/** The currency of the party to be refunded, in which the funds of a transaction are in suspense. */
export const suspenseCurrencyOf = (row: TransactionRow): string =>
  row.type === 'INCOMING' ? row.received_currency : row.sent_currency;

/**
 * The balance to which funds in suspense are returned. Undefined if the funds return to an external
 * account, if the account is closed, or if its owner is deleted. An operator then sends the funds
 * manually.
 */
export async function findSuspenseReturnAccount(
  db: Ctx['db'],
  row: TransactionRow,
): Promise<InternalAccountRow | undefined> {
  // Suspense funds of a card payment belong to a closed account.
  if (row.type !== 'OUTGOING' || isRefundedByRail(row)) return undefined;
  const account = isExternallyFunded(row)
    ? await findRefundBalance(db, row)
    : await readInternalAccount(db, sourceAccountOf(row));
  return account && (await canReceiveRefund(db, account)) ? account : undefined;
}

const systemAccountFor = (ctx: Ctx, row: TransactionRow, purpose: SystemAccount): string =>
  systemAccount(ctx.caller.environment, purpose, suspenseCurrencyOf(row));

const readNetInSuspense = async (ctx: Ctx, row: TransactionRow): Promise<Money> => ({
  currency: suspenseCurrencyOf(row),
  amount: (await readSuspenseAmounts(ctx.db, [row.id])).get(row.id) ?? 0n,
});

/** Returns funds from suspense. An account repays its shortfall with these funds. */
function postFromSuspense(
  ctx: Ctx,
  row: TransactionRow,
  account: InternalAccountRow | undefined,
  money: Money,
) {
  const transactionId = row.id;
  ctx.transfer({
    transactionId,
    step: `resolve${occurrenceOf(row)}`,
    debit: systemAccountFor(ctx, row, 'suspense'),
    credit: account?.id ?? systemAccountFor(ctx, row, 'rail_in_transit'),
    ...money,
    // A frozen account can receive returned funds.
    force: true,
  });
  if (!account) return;
  // `force` skips the freeze check. The unchanged row ensures that the account is not closed concurrently.
  if (account.owed === 0n) requireInternalAccount(ctx, account);
  repayShortfall(ctx, account, { transactionId, step: 'resolve.owed', ...money });
}

/**
 * A card payment continues while its funds are in suspense. The change of the row makes the commit fail if
 * the payment changed concurrently, so that amount and suspense item are consistent.
 */
const requireUnchanged = (ctx: Ctx, row: CardPaymentRow): void =>
  void changeTransaction(ctx, row, {});

const missingReferenceFault = (): Fault =>
  new Fault(
    'CONFLICT',
    'The funds return to an external account. Send the funds, then repeat the request with the ' +
      'bank reference.',
  );

/** Records that funds of a card payment for a closed account were sent to its owner manually. */
async function recordManualReturn(
  ctx: Ctx,
  row: CardPaymentRow,
  input: OperatorInput,
): Promise<CardPaymentRow> {
  const funds = await readNetInSuspense(ctx, row);
  if (funds.amount <= 0n) throw new Fault('CONFLICT', 'The transaction has no funds in suspense.');
  if (input.reference === undefined) throw missingReferenceFault();
  requireUnchanged(ctx, row);
  postFromSuspense(ctx, row, undefined, funds);
  await recordDecision(ctx, row, 'returned', input);
  return row;
}

/**
 * Returns all funds that the transaction has in suspense. A failed refund is then COMPLETED. Throws
 * CONFLICT without such funds, or if a bank reference is missing or not allowed.
 */
export async function returnSuspenseFunds(
  ctx: Ctx,
  row: TransactionRow,
  input: OperatorInput,
): Promise<TransactionRow> {
  if (row.type === 'CARD') return recordManualReturn(ctx, row, input);
  if (row.funds !== 'SUSPENSE' || row.refund?.status !== 'FAILED') {
    const refund = row.refund ? `, and its refund is ${row.refund.status}` : '';
    throw new Fault(
      'CONFLICT',
      `The transaction has no funds in suspense. It is ${row.status}${refund}.`,
    );
  }
  const account = await findSuspenseReturnAccount(ctx.db, row);
  if (account && input.reference !== undefined) {
    throw new Fault(
      'CONFLICT',
      `The funds return to ${account.id}. Do not send them manually. Omit the bank reference.`,
    );
  }
  if (!account && input.reference === undefined) throw missingReferenceFault();
  const funds = await readNetInSuspense(ctx, row);
  // The amount is zero if the bank has returned the debit that funded the payment.
  if (funds.amount > 0n) await postAndNotify(ctx, () => postFromSuspense(ctx, row, account, funds));
  const status = transactionFeature.states.refund.next('FAILED', 'resolve') as 'COMPLETED';
  const updatedTransaction = changeTransaction(ctx, row, {
    funds: 'RETURNED',
    refund: { ...row.refund, status, settledAt: iso(ctx.now) },
  });
  emitPayment(ctx, eventsOf(updatedTransaction).REFUND_COMPLETED, updatedTransaction);
  await recordDecision(ctx, updatedTransaction, 'returned', input);
  return updatedTransaction;
}

/**
 * Covers a shortfall in suspense with received funds. The return of a debit or deposit causes a
 * shortfall if no account can be debited. Throws CONFLICT without a shortfall.
 */
export async function settleSuspenseShortfall(
  ctx: Ctx,
  row: TransactionRow,
  input: OperatorInput,
): Promise<void> {
  const { currency, amount } = await readNetInSuspense(ctx, row);
  if (amount >= 0n) throw new Fault('CONFLICT', 'The transaction has no shortfall in suspense.');
  if (row.type === 'CARD') requireUnchanged(ctx, row);
  ctx.transfer({
    transactionId: row.id,
    step: `cover${occurrenceOf(row)}`,
    debit: systemAccountFor(ctx, row, 'rail_in_transit'),
    credit: systemAccountFor(ctx, row, 'suspense'),
    currency,
    amount: -amount,
  });
  await recordDecision(ctx, row, 'settled', input);
}
