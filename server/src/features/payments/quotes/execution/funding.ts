// External funding of payments: by debit over a rail, or by deposit. When the funds arrive, the
// payment continues, or it fails and the funds are returned. Outside the sandbox, `receiveFunds` is
// the only entry point for deposits. A deposit states a quote, a payment reference or an account.

import { isFiat } from '../../../../catalog/currencies/currencies.ts';
import type { Progress } from '../../../../connectors/ports/index.ts';
import { assertNever } from '../../../../kernel/assert-never.ts';
import { defineJob } from '../../../../kernel/contract/job.ts';
import type { Time } from '../../../../kernel/effects.ts';
import { Fault, invalidField, isUnavailable } from '../../../../kernel/fault.ts';
import { isId } from '../../../../kernel/id.ts';
import { type Money, subtract } from '../../../../kernel/money.ts';
import { systemAccount } from '../../../../ledger/chart.ts';
import { transfersInStep } from '../../../../runtime/committer/ledger-reads.ts';
import { OUTAGE_ATTEMPTS } from '../../../../runtime/jobs/job-failures.ts';
import {
  type JobHandler,
  type JobOf,
  jobHandler,
  type Result,
} from '../../../../runtime/jobs/jobs.ts';
import { hasJobFor } from '../../../../runtime/jobs/jobs-table.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import type { Runtime } from '../../../../runtime/operation/operate.ts';
import {
  findInternalAccounts,
  type InternalAccountRow,
  internalAccountOf,
  isBalance,
} from '../../../balances/internal-accounts/index.ts';
import { debitWithShortfall } from '../../../balances/shortfalls/index.ts';
import { readCustomer } from '../../../customers/records/index.ts';
import {
  CANCEL_FUNDING,
  expirePayment,
  failPayout,
  type ReceivedFunds,
  rejectCancel,
  rejectFunds,
} from '../../lifecycle/index.ts';
import { type Deposit, receiveDeposit, rejectDeposit } from '../../pay-ins/index.ts';
import {
  type ConnectorsOf,
  createRailJobHandler,
  debitOf,
  loadPayment,
  postpone,
  type RailTransfer,
  RailTransferInput,
  readCurrent,
} from '../../payouts/index.ts';
import { postAndNotify } from '../../presentation/index.ts';
import { fundedOf } from '../../refunds/index.ts';
import { awaitDecision, awaitRailResult, transactionIdOfReference } from '../../suspense/index.ts';
import {
  asOutgoing,
  debitedOf,
  type FailureReason,
  type IncomingRow,
  type OutgoingRow,
  type PaymentRow,
  readTransaction,
} from '../../transactions/index.ts';
import type { QuoteRow } from '../store.ts';
import { quotes } from '../store.ts';
import {
  checkParties,
  countVelocity,
  createPayment,
  isWithinLimits,
  SEND_FUNDING_DEBIT,
} from './execute.ts';

const CHECK_FUNDING_DEBIT = defineJob('funding.check', RailTransferInput);

/** Failure reason of a payment that cannot start when its funds arrive. */
function reasonOf({ code }: Fault): FailureReason {
  if (code === 'ACCOUNT_NOT_FOUND') return 'ACCOUNT_INVALID';
  return 'QUOTE_EXECUTION_FAILED';
}

/** Executes the payment with the funds received for it, or returns the funds. */
async function payWith(ctx: Ctx, row: OutgoingRow, funds: ReceivedFunds): Promise<OutgoingRow> {
  if (subtract(funds, debitedOf(row)).amount !== 0n) {
    return rejectFunds(ctx, row, funds, 'FUNDING_AMOUNT_MISMATCH');
  }
  const parties = await checkParties(ctx, row).catch((error: unknown) => {
    if (error instanceof Fault && !isUnavailable(error)) return error;
    throw error;
  });
  if (parties instanceof Fault) return rejectFunds(ctx, row, funds, reasonOf(parties));
  // A payment funded by debit was counted at the start of the debit.
  if (row.status === 'PENDING') {
    if (!(await isWithinLimits(ctx, row))) return rejectFunds(ctx, row, funds, 'LIMIT_EXCEEDED');
    await countVelocity(ctx, row, true);
  }
  return createPayment(ctx, row, parties, funds);
}

/** Funds that have arrived. Exactly one of `quoteId`, `reference` and `accountId` is set. */
export interface FundsNotice extends Money {
  quoteId?: string;
  reference?: string;
  accountId?: string;
  /** The rail's information about the payer: fields of a REALTIME_FUNDING source. */
  origin?: ReceivedFunds['origin'];
  chain?: ReceivedFunds['chain'];
  /** Holds the funds for this reason. Only with `accountId`. */
  hold?: Deposit['hold'];
}

