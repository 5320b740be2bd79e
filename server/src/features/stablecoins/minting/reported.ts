// Applies a state of a mint or burn that a provider reports. A message can be late, or arrive after
// a newer one, so a message only advances an operation. Polls apply all other changes. A result
// that contradicts the recorded result is not applied.

import type { ReportResult } from '../../../connectors/ports/providers/port.ts';
import type { OrderProgress } from '../../../connectors/ports/stablecoins.ts';
import { assertNever } from '../../../kernel/assert-never.ts';
import { Fault } from '../../../kernel/fault.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import { operationStates } from '../states.ts';
import { mintsAndBurns, providerAccounts, type StablecoinOperationRow } from '../store.ts';
import { applyReported, EVENTS } from './progress.ts';

interface ReportedOrder {
  orderId: string;
  /** The reported state, for an order of this amount. */
  progressOf(amount: bigint): OrderProgress;
  /** Whether the message reports completion, possibly of another amount. */
  isCompleted: boolean;
}

interface ReportOutcome {
  result: ReportResult;
  platformId: string;
  problem?: string;
}

const isResult = ({ state }: OrderProgress) => state === 'completed' || state === 'failed';

/** Effect of a state. The submission of a CREATED operation may still be running. */
function effectOf({ status }: StablecoinOperationRow, progress: OrderProgress): ReportResult {
  const { state } = progress;
  switch (status) {
    case 'COMPLETED':
      return state === 'failed' || state === 'expired' ? 'CONTRADICTORY' : 'IGNORED';
    case 'FAILED':
      return state === 'completed' ? 'CONTRADICTORY' : 'IGNORED';
    case 'EXPIRED':
      return state === 'completed' ? 'APPLIED' : 'IGNORED';
    case 'CREATED':
      return isResult(progress) ? 'APPLIED' : 'IGNORED';
    case 'PENDING_FUNDING':
    case 'PENDING_PROVIDER':
    case 'PROCESSING': {
      const event = EVENTS[state];
      const isNext = event && operationStates.targetOf(status, event) !== undefined;
      return isNext ? 'APPLIED' : 'IGNORED';
    }
    default:
      return assertNever(status, 'status of a mint or burn');
  }
}

const unknownOrderFault = (): Fault =>
  new Fault('NOT_FOUND', 'This order was not submitted to this provider.');

/**
 * Applies a reported state. Throws NOT_FOUND for an order that was not submitted to this provider.
 */
export async function applyReportedOrder(
  runtime: Runtime,
  providerId: string,
  { orderId, progressOf, isCompleted }: ReportedOrder,
): Promise<ReportOutcome> {
  const { db } = runtime;
  const storedOrder = await db.read(mintsAndBurns, orderId);
  const account = storedOrder && (await db.read(providerAccounts, storedOrder.provider_account));
  if (!storedOrder || account?.provider_id !== providerId) throw unknownOrderFault();
  const caller = await callerOf(db, storedOrder.platform_id);
  return operate(runtime, caller, async (ctx): Promise<ReportOutcome> => {
    const row = await ctx.read(mintsAndBurns, orderId);
    if (!row || row.submitted_at === null) throw unknownOrderFault();
    const platformId = row.platform_id;
    const progress = progressOf(row.amount);
    if (isCompleted && progress.state !== 'completed') {
      const problem = `The completed amount differs from the amount of the order, ${row.amount}.`;
      return { result: 'CONTRADICTORY', platformId, problem };
    }
    const result = effectOf(row, progress);
    if (result === 'CONTRADICTORY') {
      const problem = `The reported state is ${progress.state}, but the order is ${row.status}.`;
      return { result, platformId, problem };
    }
    if (result === 'APPLIED') await applyReported(ctx, row, progress);
    return { result, platformId };
  });
}
