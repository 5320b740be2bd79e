// Direct debits of external accounts with the consent of their owner. The amount of a debit that
// the rail has accepted is in the total balance of the internal account. It becomes available at
// settlement. A failed debit has collected no funds, so no funds are returned.

import type { Progress } from '../../../connectors/ports/index.ts';
import { assertNever } from '../../../kernel/assert-never.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  type InternalAccountRow,
  readInternalAccount,
} from '../../balances/internal-accounts/index.ts';
import { reverseUsage } from '../../balances/velocity-limits/index.ts';
import { readCustomer } from '../../customers/records/index.ts';
import type { ExternalAccountRow } from '../../payees/external-accounts/index.ts';
import { emitPayment, incomingPayment, postAndNotify } from '../presentation/index.ts';
import {
  changeTransaction,
  type FailureReason,
  type IncomingRow,
  insertTransaction,
  transactionFeature,
} from '../transactions/index.ts';
import {
  dispositionAt,
  holdArrivedFunds,
  isHeld,
  releaseDeposit,
  reverseDeposit,
} from './deposit.ts';
import { completeOn, fail, failAndReturn, followUp, hold, incomingReason } from './final-steps.ts';
import { DEBIT } from './kinds.ts';
import { postHeld } from './postings.ts';

interface DebitInput {
  source: ExternalAccountRow;
  account: InternalAccountRow;
  /** `platformCustomerId` of the owner of both accounts. The platform's ID if it owns them. */
  platformCustomerId: string;
  rail: string;
  amount: bigint;
}

/** Stages the transaction of a debit without starting it. */
export function stageDebit(ctx: Ctx, debit: DebitInput): IncomingRow {
  const { source, account, amount } = debit;
  const { currency } = account;
  return insertTransaction(ctx, {
    id: ctx.id('Transaction'),
    platform_id: ctx.caller.platformId,
    customer_id: account.customer_id,
    platform_customer_id: debit.platformCustomerId,
    type: 'INCOMING',
    direction: 'CREDIT',
    status: 'PENDING',
    funds: 'NONE',
    source: { sourceType: 'ACCOUNT', accountId: source.id, currency },
    destination: { destinationType: 'ACCOUNT', accountId: account.id, currency },
    source_account: source.id,
    destination_account: account.id,
    sent_amount: amount,
    sent_currency: currency,
    received_amount: amount,
    received_currency: currency,
    agent_id: ctx.caller.agentId,
    rail: debit.rail,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
}

/** Stages the job that sends the debit. */
export function startDebit(ctx: Ctx, row: IncomingRow): IncomingRow {
  const startedPayment = changeTransaction(ctx, row, { funds: 'AWAITED', sent_at: ctx.now });
  emitPayment(ctx, incomingPayment.PENDING, startedPayment);
  ctx.later(DEBIT, { transactionId: row.id, request: 'send' });
  return startedPayment;
}

export const isDebit = (row: IncomingRow): boolean =>
  row.source?.sourceType === 'ACCOUNT' && row.rail !== null;

async function targetOf(ctx: Ctx, row: IncomingRow) {
  const account = await readInternalAccount(ctx, row.destination_account);
  const owner = row.customer_id === null ? null : await readCustomer(ctx, row.customer_id);
  return { account, disposition: dispositionAt(account, owner ?? null) };
}

/** Reverses the agent's velocity usage if this change made the debit fail. */
async function reverseUsageOnFailure(ctx: Ctx, rowBefore: IncomingRow, rowAfter: IncomingRow) {
  const isFailed = rowBefore.status !== 'FAILED' && rowAfter.status === 'FAILED';
  if (isFailed && rowAfter.agent_id !== null) await reverseUsage(ctx, rowAfter);
  return rowAfter;
}

/** Credits and holds the amount of a debit that the rail has accepted. */
async function acceptDebit(ctx: Ctx, row: IncomingRow): Promise<IncomingRow> {
  if (row.status !== 'PENDING' || row.funds !== 'AWAITED') return row;
  const acceptedColumns = {
    status: transactionFeature.states.incoming.next(row.status, 'accept'),
  } as const;
  const { account, disposition } = await targetOf(ctx, row);
  // A closed account cannot be credited. The funds are returned at settlement.
  if (!account || disposition === 'reject') return changeTransaction(ctx, row, acceptedColumns);
  await hold(ctx, row, account);
  return changeTransaction(ctx, row, { ...acceptedColumns, funds: 'HELD' });
}

async function settleDebit(ctx: Ctx, row: IncomingRow): Promise<IncomingRow> {
  if (row.funds !== 'AWAITED' && !isHeld(row)) return row;
  const { account, disposition } = await targetOf(ctx, row);
  if (account && disposition === 'hold') return holdArrivedFunds(ctx, row, account);
  if (isHeld(row)) return releaseDeposit(ctx, row);
  if (account && disposition === 'credit') return completeOn(ctx, row, account);
  return reverseUsageOnFailure(ctx, row, failAndReturn(ctx, row, 'COLLECTION_FAILED'));
}

/** Whether the debit has settled and the funds are held for review. */
const hasArrived = (row: IncomingRow): boolean => isHeld(row) && row.pending_reason !== null;

/** Fails a debit that failed on the rail or was returned before settlement. */
async function failDebit(
  ctx: Ctx,
  row: IncomingRow,
  reason: FailureReason = 'COLLECTION_FAILED',
): Promise<IncomingRow> {
  if (isHeld(row)) {
    const failedPayment = fail(ctx, row, reason, 'RETURNED');
    await postAndNotify(ctx, () => postHeld(ctx, row, row.destination_account));
    return reverseUsageOnFailure(ctx, row, failedPayment);
  }
  if (row.funds !== 'AWAITED') return row;
  return reverseUsageOnFailure(ctx, row, fail(ctx, row, reason, 'NONE'));
}

/** Applies a cancellation by the rail. A settled debit can only be returned. */
export const cancelDebit = async (ctx: Ctx, row: IncomingRow): Promise<IncomingRow> =>
  hasArrived(row) ? row : failDebit(ctx, row);

/** Applies a status of a debit, from the rail or from an operator. */
export async function applyDebitStatus(
  ctx: Ctx,
  row: IncomingRow,
  progress: Progress,
): Promise<void> {
  switch (progress.state) {
    case 'unknown':
    case 'accepted':
    case 'settled':
      if (progress.state === 'accepted') await acceptDebit(ctx, row);
      if (progress.state === 'settled') await settleDebit(ctx, row);
      return followUp(ctx, row, [DEBIT, 'debit'], progress);
    case 'returned': {
      const reason = incomingReason(progress.reason, 'COLLECTION_FAILED');
      if (row.status === 'COMPLETED') {
        return void (await reverseUsageOnFailure(ctx, row, await reverseDeposit(ctx, row, reason)));
      }
      return void (await failDebit(ctx, row, reason));
    }
    case 'failed':
      // Settled funds are debited only by a return.
      if (hasArrived(row)) return;
      return void (await failDebit(ctx, row, incomingReason(progress.reason, 'COLLECTION_FAILED')));
    case 'cancelled':
      return void (await cancelDebit(ctx, row));
    default:
      return assertNever(progress, 'transfer progress');
  }
}