async function ownerOf(ctx: Ctx, customerId: string | null) {
  return customerId === null ? null : ((await readCustomer(ctx, customerId)) ?? null);
}

async function depositFunds(
  ctx: Ctx,
  account: InternalAccountRow,
  { amount, origin = {}, chain, hold }: FundsNotice,
  quoteId?: string,
): Promise<IncomingRow> {
  const owner = await ownerOf(ctx, account.customer_id);
  return receiveDeposit(ctx, { account, owner, amount, origin, chain, quoteId, hold });
}

/**
 * Late or duplicate funds for a payment, or funds in another currency. A digital asset is credited
 * to an account of the payer, because the sending wallet may not accept a return. Fiat funds
 * are returned, as are digital assets without such an account.
 */
async function receiveUnexpectedFunds(
  ctx: Ctx,
  row: OutgoingRow,
  notice: FundsNotice,
): Promise<IncomingRow> {
  const { currency, amount, origin = {}, chain } = notice;
  const quoteId = row.quote_id ?? undefined;
  const payerAccounts = await findInternalAccounts(ctx.db, {
    platform_id: row.platform_id,
    customer_id: row.customer_id,
    currency,
  });
  const canReceive = ({ status }: InternalAccountRow) => status === 'ACTIVE' || status === 'FROZEN';
  const account = payerAccounts.find((each) => canReceive(each) && isBalance(each));
  if (!isFiat(currency) && account) return depositFunds(ctx, account, notice, quoteId);
  return rejectDeposit(ctx, {
    owner: await ownerOf(ctx, row.customer_id),
    amount,
    currency,
    origin,
    chain,
    quoteId,
    destination: row.destination,
    destinationAccount: row.destination_account,
  });
}

interface NamedQuote {
  quote: QuoteRow;
  payment: OutgoingRow;
}

/** The quote and the payment that the funds are for. */
async function findNamedQuote(ctx: Ctx, { quoteId, reference }: FundsNotice): Promise<NamedQuote> {
  const transactionId = reference === undefined ? undefined : transactionIdOfReference(reference);
  const transaction =
    transactionId === undefined ? undefined : await readTransaction(ctx, transactionId);
  const id = quoteId ?? transaction?.quote_id ?? '';
  const quote = isId(id, 'Quote') ? await ctx.read(quotes, id) : undefined;
  if (quote?.platform_id !== ctx.caller.platformId) {
    throw reference === undefined
      ? new Fault('QUOTE_NOT_FOUND', 'Quote not found.')
      : new Fault('REFERENCE_NOT_FOUND', 'Payment reference not found.');
  }
  const payment = await readCurrent(ctx, quote.transaction_id, asOutgoing);
  if (payment.source.sourceType !== 'REALTIME_FUNDING') {
    throw invalidField('quoteId', 'must be a quote with a REALTIME_FUNDING source');
  }
  return { quote, payment };
}

/** Posts funds that have arrived. Returns the transaction that received them. */
export async function receiveFunds(ctx: Ctx, notice: FundsNotice): Promise<PaymentRow> {
  if (notice.accountId !== undefined) {
    const account = await internalAccountOf(ctx, notice.accountId);
    if (account.currency !== notice.currency) {
      const reason = `The account is denominated in ${account.currency}, not ${notice.currency}.`;
      throw new Fault('INVALID_CURRENCY', reason);
    }
    return depositFunds(ctx, account, notice);
  }
  const { quote, payment } = await findNamedQuote(ctx, notice);
  const isExpected = payment.status === 'PENDING' && notice.currency === payment.sent_currency;
  if (isExpected && ctx.now < quote.expires_at) return payWith(ctx, payment, notice);
  if (payment.status === 'PENDING' && ctx.now >= quote.expires_at) expirePayment(ctx, payment);
  return receiveUnexpectedFunds(ctx, payment, notice);
}

/** Time at which the debit or deposit that funded a payment was reversed, or undefined. */
export async function fundingReversalTime(
  db: Ctx['db'],
  transactionId: string,
): Promise<Time | undefined> {
  const [transfer] = await transfersInStep(db, transactionId, 'return');
  return transfer?.created_at;
}

/**
 * Reverses the debit or deposit that funded an executed payment. The balance of the payer is debited, or
 * the balance of the platform if the payer has none. Without either balance in this currency, suspense is
 * debited and an operator decides. Returns false if the reversal was already posted.
 */
