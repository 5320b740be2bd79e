// Requests the return of a settled payout from its provider. The decision of the bank is only recorded.
// Funds are posted when the provider reports the return of the transfer.

import type { ReportResult } from '../../../connectors/ports/providers/port.ts';
import type { RecallCause, RecallProgress } from '../../../connectors/ports/rail.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { OUTAGE_ATTEMPTS } from '../../../runtime/jobs/job-failures.ts';
import {
  type JobHandler,
  type JobOf,
  jobHandler,
  type Result,
} from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { type ProviderDirectory, providerOfTransfer } from '../../providers/index.ts';
import { onAnyTransaction, providerReports } from '../manual/index.ts';
import { type ConnectorsOf, loadPayment } from '../payouts/index.ts';
import { PaymentInput } from '../refunds/index.ts';
import { asPayment, receivedOf } from '../transactions/index.ts';
import { type RecallRow, transferRecalls } from './store.ts';

const RECALL = defineJob('payouts.recall', PaymentInput);

const conflict = (reason: string) => new Fault('CONFLICT', reason);

const presentRecall = (row: RecallRow) => ({
  providerId: row.provider_id,
  cause: row.cause,
  state: row.state,
  rejectionReason: row.rejection,
  requestedAt: iso(row.created_at),
  decidedAt: row.decided_at === null ? null : iso(row.decided_at),
});

/** The recall of a payment, or null if there is none. */
export const recallOf = async ({ read }: Pick<Ctx, 'read'>, transactionId: string) => {
  const row = await read(transferRecalls, transactionId);
  return row ? presentRecall(row) : null;
};

/** The provider that can recall the payout. Throws CONFLICT if there is none. */
async function recallingProvider(
  runtime: Pick<Runtime, 'db'>,
  directory: ProviderDirectory,
  transactionId: string,
): Promise<string> {
  const providerId = await providerOfTransfer(runtime, transactionId);
  const provider = directory.current().providers.get(providerId ?? '');
  if (provider?.capabilities?.recall) return provider.row.id;
  throw conflict(
    'No provider that supports recalls sent this payout. Request the return from the bank.',
  );
}

interface RecallInput {
  transactionId: string;
  cause: RecallCause;
}

/**
 * Requests the return of a settled payout. Throws TRANSACTION_NOT_FOUND, and CONFLICT if the payout cannot be
 * recalled or its return was already requested.
 */
export async function requestRecall(
  runtime: Runtime,
  directory: ProviderDirectory,
  { transactionId, cause }: RecallInput,
) {
  const row = await onAnyTransaction(runtime, transactionId, async (ctx, payment) => {
    const provider_id = await recallingProvider(ctx, directory, transactionId);
    if (!providerReports.hasSettled(payment, 'payout')) {
      throw conflict(`Only a settled payout can be recalled. This payout is ${payment.status}.`);
    }
    ctx.later(RECALL, { transactionId });
    return ctx.insert(transferRecalls, {
      ...{ id: transactionId, platform_id: payment.platform_id, provider_id, cause },
      ...{ state: 'REQUESTED', created_at: ctx.now },
    });
  });
  return { transactionId, platformId: row.platform_id, ...presentRecall(row) };
}

const STATE = { accepted: 'ACCEPTED', rejected: 'REJECTED' } as const;

/** Stages a decision. The first decision is final. */
function applyRecall(ctx: Ctx, row: RecallRow, progress: RecallProgress): ReportResult {
  if (progress.state === 'requested') return 'IGNORED';
  const state = STATE[progress.state];
  if (row.state !== 'REQUESTED') return row.state === state ? 'IGNORED' : 'CONTRADICTORY';
  const rejection = progress.state === 'rejected' ? progress.reason : null;
  ctx.update(transferRecalls, row, { state, rejection, decided_at: ctx.now });
  return 'APPLIED';
}

/** Applies a decision that the provider of the payout reports. Throws NOT_FOUND without a request. */
export async function applyReportedRecall(
  runtime: Runtime,
  providerId: string,
  transactionId: string,
  progress: RecallProgress,
) {
  const recallRow = await runtime.db.read(transferRecalls, transactionId);
  if (recallRow?.provider_id !== providerId) {
    throw new Fault('NOT_FOUND', 'No return of this transfer was requested.');
  }
  return onAnyTransaction(runtime, transactionId, async (ctx) => {
    const row = (await ctx.read(transferRecalls, transactionId)) ?? recallRow;
    const result = applyRecall(ctx, row, progress);
    const problem = `The reported decision is ${progress.state}, but the recall is ${row.state}.`;
    const subject = { platformId: row.platform_id, transactionId };
    return { result, ...subject, ...(result === 'CONTRADICTORY' ? { problem } : {}) };
  });
}

/** Sends the request. Sends it again later if the provider responds without a decision. */
const recall =
  (connectors: ConnectorsOf) =>
  async (runtime: Runtime, job: JobOf<typeof RECALL>): Promise<Result> => {
    const { row: payment, caller } = await loadPayment(runtime, job, asPayment);
    const recallRow = await runtime.db.read(transferRecalls, payment.id);
    const { rail } = connectors(caller.environment);
    if (recallRow?.state !== 'REQUESTED' || !rail?.recall) return { caller, stage: async () => {} };
    const transfer = { id: payment.id, ...receivedOf(payment) };
    const progress = await rail.recall(transfer, recallRow.cause);
    return {
      caller,
      stage: async (ctx) => {
        const row = await ctx.read(transferRecalls, payment.id);
        if (row?.state !== 'REQUESTED') return;
        applyRecall(ctx, row, progress);
        if (progress.state !== 'requested') return;
        ctx.later(RECALL, job.input, ctx.now + progress.checkAfterMs);
      },
    };
  };

export const recallJobs = (connectors: ConnectorsOf): JobHandler[] => [
  jobHandler(RECALL, { maxAttempts: OUTAGE_ATTEMPTS, run: recall(connectors) }),
];
