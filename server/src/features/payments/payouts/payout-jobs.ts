// The jobs of a payout: sending, status checks, cancellation and refund. The jobs call the rail
// before they stage changes, and apply its result by the same steps as a result that an operator
// records. The ID of the payout instruction equals the ID of the transaction, so that the rail can
// detect a duplicate.

import type { Connectors, Progress, RailPort } from '../../../connectors/ports/index.ts';
import { assertNever } from '../../../kernel/assert-never.ts';
import type { Caller } from '../../../kernel/caller.ts';
import type { JobDefinition } from '../../../kernel/contract/job.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { OUTAGE_ATTEMPTS } from '../../../runtime/jobs/job-failures.ts';
import {
  type JobHandler,
  type JobOf,
  jobHandler,
  type Result,
} from '../../../runtime/jobs/jobs.ts';
import { hasJobFor } from '../../../runtime/jobs/jobs-table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import {
  cancelPayout,
  failPayout,
  rejectCancel,
  settlePayout,
  submitPayout,
} from '../lifecycle/index.ts';
import {
  CANCEL_PAYOUT,
  type CancelInput,
  CHECK_PAYOUT,
  isRefundedByRail,
  PAY_REFUND,
  type PaymentInput,
  payRefund,
  SEND_PAYOUT,
} from '../refunds/index.ts';
import { awaitRailResult, isExpected } from '../suspense/index.ts';
import {
  asOutgoing,
  loadTransaction,
  type OutgoingRow,
  readTransaction,
  type TransactionRow,
} from '../transactions/index.ts';
import { payoutOf, refundOf, umaPaymentOf } from './instructions.ts';

export type ConnectorsOf = (environment: Mode) => Connectors;

/** Initial and maximum delay of a cancellation while the transfer is being sent. */
const WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;

interface LoadedPayment<R> {
  row: R;
  caller: Caller;
}

export type PaymentJob = JobOf<JobDefinition<typeof PaymentInput>>;

/** Narrows a row to its type. Throws for a row of another type. */
export type Narrow<R extends TransactionRow> = (row: TransactionRow) => R;

/** The transaction of a job, and a system caller for its platform. */
export async function loadPayment<R extends TransactionRow>(
  runtime: Runtime,
  job: PaymentJob,
  narrow: Narrow<R>,
): Promise<LoadedPayment<R>> {
  const row = await readTransaction(runtime.db, job.input.transactionId);
  const platform = row && (await readPlatform(runtime.db, row.platform_id));
  if (!row || !platform) throw new Error(`job ${job.id} refers to no transaction`);
  return { row: narrow(row), caller: systemCaller(platform.id, platform.environment) };
}

/** Reads the current row for the stage of a job. */
export async function readCurrent<R extends TransactionRow>(
  ctx: Ctx,
  id: string,
  narrow: Narrow<R>,
): Promise<R> {
  return narrow(await loadTransaction(ctx, id));
}

function railOf(connectors: ConnectorsOf, { environment }: Caller): RailPort {
  const { rail } = connectors(environment);
  if (!rail) throw new Error(`no rail is connected in ${environment}`);
  return rail;
}

/** Sends the payout or checks its status, over a rail or to a UMA provider. */
async function callProvider(
  runtime: Runtime,
  connectors: ConnectorsOf,
  { row, caller }: LoadedPayment<OutgoingRow>,
  action: 'send' | 'check',
): Promise<Progress> {
  const now = await runtime.clocks.nowOf(caller);
  if (row.rail_payload) {
    const { uma } = connectors(caller.environment);
    if (!uma) throw new Error(`no UMA connector is connected in ${caller.environment}`);
    const payment = umaPaymentOf(row, row.rail_payload);
    return action === 'send' ? uma.send(payment) : uma.check(payment, now);
  }
  const rail = railOf(connectors, caller);
  const instruction = await payoutOf(runtime, row);
  return action === 'send' ? rail.send(instruction) : rail.check(instruction, now);
}

/** Applies a status of a payout, from the rail or from an operator. */
export async function applyPayoutStatus(
  ctx: Ctx,
  row: OutgoingRow,
  progress: Progress,
): Promise<void> {
  const checkAgain = (afterMs: number | undefined) => {
    if (afterMs === undefined) return;
    ctx.later(CHECK_PAYOUT, { transactionId: row.id }, ctx.now + afterMs);
  };
  switch (progress.state) {
    case 'unknown':
      return checkAgain(progress.checkAfterMs);
    case 'accepted': {
      const submittedPayment = await submitPayout(ctx, row);
      if (progress.checkAfterMs !== undefined) return checkAgain(progress.checkAfterMs);
      if (isExpected(submittedPayment, 'payout'))
        await awaitRailResult(ctx, submittedPayment, 'payout');
      return;
    }
    case 'settled':
      await settlePayout(ctx, row, progress.onChain);
      return checkAgain(progress.checkAfterMs);
    case 'failed':
      // A completed payout is reversed only by a return.
      if (row.status === 'COMPLETED') return;
      return void (await failPayout(ctx, row, progress.reason, progress.refundable ?? true));
    case 'returned':
      return void (await failPayout(ctx, await settlePayout(ctx, row), progress.reason, true));
    case 'cancelled':
      return void cancelPayout(ctx, row);
    default:
      return assertNever(progress, 'transfer progress');
  }
}

