// The jobs that follow incoming money. They talk to the outside before anything is staged, and bring what
// they hear in through the same steps that a notice takes. A platform is asked once; only when this process
// died between question and answer is it asked once more, with the same event, because nobody knows whether
// it heard. After that the payment is refused: nothing has moved yet, so refusing is always safe.

import type { Connectors, Progress } from '../../../connectors/ports/index.ts';
import { assertNever } from '../../../kernel/assert-never.ts';
import type { Caller } from '../../../kernel/caller.ts';
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
import { CANCEL_PULL, rejectCancel } from '../lifecycle/index.ts';
import {
  type ConnectorsOf,
  currentOf,
  loadOf,
  overRail,
  type PaymentJob,
  payoutOf,
  postpone,
  pullOf,
  type RailTransfer,
  refundOf,
} from '../payouts/index.ts';
import type { WaitKind } from '../suspense/index.ts';
import {
  asIncoming,
  type IncomingRow,
  receivedOf,
  sourceAccountOf,
} from '../transactions/index.ts';
import { ANSWER_WITHIN_MS, SILENCE, type Verdict, verdictOf } from './approval.ts';
import { releaseDeclared } from './declared.ts';
import { isHeld, returnHeldDeposit, reverseDeposit, waitForRelease } from './deposit.ts';
import { closeDepositReturn, followUp, incomingReason } from './ends.ts';
import { ASK, COLLECT, LAPSE, PASS_ON, PULL, REVIEW_EXPIRY, SEND_BACK } from './kinds.ts';
import { applyPullStatus, cancelPull, isPull } from './pull.ts';
import {
  applyApprovalDecision,
  applyCollectionStatus,
  applyForwardingStatus,
  isAwaitingApproval,
  isUma,
  isUnderWay,
  rejectUma,
} from './uma.ts';

// Calling back a pull on its way: the rail is asked, and what it says is brought in like any notice. A pull
// that has ended or arrived meanwhile, or a rail that cannot call back, leaves everything as it is.

/** Whether the rail has yet to say that it took it. */
const isUnsent = ({ status, funds }: IncomingRow) => status === 'PENDING' && funds === 'AWAITED';

const isInTransit = ({ status, funds, pending_reason }: IncomingRow) =>
  status === 'PROCESSING' && (funds === 'AWAITED' || funds === 'HELD') && pending_reason === null;

const cancelPullJob = (connectors: ConnectorsOf): JobHandler =>
  jobHandler(CANCEL_PULL, {
    async run(runtime, job) {
      const { row, caller } = await loadOf(runtime, job, asIncoming);
      const { rail } = connectors(caller.environment);
      const now = runtime.effects.now();
      const refuse = async (ctx: Ctx) =>
        void rejectCancel(ctx, await currentOf(ctx, row.id, asIncoming));
      if (!rail?.cancel || !(isUnsent(row) || isInTransit(row))) return { caller, stage: refuse };
      if (isUnsent(row)) {
        // Its sending may be under way in another worker; a callback must come after it.
        return { caller, stage: async (ctx) => postpone(ctx, CANCEL_PULL, job) };
      }
      const answer = await rail.cancel(await pullOf(runtime, row), now);
      return {
        caller,
        stage: async (ctx) => {
          const current = await currentOf(ctx, row.id, asIncoming);
          if (answer === 'cancelled') await cancelPull(ctx, current);
          if (answer === 'refused') rejectCancel(ctx, current);
        },
      };
    },
  });

interface IncomingParts {
  connectors: ConnectorsOf;
  webhooks: SynchronousDeps;
}

const MAX_ASKS = 2;

type Heed = (ctx: Ctx, row: IncomingRow) => Promise<void> | void;

/** The result of a job about a transaction: `heed` with the row as it then is. */
const then = (caller: Caller, id: string, heed: Heed): Result => ({
  caller,
  stage: async (ctx) => heed(ctx, await currentOf(ctx, id, asIncoming)),
});

const NOTHING: Heed = () => {};

/** What the rail's answer about a way back means. */
async function applyReturnStatus(ctx: Ctx, row: IncomingRow, progress: Progress): Promise<void> {
  const { state } = progress;
  if (row.refund?.status !== 'PENDING') return;
  if (state === 'accepted' || state === 'unknown') {
    return followUp(ctx, row, [SEND_BACK, 'refund'], progress);
  }
  await closeDepositReturn(ctx, row, state === 'settled');
}

/** What a notice about its way in means. */
async function applyArrivalStatus(ctx: Ctx, row: IncomingRow, progress: Progress): Promise<void> {
  if (isPull(row)) return applyPullStatus(ctx, row, progress);
  if (isUma(row) && row.funds === 'AWAITED') return applyCollectionStatus(ctx, row, progress);
  if (progress.state !== 'returned') return;
  await reverseDeposit(ctx, row, incomingReason(progress.reason, 'COLLECTION_FAILED'));
}

