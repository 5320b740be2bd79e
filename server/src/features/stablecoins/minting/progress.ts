// Applies the provider's state of a mint or burn. Only the provider can determine whether tokens or
// funds were transferred, so only its response or a record of the operator makes a submitted
// operation final. A call without a response is repeated. An expired operation may still complete,
// so it is polled for another week.
import { Type } from '@sinclair/typebox';
import type { OrderProgress } from '../../../connectors/ports/stablecoins.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import type { Time } from '../../../kernel/effects.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { recordAccountAction } from '../../balances/account-actions/index.ts';
import { type OperationEvent, operationStates } from '../states.ts';
import { mintsAndBurns, type StablecoinOperationRow } from '../store.ts';
import { postHold, postLate, voidHold } from '../supply/supply.ts';

export const OperationInput = Type.Object({ operationId: Type.String() });

/** Polls an order. */
export const CHECK = defineJob('stablecoins.check', OperationInput);

/** Interval of polls if the provider does not state one. */
const DEFAULT_INTERVAL_MS = 60_000;
/** Shortest interval of polls. */
const MIN_INTERVAL_MS = 1_000;

/** Interval and duration of polls of an EXPIRED operation. */
const LATE_INTERVAL_MS = 3_600_000;
const LATE_PERIOD_MS = 7 * 24 * LATE_INTERVAL_MS;

const CANCELLED = 'PROVIDER_CANCELLED';
const ENDED_BY_OPERATOR = 'ENDED_BY_SERVICE';

/** Event of each state that the provider reports. `unknown` has no effect. */
export const EVENTS: Readonly<Record<OrderProgress['state'], OperationEvent | undefined>> = {
  unknown: undefined,
  funding: 'fund',
  submitted: 'submit',
  processing: 'process',
  completed: 'complete',
  failed: 'fail',
  expired: 'expire',
};

export const isFinalStatus = ({ status }: Pick<StablecoinOperationRow, 'status'>): boolean =>
  Object.keys(operationStates.transitions[status]).length === 0;

/** Whether no payment was reported for the operation. */
const isUnpaid = ({ status }: StablecoinOperationRow): boolean =>
  operationStates.targetOf(status, 'expire') !== undefined;

/** Event of the reported state. An unpaid order expires at the deadline of its provider. */
function eventOf(
  row: StablecoinOperationRow,
  { state }: OrderProgress,
  polledAt: Time,
): OperationEvent | undefined {
  const isLate = row.expires_at !== null && polledAt >= row.expires_at;
  if (state === 'funding' && isUnpaid(row) && isLate) return 'expire';
  // A paid order does not expire, so the provider has canceled it.
  return state === 'expired' && !isUnpaid(row) ? 'fail' : EVENTS[state];
}

/** Time of the next poll. An unpaid operation is polled at its deadline at the latest. */
function nextPollTime(
  row: StablecoinOperationRow,
  { checkAfterMs }: OrderProgress,
  now: Time,
): Time {
  const pollAt = now + Math.max(MIN_INTERVAL_MS, Math.ceil(checkAfterMs ?? DEFAULT_INTERVAL_MS));
  const isAwaitingFunding = row.status === 'PENDING_FUNDING' && row.expires_at !== null;
  return isAwaitingFunding
    ? Math.max(now + MIN_INTERVAL_MS, Math.min(pollAt, row.expires_at as Time))
    : pollAt;
}

/**
 * Schedules the next poll of an EXPIRED operation. A week after the expiry, records the end of the
 * polls.
 */
function pollLate(ctx: Ctx, row: StablecoinOperationRow): void {
  const pollEnd = (row.expired_at ?? row.updated_at) + LATE_PERIOD_MS;
  if (ctx.now < pollEnd) {
    const pollAt = Math.min(ctx.now + LATE_INTERVAL_MS, pollEnd);
    ctx.later(CHECK, { operationId: row.id }, pollAt);
  } else {
    const reason = 'Not paid within a week after the expiry. The provider is no longer polled.';
    recordAccountAction(ctx, row, { actor: 'service', action: 'expire', reason });
  }
}

/** Sets the status COMPLETED, FAILED or EXPIRED, with the postings of the operation. */
async function setFinalStatus(
  ctx: Ctx,
  row: StablecoinOperationRow,
  event: 'complete' | 'fail' | 'expire',
  patch: { provider_status?: string; failure_reason?: string },
): Promise<StablecoinOperationRow> {
  const status = operationStates.next(row.status, event);
  const isLate = row.status === 'EXPIRED';
  const lateColumns = isLate ? { uncounted: await postLate(ctx, row, 'transfer') } : {};
  const expiryColumns = event === 'expire' ? { expired_at: ctx.now } : {};
  const change = { ...patch, ...lateColumns, ...expiryColumns, status, updated_at: ctx.now };
  if (event !== 'complete') voidHold(ctx, row);
  else if (!isLate) postHold(ctx, row);
  return ctx.update(mintsAndBurns, row, change);
}

