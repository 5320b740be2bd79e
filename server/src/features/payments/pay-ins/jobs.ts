// The jobs of incoming payments. The jobs call external systems before they stage changes, and apply
// results by the same steps as results that an operator records. An approval request is repeated once, with
// the same event, if the process stops before the response. After a second stop the payment is rejected,
// which is safe because no funds were collected.

import type { Connectors, Progress } from '../../../connectors/ports/index.ts';
import { assertNever } from '../../../kernel/assert-never.ts';
import type { Caller } from '../../../kernel/caller.ts';
import { OUTAGE_ATTEMPTS } from '../../../runtime/jobs/job-failures.ts';
import {
  type JobHandler,
  type JobOf,
  jobHandler,
  type Result,
} from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { readInternalAccount } from '../../balances/internal-accounts/index.ts';
import { type SynchronousDeps, sendSynchronously } from '../../notifications/webhooks/index.ts';
import { readExternalAccount, WALLET_DECLARED } from '../../payees/external-accounts/index.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { CANCEL_DEBIT, rejectCancel } from '../lifecycle/index.ts';
import {
  type ConnectorsOf,
  createRailJobHandler,
  debitOf,
  loadPayment,
  type PaymentJob,
  payoutOf,
  postpone,
  type RailTransfer,
  readCurrent,
  refundOf,
} from '../payouts/index.ts';
import type { WaitKind } from '../suspense/index.ts';
import {
  asIncoming,
  type IncomingRow,
  receivedOf,
  sourceAccountOf,
} from '../transactions/index.ts';
import { APPROVAL_TIMEOUT_MS, type Decision, decisionOf, TIMED_OUT } from './approval.ts';
import { applyDebitStatus, cancelDebit, isDebit } from './debit.ts';
import { releaseDeclared } from './declared.ts';
import { isHeld, returnHeldDeposit, reverseDeposit, scheduleReviewExpiry } from './deposit.ts';
import { closeDepositReturn, followUp, incomingReason } from './final-steps.ts';
import {
  APPROVAL_EXPIRY,
  COLLECT,
  DEBIT,
  FORWARD,
  REQUEST_APPROVAL,
  RETURN_DEPOSIT,
  REVIEW_EXPIRY,
} from './kinds.ts';
import {
  applyApprovalDecision,
  applyCollectionStatus,
  applyForwardingStatus,
  isAwaitingApproval,
  isForwarding,
  isUma,
  rejectUma,
} from './uma.ts';

/** Whether the debit awaits acceptance by the rail. */
const isUnsent = ({ status, funds }: IncomingRow) => status === 'PENDING' && funds === 'AWAITED';

const isInTransit = ({ status, funds, pending_reason }: IncomingRow) =>
  status === 'PROCESSING' && (funds === 'AWAITED' || funds === 'HELD') && pending_reason === null;

/**
 * Cancels a debit in progress. If the debit has failed or settled, or its rail does not support
 * cancellation, only the request is cleared.
 */
const cancelDebitJob = (connectors: ConnectorsOf): JobHandler =>
  jobHandler(CANCEL_DEBIT, {
    maxAttempts: OUTAGE_ATTEMPTS,
    async run(runtime, job) {
      const { row, caller } = await loadPayment(runtime, job, asIncoming);
      const { rail } = connectors(caller.environment);
      const now = await runtime.clocks.nowOf(caller);
      const reject = async (ctx: Ctx) =>
        void rejectCancel(ctx, await readCurrent(ctx, row.id, asIncoming));
      if (!rail?.cancel || !(isUnsent(row) || isInTransit(row))) return { caller, stage: reject };
      if (isUnsent(row)) {
        // Another worker may be sending the debit. The cancellation is therefore delayed.
        return { caller, stage: async (ctx) => postpone(ctx, CANCEL_DEBIT, job) };
      }
      const response = await rail.cancel(await debitOf(runtime, row), now);
      return {
        caller,
        stage: async (ctx) => {
          const currentPayment = await readCurrent(ctx, row.id, asIncoming);
          if (response === 'cancelled') await cancelDebit(ctx, currentPayment);
          if (response === 'rejected') rejectCancel(ctx, currentPayment);
        },
      };
    },
  });

