// Decisions on differences. Each decision is one change set: the postings, any status change of the payment,
// and the record of the operator and the reason.

import { formatAmount } from '../../catalog/currencies/money-format.ts';
import type { FailureReason, Progress } from '../../connectors/ports/index.ts';
import { assertNever } from '../../kernel/assert-never.ts';
import { Fault, invalidField } from '../../kernel/fault.ts';
import type { SystemAccount } from '../../ledger/chart.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { isKeyTaken, operate, type Runtime } from '../../runtime/operation/operate.ts';
import { providerReports } from '../payments/manual/index.ts';
import { subjectOf } from '../payments/provider-messages/index.ts';
import { loadTransaction, readTransaction } from '../payments/transactions/index.ts';
import { reportedTransfers } from '../providers/index.ts';
import { callerOf, systemCaller } from '../tenancy/platform/index.ts';
import { type BookItem, bookItemsFor } from './book-items.ts';
import { postAtProvider, postBetween } from './postings.ts';
import { sourceOf } from './sources.ts';
import {
  type DayRow,
  type Decision,
  type DifferenceKind,
  type DifferenceRow,
  differences,
  type LineRow,
  missingKeyOf,
  providerDays,
  statementLines,
} from './store.ts';

export interface DecisionInput {
  differenceId: string;
  decision: Decision;
  reason: string;
  /** ID of the operator. */
  decidedBy: string;
  /** For MATCH: the payment of the line. */
  transactionId?: string | undefined;
  /** For RECORD_DEPOSIT: the credited account. Alternative to `paymentReference`. */
  accountId?: string | undefined;
  /** For RECORD_DEPOSIT: the reference of the payment that the deposit funds. */
  paymentReference?: string | undefined;
  /** For RETURN: failure reason of the payment. */
  failureReason?: FailureReason | undefined;
}

/** Decisions on the account of the funds. The payment keeps its status. */
const FUNDS_DECISIONS: readonly Decision[] = ['RECORD_FEE', 'OWN_FUNDS', 'WRITE_OFF', 'SUSPENSE'];

/** The decisions that each kind allows. */
export const DECISIONS_OF: Readonly<Record<DifferenceKind, readonly Decision[]>> = {
  MISSING_AT_PROVIDER: ['CARRY', 'RETURN', 'WRITE_OFF', 'IGNORE'],
  MISSING_WITH_US: ['MATCH', 'RECORD_DEPOSIT', ...FUNDS_DECISIONS],
  AMOUNT_DIFFERS: FUNDS_DECISIONS,
  CURRENCY_DIFFERS: FUNDS_DECISIONS,
  STATE_DIFFERS: ['SETTLE', 'RETURN', ...FUNDS_DECISIONS],
  DUPLICATED: FUNDS_DECISIONS,
  FEE_UNEXPECTED: FUNDS_DECISIONS,
  BALANCE_DIFFERS: FUNDS_DECISIONS,
  LATE_CORRECTION: FUNDS_DECISIONS,
};

/** The account to which a decision posts the funds. SUSPENSE uses the suspense account. */
const ACCOUNT_OF: Partial<Record<Decision, Exclude<SystemAccount, 'provider'>>> = {
  RECORD_FEE: 'expenses',
  OWN_FUNDS: 'external_settlement',
  WRITE_OFF: 'losses',
};

const conflict = (message: string) => new Fault('CONFLICT', message);

const NO_LINE = 'The difference has no line of a statement. Choose another decision.';

/** The rows that a decision concerns. */
interface Subject {
  difference: DifferenceRow;
  line: LineRow | undefined;
  day: DayRow;
}