/** Fails an operation that the provider has not received. */
export const failUnsubmitted = (ctx: Ctx, row: StablecoinOperationRow, reason: string) =>
  setFinalStatus(ctx, row, 'fail', { failure_reason: reason });

/**
 * Records the outcome that the operator reports. The lifecycle defines the possible transitions. An
 * unpaid operation that was submitted becomes EXPIRED instead of FAILED, and its provider is still
 * polled.
 */
export async function endByOperator(
  ctx: Ctx,
  row: StablecoinOperationRow,
  outcome: 'complete' | 'fail',
  reason: string,
): Promise<StablecoinOperationRow> {
  const event =
    outcome === 'fail' && isUnpaid(row) && row.submitted_at !== null ? 'expire' : outcome;
  recordAccountAction(ctx, row, { actor: 'operator', action: event, reason });
  const updatedOperation = await setFinalStatus(
    ctx,
    row,
    event,
    event === 'fail' ? { failure_reason: ENDED_BY_OPERATOR } : {},
  );
  // In other statuses the operation already has a job that polls.
  if (event === 'expire' && row.status === 'CREATED') pollLate(ctx, updatedOperation);
  return updatedOperation;
}

/** Whether the provider reports a failure, or an expiry after which no payment is possible. */
const isFinalFailure = (progress: OrderProgress): boolean =>
  progress.state === 'failed' || (progress.state === 'expired' && progress.final === true);

/** Stages the response to a submission or a poll. Ignored if the status is final. */
export async function applyProgress(
  ctx: Ctx,
  row: StablecoinOperationRow,
  progress: OrderProgress,
  polledAt: Time,
): Promise<void> {
  if (isFinalStatus(row)) return;
  if (row.status === 'EXPIRED') return applyLateProgress(ctx, row, progress);
  const { providerStatus: provider_status } = progress;
  const event = eventOf(row, progress, polledAt);
  if (event === 'complete') await setFinalStatus(ctx, row, event, { provider_status });
  else if (event === 'expire') {
    const expiredOperation = await setFinalStatus(ctx, row, event, { provider_status });
    if (!isFinalFailure(progress)) pollLate(ctx, expiredOperation);
  } else if (event === 'fail') {
    await setFinalStatus(ctx, row, event, { provider_status, failure_reason: failureOf(progress) });
  } else continueWith(ctx, row, event, progress);
}

const failureOf = (progress: OrderProgress): string =>
  progress.state === 'failed' ? progress.reason : CANCELLED;

/** Applies a state that a message reports and the lifecycle permits. The scheduled poll remains. */
export async function applyReported(
  ctx: Ctx,
  row: StablecoinOperationRow,
  progress: OrderProgress,
): Promise<void> {
  const { providerStatus: provider_status } = progress;
  const event = EVENTS[progress.state];
  if (event === undefined) return;
  if (event === 'complete' || event === 'fail' || event === 'expire') {
    const failure = event === 'fail' ? { failure_reason: failureOf(progress) } : {};
    await setFinalStatus(ctx, row, event, { provider_status, ...failure });
  } else {
    const status = operationStates.next(row.status, event);
    ctx.update(mintsAndBurns, row, { status, provider_status, updated_at: ctx.now });
  }
}

/** The status of an EXPIRED operation changes only by a payment. */
async function applyLateProgress(
  ctx: Ctx,
  row: StablecoinOperationRow,
  progress: OrderProgress,
): Promise<void> {
  const { state, providerStatus: provider_status } = progress;
  if (state === 'completed')
    return void (await setFinalStatus(ctx, row, 'complete', { provider_status }));
  if (state === 'submitted' || state === 'processing') {
    const uncountedAmount = await postLate(ctx, row, 'hold');
    const updatedOrder = ctx.update(mintsAndBurns, row, { uncounted: uncountedAmount });
    return continueWith(ctx, updatedOrder, 'process', progress);
  }
  if (provider_status !== row.provider_status) {
    ctx.update(mintsAndBurns, row, { provider_status, updated_at: ctx.now });
  }
  if (!isFinalFailure(progress)) pollLate(ctx, row);
}

/** Stages the status of an operation that continues, and its next poll. */
function continueWith(
  ctx: Ctx,
  row: StablecoinOperationRow,
  event: OperationEvent | undefined,
  progress: OrderProgress,
): void {
  const { providerStatus: provider_status } = progress;
  const status = (event && operationStates.targetOf(row.status, event)) ?? row.status;
  const isChanged = status !== row.status || provider_status !== row.provider_status;
  const updatedOrder = isChanged
    ? ctx.update(mintsAndBurns, row, { status, provider_status, updated_at: ctx.now })
    : row;
  ctx.later(CHECK, { operationId: row.id }, nextPollTime(updatedOrder, progress, ctx.now));
}
