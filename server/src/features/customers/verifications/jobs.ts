// Polls pending verifications at the connector. The result is applied once, and only while the submitted
// verification is the latest one and still pending: an earlier decision or a newer submission takes
// precedence.

import { Type } from '@sinclair/typebox';
import type { Connectors, IdentityVerdict } from '../../../connectors/ports/index.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import type { Mode } from '../../../kernel/mode.ts';
import {
  type JobHandler,
  type JobOf,
  jobHandler,
  type Result,
} from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { type CustomerRow, isFinal, readCustomer } from '../records/index.ts';
import { caseOf, errorsOf, readDossier } from './case.ts';
import { decide } from './decide.ts';
import { type VerificationRow, verifications } from './store.ts';

const CHECK_VERIFICATION = defineJob(
  'verification.ask',
  Type.Object({
    verificationId: Type.String(),
    /** False if the submission may not have reached the connector. */
    arrived: Type.Boolean(),
  }),
);

/** Schedules the next check at the connector, if the verdict requests one. */
export function scheduleCheck(ctx: Ctx, verificationId: string, verdict: IdentityVerdict): void {
  if (verdict.state !== 'review' && verdict.state !== 'unknown') return;
  if (verdict.checkAfterMs === undefined) return;
  const arrived = verdict.state === 'review';
  ctx.later(CHECK_VERIFICATION, { verificationId, arrived }, ctx.now + verdict.checkAfterMs);
}

const MAX_CHECK_DELAY_MS = 3_600_000;

/**
 * The interval grows with the age of the verification, up to the maximum: thousands may be pending at an
 * unavailable service, and each check occupies a worker slot.
 */
const checkDelay = (waitedMs: number): number =>
  Math.min(Math.floor(waitedMs / 10), MAX_CHECK_DELAY_MS);

interface Found {
  row: VerificationRow;
  customer: CustomerRow;
}

/** Verification and customer, if the verification is still pending. */
async function findPending(reader: Pick<Ctx, 'read'>, id: string): Promise<Found | undefined> {
  const row = await reader.read(verifications, id);
  if (!row?.latest || row.status !== 'PENDING_MANUAL_REVIEW') return undefined;
  const customer = await readCustomer(reader, row.customer_id);
  if (!customer || customer.deleted_at !== null || isFinal(customer)) return undefined;
  return { row, customer };
}

async function applyVerdict(ctx: Ctx, id: string, arrived: boolean, verdict: IdentityVerdict) {
  const pending = await findPending(ctx, id);
  if (!pending) return;
  if (verdict.state === 'review') scheduleCheck(ctx, id, verdict);
  else if (verdict.state === 'unknown') {
    const checkAfterMs = Math.max(
      verdict.checkAfterMs,
      checkDelay(ctx.now - pending.row.created_at),
    );
    // A submission that the connector has received exists there, even if a later response was lost.
    scheduleCheck(ctx, id, { state: arrived ? 'review' : 'unknown', checkAfterMs });
  } else {
    const dossier = await readDossier(ctx, pending.customer);
    const findings = 'findings' in verdict ? (verdict.findings ?? []) : [];
    const decision = { ...verdict, errors: errorsOf(dossier, findings) };
    await decide(ctx, pending.customer, decision, 'connector');
  }
}

/** Job handlers of this feature. */
export function verificationJobs(options: {
  connectors: (environment: Mode) => Connectors;
}): JobHandler[] {
  const run = async (runtime: Runtime, job: JobOf<typeof CHECK_VERIFICATION>): Promise<Result> => {
    const { verificationId: id, arrived } = job.input;
    const row = await runtime.db.read(verifications, id);
    const platform = row && (await readPlatform(runtime.db, row.platform_id));
    if (!platform) throw new Error(`job ${job.id} refers to a missing verification`);
    const caller = systemCaller(platform.id, platform.environment);
    const pending = await findPending(runtime.db, id);
    const { identity } = options.connectors(platform.environment);
    // If the connector has been removed since, an operator decides.
    if (!pending || !identity) return { caller, stage: async () => {} };
    const submittedCase = caseOf(runtime.vault, id, await readDossier(runtime, pending.customer));
    const verdict = await (arrived
      ? identity.check(submittedCase)
      : identity.submit(submittedCase));
    return { caller, stage: (ctx) => applyVerdict(ctx, id, arrived, verdict) };
  };
  return [jobHandler(CHECK_VERIFICATION, { run })];
}
