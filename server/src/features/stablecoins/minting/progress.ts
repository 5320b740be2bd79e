// Applies the provider's state of a mint or burn. Only the provider knows whether tokens or funds
// have moved, so an operation ends by its answer alone: not by a timeout, which only schedules
// polls, and not because the provider stops answering. An expired one may still complete, so it is
// polled for another week. Only an operator can end one otherwise.
import { Type } from '@sinclair/typebox';
import type { OrderProgress } from '../../../connectors/ports/stablecoins.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import type { Time } from '../../../kernel/effects.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { recordAccountAction } from '../../balances/account-actions/index.ts';
import { type OperationEvent, operationStates } from '../states.ts';
import { mintsAndBurns, type StablecoinOperationRow } from '../store.ts';
import { carryOut, giveBack, takeLate } from '../supply/supply.ts';

/** Polls an order. */
export const OperationInput = Type.Object({ operationId: Type.String() });

export const CHECK = defineJob('stablecoins.check', OperationInput);

/** Default interval, and the shortest one. */
const USUAL_MS = 60_000;
const SOONEST_MS = 1_000;

/** Interval and duration of polls of an EXPIRED operation. */
const LATE_EVERY_MS = 3_600_000;
const LATE_MS = 7 * 24 * LATE_EVERY_MS;

const CANCELLED = 'PROVIDER_CANCELLED';
const BY_OPERATOR = 'ENDED_BY_SERVICE';

const EVENTS: Readonly<Record<OrderProgress['state'], OperationEvent>> = {
  funding: 'fund',
  submitted: 'submit',
  processing: 'process',
  completed: 'complete',
  failed: 'fail',
  expired: 'expire',
};

export const isOver = ({ status }: Pick<StablecoinOperationRow, 'status'>): boolean =>
  Object.keys(operationStates.transitions[status]).length === 0;

/** Whether no payment is known for it. */
const isUnpaid = ({ status }: StablecoinOperationRow): boolean =>
  operationStates.peek(status, 'expire') !== undefined;

/** A provider that waits for a payment beyond the deadline it gave has expired the order. */
function eventOf(
  row: StablecoinOperationRow,
  { state }: OrderProgress,
  asked: Time,
): OperationEvent {
  const isLate = row.expires_at !== null && asked >= row.expires_at;
  if (state === 'funding' && isUnpaid(row) && isLate) return 'expire';
  // A paid order does not expire: the provider cancelled it.
  return state === 'expired' && !isUnpaid(row) ? 'fail' : EVENTS[state];
}

/** Time of the next poll; waiting for a payment ends with its deadline. */
function nextAt(row: StablecoinOperationRow, { checkAfterMs }: OrderProgress, now: Time): Time {
  const at = now + Math.max(SOONEST_MS, Math.ceil(checkAfterMs ?? USUAL_MS));
  const waits = row.status === 'PENDING_FUNDING' && row.expires_at !== null;
  return waits ? Math.max(now + SOONEST_MS, Math.min(at, row.expires_at as Time)) : at;
}

/** Polls an EXPIRED operation again; the last time is recorded after a week. */
function askOn(ctx: Ctx, row: StablecoinOperationRow): void {
  const until = (row.expired_at ?? row.updated_at) + LATE_MS;
  if (ctx.now < until) {
    const at = Math.min(ctx.now + LATE_EVERY_MS, until);
    ctx.later(CHECK, { operationId: row.id }, at);
  } else {
    const reason = 'Not paid within a week after the expiry: the provider is not polled any more.';
    recordAccountAction(ctx, row, { actor: 'service', action: 'expire', reason });
  }
}

