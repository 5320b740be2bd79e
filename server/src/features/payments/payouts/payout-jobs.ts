// The jobs that follow a payout: send it, ask about it until it is final, call it back, pay back what
// failed. They talk to the rail before anything is staged and bring its answer in through the same steps
// that any other notice takes. The instruction's id is the transaction's, so a rail that sees it twice knows.

import type { Connectors, Progress, RailPort } from '../../../connectors/ports/index.ts';
import { assertNever } from '../../../kernel/assert-never.ts';
import type { Caller } from '../../../kernel/caller.ts';
import type { JobDefinition } from '../../../kernel/contract/job.ts';
import type { Mode } from '../../../kernel/mode.ts';
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
  type OutgoingRow,
  readTransaction,
  type TransactionRow,
  transactionAt,
} from '../transactions/index.ts';
import { payoutOf, refundOf, umaPaymentOf } from './instructions.ts';

export type ConnectorsOf = (environment: Mode) => Connectors;

/** How long a callback waits, at first and at most, for what is to be called back to have been sent. */
const WAIT_MS = 1_000;
const WAIT_AT_MOST_MS = 60_000;

interface Loaded<R> {
  row: R;
  caller: Caller;
}

/** A job that is about a transaction. */
export type PaymentJob = JobOf<JobDefinition<typeof PaymentInput>>;

/** Which transactions work is about: answers the row as its type, and throws for one of another. */
export type As<R extends TransactionRow> = (row: TransactionRow) => R;

/** The transaction that a job is about, and the server acting for its platform. */
export async function loadOf<R extends TransactionRow>(
  runtime: Runtime,
  job: PaymentJob,
  as: As<R>,
): Promise<Loaded<R>> {
  const row = await readTransaction(runtime.db, job.input.transactionId);
  const platform = row && (await readPlatform(runtime.db, row.platform_id));
  if (!row || !platform) throw new Error(`job ${job.id} refers to no transaction`);
  return { row: as(row), caller: systemCaller(platform.id, platform.environment) };
}

/** The transaction as it is when a job's result is staged. */
export async function currentOf<R extends TransactionRow>(
  ctx: Ctx,
  id: string,
  as: As<R>,
): Promise<R> {
  return as(await transactionAt(ctx, id));
}

function railOf(connectors: ConnectorsOf, { environment }: Caller): RailPort {
  const { rail } = connectors(environment);
  if (!rail) throw new Error(`no rail is connected in ${environment}`);
  return rail;
}

/** Sends the payout, or asks about it, wherever it goes. */
async function ask(
  runtime: Runtime,
  connectors: ConnectorsOf,
  { row, caller }: Loaded<OutgoingRow>,
  what: 'send' | 'check',
): Promise<Progress> {
  const now = runtime.effects.now();
  if (row.rail_payload) {
    const { uma } = connectors(caller.environment);
    if (!uma) throw new Error(`no UMA connector is connected in ${caller.environment}`);
    const payment = umaPaymentOf(row, row.rail_payload);
    return what === 'send' ? uma.send(payment) : uma.check(payment, now);
  }
  const rail = railOf(connectors, caller);
  const instruction = await payoutOf(runtime, row);
  return what === 'send' ? rail.send(instruction) : rail.check(instruction, now);
}

