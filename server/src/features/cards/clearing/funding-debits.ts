// The job for a funding debit calls the issuer immediately and then at the times that the issuer
// requests, and applies the result. Repeated calls are idempotent, because the ID of the debit is
// constant. An operator enters the result if the issuer reports none. Only the first final result
// counts.

import { formatAmount } from '../../../catalog/currencies/money-format.ts';
import type { CardFundingDebit, FundingDebitProgress } from '../../../connectors/ports/cards.ts';
import { type JobInput, storedKindsOf } from '../../../kernel/contract/job.ts';
import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { type PageInput, pageOfRows, startOf } from '../../../runtime/db/paging.ts';
import { OUTAGE_ATTEMPTS } from '../../../runtime/jobs/job-failures.ts';
import {
  type JobHandler,
  type JobOf,
  jobHandler,
  type Result,
} from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { cardAccountOf, factsOf } from '../../payments/card-payments/index.ts';
import { loadPayment, readCurrent } from '../../payments/payouts/index.ts';
import { recordRailResult } from '../../payments/suspense/index.ts';
import { type CardPaymentRow, loadTransaction } from '../../payments/transactions/index.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import type { CardDeps } from '../deps.ts';
import { applyFundingDebitResult, fundingDebitStep } from './arithmetic.ts';
import {
  asCardPayment,
  changePayment,
  FUNDING_DEBIT,
  onCardPayment,
  postSteps,
} from './payment.ts';

type FundingDebitInput = JobInput<typeof FUNDING_DEBIT>;

const isOpen = (row: CardPaymentRow, index: number): boolean =>
  row.card_funding_debit_statuses[index] === 'PENDING';

const debitOf = (row: CardPaymentRow, { at, since }: FundingDebitInput): CardFundingDebit => ({
  id: `${row.id}/${fundingDebitStep(at)}`,
  cardId: row.card.cardId,
  accountId: cardAccountOf(row),
  amount: row.card_funding_debits[at] ?? 0n,
  currency: row.card.currency,
  merchant: row.card.merchant,
  requestedAt: since,
});

/** Stages the result of an open debit. */
async function endDebit(
  ctx: Ctx,
  row: CardPaymentRow,
  index: number,
  isConfirmed: boolean,
): Promise<CardPaymentRow> {
  const { card, steps } = applyFundingDebitResult(factsOf(row), index, isConfirmed);
  await postSteps(ctx, row, steps);
  const isException = card.fundingDebits[index]?.status === 'STUCK' && row.status !== 'EXCEPTION';
  return changePayment(ctx, row, card, isException ? 'except' : undefined);
}

/** Applies the issuer's response. */
async function applyProgress(
  ctx: Ctx,
  row: CardPaymentRow,
  { at, since, attempts }: FundingDebitInput,
  progress: FundingDebitProgress,
): Promise<void> {
  if (!isOpen(row, at)) return;
  if (progress.state === 'pending') {
    const attemptFields = attempts === undefined ? {} : { attempts };
    const input = { transactionId: row.id, at, since, requested: true, ...attemptFields };
    return ctx.later(FUNDING_DEBIT, input, ctx.now + progress.checkAfterMs);
  }
  await endDebit(ctx, row, at, progress.state === 'confirmed');
}

/**
 * Index of the pending debit with this number, starting at one. Without a number, the index of the
 * only pending debit. Throws CONFLICT if none or several match.
 */
function indexOf(row: CardPaymentRow, number: number | undefined): number {
  const openIndexes = row.card_funding_debits.flatMap((_, index) =>
    isOpen(row, index) ? [index] : [],
  );
  const [fundingDebitIndex, ...furtherDebits] =
    number === undefined ? openIndexes : openIndexes.filter((each) => each + 1 === number);
  if (fundingDebitIndex === undefined) {
    throw new Fault(
      'CONFLICT',
      `The payment has no pending funding debit${number ? ` ${number}` : ''}.`,
    );
  }
  if (furtherDebits.length === 0) return fundingDebitIndex;
  const numberList = openIndexes.map((each) => each + 1).join(' or ');
  throw new Fault(
    'CONFLICT',
    `The payment has several pending funding debits. Specify one: ${numberList}.`,
  );
}

/** Records the result of a debit manually. Throws CONFLICT if the debit is not pending. */
async function endDebitByOperator(
  ctx: Ctx,
  row: CardPaymentRow,
  { number, completed, reason }: Omit<EndInput, 'transactionId'>,
): Promise<{ row: CardPaymentRow; at: number }> {
  const index = indexOf(row, number);
  recordRailResult(ctx, row, {
    kind: 'card',
    name: fundingDebitStep(index),
    state: completed ? 'settled' : 'failed',
    reason,
  });
  return { row: await endDebit(ctx, row, index, completed), at: index };
}