/**
 * A notice from outside about one movement of an incoming transaction: its way in (`pull`), its way on to
 * an account outside (`payout`), or its way back. The kind is said and never guessed from the row, since a
 * notice may come twice, and the second time the row waits for something else.
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
    case 'pull':
      return applyArrivalStatus(ctx, row, progress);
    default:
      return assertNever(kind, 'kind of transfer');
  }
}

const PASSING_ON: RailTransfer<IncomingRow> = {
  as: asIncoming,
  instructionOf: payoutOf,
  heed: applyForwardingStatus,
  wanted: (row, ask) => ask === 'check' || isUnderWay(row),
};

const PULLING: RailTransfer<IncomingRow> = {
  as: asIncoming,
  instructionOf: pullOf,
  heed: applyPullStatus,
  wanted: (row, ask) => ask === 'check' || row.funds === 'AWAITED',
};

const SENDING_BACK: RailTransfer<IncomingRow> = {
  as: asIncoming,
  instructionOf: refundOf,
  heed: applyReturnStatus,
  wanted: (row) => row.refund?.status === 'PENDING',
};

async function askPlatform(
  runtime: Runtime,
  job: JobOf<typeof ASK>,
  row: IncomingRow,
  deps: SynchronousDeps,
): Promise<Verdict> {
  if (job.attempts > MAX_ASKS) return SILENCE;
  const platform = await readPlatform(runtime.db, row.platform_id);
  if (!platform?.webhook_endpoint) {
    return { say: 'refuse', reason: 'PAYMENT_APPROVAL_WEBHOOK_ERROR' };
  }
  const sent = await sendSynchronously(
    runtime,
    { answerTimeoutMs: ANSWER_WITHIN_MS, ...deps },
    {
      eventId: job.input.eventId,
      endpoint: platform.webhook_endpoint,
      environment: platform.environment,
    },
  );
  return verdictOf(sent, row.requested_fields ?? []);
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
  return uma.collect(payment, runtime.effects.now());
}

/** What has been held for a month goes back, unless a frozen account keeps it. */
async function expireReview(ctx: Ctx, row: IncomingRow): Promise<void> {
  if (!isHeld(row) || row.pending_reason === null) return;
  const account = await readInternalAccount(ctx, row.destination_account);
  if (account?.status === 'FROZEN') waitForRelease(ctx, row);
  else await returnHeldDeposit(ctx, row);
}

async function declared(runtime: Runtime, job: JobOf<typeof WALLET_DECLARED>): Promise<Result> {
  const { externalAccountId: id, after } = job.input;
  const account = await readExternalAccount(runtime.db, id);
  const platform = account && (await readPlatform(runtime.db, account.platform_id));
  if (!platform) throw new Error(`job ${job.id} refers to no account`);
  const caller = systemCaller(platform.id, platform.environment);
  return { caller, stage: (ctx) => releaseDeclared(ctx, id, after) };
}

export function incomingJobs({ connectors, webhooks }: IncomingParts): JobHandler[] {
  const about =
    <J extends PaymentJob>(
      work: (runtime: Runtime, job: J, row: IncomingRow, caller: Caller) => Promise<Heed>,
    ) =>
    async (runtime: Runtime, job: J): Promise<Result> => {
      const { row, caller } = await loadOf(runtime, job, asIncoming);
      return then(caller, row.id, await work(runtime, job, row, caller));
    };
  const ask = about(async (runtime, job: JobOf<typeof ASK>, row) => {
    if (!isAwaitingApproval(row)) return NOTHING;
    const verdict = await askPlatform(runtime, job, row, webhooks);
    return (ctx, current) => applyApprovalDecision(ctx, current, verdict);
  });
  const fetchIt = about(async (runtime, job: JobOf<typeof COLLECT>, row, { environment }) => {
    if (row.status !== 'PROCESSING' || row.funds !== 'AWAITED') return NOTHING;
    const progress = await collect(connectors(environment), runtime, job, row);
    const info = job.input.receiverInfo ?? {};
    return (ctx, current) => applyCollectionStatus(ctx, current, progress, info);
  });
  return [
    jobHandler(ASK, { run: ask }),
    jobHandler(LAPSE, {
      run: about(async () => (ctx, row) => void rejectUma(ctx, row, 'PAYMENT_APPROVAL_TIMED_OUT')),
    }),
    jobHandler(COLLECT, { run: fetchIt }),
    jobHandler(REVIEW_EXPIRY, { run: about(async () => expireReview) }),
    jobHandler(WALLET_DECLARED, { run: declared }),
    overRail(connectors, PASS_ON, PASSING_ON),
    overRail(connectors, PULL, PULLING),
    overRail(connectors, SEND_BACK, SENDING_BACK),
    cancelPullJob(connectors),
  ];
}