/** Ends an operation, with its postings. */
async function end(
  ctx: Ctx,
  row: StablecoinOperationRow,
  event: 'complete' | 'fail' | 'expire',
  patch: { provider_status?: string; failure_reason?: string },
): Promise<StablecoinOperationRow> {
  const status = operationStates.next(row.status, event);
  const isLate = row.status === 'EXPIRED';
  const late = isLate ? { uncounted: await takeLate(ctx, row, 'transfer') } : {};
  const expired = event === 'expire' ? { expired_at: ctx.now } : {};
  const change = { ...patch, ...late, ...expired, status, updated_at: ctx.now };
  if (event !== 'complete') giveBack(ctx, row);
  else if (!isLate) carryOut(ctx, row);
  return ctx.update(mintsAndBurns, row, change);
}

/** Fails an operation that was never submitted. */
export const failUnordered = (ctx: Ctx, row: StablecoinOperationRow, reason: string) =>
  end(ctx, row, 'fail', { failure_reason: reason });

/**
 * Ends an operation as the operator found it; the lifecycle states which transitions exist. One
 * that may still be paid for, or is being submitted, does not fail permanently: its provider is
 * polled further.
 */
export async function endByHand(
  ctx: Ctx,
  row: StablecoinOperationRow,
  as: 'complete' | 'fail',
  reason: string,
): Promise<StablecoinOperationRow> {
  const event = as === 'fail' && isUnpaid(row) && row.submitted_at !== null ? 'expire' : as;
  recordAccountAction(ctx, row, { actor: 'operator', action: event, reason });
  const ended = await end(ctx, row, event, event === 'fail' ? { failure_reason: BY_OPERATOR } : {});
  // The others already have a job.
  if (event === 'expire' && row.status === 'CREATED') askOn(ctx, ended);
  return ended;
}

/** Whether the answer says that the operation has ended. */
const isFinal = (progress: OrderProgress): boolean =>
  progress.state === 'failed' || (progress.state === 'expired' && progress.final === true);

/** Stages the answer to a poll; ignored if the operation has ended. */
export async function applyProgress(
  ctx: Ctx,
  row: StablecoinOperationRow,
  progress: OrderProgress,
  asked: Time,
): Promise<void> {
  if (isOver(row)) return;
  if (row.status === 'EXPIRED') return applyLateProgress(ctx, row, progress);
  const { providerStatus: provider_status } = progress;
  const event = eventOf(row, progress, asked);
  if (event === 'complete') await end(ctx, row, event, { provider_status });
  else if (event === 'expire') {
    const expired = await end(ctx, row, event, { provider_status });
    if (!isFinal(progress)) askOn(ctx, expired);
  } else if (event === 'fail') {
    const failure_reason = progress.state === 'failed' ? progress.reason : CANCELLED;
    await end(ctx, row, event, { provider_status, failure_reason });
  } else goOn(ctx, row, event, progress);
}

/** An EXPIRED operation changes only by a payment. */
async function applyLateProgress(
  ctx: Ctx,
  row: StablecoinOperationRow,
  progress: OrderProgress,
): Promise<void> {
  const { state, providerStatus: provider_status } = progress;
  if (state === 'completed') return void (await end(ctx, row, 'complete', { provider_status }));
  if (state === 'submitted' || state === 'processing') {
    const uncounted = await takeLate(ctx, row, 'hold');
    const again = ctx.update(mintsAndBurns, row, { uncounted });
    return goOn(ctx, again, 'process', progress);
  }
  if (provider_status !== row.provider_status) {
    ctx.update(mintsAndBurns, row, { provider_status, updated_at: ctx.now });
  }
  if (!isFinal(progress)) askOn(ctx, row);
}

/** Stages the progress. If nothing is new only the provider's description is stored. */
function goOn(
  ctx: Ctx,
  row: StablecoinOperationRow,
  event: OperationEvent,
  progress: OrderProgress,
): void {
  const { providerStatus: provider_status } = progress;
  const status = operationStates.peek(row.status, event) ?? row.status;
  const said = status !== row.status || provider_status !== row.provider_status;
  const moved = said
    ? ctx.update(mintsAndBurns, row, { status, provider_status, updated_at: ctx.now })
    : row;
  ctx.later(CHECK, { operationId: row.id }, nextAt(moved, progress, ctx.now));
}
