// Cancellation of transactions, and confirmation of receipt delivery.

import type { Static } from '@sinclair/typebox';
import { debitRailOf } from '../../../catalog/accounts/account-info.ts';
import { type PaymentRail, RAILS } from '../../../catalog/rails/rails.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { readExternalAccount } from '../../payees/external-accounts/index.ts';
import { presentTransaction, type TransactionOneOf, transactionOf } from '../presentation/index.ts';
import { CANCEL_PAYOUT, CancelInput } from '../refunds/index.ts';
import { changeTransaction, type PaymentRow, sourceAccountOf } from '../transactions/index.ts';
import { cancelTransaction, confirmReceiptDelivery } from './contract.ts';
import { requestCancel } from './payment.ts';

type TransactionView = Static<typeof TransactionOneOf>;

/** Jobs that cancel debits: of incoming payments, and of the funding of outgoing payments. */
export const CANCEL_DEBIT = defineJob('incoming.cancel', CancelInput);
export const CANCEL_FUNDING = defineJob('funding.cancel', CancelInput);

const isInProgress = (row: PaymentRow) => row.status === 'PENDING' || row.status === 'PROCESSING';

/**
 * The transfer of a transaction that could be canceled: its job and rail, and whether it is in
 * progress.
 */
async function readCancellableTransfer(ctx: Ctx, row: PaymentRow) {
  const isAwaited = row.funds === 'AWAITED';
  if (row.type === 'INCOMING') {
    const isDebit = row.source?.sourceType === 'ACCOUNT';
    // Funds that are held for review have already settled.
    const isOpen =
      isInProgress(row) && (isAwaited || row.funds === 'HELD') && row.pending_reason === null;
    return { job: CANCEL_DEBIT, rail: isDebit ? row.rail : null, open: isOpen };
  }
  if (isAwaited) {
    const source = await readExternalAccount(ctx, sourceAccountOf(row));
    return { job: CANCEL_FUNDING, rail: (source && debitRailOf(source.info)) ?? null, open: true };
  }
  const isOpen = row.status === 'PROCESSING' && (row.funds === 'HELD' || row.funds === 'SUBMITTED');
  return { job: CANCEL_PAYOUT, rail: row.rail, open: isOpen };
}

/**
 * Stages the cancellation request. Throws TRANSACTION_NOT_CANCELLABLE, and INVALID_INPUT for a rail
 * without cancellation.
 */
async function cancel(ctx: Ctx, row: PaymentRow): Promise<PaymentRow> {
  const { job, rail, open: isOpen } = await readCancellableTransfer(ctx, row);
  if (!isOpen || row.refund) {
    const reason =
      'The payment cannot be canceled, because it has not started, has settled, or is being refunded.';
    throw new Fault('TRANSACTION_NOT_CANCELLABLE', reason);
  }
  if (rail === null || !RAILS[rail as PaymentRail].cancellable) {
    const reason = 'Only payments over ACH or wire can be canceled.';
    throw new Fault('INVALID_INPUT', reason, { paymentRail: rail });
  }
  return requestCancel(ctx, row, job);
}

export const lifecycleOperations = [
  handle(cancelTransaction, async (ctx, { params }) => {
    const row = await cancel(ctx, await transactionOf(ctx, params.transactionId));
    return { status: 200, body: presentTransaction(row) as TransactionView };
  }),
  handle(confirmReceiptDelivery, async (ctx, { params, body }) => {
    const row = await transactionOf(ctx, params.transactionId);
    const confirmedAt = body.receiptDeliveryConfirmedAt;
    const confirmationTime = confirmedAt === undefined ? ctx.now : Date.parse(confirmedAt);
    if (confirmationTime > ctx.now)
      throw invalidField('receiptDeliveryConfirmedAt', 'must not be in the future');
    const updatedPayment = changeTransaction(ctx, row, { receipt_confirmed_at: confirmationTime });
    return { status: 200, body: presentTransaction(updatedPayment) as TransactionView };
  }),
];