async function readSubject(
  ctx: Pick<Ctx, 'read'>,
  { differenceId }: DecisionInput,
): Promise<Subject> {
  const difference = await ctx.read(differences, differenceId);
  if (!difference) throw new Fault('NOT_FOUND', 'Difference not found.');
  const day = await ctx.read(providerDays, difference.day_id);
  if (!day) throw new Error(`${difference.id} has no day`);
  const { line_id: lineId } = difference;
  return {
    difference,
    day,
    line: lineId === null ? undefined : await ctx.read(statementLines, lineId),
  };
}

function assertAllowed({ difference }: Subject, { decision }: DecisionInput): void {
  const { kind, status } = difference;
  if (status === 'DECIDED' || status === 'RESOLVED') {
    throw conflict(`The difference is already ${status}. Read it again.`);
  }
  const allowedDecisions = DECISIONS_OF[kind];
  if (!allowedDecisions.includes(decision)) {
    throw invalidField('decision', `must be one of ${allowedDecisions.join(', ')} for ${kind}`);
  }
  if (status === 'IN_SUSPENSE' && decision === 'SUSPENSE') {
    throw conflict('The funds are already in suspense. Choose another decision.');
  }
}

/**
 * Posts the funds of a difference to an account. SUSPENSE posts only the funds of BALANCE_DIFFERS,
 * because the funds of other kinds are already in suspense.
 */
function stageFunds(ctx: Ctx, subject: Subject, { decision }: DecisionInput): void {
  const { difference, day } = subject;
  const to = ACCOUNT_OF[decision] ?? 'suspense';
  const posting = {
    postingId: difference.line_id ?? difference.id,
    step: `decide.${difference.kind.toLowerCase()}`,
    amount: difference.amount,
  };
  const wasInSuspense = difference.status === 'IN_SUSPENSE';
  if (difference.kind !== 'BALANCE_DIFFERS' || wasInSuspense) {
    if (to !== 'suspense') postBetween(ctx, day, posting, { from: 'suspense', to });
    return;
  }
  if (day.status !== 'OPEN') {
    throw conflict(`The day ${day.day} is closed. Its balance can no longer be adjusted.`);
  }
  const step = `adjust.${difference.version}`;
  postAtProvider(ctx, day, { ...posting, step }, to);
  const adjusted_net = day.adjusted_net + difference.amount;
  ctx.update(providerDays, day, { adjusted_net, updated_at: ctx.now });
}

/**
 * Posts the amount of the difference from suspense to the account of the item, and marks the line
 * as matched. A main transfer is marked as reported.
 */
async function stageMatch(
  ctx: Ctx,
  { difference, line, day }: Subject,
  item: BookItem,
): Promise<void> {
  if (!line) throw conflict(NO_LINE);
  const posting = { postingId: line.id, step: 'match', amount: difference.amount };
  postBetween(ctx, day, posting, { from: 'suspense', to: item.account });
  ctx.update(statementLines, line, {
    ...{ state: 'MATCHED', matched_key: item.key, matched_by: 'DECISION' },
  });
  if (item.isMain && item.transfer) await reportedTransfers.mark(ctx, item.transferId, day.day);
}

interface ItemFilter {
  keys?: readonly string[];
  transactionId?: string;
}

/** Returns the items that the line, the keys or the transaction identify. */
async function findItems(
  runtime: Pick<Runtime, 'db'>,
  { day, line }: Subject,
  { keys = [], transactionId }: ItemFilter,
): Promise<BookItem[]> {
  const source = await sourceOf(runtime, day.provider_id);
  return bookItemsFor(runtime, source, line ? [line] : [], {
    ...{ currency: day.currency, period: [0, 0], includesUnreported: false },
    ...{ missingKeys: keys, transactionId },
  });
}

function assertFound(item: BookItem | undefined): BookItem {
  if (!item) {
    throw new Fault(
      'NOT_FOUND',
      'This provider has no matching transfer or deposit of the payment.',
    );
  }
  return item;
}