interface IncomingDeps {
  connectors: ConnectorsOf;
  webhooks: SynchronousDeps;
}

const MAX_APPROVAL_REQUESTS = 2;

type Apply = (ctx: Ctx, row: IncomingRow) => Promise<void> | void;

/** The result of a job about a transaction. The stage calls `apply` with the current row. */
const resultOf = (caller: Caller, id: string, apply: Apply): Result => ({
  caller,
  stage: async (ctx) => apply(ctx, await readCurrent(ctx, id, asIncoming)),
});

const noChange: Apply = () => {};

/** Applies the rail's status of a deposit return. */
async function applyReturnStatus(ctx: Ctx, row: IncomingRow, progress: Progress): Promise<void> {
  const { state } = progress;
  if (row.refund?.status !== 'PENDING') return;
  if (state === 'accepted' || state === 'unknown') {
    return followUp(ctx, row, [RETURN_DEPOSIT, 'refund'], progress);
  }
  await closeDepositReturn(ctx, row, state === 'settled');
}

/** Applies a status of the transfer that collects the funds. */
async function applyArrivalStatus(ctx: Ctx, row: IncomingRow, progress: Progress): Promise<void> {
  if (isDebit(row)) return applyDebitStatus(ctx, row, progress);
  if (isUma(row) && row.funds === 'AWAITED') return applyCollectionStatus(ctx, row, progress);
  if (progress.state !== 'returned') return;
  await reverseDeposit(ctx, row, incomingReason(progress.reason, 'COLLECTION_FAILED'));
}

/**
 * Applies a status of one transfer of an incoming transaction: the collection (`debit`), the forwarding to
 * an external account (`payout`) or the return (`refund`). The caller states the kind, because a repeated
 * status must not be applied to the transfer that the row now awaits.
 */
export async function applyIncomingStatus(
  ctx: Ctx,
  row: IncomingRow,
  kind: WaitKind,
  progress: Progress,
): Promise<void> {
  switch (kind) {
    case 'refund':
      return applyReturnStatus(ctx, row, progress);
    case 'payout':
      return applyForwardingStatus(ctx, row, progress);
    case 'debit':
      return applyArrivalStatus(ctx, row, progress);
    default:
      return assertNever(kind, 'kind of transfer');
  }
}

const FORWARDING_TRANSFER: RailTransfer<IncomingRow> = {
  narrow: asIncoming,
  instructionOf: payoutOf,
  apply: applyForwardingStatus,
  isDue: (row, request) => request === 'check' || isForwarding(row),
};

const DEBIT_TRANSFER: RailTransfer<IncomingRow> = {
  narrow: asIncoming,
  instructionOf: debitOf,
  apply: applyDebitStatus,
  isDue: (row, request) => request === 'check' || row.funds === 'AWAITED',
};

const RETURN_TRANSFER: RailTransfer<IncomingRow> = {
  narrow: asIncoming,
  instructionOf: refundOf,
  apply: applyReturnStatus,
  isDue: (row) => row.refund?.status === 'PENDING',
};

async function sendApprovalRequest(
  runtime: Runtime,
  job: JobOf<typeof REQUEST_APPROVAL>,
  row: IncomingRow,
  deps: SynchronousDeps,
): Promise<Decision> {
  if (job.attempts > MAX_APPROVAL_REQUESTS) return TIMED_OUT;
  const platform = await readPlatform(runtime.db, row.platform_id);
  if (!platform?.webhook_endpoint) {
    return { outcome: 'reject', reason: 'PAYMENT_APPROVAL_WEBHOOK_ERROR' };
  }
  const response = await sendSynchronously(
    runtime,
    { answerTimeoutMs: APPROVAL_TIMEOUT_MS, ...deps },
    {
      eventId: job.input.eventId,
      endpoint: platform.webhook_endpoint,
      environment: platform.environment,
    },
  );
  return decisionOf(response, row.requested_fields ?? []);
}

