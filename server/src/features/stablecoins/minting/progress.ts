// What it means how far a mint or burn has come at its provider. It is the provider alone who knows whether
// tokens or money have moved, so nothing ends without its word: not by the clock, which only says when to
// ask, and not because it stopped answering. It may even complete what it had let expire, so that is asked
// about for a week more. The operator alone can end one without it, having found out otherwise.
import { Type } from '@sinclair/typebox';
import type { OrderProgress } from '../../../connectors/ports/stablecoins.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import type { Time } from '../../../kernel/effects.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { recordAccountAction } from '../../balances/account-actions/index.ts';
import { type OperationEvent, operationStates } from '../states.ts';
import { mintsAndBurns, type StablecoinOperationRow } from '../store.ts';
import { carryOut, giveBack, takeLate } from '../supply/supply.ts';

/** Asks again how an order goes. */
export const OperationInput = Type.Object({ operationId: Type.String() });

export const CHECK = defineJob('stablecoins.check', OperationInput);

/** When to ask again where the provider does not say, and at the soonest. */
const USUAL_MS = 60_000;
const SOONEST_MS = 1_000;

/** How often, and how long, it is asked about one that is EXPIRED. */
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

/** Whether nothing was paid for it yet, as far as we know. */
const isUnpaid = ({ status }: StablecoinOperationRow): boolean =>
  operationStates.peek(status, 'expire') !== undefined;

/** A provider that still waits to be paid when it is asked after the time it gave waits no more. */
function eventOf(
  row: StablecoinOperationRow,
  { state }: OrderProgress,
  asked: Time,
): OperationEvent {
  const isLate = row.expires_at !== null && asked >= row.expires_at;
  if (state === 'funding' && isUnpaid(row) && isLate) return 'expire';
  // What was paid for does not run out: the provider gave it up.
  return state === 'expired' && !isUnpaid(row) ? 'fail' : EVENTS[state];
}

/** When to ask next; a wait for money ends when its time does. */
function nextAt(row: StablecoinOperationRow, { checkAfterMs }: OrderProgress, now: Time): Time {
  const at = now + Math.max(SOONEST_MS, Math.ceil(checkAfterMs ?? USUAL_MS));
  const waits = row.status === 'PENDING_FUNDING' && row.expires_at !== null;
  return waits ? Math.max(now + SOONEST_MS, Math.min(at, row.expires_at as Time)) : at;
}

/** Asks again about one that is EXPIRED; in a week's time that is written down as the last time. */
function askOn(ctx: Ctx, row: StablecoinOperationRow): void {
  const until = (row.expired_at ?? row.updated_at) + LATE_MS;
  if (ctx.now < until) {
    const at = Math.min(ctx.now + LATE_EVERY_MS, until);
    ctx.later(CHECK, { operationId: row.id }, at);
  } else {
    const reason = 'A week after it expired nobody had paid: the provider is not asked any more.';
    recordAccountAction(ctx, row, { actor: 'service', action: 'expire', reason });
  }
}

/** Ends an operation, and does to the books what its end means. */
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

/** Fails one of which the provider cannot know. */
export const failUnordered = (ctx: Ctx, row: StablecoinOperationRow, reason: string) =>
  end(ctx, row, 'fail', { failure_reason: reason });

/**
 * Ends one as the operator found that it ended; the table of states says which can be. What may still be
 * paid for, or is being handed over at this moment, does not fail for good: its provider is asked on.
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
  // A job asks about the others already.
  if (event === 'expire' && row.status === 'CREATED') askOn(ctx, ended);
  return ended;
}

/** Whether whoever was asked says that nothing more comes of it. */
const isFinal = (progress: OrderProgress): boolean =>
  progress.state === 'failed' || (progress.state === 'expired' && progress.final === true);

/** Stages what an answer to a question means; one about an operation that is over means nothing. */
export async function heed(
  ctx: Ctx,
  row: StablecoinOperationRow,
  progress: OrderProgress,
  asked: Time,
): Promise<void> {
  if (isOver(row)) return;
  if (row.status === 'EXPIRED') return heedLate(ctx, row, progress);
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

/** Of one that is EXPIRED only that it was paid for changes anything. */
async function heedLate(
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

/** Stages how far it is. Of what we know already, or less, only the provider's words are kept. */
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
