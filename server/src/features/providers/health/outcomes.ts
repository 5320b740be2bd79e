// Records the results of transfers, from which the rates of each provider are computed. A result is
// reported by a message, by an operator or by polling, and is counted once.
import type { Progress } from '../../../connectors/ports/index.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { providerTransfers, type TransferOutcome } from '../store.ts';

const OUTCOMES: Partial<Record<Progress['state'], TransferOutcome>> = {
  settled: 'SETTLED',
  failed: 'FAILED',
  returned: 'RETURNED',
  cancelled: 'CANCELED',
};

export const outcomeOf = ({ state }: Progress): TransferOutcome | undefined => OUTCOMES[state];

/** Stages the result of a transfer. Transfers of the built-in rail are not counted. */
export async function recordOutcome(
  ctx: Ctx,
  transferId: string,
  progress: Progress,
): Promise<void> {
  const outcome = outcomeOf(progress);
  if (!outcome) return;
  const row = await ctx.read(providerTransfers, transferId);
  if (!row || row.provider_id === null) return;
  const isNew = row.outcome === null || (row.outcome === 'SETTLED' && outcome === 'RETURNED');
  const outcome_at = ctx.effects.now();
  if (isNew) ctx.update(providerTransfers, row, { outcome, outcome_at });
}