/** Applies a status of a refund, from the rail or from an operator. */
export async function applyRefundStatus(
  ctx: Ctx,
  row: OutgoingRow,
  progress: Progress,
): Promise<void> {
  if (row.refund?.status !== 'PENDING') return;
  switch (progress.state) {
    case 'settled':
      return void (await payRefund(ctx, row, true));
    case 'accepted':
    case 'unknown': {
      const { checkAfterMs } = progress;
      if (checkAfterMs === undefined) return awaitRailResult(ctx, row, 'refund');
      const input = { transactionId: row.id, refundable: true, request: 'check' as const };
      return ctx.later(PAY_REFUND, input, ctx.now + checkAfterMs);
    }
    case 'failed':
    case 'returned':
    case 'cancelled':
      return void (await payRefund(ctx, row, false));
    default:
      return assertNever(progress, 'transfer progress');
  }
}

type CancelDefinition = JobDefinition<typeof CancelInput>;
type CancelJob = JobOf<CancelDefinition>;

/** Postpones a cancellation, with exponential backoff. */
export function postpone(ctx: Ctx, definition: CancelDefinition, { input }: CancelJob): void {
  const waitMs = Math.min(input.waitMs ?? WAIT_MS, MAX_WAIT_MS);
  ctx.later(definition, { ...input, waitMs: waitMs * 2 }, ctx.now + waitMs);
}

/** A payout must not be sent after the payment is final or its refund has started. */
const maySend = (row: OutgoingRow) =>
  row.status === 'PROCESSING' && row.funds === 'HELD' && !row.refund;

const noChange = async () => {};

export function payoutJobs(connectors: ConnectorsOf): JobHandler[] {
  const callAndApply =
    (action: 'send' | 'check') =>
    async (runtime: Runtime, job: PaymentJob): Promise<Result> => {
      const loadedPayment = await loadPayment(runtime, job, asOutgoing);
      const { row, caller } = loadedPayment;
      if (action === 'send' && !maySend(row)) return { caller, stage: noChange };
      const progress = await callProvider(runtime, connectors, loadedPayment, action);
      return {
        caller,
        stage: async (ctx) =>
          applyPayoutStatus(ctx, await readCurrent(ctx, row.id, asOutgoing), progress),
      };
    };

  const handleRefund = async (runtime: Runtime, job: JobOf<typeof PAY_REFUND>): Promise<Result> => {
    const { row, caller } = await loadPayment(runtime, job, asOutgoing);
    if (row.refund?.status !== 'PENDING') return { caller, stage: noChange };
    const failedProgress: Progress = { state: 'failed', reason: 'QUOTE_EXECUTION_FAILED' };
    let progress: Progress = { state: 'settled', reference: row.id };
    if (job.input.refundable === false) progress = failedProgress;
    else if (isRefundedByRail(row)) {
      const rail = railOf(connectors, caller);
      const instruction = await refundOf(runtime, row);
      progress = await (job.input.request === 'check'
        ? rail.check(instruction, await runtime.clocks.nowOf(caller))
        : rail.send(instruction));
    }
    return {
      caller,
      stage: async (ctx) =>
        applyRefundStatus(ctx, await readCurrent(ctx, row.id, asOutgoing), progress),
    };
  };

  const cancel = async (runtime: Runtime, job: CancelJob): Promise<Result> => {
    const { row, caller } = await loadPayment(runtime, job, asOutgoing);
    const rail = railOf(connectors, caller);
    const now = await runtime.clocks.nowOf(caller);
    const hasEnded = row.status !== 'PROCESSING' || row.refund !== null;
    if (hasEnded || !rail.cancel) {
      const stage = async (ctx: Ctx) =>
        void rejectCancel(ctx, await readCurrent(ctx, row.id, asOutgoing));
      return { caller, stage };
    }
    if (await hasJobFor(runtime.db, SEND_PAYOUT, row.id)) {
      // Another worker may be sending the payout. The cancellation is therefore delayed.
      return { caller, stage: async (ctx) => postpone(ctx, CANCEL_PAYOUT, job) };
    }
    const response = await rail.cancel(await payoutOf(runtime, row), now);
    return {
      caller,
      stage: async (ctx) => {
        const currentPayment = await readCurrent(ctx, row.id, asOutgoing);
        if (response === 'cancelled') cancelPayout(ctx, currentPayment);
        if (response === 'rejected') rejectCancel(ctx, currentPayment);
      },
    };
  };

  return [
    jobHandler(SEND_PAYOUT, { maxAttempts: OUTAGE_ATTEMPTS, run: callAndApply('send') }),
    jobHandler(CHECK_PAYOUT, { maxAttempts: OUTAGE_ATTEMPTS, run: callAndApply('check') }),
    jobHandler(CANCEL_PAYOUT, { maxAttempts: OUTAGE_ATTEMPTS, run: cancel }),
    jobHandler(PAY_REFUND, { maxAttempts: OUTAGE_ATTEMPTS, run: handleRefund }),
  ];
}
