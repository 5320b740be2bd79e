// The jobs that follow a payout: send it, ask about it until it is final, pay back what failed. They talk
// to the rail before anything is staged and bring its answer in through the same steps that any other
// notice takes. The instruction's id is the transaction's, so a rail that sees it twice knows.
import type { Connectors, Progress, RailInstruction } from '../../connectors/ports.ts';
import type { Time } from '../../kernel/world.ts';
import type { Caller, Ctx, Environment } from '../../runtime/context.ts';
import type { Job, JobHandler, Result } from '../../runtime/jobs.ts';
import type { Runtime } from '../../runtime/operate.ts';
import { externalAccounts } from '../external-accounts/index.ts';
import { platforms, systemCaller } from '../platform/index.ts';
import {
  CHECK_PAYOUT,
  cancelPayout,
  failPayout,
  handOverPayout,
  PAY_REFUND,
  payRefund,
  SEND_PAYOUT,
  settlePayout,
} from './payment.ts';
import type { TransactionRow } from './present.ts';
import { transactions } from './store.ts';

type ConnectorsOf = (environment: Environment) => Connectors;

const idOf = (job: Job) => job.input.transactionId as string;

async function load(runtime: Runtime, job: Job): Promise<{ row: TransactionRow; caller: Caller }> {
  const row = await runtime.db.read(transactions, idOf(job));
  const platform = row && (await runtime.db.read(platforms, row.platform_id));
  if (!row || !platform) throw new Error(`job ${job.id} names no transaction`);
  return { row, caller: systemCaller(platform.id, platform.environment) };
}

async function instructionOf(
  runtime: Runtime,
  row: TransactionRow,
  sentAt: Time,
): Promise<RailInstruction> {
  const account = await runtime.db.read(externalAccounts, row.destination_account as string);
  if (!account) throw new Error(`${row.id} goes to no account`);
  const { fullName, legalName } = (account.info.beneficiary ?? {}) as Record<string, string>;
  return {
    id: row.id,
    platformId: row.platform_id,
    kind: 'payout',
    origin: row.quote_id ? 'quote' : 'transfer',
    rail: row.rail,
    currency: row.received_currency as string,
    amount: row.received_amount as bigint,
    account: account.info,
    beneficiaryName: fullName ?? legalName,
    remittanceInformation: row.remittance ?? undefined,
    purposeOfPayment: row.purpose ?? undefined,
    sentAt,
  };
}

/** What the rail's answer means for the payment. */
async function apply(
  ctx: Ctx,
  row: TransactionRow,
  progress: Progress,
  sentAt: Time,
): Promise<void> {
  const again = (afterMs: number | undefined) => {
    if (afterMs === undefined) return;
    ctx.later(CHECK_PAYOUT, { transactionId: row.id, sentAt }, ctx.now + afterMs);
  };
  switch (progress.state) {
    case 'unknown':
      return again(progress.checkAfterMs);
    case 'accepted':
      await handOverPayout(ctx, row);
      return again(progress.checkAfterMs);
    case 'settled':
      await settlePayout(ctx, row);
      if (progress.checkAfterMs !== undefined) again(progress.checkAfterMs);
      return;
    case 'failed':
      return void failPayout(ctx, row, progress.reason, progress.refundable ?? true);
    case 'returned':
      return void failPayout(ctx, await settlePayout(ctx, row), progress.reason, true);
    case 'cancelled':
      return void cancelPayout(ctx, row);
  }
}

async function current(ctx: Ctx, id: string): Promise<TransactionRow> {
  const row = await ctx.read(transactions, id);
  if (!row) throw new Error(`${id} is gone`);
  return row;
}

export function payoutJobs(connectors: ConnectorsOf): JobHandler[] {
  const follow =
    (ask: 'send' | 'check') =>
    async (runtime: Runtime, job: Job): Promise<Result> => {
      const { row, caller } = await load(runtime, job);
      const { rail } = connectors(caller.environment);
      if (!rail) throw new Error(`no rail serves ${caller.environment}`);
      // Every attempt shows the rail the same moment: when the payment was started.
      const sentAt = job.input.sentAt as Time;
      const instruction = await instructionOf(runtime, row, sentAt);
      const progress = await (ask === 'send'
        ? rail.send(instruction)
        : rail.check(instruction, runtime.world.now()));
      return {
        caller,
        stage: async (ctx) => apply(ctx, await current(ctx, row.id), progress, sentAt),
      };
    };
  const refund = async (runtime: Runtime, job: Job): Promise<Result> => {
    const { row, caller } = await load(runtime, job);
    const refundable = job.input.refundable !== false;
    return {
      caller,
      stage: async (ctx) => payRefund(ctx, await current(ctx, row.id), refundable),
    };
  };
  return [
    { kind: SEND_PAYOUT, run: follow('send') },
    { kind: CHECK_PAYOUT, run: follow('check') },
    { kind: PAY_REFUND, run: refund },
  ];
}
