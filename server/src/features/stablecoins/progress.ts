// What it means how far a mint or burn has come at its provider. It is the provider alone who knows whether
// tokens or money have moved, so nothing ends without its word: not by the clock, which only says when to
// ask, and not because it stopped answering.
import type { OrderProgress } from '../../connectors/ports-stablecoins.ts';
import type { Time } from '../../kernel/world.ts';
import type { Ctx } from '../../runtime/context.ts';
import { type OperationEvent, operationStates } from './states.ts';
import { type StablecoinOperationRow, stablecoinOperations } from './store.ts';
import { carryOut, giveBack } from './supply.ts';

/** Asks again how an order goes. */
export const CHECK = 'stablecoins.check';

/** When to ask again where the provider does not say, and at the soonest. */
const USUAL_MS = 60_000;
const SOONEST_MS = 1_000;

const CANCELLED = 'PROVIDER_CANCELLED';

const EVENTS: Readonly<Record<OrderProgress['state'], OperationEvent>> = {
  funding: 'fund',
  submitted: 'submit',
  processing: 'process',
  completed: 'complete',
  failed: 'fail',
  expired: 'expire',
};

export const isOver = ({ status }: Pick<StablecoinOperationRow, 'status'>): boolean =>
  Object.keys(operationStates.moves[status]).length === 0;

/** A provider that still waits to be paid when the time it gave is over waits no more. */
function eventOf(row: StablecoinOperationRow, { state }: OrderProgress, now: Time): OperationEvent {
  const isUnpaid = operationStates.peek(row.status, 'expire') !== undefined;
  const isLate = row.expires_at !== null && now >= row.expires_at;
  if (state === 'funding' && isUnpaid && isLate) return 'expire';
  // What was paid for does not run out: the provider gave it up.
  return state === 'expired' && !isUnpaid ? 'fail' : EVENTS[state];
}

/** When to ask next; a wait for money ends when its time does. */
function nextAt(row: StablecoinOperationRow, { checkAfterMs }: OrderProgress, now: Time): Time {
  const at = now + Math.max(SOONEST_MS, checkAfterMs ?? USUAL_MS);
  const waits = row.status === 'PENDING_FUNDING' && row.expires_at !== null;
  return waits ? Math.max(now + SOONEST_MS, Math.min(at, row.expires_at as Time)) : at;
}

/** Ends an operation, and does to the books what its end means. */
function end(
  ctx: Ctx,
  row: StablecoinOperationRow,
  event: 'complete' | 'fail' | 'expire',
  patch: { provider_status?: string; failure_reason?: string },
): void {
  const status = operationStates.next(row.status, event);
  ctx.update(stablecoinOperations, row, { ...patch, status, updated_at: ctx.now });
  if (event === 'complete') carryOut(ctx, row);
  else giveBack(ctx, row);
}

/** Fails one of which the provider cannot know. */
export const failUnordered = (ctx: Ctx, row: StablecoinOperationRow, reason: string): void =>
  end(ctx, row, 'fail', { failure_reason: reason });

/** Stages what an answer means; one about an operation that is over means nothing. */
export function heed(ctx: Ctx, row: StablecoinOperationRow, progress: OrderProgress): void {
  if (isOver(row)) return;
  const { providerStatus: provider_status } = progress;
  const event = eventOf(row, progress, ctx.now);
  if (event === 'complete' || event === 'expire') end(ctx, row, event, { provider_status });
  else if (event === 'fail') {
    const failure_reason = progress.state === 'failed' ? progress.reason : CANCELLED;
    end(ctx, row, event, { provider_status, failure_reason });
  } else goOn(ctx, row, event, progress);
}

/** Stages how far it is. Where that is what we know already, or less, only the provider's words are kept. */
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
    ? ctx.update(stablecoinOperations, row, { status, provider_status, updated_at: ctx.now })
    : row;
  ctx.later(CHECK, { operationId: row.id }, nextAt(moved, progress, ctx.now));
}
