// What whoever checked a customer found and nobody has done anything about since. What is missing is seen
// anew whenever somebody looks; what a reviewer or a service found is known from the latest verification
// alone, and settled as far as anybody here can tell once the thing in question has changed.
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Dossier } from './case.ts';
import type { VerificationError } from './contract.ts';
import { findingsOf, latestOf } from './record.ts';

/** Whether the thing is as it was found, or the paper that was asked for has not come since. */
function stands(
  { customer, owners, documents }: Dossier,
  { resourceId, acceptedDocumentTypes: accepted }: VerificationError,
  since: number,
): boolean {
  const paper = documents.find((each) => each.id === resourceId);
  if (paper) return paper.updated_at <= since;
  const holder = [customer, ...owners].find((each) => each.id === resourceId);
  if (!holder) return false;
  if (!accepted) return holder.updated_at <= since;
  return !documents.some(
    (each) =>
      each.holder_id === resourceId && accepted.includes(each.type) && each.updated_at > since,
  );
}

/**
 * The findings of the latest verification that still stand, of anybody or of an operator alone; none where
 * things were only missing.
 */
export async function openFindings(
  ctx: Pick<Ctx, 'db' | 'vault'>,
  dossier: Dossier,
  by?: 'operator',
): Promise<VerificationError[]> {
  const { customer } = dossier;
  const latest = await latestOf(ctx, customer.id);
  if (latest?.status !== 'RESOLVE_ERRORS' || latest.decided_by === null) return [];
  if (by && latest.decided_by !== by) return [];
  const findings = findingsOf(ctx.vault, customer, latest);
  return findings.filter((finding) => stands(dossier, finding, latest.updated_at));
}
