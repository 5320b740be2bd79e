// Polls pending verifications at the connector, and applies decisions that it reports. The result
// is applied once, and only while the submitted verification is the latest and still pending. An
// earlier decision or a newer submission takes precedence.

import { Type } from '@sinclair/typebox';
import type { Connectors, IdentityVerdict } from '../../../connectors/ports/index.ts';
import type { ReportResult } from '../../../connectors/ports/providers/port.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { OUTAGE_ATTEMPTS } from '../../../runtime/jobs/job-failures.ts';
import {
  type JobHandler,
  type JobOf,
  jobHandler,
  type Result,
} from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { type CustomerRow, isFinal, readCustomer } from '../records/index.ts';
import { caseOf, errorsOf, readDossier } from './case.ts';
import { decide } from './decide.ts';
import { type VerificationRow, verifications } from './store.ts';

const CHECK_VERIFICATION = defineJob(
  'verification.check',
  Type.Object({
    verificationId: Type.String(),
    /** Whether a reply confirms that the connector received the submission. */
    arrived: Type.Boolean(),
  }),
);

/** Schedules the next check at the connector, if the verdict requests one. */
export function scheduleCheck(ctx: Ctx, verificationId: string, verdict: IdentityVerdict): void {
  if (verdict.state !== 'review' && verdict.state !== 'unknown') return;
  if (verdict.checkAfterMs === undefined) return;
  const hasArrived = verdict.state === 'review';
  ctx.later(
    CHECK_VERIFICATION,
    { verificationId, arrived: hasArrived },
    ctx.now + verdict.checkAfterMs,
  );
}

const MAX_CHECK_DELAY_MS = 3_600_000;

/**
 * After a check without a result, the delay is at least a tenth of the age of the verification, up
 * to the maximum. Thousands of checks may be pending at an unavailable service, and each check
 * occupies a worker.
 */
const checkDelay = (waitedMs: number): number =>
  Math.min(Math.floor(waitedMs / 10), MAX_CHECK_DELAY_MS);

interface PendingVerification {
  row: VerificationRow;
  customer: CustomerRow;
}

/** Verification and customer, if the verification is still pending. */
async function findPending(
  reader: Pick<Ctx, 'read'>,
  id: string,
): Promise<PendingVerification | undefined> {
  const row = await reader.read(verifications, id);
  if (!row?.latest || row.status !== 'PENDING_MANUAL_REVIEW') return undefined;
  const customer = await readCustomer(reader, row.customer_id);
  if (!customer || customer.deleted_at !== null || isFinal(customer)) return undefined;
  return { row, customer };
}

async function applyVerdict(ctx: Ctx, id: string, hasArrived: boolean, verdict: IdentityVerdict) {
  const pendingVerification = await findPending(ctx, id);
  if (!pendingVerification) return;
  if (verdict.state === 'review') scheduleCheck(ctx, id, verdict);
  else if (verdict.state === 'unknown') {
    const checkAfterMs = Math.max(
      verdict.checkAfterMs,
      checkDelay(ctx.now - pendingVerification.row.created_at),
    );
    // A received submission exists at the connector, even if a later response is missing.
    scheduleCheck(ctx, id, { state: hasArrived ? 'review' : 'unknown', checkAfterMs });
  } else {
    const dossier = await readDossier(ctx, pendingVerification.customer);
    const findings = 'findings' in verdict ? (verdict.findings ?? []) : [];
    const decision = { ...verdict, errors: errorsOf(dossier, findings) };
    await decide(ctx, pendingVerification.customer, decision, 'connector');
  }
}

const DECIDED_STATUSES = {
  approved: 'APPROVED',
  rejected: 'REJECTED',
  unresolved: 'RESOLVE_ERRORS',
} as const;

interface ReportedOutcome {
  result: ReportResult;
  platformId: string;
  problem?: string;
}

/**
 * Applies a decision that the connector of this environment reported without a request. A known
 * decision has no effect. A contradictory decision is reported as a problem. Throws NOT_FOUND.
 */
export async function applyReportedDecision(
  runtime: Runtime,
  environment: Mode,
  verificationId: string,
  verdict: IdentityVerdict,
): Promise<ReportedOutcome> {
  const isVerification = isId(verificationId, 'Verification');
  const row = isVerification ? await runtime.db.read(verifications, verificationId) : undefined;
  const platform = row && (await readPlatform(runtime.db, row.platform_id));
  if (platform?.environment !== environment) throw new Fault('NOT_FOUND', 'Case not found.');
  const caller = systemCaller(platform.id, environment);
  return operate(runtime, caller, async (ctx): Promise<ReportedOutcome> => {
    const subject = { platformId: platform.id };
    if (await findPending(ctx, verificationId)) {
      await applyVerdict(ctx, verificationId, true, verdict);
      return { result: 'APPLIED', ...subject };
    }
    const status = (await ctx.read(verifications, verificationId))?.status;
    const isKnown =
      verdict.state in DECIDED_STATUSES &&
      DECIDED_STATUSES[verdict.state as keyof typeof DECIDED_STATUSES] === status;
    if (isKnown) return { result: 'IGNORED', ...subject };
    const problem = `The decision is ${verdict.state}, but the verification is ${status}.`;
    return { result: 'CONTRADICTORY', ...subject, problem };
  });
}

export function verificationJobs(options: {
  connectors: (environment: Mode) => Connectors;
}): JobHandler[] {
  const runCheck = async (
    runtime: Runtime,
    job: JobOf<typeof CHECK_VERIFICATION>,
  ): Promise<Result> => {
    const { verificationId: id, arrived: hasArrived } = job.input;
    const row = await runtime.db.read(verifications, id);
    const platform = row && (await readPlatform(runtime.db, row.platform_id));
    if (!platform) throw new Error(`job ${job.id} refers to a missing verification`);
    const caller = systemCaller(platform.id, platform.environment);
    const pendingVerification = await findPending(runtime.db, id);
    const { identity } = options.connectors(platform.environment);
    // If the connector was removed after the submission, an operator decides.
    if (!pendingVerification || !identity) return { caller, stage: async () => {} };
    const submittedCase = caseOf(
      runtime.vault,
      id,
      await readDossier(runtime, pendingVerification.customer),
    );
    const verdict = await (hasArrived
      ? identity.check(submittedCase)
      : identity.submit(submittedCase));
    return { caller, stage: (ctx) => applyVerdict(ctx, id, hasArrived, verdict) };
  };
  return [jobHandler(CHECK_VERIFICATION, { maxAttempts: OUTAGE_ATTEMPTS, run: runCheck })];
}