async function collect(
  { uma }: Connectors,
  runtime: Runtime,
  job: JobOf<typeof COLLECT>,
  row: IncomingRow,
): Promise<Progress> {
  if (!uma?.collect) throw new Error('no connector collects payments from UMA providers');
  const payment = {
    id: row.id,
    sender: sourceAccountOf(row),
    receiver: row.destination_account,
    ...receivedOf(row),
    payerData: row.counterparty ?? {},
    receiverInfo: job.input.receiverInfo ?? {},
    at: row.sent_at ?? row.updated_at,
  };
  return uma.collect(payment, await runtime.clocks.nowOf({ platformId: row.platform_id }));
}

/** Returns a deposit at the end of its review period, unless its account is frozen. */
async function expireReview(ctx: Ctx, row: IncomingRow): Promise<void> {
  if (!isHeld(row) || row.pending_reason === null) return;
  const account = await readInternalAccount(ctx, row.destination_account);
  if (account?.status === 'FROZEN') scheduleReviewExpiry(ctx, row);
  else await returnHeldDeposit(ctx, row);
}

async function handleWalletDeclared(
  runtime: Runtime,
  job: JobOf<typeof WALLET_DECLARED>,
): Promise<Result> {
  const { externalAccountId: id, after } = job.input;
  const account = await readExternalAccount(runtime.db, id);
  const platform = account && (await readPlatform(runtime.db, account.platform_id));
  if (!platform) throw new Error(`job ${job.id} refers to no account`);
  const caller = systemCaller(platform.id, platform.environment);
  return { caller, stage: (ctx) => releaseDeclared(ctx, id, after) };
}

export function incomingJobs({ connectors, webhooks }: IncomingDeps): JobHandler[] {
  const withPayment =
    <J extends PaymentJob>(
      work: (runtime: Runtime, job: J, row: IncomingRow, caller: Caller) => Promise<Apply>,
    ) =>
    async (runtime: Runtime, job: J): Promise<Result> => {
      const { row, caller } = await loadPayment(runtime, job, asIncoming);
      return resultOf(caller, row.id, await work(runtime, job, row, caller));
    };
  const requestApproval = withPayment(async (runtime, job: JobOf<typeof REQUEST_APPROVAL>, row) => {
    if (!isAwaitingApproval(row)) return noChange;
    const decision = await sendApprovalRequest(runtime, job, row, webhooks);
    return (ctx, currentPayment) => applyApprovalDecision(ctx, currentPayment, decision);
  });
  const collectFunds = withPayment(
    async (runtime, job: JobOf<typeof COLLECT>, row, { environment }) => {
      if (row.status !== 'PROCESSING' || row.funds !== 'AWAITED') return noChange;
      const progress = await collect(connectors(environment), runtime, job, row);
      const info = job.input.receiverInfo ?? {};
      return (ctx, currentPayment) => applyCollectionStatus(ctx, currentPayment, progress, info);
    },
  );
  return [
    jobHandler(REQUEST_APPROVAL, { run: requestApproval }),
    jobHandler(APPROVAL_EXPIRY, {
      run: withPayment(
        async () => (ctx, row) => void rejectUma(ctx, row, 'PAYMENT_APPROVAL_TIMED_OUT'),
      ),
    }),
    jobHandler(COLLECT, { maxAttempts: OUTAGE_ATTEMPTS, run: collectFunds }),
    jobHandler(REVIEW_EXPIRY, { run: withPayment(async () => expireReview) }),
    jobHandler(WALLET_DECLARED, { run: handleWalletDeclared }),
    createRailJobHandler(connectors, FORWARD, FORWARDING_TRANSFER),
    createRailJobHandler(connectors, DEBIT, DEBIT_TRANSFER),
    createRailJobHandler(connectors, RETURN_DEPOSIT, RETURN_TRANSFER),
    cancelDebitJob(connectors),
  ];
}