const amountOf = (row: CardPaymentRow, index: number) => {
  const money = { currency: row.card.currency, amount: row.card_funding_debits[index] ?? 0n };
  return { ...money, amount: Number(money.amount), readable: formatAmount(money) };
};

interface EndInput {
  transactionId: string;
  /** Number of the debit, starting at one. Required if several debits are pending. */
  number?: number | undefined;
  /** Whether the issuer has debited the funds. */
  completed: boolean;
  reason: string;
}

/**
 * Records the result of a funding debit for a payment of any platform. Throws TRANSACTION_NOT_FOUND
 * or CONFLICT.
 */
export async function endFundingDebit(runtime: Runtime, { transactionId, ...input }: EndInput) {
  const { row, at } = await onCardPayment(runtime, transactionId, (ctx, payment) =>
    endDebitByOperator(ctx, payment, input),
  );
  return {
    transactionId,
    status: row.status,
    number: at + 1,
    debitStatus: row.card_funding_debit_statuses[at],
    ...amountOf(row, at),
    reason: input.reason,
  };
}

// Columns of transactions that change have no index, so a pending debit is found by its job. The
// job of a debit with a manual result remains until it is due. Each job counts the attempts of the
// earlier jobs.
const PENDING_DEBITS_SQL = `with polls as materialized (
    select input ->> 'transactionId' as id, (input ->> 'at')::int4 as at,
      (input ->> 'since')::float8 as since,
      attempts + coalesce((input ->> 'attempts')::int4, 0) as attempts
    from jobs where kind = any($1::text[]))
  select a.id, a.at, a.since, a.attempts
  from polls a join transactions t on t.id = a.id
  where t.card_funding_debit_statuses[a.at + 1] = 'PENDING'
    and ($2::text is null or t.platform_id = $2)
    and (a.since, a.id, a.at) > ($4::float8, $5, $6::int4)
  order by a.since, a.id, a.at limit $3`;

interface PendingDebit {
  id: string;
  at: number;
  since: number;
  attempts: number;
}

async function viewOf({ db }: Runtime, { id, at, since, attempts }: PendingDebit) {
  const row = asCardPayment(await loadTransaction(db, id));
  const { environment } = await callerOf(db, row.platform_id);
  return {
    transactionId: id,
    platformId: row.platform_id,
    customerId: row.customer_id,
    environment,
    number: at + 1,
    since: iso(since),
    /** Number of calls to the issuer. */
    attempts,
    status: row.status,
    cardId: row.card.cardId,
    accountId: row.source_account,
    merchant: row.card.merchant.descriptor,
    ...amountOf(row, at),
  };
}

interface ListInput extends PageInput {
  platformId?: string | undefined;
}

/** A page of the pending funding debits of one platform or of all, oldest first. */
export async function listFundingDebits(
  runtime: Runtime,
  { platformId, cursor, limit }: ListInput,
) {
  const { created_at: since, id: position } = startOf(cursor);
  const [id = '', index = '0'] = position.split(' ');
  const kinds = storedKindsOf(FUNDING_DEBIT.kind);
  const values = [kinds, platformId ?? null, limit + 1, since, id, Number(index)];
  const rows = await runtime.db.query<PendingDebit>(PENDING_DEBITS_SQL, values);
  const { data, ...rest } = pageOfRows(rows, limit, (debit) => ({
    created_at: debit.since,
    id: `${debit.id} ${debit.at}`,
  }));
  return { data: await Promise.all(data.map((each) => viewOf(runtime, each))), ...rest };
}

const runDebitJob =
  ({ connectors }: Pick<CardDeps, 'connectors'>) =>
  async (runtime: Runtime, job: JobOf<typeof FUNDING_DEBIT>): Promise<Result> => {
    const { row, caller } = await loadPayment(runtime, job, asCardPayment);
    const { input } = job;
    if (!isOpen(row, input.at)) return { caller, stage: async () => {} };
    const attempts = (input.attempts ?? 0) + job.attempts;
    const { issuer } = connectors(caller.environment);
    if (!issuer) throw new Error(`no card issuer is available in ${caller.environment}`);
    const debit = debitOf(row, input);
    const progress = input.requested
      ? await issuer.checkFundingDebit(debit, await runtime.clocks.nowOf(caller))
      : await issuer.debitFunding(debit);
    const stage = async (ctx: Ctx) => {
      const current = await readCurrent(ctx, row.id, asCardPayment);
      await applyProgress(ctx, current, { ...input, attempts }, progress);
    };
    return { caller, stage };
  };

export const fundingDebitJobs = (deps: Pick<CardDeps, 'connectors'>): JobHandler[] => [
  jobHandler(FUNDING_DEBIT, { maxAttempts: OUTAGE_ATTEMPTS, run: runDebitJob(deps) }),
];