/** Returns the item of a difference. Throws NOT_FOUND. */
async function itemOf(runtime: Pick<Runtime, 'db'>, subject: Subject): Promise<BookItem> {
  const key = subject.difference.subject ?? '';
  const items = await findItems(runtime, subject, { keys: [key] });
  return assertFound(items.find((item) => item.key === key));
}

/** Resolves the difference that lists the item as missing at the provider. */
async function resolveMissing(ctx: Ctx, itemKey: string): Promise<void> {
  for (const difference of await ctx.db.find(differences, { key: missingKeyOf(itemKey) })) {
    if (difference.status === 'DECIDED') continue;
    ctx.update(differences, difference, { status: 'RESOLVED', updated_at: ctx.now });
  }
}

/** Matches the line to the payment that the operator selected. */
async function stageSelectedMatch(ctx: Ctx, subject: Subject, input: DecisionInput): Promise<void> {
  const { line } = subject;
  const { transactionId } = input;
  if (transactionId === undefined) throw invalidField('transactionId', 'is required for MATCH');
  if (!line) throw conflict(NO_LINE);
  const isSelected = (item: BookItem) =>
    item.transactionId === transactionId && item.direction === line.direction;
  const keys = ['', '/pull', '/refund'].map((suffix) => `${transactionId}${suffix}#in`);
  const item = assertFound(
    (await findItems(ctx, subject, { keys, transactionId })).find(isSelected),
  );
  if (item.currency !== line.currency || item.amount !== line.amount) {
    throw conflict(
      `The line has ${formatAmount(line)} and the payment ${formatAmount(item)}. MATCH ` +
        'requires equal amounts.',
    );
  }
  if (item.state !== 'settled') {
    throw conflict(`The payment is ${item.state} in the ledger. MATCH requires a settled payment.`);
  }
  await stageMatch(ctx, subject, item);
  await resolveMissing(ctx, item.key);
}

/** Applies a result to the transfer of the difference. */
async function stageResult(ctx: Ctx, transferId: string, progress: Progress): Promise<void> {
  const { transactionId, kind } = subjectOf(transferId);
  const row = await readTransaction(ctx, transactionId);
  if (!row) throw new Fault('NOT_FOUND', 'Transaction not found.');
  await providerReports.apply(ctx, row, kind, progress);
}

const referenceOf = (line: LineRow) => line.bank_reference ?? line.reference ?? line.line_id;

async function stageSettlement(ctx: Ctx, subject: Subject, input: DecisionInput): Promise<void> {
  const { difference, line } = subject;
  const items = await findItems(ctx, subject, {});
  const item = assertFound(items.find(({ key }) => key === difference.subject));
  if (!line || item.transfer === null) {
    throw conflict(
      'The line does not belong to a transfer. Only transfers can be settled or returned.',
    );
  }
  const mainItem = items.find((each) => each.isMain && each.transferId === item.transferId);
  const requiredState = item.isMain ? 'pending' : 'settled';
  if (mainItem?.state !== requiredState) {
    throw conflict(
      `The transfer is ${mainItem?.state ?? 'missing'} in the ledger and must be ${requiredState}.`,
    );
  }
  const isReturn = input.decision === 'RETURN';
  if (isReturn === item.isMain) {
    throw conflict(
      item.isMain
        ? 'The line is the transfer itself. Use SETTLE.'
        : 'The line is the return of the transfer. Use RETURN.',
    );
  }
  if (item.amount !== line.amount) {
    throw conflict(
      `The line has ${formatAmount(line)} and the transfer ${formatAmount(item)}. ` +
        `${input.decision} requires equal amounts.`,
    );
  }
  const { failureReason: reason = 'PAYOUT_RETURNED' } = input;
  await stageResult(
    ctx,
    item.transferId,
    isReturn ? { state: 'returned', reason } : { state: 'settled', reference: referenceOf(line) },
  );
  await stageMatch(ctx, subject, item);
}