/** What a rail's answer about a payout means for the payment; also the door for notices. */
export async function applyPayoutStatus(
  ctx: Ctx,
  row: OutgoingRow,
  progress: Progress,
): Promise<void> {
  const again = (afterMs: number | undefined) => {
    if (afterMs === undefined) return;
    ctx.later(CHECK_PAYOUT, { transactionId: row.id }, ctx.now + afterMs);
  };
  switch (progress.state) {
    case 'unknown':
      return again(progress.checkAfterMs);
    case 'accepted': {
      const handed = await submitPayout(ctx, row);
      if (progress.checkAfterMs !== undefined) return again(progress.checkAfterMs);
      if (isExpected(handed, 'payout')) await awaitRailResult(ctx, handed, 'payout');
      return;
    }
    case 'settled':
      await settlePayout(ctx, row, progress.onChain);
      return again(progress.checkAfterMs);
    case 'failed':
      // What was delivered only a return brings back.
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

/** What a rail's answer about a refund means. */
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
      const input = { transactionId: row.id, refundable: true, ask: 'check' as const };
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

/** Postpones a cancellation, twice as long each time. */
export function postpone(ctx: Ctx, definition: CancelDefinition, { input }: CancelJob): void {
  const waitMs = Math.min(input.waitMs ?? WAIT_MS, WAIT_AT_MOST_MS);
  ctx.later(definition, { ...input, waitMs: waitMs * 2 }, ctx.now + waitMs);
}

/** Sending must not begin once the payment is over or on its way back. */
const maySend = (row: OutgoingRow) =>
  row.status === 'PROCESSING' && row.funds === 'HELD' && !row.refund;

const NOTHING = async () => {};

export function payoutJobs(connectors: ConnectorsOf): JobHandler[] {
  const follow =
    (what: 'send' | 'check') =>
    async (runtime: Runtime, job: PaymentJob): Promise<Result> => {
      const loaded = await loadOf(runtime, job, asOutgoing);
      const { row, caller } = loaded;
      if (what === 'send' && !maySend(row)) return { caller, stage: NOTHING };
      const progress = await ask(runtime, connectors, loaded, what);
      return {
        caller,
        stage: async (ctx) =>
          applyPayoutStatus(ctx, await currentOf(ctx, row.id, asOutgoing), progress),
      };
    };

  const refund = async (runtime: Runtime, job: JobOf<typeof PAY_REFUND>): Promise<Result> => {
    const { row, caller } = await loadOf(runtime, job, asOutgoing);
    if (row.refund?.status !== 'PENDING') return { caller, stage: NOTHING };
    const failed: Progress = { state: 'failed', reason: 'QUOTE_EXECUTION_FAILED' };
    let progress: Progress = { state: 'settled', reference: row.id };
    if (job.input.refundable === false) progress = failed;
    else if (isRefundedByRail(row)) {
      const rail = railOf(connectors, caller);
      const instruction = await refundOf(runtime, row);
      progress = await (job.input.ask === 'check'
        ? rail.check(instruction, runtime.effects.now())
        : rail.send(instruction));
    }
    return {
      caller,
      stage: async (ctx) =>
        applyRefundStatus(ctx, await currentOf(ctx, row.id, asOutgoing), progress),
    };
  };

  const cancel = async (runtime: Runtime, job: CancelJob): Promise<Result> => {
    const { row, caller } = await loadOf(runtime, job, asOutgoing);
    const rail = railOf(connectors, caller);
    const now = runtime.effects.now();
    const over = row.status !== 'PROCESSING' || row.refund !== null;
    if (over || !rail.cancel) {
      const stage = async (ctx: Ctx) =>
        void rejectCancel(ctx, await currentOf(ctx, row.id, asOutgoing));
      return { caller, stage };
    }
    if (await hasJobFor(runtime.db, SEND_PAYOUT, row.id)) {
      // Its sending may be under way in another worker; a callback must come after it.
      return { caller, stage: async (ctx) => postpone(ctx, CANCEL_PAYOUT, job) };
    }
    const answer = await rail.cancel(await payoutOf(runtime, row), now);
    return {
      caller,
      stage: async (ctx) => {
        const current = await currentOf(ctx, row.id, asOutgoing);
        if (answer === 'cancelled') cancelPayout(ctx, current);
        if (answer === 'refused') rejectCancel(ctx, current);
      },
    };
  };

  return [
    jobHandler(SEND_PAYOUT, { run: follow('send') }),
    jobHandler(CHECK_PAYOUT, { run: follow('check') }),
    jobHandler(CANCEL_PAYOUT, { run: cancel }),
    jobHandler(PAY_REFUND, { run: refund }),
  ];
}
