// Submits a customer for verification: completeness check, then the synchronous decision of the
// connector. A pending decision is polled by a job (jobs.ts). Without a connector an operator
// decides.

import type {
  Connectors,
  IdentityCase,
  IdentityPort,
  IdentityVerdict,
} from '../../../connectors/ports/index.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { readOwnPlatform } from '../../tenancy/platform/index.ts';
import { markSubmitted } from '../documents/index.ts';
import { type CustomerRow, customerOf, requireCustomer } from '../records/index.ts';
import { caseOf, type Dossier, errorsOf, gapsOfDossier, readDossier } from './case.ts';
import type { VerificationError } from './contract.ts';
import { assertDecidable, decideOwners, transitionCustomer } from './decide.ts';
import { scheduleCheck } from './jobs.ts';
import { addVerification, findingsOf, latestOf } from './record.ts';
import type { VerificationRow } from './store.ts';

// Findings of a reviewer or a service are known from the latest verification only. A finding is
// resolved when its resource has changed or an accepted document was uploaded. Missing data is
// determined on every read.

/**
 * Whether a finding is open. A finding about a missing document is open until the holder has a
 * newer accepted document. Any other finding is open while its resource exists unchanged.
 */
function isOpen(
  { customer, owners, documents }: Dossier,
  { resourceId, acceptedDocumentTypes: acceptedTypes }: VerificationError,
  decidedAt: number,
): boolean {
  const document = documents.find((each) => each.id === resourceId);
  if (document) return document.updated_at <= decidedAt;
  const holder = [customer, ...owners].find((each) => each.id === resourceId);
  if (!holder) return false;
  if (!acceptedTypes) return holder.updated_at <= decidedAt;
  return !documents.some(
    (document) =>
      document.holder_id === resourceId &&
      acceptedTypes.includes(document.type) &&
      document.updated_at > decidedAt,
  );
}

/**
 * Open findings of the latest verification, optionally of an operator only. Empty if the
 * verification only lacked data.
 */
async function openFindings(
  ctx: Pick<Ctx, 'db' | 'vault'>,
  dossier: Dossier,
  decidedBy?: 'operator',
): Promise<VerificationError[]> {
  const { customer } = dossier;
  const latestVerification = await latestOf(ctx, customer.id);
  if (latestVerification?.status !== 'RESOLVE_ERRORS' || latestVerification.decided_by === null)
    return [];
  if (decidedBy && latestVerification.decided_by !== decidedBy) return [];
  const findings = findingsOf(ctx.vault, customer, latestVerification);
  return findings.filter((finding) => isOpen(dossier, finding, latestVerification.updated_at));
}

export interface VerificationDeps {
  connectors(environment: Mode): Connectors;
}

type Verdict =
  | IdentityVerdict
  | { state: 'incomplete'; gaps: VerificationError[]; by?: 'operator' | undefined };

/** Delay before the next call to a connector that failed. */
const RETRY_AFTER_MS = 5_000;

/** Scripted verdict for regulated platforms and platforms with optional documents, for any data. */
async function scriptedVerdict(
  ctx: Ctx,
  port: IdentityPort | undefined,
  submittedCase: IdentityCase,
) {
  const platform = await readOwnPlatform(ctx);
  if (!platform.regulated && !platform.documents_optional) return undefined;
  return port?.withoutDocuments?.(submittedCase);
}

async function decideSubmission(
  ctx: Ctx,
  deps: VerificationDeps,
  id: string,
  dossier: Dossier,
): Promise<Verdict> {
  const { identity } = deps.connectors(ctx.caller.environment);
  const submittedCase = caseOf(ctx.vault, id, dossier);
  const scriptedResult = await scriptedVerdict(ctx, identity, submittedCase);
  if (scriptedResult) return scriptedResult;
  const missingGaps = gapsOfDossier(ctx.vault, dossier);
  // Findings of an operator are not resolved by resubmitting unchanged data.
  const operatorFindings = await openFindings(ctx, dossier, 'operator');
  const gaps = [...missingGaps, ...operatorFindings];
  if (gaps.length)
    return { state: 'incomplete', gaps, by: operatorFindings.length ? 'operator' : undefined };
  if (!identity) return { state: 'review' };
  // After a failure of the connector the submission remains pending and the job retries.
  const unknownOutcome = { state: 'unknown', checkAfterMs: RETRY_AFTER_MS } as const;
  return identity.submit(submittedCase).catch(() => unknownOutcome);
}

/** Stages the first verdict on a submission. */
async function stageVerdict(
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
    const [status, customerEvent] =
      verdict.state === 'approved'
        ? (['APPROVED', 'approve'] as const)
        : (['REJECTED', 'reject'] as const);
    const findings = verdict.state === 'rejected' ? (verdict.findings ?? []) : [];
    const row = await add(status, errorsOf({ customer, owners, documents }, findings));
    await transitionCustomer(
      ctx,
      customer,
      customerEvent,
      decideOwners(ctx, owners, () => customerEvent, verdict.owners),
    );
    return row;
  }
  const row = await add('PENDING_MANUAL_REVIEW', []);
  scheduleCheck(ctx, row.id, verdict);
  await transitionCustomer(
    ctx,
    customer,
    'submit',
    decideOwners(ctx, owners, () => 'submit'),
  );
  return row;
}

function assertContactsVerified({ contact_verification: channels }: CustomerRow): void {
  if (!Object.values(channels ?? {}).includes('PENDING')) return;
  const reason =
    'The e-mail address and the telephone number of the customer must be verified first.';
  throw new Fault('CONFLICT', reason, { contactVerification: channels });
}

/** Submits a customer of the calling platform. Implements `POST /verifications`. */
export async function submit(
  ctx: Ctx,
  deps: VerificationDeps,
  customerId: string,
): Promise<VerificationRow> {
  const customer = await customerOf(ctx, customerId, { rejectDeleted: true });
  assertDecidable(customer);
  assertContactsVerified(customer);
  const dossier = await readDossier(ctx, customer);
  const id = ctx.id('Verification');
  return stageVerdict(ctx, dossier, id, await decideSubmission(ctx, deps, id, dossier));
}

/** Open requirements for an approval, without a call to a connector. */
interface Requirements {
  /** Current missing data of the customer. */
  gaps: VerificationError[];
  /** Findings of the latest verification that are still open. */
  findings: VerificationError[];
}

/** Determines the open requirements. Stages nothing and makes no external call. */
export async function requirementsOf(
  ctx: Ctx,
  deps: VerificationDeps,
  customer: CustomerRow,
): Promise<Requirements> {
  const { identity } = deps.connectors(ctx.caller.environment);
  const dossier = await readDossier(ctx, customer);
  const scriptedResult = await scriptedVerdict(
    ctx,
    identity,
    caseOf(ctx.vault, customer.id, dossier),
  );
  if (scriptedResult) return { gaps: [], findings: [] };
  return {
    gaps: gapsOfDossier(ctx.vault, dossier),
    findings: await openFindings(ctx, dossier),
  };
}