/** Reverses a transfer that was never executed, or a deposit that never arrived. */
async function stageReversal(ctx: Ctx, subject: Subject, input: DecisionInput): Promise<void> {
  const { difference } = subject;
  const item = await itemOf(ctx, subject);
  if (!item.isMain)
    throw conflict('The missing item is itself a return. Use CARRY, WRITE_OFF or IGNORE.');
  const { failureReason: reason = 'PAYOUT_RETURNED' } = input;
  if (item.transfer === null) {
    const row = await loadTransaction(ctx.db, item.transactionId);
    return providerReports.stageDepositReturn(ctx, row, input.failureReason);
  }
  await stageResult(ctx, item.transferId, { state: 'returned', reason });
  await reportedTransfers.mark(ctx, item.transferId, 'none');
  // The return is on no statement. A decided difference excludes the return from the missing items.
  const { id: _, version: __, ...rest } = difference;
  const returnKey = `${item.transferId}#${item.direction === 'out' ? 'in' : 'out'}`;
  ctx.insert(differences, {
    ...rest,
    id: ctx.id('ReconciliationDifference'),
    ...{ key: missingKeyOf(returnKey), subject: returnKey },
    ...decisionColumns(ctx, input),
    ...{ status: 'DECIDED', amount: -difference.amount, created_at: ctx.now },
  });
}

/** Posts the item to losses. The payment keeps its status. */
async function stageWriteOff(ctx: Ctx, subject: Subject): Promise<void> {
  const { difference, day } = subject;
  const item = await itemOf(ctx, subject);
  const posting = { postingId: difference.id, step: 'write-off', amount: difference.amount };
  postBetween(ctx, day, posting, { from: 'losses', to: item.account });
  await excludeFromStatements(ctx, item);
}

/** Excludes the transfer from statements. Has no effect on returns and deposits. */
async function excludeFromStatements(ctx: Ctx, item: BookItem): Promise<void> {
  if (item.isMain && item.transfer) await reportedTransfers.mark(ctx, item.transferId, 'none');
}

async function stageIgnore(ctx: Ctx, subject: Subject): Promise<void> {
  await excludeFromStatements(ctx, await itemOf(ctx, subject));
}

type PreparedDeposit = Awaited<ReturnType<typeof providerReports.prepareDeposit>>;

/** Prepares the deposit of an incoming line for an account or a payment. */
async function prepareDeposit(
  runtime: Runtime,
  { line, day }: Subject,
  { accountId, paymentReference }: DecisionInput,
): Promise<PreparedDeposit> {
  if (line?.direction !== 'in') {
    throw conflict('The difference has no incoming line. Only incoming lines can be deposits.');
  }
  if ((accountId === undefined) === (paymentReference === undefined)) {
    throw invalidField(
      'accountId',
      'is required if paymentReference is absent, and must be absent otherwise',
    );
  }
  const { provider_id: providerId, environment } = day;
  return providerReports.prepareDeposit(runtime, {
    ...{ accountId, paymentReference, currency: line.currency, amount: Number(line.amount) },
    bankReference: referenceOf(line),
    reportedBy: { providerId, environment },
  });
}

async function stageDeposit(
  ctx: Ctx,
  subject: Subject,
  preparedDeposit: PreparedDeposit,
): Promise<string> {
  const { line, difference, day } = subject;
  if (!line) throw conflict(NO_LINE);
  const transactionId = await providerReports.stageDeposit(ctx, preparedDeposit);
  const posting = { postingId: line.id, step: 'match', amount: difference.amount };
  postBetween(ctx, day, posting, { from: 'suspense', to: 'rail_in_transit' });
  const key = `${providerReports.depositIdOf(day.environment, preparedDeposit.input)}#in`;
  ctx.update(statementLines, line, {
    ...{ state: 'MATCHED', matched_key: key, matched_by: 'DECISION' },
  });
  return transactionId;
}

