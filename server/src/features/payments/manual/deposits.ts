// Deposits that operators record from a bank statement or wallet, or that providers report. The
// bank reference of an entry is its key, so a repeated entry is posted once. A deposit is for an
// account, or for a payment by reference.
import { accountIdOfReference } from '../../../catalog/accounts/account-reference.ts';
import type { Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { isKeyTaken, operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { readInternalAccount } from '../../balances/internal-accounts/index.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import {
  hasDepositPosting,
  isHeld,
  releaseDeposit,
  returnHeldDeposit,
  reverseDeposit,
} from '../pay-ins/index.ts';
import { fundingReversalTime, receiveFunds, reverseFunding } from '../quotes/index.ts';
import { transactionIdOfReference } from '../suspense/index.ts';
import {
  type FailureReason,
  type IncomingRow,
  loadTransaction,
  type OutgoingRow,
  readTransaction,
  type TransactionRow,
} from '../transactions/index.ts';
import { conflict, onAnyTransaction } from './notice.ts';

type FundsNotice = Parameters<typeof receiveFunds>[1];

/**
 * The ID is environment, currency, reporting provider and bank reference, so an entry is recorded
 * once. An entry that an operator and a provider report has one `shared_key`, so it is recorded
 * once too.
 */
const deposits = table(
  'deposits',
  {
    id: col.text,
    platform_id: col.text,
    transaction_id: col.text,
    currency: col.text,
    amount: col.int8,
    target: col.text,
    /** The provider that reported the deposit. Null for an operator. */
    provider_id: col.text.null,
    /** Null if an earlier deposit has the same key. */
    shared_key: col.text.null,
    created_at: col.time,
  },
  {
    clientKeyed: true,
    unique: { deposits_shared: () => new Fault('CONFLICT', 'The deposit is already recorded.') },
  },
);

export type DepositRow = RowOf<typeof deposits>;

/**
 * Resolves the target of a notice. The reference of an account is replaced by the ID of the
 * account. Spaces and hyphens, which banks insert into references, are removed.
 */
function withTarget(notice: FundsNotice): FundsNotice {
  const { reference, ...rest } = notice;
  if (reference === undefined) return notice;
  const accountId = accountIdOfReference(reference);
  if (accountId) return { ...rest, accountId };
  return { ...rest, reference: reference.replace(/[\s-]/g, '').toUpperCase() };
}

/** The platform of the target. Throws REFERENCE_NOT_FOUND and ACCOUNT_NOT_FOUND. */
async function findPlatform(
  runtime: Runtime,
  target: Pick<FundsNotice, 'accountId' | 'reference'>,
) {
  const { accountId, reference = '' } = target;
  const owner =
    accountId === undefined
      ? await readTransaction(runtime.db, transactionIdOfReference(reference) ?? '')
      : await readInternalAccount(runtime.db, accountId);
  const platform = owner && (await readPlatform(runtime.db, owner.platform_id));
  if (platform) return platform;
  if (accountId === undefined)
    throw new Fault('REFERENCE_NOT_FOUND', 'Payment reference not found.');
  throw new Fault('ACCOUNT_NOT_FOUND', 'Account not found.');
}

async function resultOf(runtime: Runtime, id: string, recordedAt?: 'now' | 'before') {
  const row = await loadTransaction(runtime.db, id);
  return {
    transactionId: id,
    platformId: row.platform_id,
    type: row.type,
    status: row.status,
    pendingReason: row.pending_reason,
    ...(recordedAt ? { recorded: recordedAt } : {}),
  };
}

export type DepositResult = Awaited<ReturnType<typeof resultOf>>;

/** Throws CONFLICT if the entry is recorded with another amount or target. */
function checkSame(deposit: DepositRow, entry: Pick<DepositRow, 'amount' | 'target'>): void {
  if (deposit.amount === entry.amount && deposit.target === entry.target) return;
  throw conflict(
    `This bank reference is already recorded for another deposit: ${deposit.transaction_id}.`,
  );
}

/** An entry of a bank statement or a wallet. */
export interface DepositEntry {
  /** Reference that the bank assigned to the entry. */
  bankReference: string;
  /**
   * The provider that reported the entry, and its environment. Absent for an entry of an operator.
   */
  reportedBy?: DepositReporter | undefined;
  /** The credited account. Absent with `paymentReference`. */
  accountId?: string | undefined;
  /** Reference of a payment or of an account, as the statement shows it. */
  paymentReference?: string | undefined;
  currency: string;
  amount: number;
  rail?: string | undefined;
  senderName?: string | undefined;
  senderAccount?: string | undefined;
  senderBank?: string | undefined;
  remittanceInformation?: string | undefined;
  /** Requires `network`. */
  transactionHash?: string | undefined;
  network?: string | undefined;
  /** Reason for a hold of a deposit to an account. */
  hold?: FundsNotice['hold'] | undefined;
}

/** A provider that reports deposits. */
export interface DepositReporter {
  providerId: string;
  environment: Mode;
}

/** A bank reference is unique within its provider, or within the entries of operators. */
export const depositIdOf = (
  environment: Mode,
  {
    currency,
    bankReference,
    reportedBy,
  }: Pick<DepositEntry, 'currency' | 'bankReference' | 'reportedBy'>,
) =>
  [environment, currency, ...(reportedBy ? [reportedBy.providerId] : []), bankReference].join('/');

/** The recorded deposit for an entry that a provider reports. */
export const depositReportedBy = (
  { db }: Pick<Runtime, 'db'>,
  reportedBy: DepositReporter,
  entry: Pick<DepositEntry, 'currency' | 'bankReference'>,
): Promise<DepositRow | undefined> =>
  db.read(deposits, depositIdOf(reportedBy.environment, { ...entry, reportedBy }));

/** Key of the properties that an operator and a provider report identically for one entry. */
const sharedKeyOf = (
  environment: Mode,
  { currency, bankReference, amount }: Pick<DepositEntry, 'currency' | 'bankReference' | 'amount'>,
) => [environment, currency, bankReference, amount].join('/');

/**
 * The deposit that another source recorded for the same entry. For a provider, the other source is
 * an operator. For an operator, the other source is any provider. References of two providers are
 * independent.
 */
async function findSharedDeposit(
  { db }: Pick<Runtime, 'db'>,
  environment: Mode,
  entry: DepositEntry,
): Promise<DepositRow | undefined> {
  const { currency, bankReference, amount, reportedBy } = entry;
  if (!reportedBy) {
    return (await db.find(deposits, { shared_key: sharedKeyOf(environment, entry) }))[0];
  }
  const operatorDeposit = await db.read(
    deposits,
    depositIdOf(environment, { currency, bankReference }),
  );
  return operatorDeposit?.amount === BigInt(amount) ? operatorDeposit : undefined;
}

/** The existing deposits with these IDs. */
export const depositsById = async (
  { db }: Pick<Runtime, 'db'>,
  ids: readonly string[],
): Promise<DepositRow[]> =>
  (await Promise.all(ids.map((id) => db.read(deposits, id)))).flatMap((each) => each ?? []);

/** Deposits that a transaction received: one, or several if a payment was paid more than once. */
export const depositsOf = (
  { db }: Pick<Runtime, 'db'>,
  transactionId: string,
): Promise<DepositRow[]> => db.find(deposits, { transaction_id: transactionId });

/** Exported to test its plan. */
export const REPORTED_IN = `select * from deposits
  where provider_id = $1 and currency = $2 and created_at >= $3 and created_at < $4
  order by created_at, id`;

/** Deposits that a provider reported in a period. */
export const depositsReportedIn = (
  { db }: Pick<Runtime, 'db'>,
  providerId: string,
  currency: string,
  [from, to]: readonly [Time, Time],
): Promise<DepositRow[]> =>
  db.query(REPORTED_IN, [providerId, currency, new Date(from), new Date(to)]);

const omitUndefined = (pairs: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(pairs).filter(([, value]) => value !== undefined));

function noticeOf(entry: DepositEntry): FundsNotice {
  const { accountId, paymentReference, transactionHash, network, hold } = entry;
  return withTarget({
    ...(accountId === undefined ? {} : { accountId }),
    ...(paymentReference === undefined ? {} : { reference: paymentReference }),
    currency: entry.currency,
    amount: BigInt(entry.amount),
    origin: omitUndefined({
      accountHolderName: entry.senderName,
      accountIdentifier: entry.senderAccount,
      bankName: entry.senderBank,
      paymentRail: entry.rail,
      remittanceInformation: entry.remittanceInformation,
      traceNumber: entry.bankReference,
    }),
    ...(transactionHash === undefined || network === undefined
      ? {}
      : { chain: { transactionHash, network } }),
    ...(hold ? { hold } : {}),
  });
}

/** A deposit that can be staged: its notice and the platform of its target. */
export async function prepareDeposit(runtime: Runtime, input: DepositEntry) {
  const notice = noticeOf(input);
  const platform = await findPlatform(runtime, notice);
  if (input.reportedBy && input.reportedBy.environment !== platform.environment) {
    throw new Fault('ACCOUNT_NOT_FOUND', 'Account not found in the environment of the provider.');
  }
  return { input, notice, platform };
}

type PreparedDeposit = Awaited<ReturnType<typeof prepareDeposit>>;

const targetOf = ({ accountId, reference }: FundsNotice) => (accountId ?? reference) as string;

/**
 * Stages the posting and the record of a deposit. The caller is the system caller of its platform.
 */
export async function stageDeposit(
  ctx: Ctx,
  { input, notice, platform }: PreparedDeposit,
): Promise<string> {
  const { environment } = platform;
  const { amount, currency } = notice;
  const shared_key = sharedKeyOf(environment, input);
  const isKeyUsed = (await ctx.db.find(deposits, { shared_key })).length > 0;
  const receivingTransaction = await receiveFunds(ctx, notice);
  ctx.insert(deposits, {
    id: depositIdOf(environment, input),
    platform_id: platform.id,
    transaction_id: receivingTransaction.id,
    ...{ currency, amount, target: targetOf(notice) },
    provider_id: input.reportedBy?.providerId ?? null,
    shared_key: isKeyUsed ? null : shared_key,
    created_at: ctx.now,
  });
  return receivingTransaction.id;
}

/** Whether another source recorded the entry concurrently. */
const isShared = (error: unknown) => error instanceof Fault && error.code === 'CONFLICT';

/**
 * Records a deposit once for each bank reference. Throws ACCOUNT_NOT_FOUND, REFERENCE_NOT_FOUND,
 * INVALID_CURRENCY, and CONFLICT if the bank reference is recorded for another deposit.
 */
export async function recordDeposit(runtime: Runtime, input: DepositEntry): Promise<DepositResult> {
  const preparedDeposit = await prepareDeposit(runtime, input);
  const { notice, platform } = preparedDeposit;
  const id = depositIdOf(platform.environment, input);
  const findRecorded = async () => {
    const depositBefore = await runtime.db.read(deposits, id);
    if (depositBefore) {
      checkSame(depositBefore, { amount: notice.amount, target: targetOf(notice) });
    }
    return depositBefore ?? findSharedDeposit(runtime, platform.environment, input);
  };
  const deposit = await findRecorded();
  if (deposit) return resultOf(runtime, deposit.transaction_id, 'before');
  const caller = systemCaller(platform.id, platform.environment);
  try {
    const receivedId = await operate(runtime, caller, (ctx) => stageDeposit(ctx, preparedDeposit));
    return resultOf(runtime, receivedId, 'now');
  } catch (error) {
    if (!isKeyTaken(error) && !isShared(error)) throw error;
    const otherDeposit = await findRecorded();
    if (!otherDeposit && !isKeyTaken(error)) throw error;
    // The other deposit belongs to a platform that the operator may not access.
    if (!otherDeposit) throw conflict('The bank reference is already recorded.');
    return resultOf(runtime, otherDeposit.transaction_id, 'before');
  }
}

const isDeposit = ({ source }: TransactionRow) => source.sourceType === 'REALTIME_FUNDING';

/** Whether the funds of a deposit, a debit or a UMA payment are held for review. */
const isUnderReview = (row: IncomingRow) => isHeld(row) && row.pending_reason !== null;

interface DecisionInput {
  transactionId: string;
  /** Default: the failure reason of the step. */
  reason?: FailureReason | undefined;
}

type Step = (
  ctx: Ctx,
  row: IncomingRow,
  reason?: FailureReason | undefined,
) => Promise<IncomingRow>;

/** Applies a step. Throws CONFLICT if the state of the deposit does not allow the step. */
async function applyStep(
  work: Step,
  ctx: Ctx,
  row: TransactionRow,
  { reason, requirement }: { reason: FailureReason | undefined; requirement: string },
): Promise<void> {
  if (row.type !== 'INCOMING' || !(isDeposit(row) || isUnderReview(row))) {
    throw conflict('The transaction is not a deposit.');
  }
  const { status, funds } = row;
  const paymentAfter = await work(ctx, row, reason);
  if (paymentAfter.status === status && paymentAfter.funds === funds) {
    throw conflict(`The deposit is ${status}. ${requirement}`);
  }
}

/**
 * Applies an operator's decision on held funds. The decision is not the result of a bank, so the
 * sandbox is supported too.
 */
const decide =
  (work: Step) =>
  async (runtime: Runtime, { transactionId, reason }: DecisionInput): Promise<DepositResult> => {
    const requirement = 'Only a held deposit can be released or rejected.';
    await onAnyTransaction(runtime, transactionId, (ctx, row) =>
      applyStep(work, ctx, row, { reason, requirement }),
    );
    return resultOf(runtime, transactionId);
  };

/** Makes a held deposit available. */
export const releaseHeldDeposit = decide(releaseDeposit);
/** Returns a held deposit to its payer. */
export const rejectHeldDeposit = decide(returnHeldDeposit);

/** Reverses the deposit that funded a payment. The payment is unchanged. Throws CONFLICT. */
async function reversePaymentFunding(ctx: Ctx, row: OutgoingRow): Promise<void> {
  if (!isDeposit(row) || row.funded_amount === null)
    throw conflict('The transaction is not a deposit.');
  if (row.refund?.status === 'PENDING') {
    throw conflict('The refund is in progress. Record its settlement with `payouts settle` first.');
  }
  if (!(await reverseFunding(ctx, row))) throw conflict('The return is already recorded.');
}

/** Stages that the bank reversed a deposit. Throws CONFLICT. */
export async function stageDepositReturn(
  ctx: Ctx,
  row: TransactionRow,
  reason?: FailureReason | undefined,
): Promise<void> {
  if (row.type === 'OUTGOING') return reversePaymentFunding(ctx, row);
  if (row.status === 'COMPLETED' && isDeposit(row) && !(await hasDepositPosting(ctx, row))) {
    const message = 'The funds came from an internal payment.';
    throw conflict(`${message} Return the deposit that funded ${row.quote_id}.`);
  }
  const requirement = 'Only a held or completed deposit can be returned.';
  return applyStep(reverseDeposit, ctx, row, { reason, requirement });
}

/** Time at which the bank reversed a deposit, or undefined. */
export async function reversalTimeOf(
  { db }: Pick<Runtime, 'db'>,
  row: TransactionRow,
): Promise<Time | undefined> {
  if (row.type === 'OUTGOING') return fundingReversalTime(db, row.id);
  const isReversed = row.status === 'FAILED' && row.funds === 'RETURNED' && !row.refund;
  return isReversed ? row.updated_at : undefined;
}

/**
 * Records that the bank reversed a deposit. The sandbox is supported too, because its bank never
 * reverses deposits.
 */
export async function recordDepositReturn(
  runtime: Runtime,
  { transactionId, reason }: DecisionInput,
): Promise<DepositResult> {
  await onAnyTransaction(runtime, transactionId, (ctx, row) =>
    stageDepositReturn(ctx, row, reason),
  );
  return resultOf(runtime, transactionId);
}
