// Submitting a customer: is everything there, and what does whoever checks say to it? The connector is
// asked while the client waits; what takes its time is asked about again by a job (jobs.ts), and where there
// is no connector an operator decides.

import type {
  Connectors,
  IdentityCase,
  IdentityPort,
  IdentityVerdict,
} from '../../../connectors/ports/index.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { ownPlatform } from '../../tenancy/platform/index.ts';
import { markSubmitted } from '../documents/index.ts';
import { type CustomerRow, customerOf, requireCustomer } from '../records/index.ts';
import { caseOf, type Dossier, dossierOf, errorsOf, gapsOfDossier } from './case.ts';
import type { VerificationError } from './contract.ts';
import { moveCustomer, refuseSettled, settleOwners } from './decide.ts';
import { askLater } from './jobs.ts';
import { addVerification, findingsOf, latestOf } from './record.ts';
import type { VerificationRow } from './store.ts';

// What whoever checked a customer found and nobody has done anything about since. What is missing is seen
// anew whenever somebody looks; what a reviewer or a service found is known from the latest verification
// alone, and settled as far as anybody here can tell once the thing in question has changed.

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
async function openFindings(
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

export interface VerificationParts {
  connectors(environment: Mode): Connectors;
}

type Verdict =
  | IdentityVerdict
  | { state: 'incomplete'; gaps: VerificationError[]; by?: 'operator' | undefined };

/** When a connector that broke down is asked again. */
const RETRY_AFTER_MS = 5_000;

/** What is decided about a customer of a platform without paperwork, complete or not. */
async function unaskedVerdict(ctx: Ctx, port: IdentityPort | undefined, submitted: IdentityCase) {
  const platform = await ownPlatform(ctx);
  if (!platform.regulated && !platform.skip_paperwork) return undefined;
  return port?.unasked?.(submitted);
}

async function verdictOn(
  ctx: Ctx,
  parts: VerificationParts,
  id: string,
  dossier: Dossier,
): Promise<Verdict> {
  const { identity } = parts.connectors(ctx.caller.environment);
  const submitted = caseOf(ctx.vault, id, dossier);
  const unasked = await unaskedVerdict(ctx, identity, submitted);
  if (unasked) return unasked;
  const missing = gapsOfDossier(ctx.vault, dossier);
  // What a person asked for is not lifted by sending the same once more.
  const asked = await openFindings(ctx, dossier, 'operator');
  const gaps = [...missing, ...asked];
  if (gaps.length) return { state: 'incomplete', gaps, by: asked.length ? 'operator' : undefined };
  if (!identity) return { state: 'review' };
  // A submission must not fail because the other side does: it waits, and the job asks again.
  const unknown = { state: 'unknown', checkAfterMs: RETRY_AFTER_MS } as const;
  return identity.submit(submitted).catch(() => unknown);
}

/** Stages what the first word on a submission means. */
async function stage(
  ctx: Ctx,
  { customer, owners, documents }: Dossier,
  id: string,
  verdict: Verdict,
): Promise<VerificationRow> {
  const add = (
    status: VerificationRow['status'],
    errors: readonly VerificationError[],
    decidedBy?: 'operator' | 'connector',
  ) => addVerification(ctx, customer, id, { status, errors, decidedBy });
  if (verdict.state === 'incomplete') {
    requireCustomer(ctx, customer);
    return add('RESOLVE_ERRORS', verdict.gaps, verdict.by);
  }
  markSubmitted(ctx, documents);
  if (verdict.state === 'unresolved') {
    requireCustomer(ctx, customer);
    const errors = errorsOf({ customer, owners, documents }, verdict.findings);
    return add('RESOLVE_ERRORS', errors, 'connector');
  }
  if (verdict.state === 'approved' || verdict.state === 'rejected') {
    const [status, move] =
      verdict.state === 'approved'
        ? (['APPROVED', 'approve'] as const)
        : (['REJECTED', 'reject'] as const);
    const findings = verdict.state === 'rejected' ? (verdict.findings ?? []) : [];
    const row = await add(status, errorsOf({ customer, owners, documents }, findings));
    await moveCustomer(
      ctx,
      customer,
      move,
      settleOwners(ctx, owners, () => move, verdict.owners),
    );
    return row;
  }
  const row = await add('PENDING_MANUAL_REVIEW', []);
  askLater(ctx, row.id, verdict);
  await moveCustomer(
    ctx,
    customer,
    'submit',
    settleOwners(ctx, owners, () => 'submit'),
  );
  return row;
}

function refuseUnproved({ contact_verification: channels }: CustomerRow): void {
  if (!Object.values(channels ?? {}).includes('PENDING')) return;
  const reason = 'The e-mail address and the telephone number must be verified first.';
  throw new Fault('CONFLICT', reason, { contactVerification: channels });
}

/** Submits a customer of the caller: all of `POST /verifications`. */
export async function submit(
  ctx: Ctx,
  parts: VerificationParts,
  customerId: string,
): Promise<VerificationRow> {
  const customer = await customerOf(ctx, customerId, { alive: true });
  refuseSettled(customer);
  refuseUnproved(customer);
  const dossier = await dossierOf(ctx, customer);
  const id = ctx.id('Verification');
  return stage(ctx, dossier, id, await verdictOn(ctx, parts, id, dossier));
}

/** What stands between a customer and an approval, as far as can be told without asking anybody. */
interface Wanted {
  /** What a submission would lack now. */
  gaps: VerificationError[];
  /** What was found the last time and still stands. */
  findings: VerificationError[];
}

/** Stages nothing and asks nobody outside. */
export async function wantedOf(
  ctx: Ctx,
  parts: VerificationParts,
  customer: CustomerRow,
): Promise<Wanted> {
  const { identity } = parts.connectors(ctx.caller.environment);
  const dossier = await dossierOf(ctx, customer);
  const unasked = await unaskedVerdict(ctx, identity, caseOf(ctx.vault, customer.id, dossier));
  if (unasked) return { gaps: [], findings: [] };
  return {
    gaps: gapsOfDossier(ctx.vault, dossier),
    findings: await openFindings(ctx, dossier),
  };
}
