// Money that we take from an account outside, with its owner's consent. While the rail has it under way it
// shows in the account's total; it can be spent once the rail says that it is ours. A pull that fails has
// taken nothing from anybody, so nothing goes back.

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
import { takeOff } from './books.ts';
import { fateAt, holdArrived, isHeld, releaseDeposit, reverseDeposit } from './deposit.ts';
import { completeOn, fail, failAndReturn, followUp, hold, incomingReason } from './ends.ts';
import { PULL } from './kinds.ts';

interface Pull {
  source: ExternalAccountRow;
  account: InternalAccountRow;
  /** How the platform knows the owner of both; its own id where it owns them. */
  platformCustomerId: string;
  rail: string;
  amount: bigint;
}

/** Stages the transaction of a pull that has not begun. */
export function stagePull(ctx: Ctx, given: Pull): IncomingRow {
  const { source, account, amount } = given;
  const { currency } = account;
  return insertTransaction(ctx, {
    id: ctx.id('Transaction'),
    platform_id: ctx.caller.platformId,
    customer_id: account.customer_id,
    platform_customer_id: given.platformCustomerId,
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
    rail: given.rail,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
}

/** Stages the job that sends it. The answer is the transaction as it was accepted. */
export function startPull(ctx: Ctx, row: IncomingRow): IncomingRow {
  const started = changeTransaction(ctx, row, { funds: 'AWAITED', sent_at: ctx.now });
  emitPayment(ctx, incomingPayment.PENDING, started);
  ctx.later(PULL, { transactionId: row.id, ask: 'send' });
  return started;
}

/** Whether an incoming transaction is one that we took. */
export const isPull = (row: IncomingRow): boolean =>
  row.source?.sourceType === 'ACCOUNT' && row.rail !== null;

async function targetOf(ctx: Ctx, row: IncomingRow) {
  const account = await readInternalAccount(ctx, row.destination_account);
  const owner = row.customer_id === null ? null : await readCustomer(ctx, row.customer_id);
  return { account, fate: fateAt(account, owner ?? null) };
}

/** Of a pull that has failed now: what it took of the limits of the agent that asked for it. */
async function giveBack(ctx: Ctx, before: IncomingRow, after: IncomingRow) {
  const failed = before.status !== 'FAILED' && after.status === 'FAILED';
  if (failed && after.agent_id !== null) await reverseUsage(ctx, after);
  return after;
}

/** The rail has it under way: it counts, and cannot be spent. */
async function acceptPull(ctx: Ctx, row: IncomingRow): Promise<IncomingRow> {
  if (row.status !== 'PENDING' || row.funds !== 'AWAITED') return row;
  const accepted = {
    status: transactionFeature.states.incoming.next(row.status, 'accept'),
  } as const;
  const { account, fate } = await targetOf(ctx, row);
  // An account that closed meanwhile shows nothing; what arrives for it goes back when it does.
  if (!account || fate === 'bounce') return changeTransaction(ctx, row, accepted);
  await hold(ctx, row, account);
  return changeTransaction(ctx, row, { ...accepted, funds: 'HELD' });
}

/** The money is ours. */
async function settlePull(ctx: Ctx, row: IncomingRow): Promise<IncomingRow> {
  if (row.funds !== 'AWAITED' && !isHeld(row)) return row;
  const { account, fate } = await targetOf(ctx, row);
  if (account && fate === 'hold') return holdArrived(ctx, row, account);
  if (isHeld(row)) return releaseDeposit(ctx, row);
  if (account && fate === 'take') return completeOn(ctx, row, account);
  return giveBack(ctx, row, failAndReturn(ctx, row, 'COLLECTION_FAILED'));
}

/** Whether the rail has settled it, though nobody may spend it yet. */
const hasArrived = (row: IncomingRow): boolean => isHeld(row) && row.pending_reason !== null;

/** It did not come, or not for good before we had it. */
async function failPull(
  ctx: Ctx,
  row: IncomingRow,
  reason: FailureReason = 'COLLECTION_FAILED',
): Promise<IncomingRow> {
  if (isHeld(row)) {
    const failed = fail(ctx, row, reason, 'RETURNED');
    await postAndNotify(ctx, () => takeOff(ctx, row, row.destination_account));
    return giveBack(ctx, row, failed);
  }
  return row.funds === 'AWAITED' ? giveBack(ctx, row, fail(ctx, row, reason, 'NONE')) : row;
}

/** The rail agreed to call it back; what has arrived by then can only be returned. */
export const cancelPull = async (ctx: Ctx, row: IncomingRow): Promise<IncomingRow> =>
  hasArrived(row) ? row : failPull(ctx, row);

/** What the rail's answer about a pull means for it; also the door for notices. */
export async function applyPullStatus(
  ctx: Ctx,
  row: IncomingRow,
  progress: Progress,
): Promise<void> {
  switch (progress.state) {
    case 'unknown':
    case 'accepted':
    case 'settled':
      if (progress.state === 'accepted') await acceptPull(ctx, row);
      if (progress.state === 'settled') await settlePull(ctx, row);
      return followUp(ctx, row, [PULL, 'pull'], progress);
    case 'returned': {
      const reason = incomingReason(progress.reason, 'COLLECTION_FAILED');
      if (row.status === 'COMPLETED') {
        return void (await giveBack(ctx, row, await reverseDeposit(ctx, row, reason)));
      }
      return void (await failPull(ctx, row, reason));
    }
    case 'failed':
      // What has settled leaves an account only when it is said to have been returned.
      if (hasArrived(row)) return;
      return void (await failPull(ctx, row, incomingReason(progress.reason, 'COLLECTION_FAILED')));
    case 'cancelled':
      return void (await cancelPull(ctx, row));
    default:
      return assertNever(progress, 'transfer progress');
  }
}