const decisionColumns = (ctx: Ctx, { decision, reason, decidedBy }: DecisionInput) => ({
  ...{ decision, reason, decided_by: decidedBy, decided_at: ctx.now, updated_at: ctx.now },
});

/** Returns a caller of the platform of the payment, or of no platform without a payment. */
async function callerFor(
  runtime: Runtime,
  subject: Subject,
  preparedDeposit: PreparedDeposit | undefined,
) {
  const { day, difference } = subject;
  if (preparedDeposit)
    return systemCaller(preparedDeposit.platform.id, preparedDeposit.platform.environment);
  const { transaction_id: id } = difference;
  const row = id === null ? undefined : await readTransaction(runtime.db, id);
  return row ? callerOf(runtime.db, row.platform_id) : systemCaller('', day.environment);
}

async function stage(
  ctx: Ctx,
  subject: Subject,
  input: DecisionInput,
  preparedDeposit: PreparedDeposit | undefined,
): Promise<string | null> {
  const { difference } = subject;
  const isMissing = difference.kind === 'MISSING_AT_PROVIDER';
  switch (input.decision) {
    case 'MATCH':
      await stageSelectedMatch(ctx, subject, input);
      return input.transactionId ?? null;
    case 'RECORD_DEPOSIT':
      return preparedDeposit ? stageDeposit(ctx, subject, preparedDeposit) : null;
    case 'SETTLE':
      await stageSettlement(ctx, subject, input);
      break;
    case 'RETURN':
      await (isMissing ? stageReversal : stageSettlement)(ctx, subject, input);
      break;
    case 'IGNORE':
      await stageIgnore(ctx, subject);
      break;
    case 'CARRY':
      break;
    case 'WRITE_OFF':
    case 'RECORD_FEE':
    case 'OWN_FUNDS':
    case 'SUSPENSE':
      if (isMissing) await stageWriteOff(ctx, subject);
      else stageFunds(ctx, subject, input);
      break;
    default:
      return assertNever(input.decision, 'decision');
  }
  return difference.transaction_id;
}

const STATUS_AFTER: Partial<Record<Decision, DifferenceRow['status']>> = {
  CARRY: 'CARRIED',
  SUSPENSE: 'IN_SUSPENSE',
};

/**
 * Applies a decision to a difference. Throws NOT_FOUND, CONFLICT, and INVALID_INPUT for a decision
 * or field that is not allowed and for a missing field.
 */
export async function decideDifference(runtime: Runtime, input: DecisionInput): Promise<void> {
  const subject = await readSubject(runtime.db, input);
  assertAllowed(subject, input);
  const preparedDeposit =
    input.decision === 'RECORD_DEPOSIT' ? await prepareDeposit(runtime, subject, input) : undefined;
  const caller = await callerFor(runtime, subject, preparedDeposit);
  await operate(runtime, caller, (ctx) => stageDecision(ctx, input, preparedDeposit)).catch(
    (error) => {
      if (isKeyTaken(error)) {
        throw conflict('The deposit was already recorded. Use MATCH with its payment.');
      }
      throw error;
    },
  );
}

async function stageDecision(
  ctx: Ctx,
  input: DecisionInput,
  preparedDeposit: PreparedDeposit | undefined,
): Promise<void> {
  const subject = await readSubject(ctx, input);
  assertAllowed(subject, input);
  const transaction_id = await stage(ctx, subject, input, preparedDeposit);
  const { difference, line } = subject;
  ctx.update(differences, difference, {
    ...decisionColumns(ctx, input),
    ...{ status: STATUS_AFTER[input.decision] ?? 'DECIDED', transaction_id },
  });
  // `stage` sets the state of the line for MATCH, RECORD_DEPOSIT, SETTLE and RETURN.
  const isPosted = ACCOUNT_OF[input.decision] !== undefined;
  if (line && isPosted && difference.key.startsWith('LINE/')) {
    ctx.update(statementLines, line, { state: 'DECIDED' });
  }
}
