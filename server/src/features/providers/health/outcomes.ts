// Results of transfers at their providers, for the rates of each provider. They are recorded with the
// result that a message or an operator reports, or after it was polled, and each counts once.
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

/** Stages the result of a transfer; one that a provider did not get has none. */
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
