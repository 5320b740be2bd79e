// Operator functions for jobs of every platform: show, retry and cancel. A retry resets the
// attempts of a failed job. A cancellation removes the job. If the job tracks a transfer, only the
// operator can record the result afterwards, as for a manual rail.
import type { Caller } from '../../kernel/caller.ts';
import { Fault } from '../../kernel/fault.ts';
import {
  cancelJobRow,
  deadJobs,
  type JobQuery,
  type JobSummary,
  jobById,
  jobNotFoundFault,
  pageOfJobSummaries,
  readJob,
  reviveJobs,
} from '../../runtime/jobs/job-review.ts';
import type { Job } from '../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { isRefundedByRail } from '../payments/refunds/index.ts';
import { awaitRailResult, isExpected } from '../payments/suspense/index.ts';
import { asOutgoing, readTransaction } from '../payments/transactions/index.ts';
import { platformById, readPlatform, systemCaller } from '../tenancy/platform/index.ts';
import { pendingEffectOf, TRANSFER_OF } from './kinds.ts';

/** Adds the consequence of a dead or canceled job. */
const detailsOf = (job: JobSummary) => ({ ...job, undone: pendingEffectOf(job.kind) });

export type JobDetails = ReturnType<typeof detailsOf>;

/** Platforms that the operator may access, or null for all. */
type PlatformIds = readonly string[] | null;

/** Throws NOT_FOUND for a job of another platform or of no platform. */
function assertAccess(platformIds: PlatformIds, platformId: string | null): void {
  if (platformIds !== null && !platformIds.includes(platformId ?? '')) throw jobNotFoundFault();
}

/** A job, or the record of a canceled job. Throws NOT_FOUND. */
export async function jobDetails(
  runtime: Runtime,
  jobId: string,
  platformIds: PlatformIds = null,
): Promise<JobDetails> {
  const job = await readJob(runtime, jobId);
  assertAccess(platformIds, job.platformId);
  return detailsOf(job);
}

/** A page of jobs in the order of `listJobs`. Throws PLATFORM_NOT_FOUND. */
export async function pageOfJobs(runtime: Runtime, query: JobQuery) {
  const { platformId } = query;
  if (platformId !== undefined) await platformById(runtime, platformId);
  return pageOfJobSummaries(runtime, query);
}

/** System caller of the job's platform, or a sandbox caller if the job has no platform. */
async function callerFor({ db }: Runtime, platformId: string): Promise<Caller> {
  const platform = platformId ? await readPlatform(db, platformId) : undefined;
  return systemCaller(platformId, platform?.environment ?? 'sandbox');
}

/** Makes a failed job due now and resets its attempts. Throws NOT_FOUND and CONFLICT. */
export async function retryJob(
  runtime: Runtime,
  jobId: string,
  platformIds: PlatformIds = null,
): Promise<JobDetails> {
  const { platform_id, state } = await jobById(runtime.db, jobId);
  assertAccess(platformIds, platform_id);
  const caller = await callerFor(runtime, platform_id);
  const [retriedJob] = await operate(runtime, caller, (ctx) => reviveJobs(ctx, [jobId]));
  if (!retriedJob)
    throw new Fault('CONFLICT', `The job is ${state}. Only failed jobs can be retried.`);
  return detailsOf(retriedJob);
}

/** Jobs per change set when all dead jobs of a kind are retried. */
const PAGE_SIZE = 200;

/**
 * Makes all dead jobs of a kind due now. Returns their number. Jobs that become dead during the
 * call are not retried.
 */
export async function retryDeadJobs(runtime: Runtime, kind: string): Promise<number> {
  const startedAt = runtime.effects.now();
  const caller = await callerFor(runtime, '');
  let retriedCount = 0;
  for (;;) {
    const ids = await deadJobs(runtime.db, kind, startedAt, PAGE_SIZE);
    if (!ids.length) return retriedCount;
    const retriedJobs = await operate(runtime, caller, (ctx) => reviveJobs(ctx, ids));
    if (!retriedJobs.length) return retriedCount;
    retriedCount += retriedJobs.length;
  }
}

/**
 * Stages the wait for the operator's result if the transfer of a canceled job is still open. Throws
 * CONFLICT for an internal refund.
 */
async function awaitOperator(ctx: Ctx, { kind, input }: Job): Promise<void> {
  const transfer = TRANSFER_OF[kind];
  const row = transfer && (await readTransaction(ctx, String(input.transactionId)));
  if (!row || !isExpected(row, transfer)) return;
  if (kind === 'refund.pay' && !isRefundedByRail(asOutgoing(row))) {
    const reason = 'The refund is internal and does not use a rail.';
    throw new Fault('CONFLICT', `${reason} Retry the job instead.`);
  }
  // The operator records results of transfers in production only.
  if (ctx.caller.environment === 'production') await awaitRailResult(ctx, row, transfer);
}

interface CancelInput {
  jobId: string;
  /** Reason for the cancellation. The reason is stored and must not contain personal data. */
  reason: string;
  platformIds?: PlatformIds | undefined;
}

/**
 * Removes a job permanently. Throws NOT_FOUND, and CONFLICT for a running job or an internal
 * refund.
 */
export async function cancelJob(
  runtime: Runtime,
  { jobId, reason, platformIds = null }: CancelInput,
): Promise<JobDetails> {
  const { platform_id } = await jobById(runtime.db, jobId);
  assertAccess(platformIds, platform_id);
  const caller = await callerFor(runtime, platform_id);
  const canceledSummary = await operate(runtime, caller, async (ctx) => {
    const row = await jobById(ctx, jobId);
    const canceledJob = cancelJobRow(ctx, row, reason);
    await awaitOperator(ctx, row);
    return canceledJob;
  });
  return detailsOf(canceledSummary);
}
