// Jobs of every platform, as an operator sees, retries and cancels them. A retry gives a dead job all its
// attempts again. A cancellation removes the job; where the job follows a transfer, only an operator can
// record its result from then on, as with a rail that gives no answers.
import type { Caller } from '../../kernel/caller.ts';
import { Fault } from '../../kernel/fault.ts';
import {
  cancelJobRow,
  deadJobs,
  type JobSummary,
  jobById,
  readJob,
  reviveJobs,
} from '../../runtime/jobs/job-review.ts';
import type { Job } from '../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { isRefundedByRail } from '../payments/refunds/index.ts';
import { awaitRailResult, isExpected } from '../payments/suspense/index.ts';
import { asOutgoing, readTransaction } from '../payments/transactions/index.ts';
import { readPlatform, systemCaller } from '../tenancy/platform/index.ts';
import { TRANSFER_OF, undoneBy } from './kinds.ts';

/** With what stays undone while the job is dead, and once it is cancelled. */
const detailsOf = (job: JobSummary) => ({ ...job, undone: undoneBy(job.kind) });

export type JobDetails = ReturnType<typeof detailsOf>;

/** A job, or what is kept of a cancelled one. Throws NOT_FOUND. */
export const jobDetails = async (runtime: Runtime, jobId: string): Promise<JobDetails> =>
  detailsOf(await readJob(runtime, jobId));

/** The server itself, on behalf of a job's platform where one is known. */
async function callerFor({ db }: Runtime, platformId: string): Promise<Caller> {
  const platform = platformId ? await readPlatform(db, platformId) : undefined;
  return systemCaller(platformId, platform?.environment ?? 'sandbox');
}

/** Makes a job that failed due now, with all its attempts. Throws NOT_FOUND and CONFLICT. */
export async function retryJob(runtime: Runtime, jobId: string): Promise<JobDetails> {
  const { platform_id, state } = await jobById(runtime.db, jobId);
  const caller = await callerFor(runtime, platform_id);
  const [revived] = await operate(runtime, caller, (ctx) => reviveJobs(ctx, [jobId]));
  if (!revived) throw new Fault('CONFLICT', `It has not failed: it is ${state}.`);
  return detailsOf(revived);
}

/** Jobs of one change set when all of a kind are retried. */
const PAGE = 200;

/** Makes all dead jobs of a kind due now; how many there were. Those that die meanwhile stay dead. */
export async function retryDeadJobs(runtime: Runtime, kind: string): Promise<number> {
  const before = runtime.effects.now();
  const caller = await callerFor(runtime, '');
  let retried = 0;
  for (;;) {
    const ids = await deadJobs(runtime.db, kind, before, PAGE);
    if (!ids.length) return retried;
    const revived = await operate(runtime, caller, (ctx) => reviveJobs(ctx, ids));
    if (!revived.length) return retried;
    retried += revived.length;
  }
}

/** Stages the wait for the transfer of a job that is cancelled, where the transfer is still open. */
async function awaitOperator(ctx: Ctx, { kind, input }: Job): Promise<void> {
  const transfer = TRANSFER_OF[kind];
  const row = transfer && (await readTransaction(ctx, String(input.transactionId)));
  if (!row || !isExpected(row, transfer)) return;
  if (kind === 'refund.pay' && !isRefundedByRail(asOutgoing(row))) {
    const reason = 'It returns funds to an account here and no rail is involved.';
    throw new Fault('CONFLICT', `${reason} Retry it instead.`);
  }
  // Results of transfers are recorded by hand in production only.
  if (ctx.caller.environment === 'production') await awaitRailResult(ctx, row, transfer);
}

interface CancelInput {
  jobId: string;
  /** Kept; nothing personal. */
  reason: string;
}

/** Removes a job for good. Throws NOT_FOUND, and CONFLICT while it runs. */
export async function cancelJob(
  runtime: Runtime,
  { jobId, reason }: CancelInput,
): Promise<JobDetails> {
  const { platform_id } = await jobById(runtime.db, jobId);
  const caller = await callerFor(runtime, platform_id);
  const cancelled = await operate(runtime, caller, async (ctx) => {
    const row = await jobById(ctx, jobId);
    const kept = cancelJobRow(ctx, row, reason);
    await awaitOperator(ctx, row);
    return kept;
  });
  return detailsOf(cancelled);
}