export async function reverseFunding(ctx: Ctx, row: OutgoingRow): Promise<boolean> {
  if ((await fundingReversalTime(ctx.db, row.id)) !== undefined) return false;
  const currency = row.sent_currency;
  const creditTo = systemAccount(ctx.caller.environment, 'rail_in_transit', currency);
  const accountLists = await Promise.all(
    [row.customer_id, null].map((customer_id) =>
      findInternalAccounts(ctx.db, { platform_id: row.platform_id, customer_id, currency }),
    ),
  );
  const account = accountLists.flat().find((each) => each.status !== 'CLOSED' && isBalance(each));
  const posting = { transactionId: row.id, step: 'return', ...fundedOf(row) };
  if (account) {
    await postAndNotify(ctx, () => debitWithShortfall(ctx, account, { ...posting, creditTo }));
    return true;
  }
  const debit = systemAccount(ctx.caller.environment, 'suspense', currency);
  ctx.transfer({ ...posting, debit, credit: creditTo });
  await awaitDecision(ctx, row);
  return true;
}

/** Applies a status of the debit that funds a payment, from the rail or from an operator. */
export async function applyFundingStatus(
  ctx: Ctx,
  row: OutgoingRow,
  progress: Progress,
): Promise<void> {
  const checkAgain = (afterMs: number | undefined) => {
    if (afterMs === undefined) return;
    ctx.later(CHECK_FUNDING_DEBIT, { transactionId: row.id }, ctx.now + afterMs);
  };
  const isAwaited = row.funds === 'AWAITED';
  switch (progress.state) {
    case 'accepted':
      if (progress.checkAfterMs !== undefined) return checkAgain(progress.checkAfterMs);
      if (isAwaited) await awaitRailResult(ctx, row, 'debit');
      return;
    case 'unknown':
      return checkAgain(progress.checkAfterMs);
    case 'settled':
      if (isAwaited) await payWith(ctx, row, debitedOf(row));
      return checkAgain(progress.checkAfterMs);
    case 'returned':
      if (isAwaited) await failPayout(ctx, row, progress.reason, true);
      else if (row.funded_amount !== null) await reverseFunding(ctx, row);
      return;
    case 'failed':
      if (isAwaited) await failPayout(ctx, row, progress.reason, true);
      return;
    case 'cancelled':
      if (isAwaited) await failPayout(ctx, row, 'QUOTE_EXECUTION_FAILED', true);
      return;
    default:
      return assertNever(progress, 'transfer progress');
  }
}

/** Cancels a debit whose funds have not arrived. */
const cancelFunding =
  (connectors: ConnectorsOf) =>
  async (runtime: Runtime, job: JobOf<typeof CANCEL_FUNDING>): Promise<Result> => {
    const { row, caller } = await loadPayment(runtime, job, asOutgoing);
    const { rail } = connectors(caller.environment);
    const now = await runtime.clocks.nowOf(caller);
    if (row.funds !== 'AWAITED' || !rail?.cancel) {
      const stage = async (ctx: Ctx) =>
        void rejectCancel(ctx, await readCurrent(ctx, row.id, asOutgoing));
      return { caller, stage };
    }
    if (await hasJobFor(runtime.db, SEND_FUNDING_DEBIT, row.id)) {
      // Another worker may be sending the debit. The cancellation is therefore delayed.
      return { caller, stage: async (ctx) => postpone(ctx, CANCEL_FUNDING, job) };
    }
    const response = await rail.cancel(await debitOf(runtime, row), now);
    return {
      caller,
      stage: async (ctx) => {
        const currentPayment = await readCurrent(ctx, row.id, asOutgoing);
        if (response === 'cancelled')
          await applyFundingStatus(ctx, currentPayment, { state: 'cancelled' });
        if (response === 'rejected') rejectCancel(ctx, currentPayment);
      },
    };
  };

const FUNDING: RailTransfer<OutgoingRow> = {
  narrow: asOutgoing,
  instructionOf: debitOf,
  apply: applyFundingStatus,
  isDue: (row, request) => request === 'check' || row.funds === 'AWAITED',
};

/** The jobs that debit external accounts for payments, and cancel those debits. */
export function fundingJobs(connectors: ConnectorsOf): JobHandler[] {
  return [
    createRailJobHandler(connectors, SEND_FUNDING_DEBIT, FUNDING, 'send'),
    createRailJobHandler(connectors, CHECK_FUNDING_DEBIT, FUNDING, 'check'),
    jobHandler(CANCEL_FUNDING, {
      maxAttempts: OUTAGE_ATTEMPTS,
      run: cancelFunding(connectors),
    }),
  ];
}
