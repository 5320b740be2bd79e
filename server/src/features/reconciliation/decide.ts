// Decisions on differences. Each is one change set: the postings, the step of the payment if there is one,
// and the record of who decided and why.

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
import { type OurItem, oursFor } from './ours.ts';
import { postAtProvider, postBetween } from './postings.ts';
import { sourceOf } from './sources.ts';
import {
  type DayRow,
  type Decision,
  type DifferenceKind,
  type DifferenceRow,
  differences,
  type LineRow,
  providerDays,
  statementLines,
} from './store.ts';

export interface DecisionInput {
  differenceId: string;
  decision: Decision;
  reason: string;
  /** Who decides. */
  decidedBy: string;
  /** Our transfer or deposit that a line is about: MATCH. */
  transactionId?: string | undefined;
  /** The credited account, or `paymentReference`: RECORD_DEPOSIT. */
  accountId?: string | undefined;
  paymentReference?: string | undefined;
  /** Failure reason of the payment: RETURN. */
  failureReason?: FailureReason | undefined;
}

const FUNDS: readonly Decision[] = ['RECORD_FEE', 'OWN_FUNDS', 'WRITE_OFF', 'SUSPENSE'];

/** The decisions that each kind allows. */
export const DECISIONS_OF: Readonly<Record<DifferenceKind, readonly Decision[]>> = {
  MISSING_AT_PROVIDER: ['CARRY', 'RETURN', 'WRITE_OFF', 'IGNORE'],
  MISSING_WITH_US: ['MATCH', 'RECORD_DEPOSIT', ...FUNDS],
  AMOUNT_DIFFERS: FUNDS,
  CURRENCY_DIFFERS: FUNDS,
  STATE_DIFFERS: ['SETTLE', 'RETURN', ...FUNDS],
  DUPLICATED: FUNDS,
  FEE_UNEXPECTED: FUNDS,
  BALANCE_DIFFERS: FUNDS,
  LATE_CORRECTION: FUNDS,
};

/** Where the funds of a decision go. */
const ACCOUNT_OF: Partial<Record<Decision, Exclude<SystemAccount, 'provider'>>> = {
  RECORD_FEE: 'expenses',
  OWN_FUNDS: 'external_settlement',
  WRITE_OFF: 'losses',
};

const conflict = (message: string) => new Fault('CONFLICT', message);

/** The rows that a decision is about. */
interface Subject {
  difference: DifferenceRow;
  line: LineRow | undefined;
  day: DayRow;
}

async function subjectIn(
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
    throw conflict(`The difference is ${status} already.`);
  }
  const allowed = DECISIONS_OF[kind];
  if (!allowed.includes(decision)) {
    throw invalidField('decision', `must be one of ${allowed.join(', ')} for ${kind}`);
  }
  if (status === 'IN_SUSPENSE' && decision === 'SUSPENSE') {
    throw conflict('The funds are in suspense already.');
  }
}

/** The day can change, or the decision changes nothing of it. */
const isOpenDay = ({ day }: Subject) => day.status === 'OPEN';

/** Posts the funds of a difference to an account. */
function stageFunds(ctx: Ctx, subject: Subject, { decision }: DecisionInput): void {
  const { difference, day } = subject;
  const to = ACCOUNT_OF[decision] ?? 'suspense';
  const of = difference.line_id ?? difference.id;
  const posting = {
    of,
    step: `decide.${difference.kind.toLowerCase()}`,
    amount: difference.amount,
  };
  const wasInSuspense = difference.status === 'IN_SUSPENSE';
  if (difference.kind !== 'BALANCE_DIFFERS' || wasInSuspense) {
    if (to !== 'suspense') postBetween(ctx, day, posting, { from: 'suspense', to });
    return;
  }
  if (!isOpenDay(subject)) throw conflict('The day is closed.');
  const step = `adjust.${difference.version}`;
  postAtProvider(ctx, day, { ...posting, step }, to);
  const adjusted_net = day.adjusted_net + difference.amount;
  ctx.update(providerDays, day, { adjusted_net, updated_at: ctx.now });
}

/** Posts the line to what our item has, and marks both as matched. */
async function stageMatchOf(
  ctx: Ctx,
  { difference, line, day }: Subject,
  item: OurItem,
): Promise<void> {
  if (!line) throw conflict('The difference has no line of a statement.');
  const posting = { of: line.id, step: 'match', amount: difference.amount };
  postBetween(ctx, day, posting, { from: 'suspense', to: item.account });
  ctx.update(statementLines, line, {
    ...{ state: 'MATCHED', matched_key: item.key, matched_by: 'DECISION' },
  });
  if (item.isMain && item.transfer) await reportedTransfers.mark(ctx, item.transferId, day.day);
}

interface Wanted {
  keys?: readonly string[];
  transactionId?: string;
}

/** Our items that the line or these keys name. */
async function itemsFor(
  runtime: Pick<Runtime, 'db'>,
  { day, line }: Subject,
  { keys = [], transactionId }: Wanted,
): Promise<OurItem[]> {
  const source = await sourceOf(runtime, day.provider_id);
  const fixed = { currency: day.currency, period: [0, 0] as const, isComplete: false };
  const scope = { ...fixed, missing: keys, transactionId };
  return oursFor(runtime, source, line ? [line] : [], scope);
}

function found(item: OurItem | undefined): OurItem {
  if (!item) throw new Fault('NOT_FOUND', 'The provider has no such transfer or deposit.');
  return item;
}

/** Our item of a difference. Throws NOT_FOUND. */
async function itemOf(runtime: Pick<Runtime, 'db'>, subject: Subject): Promise<OurItem> {
  const key = subject.difference.subject ?? '';
  const items = await itemsFor(runtime, subject, { keys: [key] });
  return found(items.find((each) => each.key === key));
}

/** Lists that the difference of our item is gone. */
async function resolveOurs(ctx: Ctx, key: string): Promise<void> {
  for (const each of await ctx.db.find(differences, { key: `OURS/${key}` })) {
    if (each.status === 'DECIDED') continue;
    ctx.update(differences, each, { status: 'RESOLVED', updated_at: ctx.now });
  }
}

/** The transfer of a transaction, or its deposit, that a line can be. */
async function stageChosen(ctx: Ctx, subject: Subject, input: DecisionInput): Promise<void> {
  const { line } = subject;
  const { transactionId } = input;
  if (transactionId === undefined) throw invalidField('transactionId', 'is required for MATCH');
  if (!line) throw conflict('The difference has no line of a statement.');
  const chosen = (item: OurItem) =>
    item.transactionId === transactionId && item.direction === line.direction;
  const keys = ['', '/pull', '/refund'].map((suffix) => `${transactionId}${suffix}#in`);
  const item = found((await itemsFor(ctx, subject, { keys, transactionId })).find(chosen));
  if (item.currency !== line.currency || item.amount !== line.amount) {
    throw conflict(`The amount is ${item.amount} ${item.currency} with us.`);
  }
  if (item.state !== 'settled') throw conflict(`The transfer is ${item.state} with us.`);
  await stageMatchOf(ctx, subject, item);
  await resolveOurs(ctx, item.key);
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
  const items = await itemsFor(ctx, subject, {});
  const item = found(items.find(({ key }) => key === difference.subject));
  if (!line || item.transfer === null) throw conflict('The difference is not about a transfer.');
  const main = items.find((each) => each.isMain && each.transferId === item.transferId);
  if (main?.state !== (item.isMain ? 'pending' : 'settled')) {
    throw conflict(`The transfer is ${main?.state} with us.`);
  }
  const isReturn = input.decision === 'RETURN';
  if (isReturn === item.isMain) {
    throw conflict(item.isMain ? 'The line is not a return.' : 'The line is a return.');
  }
  if (item.amount !== line.amount) throw conflict('The amount of the line is not that of ours.');
  const { failureReason: reason = 'PAYOUT_RETURNED' } = input;
  await stageResult(
    ctx,
    item.transferId,
    isReturn ? { state: 'returned', reason } : { state: 'settled', reference: referenceOf(line) },
  );
  await stageMatchOf(ctx, subject, item);
}

/** Our transfer was never executed, or our deposit never arrived: it is reversed with us. */
async function stageReversal(ctx: Ctx, subject: Subject, input: DecisionInput): Promise<void> {
  const { difference } = subject;
  const item = await itemOf(ctx, subject);
  if (!item.isMain) throw conflict('A return that is missing cannot be returned.');
  const { failureReason: reason = 'PAYOUT_RETURNED' } = input;
  if (item.transfer === null) {
    const row = await loadTransaction(ctx.db, item.transactionId);
    return providerReports.stageDepositReturn(ctx, row, input.failureReason);
  }
  await stageResult(ctx, item.transferId, { state: 'returned', reason });
  await reportedTransfers.mark(ctx, item.transferId, 'none');
  // Neither the transfer nor its return will be on a statement.
  const { id: _, version: __, ...rest } = difference;
  const back = item.direction === 'out' ? `${item.transferId}#in` : `${item.transferId}#out`;
  ctx.insert(differences, {
    ...rest,
    ...{ id: ctx.id('ReconciliationDifference'), key: `OURS/${back}`, subject: back },
    ...decided(ctx, input),
    ...{ status: 'DECIDED', amount: -difference.amount, created_at: ctx.now },
  });
}

/** Our item remains as it is with us, and is taken off the accounts of what is in transit. */
async function stageWriteOff(ctx: Ctx, subject: Subject): Promise<void> {
  const { difference, day } = subject;
  const item = await itemOf(ctx, subject);
  const posting = { of: difference.id, step: 'write-off', amount: difference.amount };
  postBetween(ctx, day, posting, { from: 'losses', to: item.account });
  await finishOurs(ctx, item);
}

async function finishOurs(ctx: Ctx, item: OurItem): Promise<void> {
  if (item.isMain && item.transfer) await reportedTransfers.mark(ctx, item.transferId, 'none');
}

async function stageIgnored(ctx: Ctx, subject: Subject): Promise<void> {
  await finishOurs(ctx, await itemOf(ctx, subject));
}

type Prepared = Awaited<ReturnType<typeof providerReports.prepareDeposit>>;

/** The deposit that a line is, for an account or a payment. */
async function preparedDeposit(
  runtime: Runtime,
  { line, day }: Subject,
  { accountId, paymentReference }: DecisionInput,
): Promise<Prepared> {
  if (line?.direction !== 'in') throw conflict('Only an incoming line can be a deposit.');
  if ((accountId === undefined) === (paymentReference === undefined)) {
    throw invalidField('accountId', 'or paymentReference is required, but not both');
  }
  const { provider_id: providerId, environment } = day;
  return providerReports.prepareDeposit(runtime, {
    ...{ accountId, paymentReference, currency: line.currency, amount: Number(line.amount) },
    bankReference: referenceOf(line),
    reportedBy: { providerId, environment },
  });
}

async function stageDeposit(ctx: Ctx, subject: Subject, prepared: Prepared): Promise<string> {
  const { line, difference, day } = subject;
  if (!line) throw conflict('The difference has no line of a statement.');
  const transactionId = await providerReports.stageDeposit(ctx, prepared);
  const posting = { of: line.id, step: 'match', amount: difference.amount };
  postBetween(ctx, day, posting, { from: 'suspense', to: 'rail_in_transit' });
  const key = `${providerReports.depositIdOf(day.environment, prepared.input)}#in`;
  ctx.update(statementLines, line, {
    ...{ state: 'MATCHED', matched_key: key, matched_by: 'DECISION' },
  });
  return transactionId;
}

const decided = (ctx: Ctx, { decision, reason, decidedBy }: DecisionInput) => ({
  ...{ decision, reason, decided_by: decidedBy, decided_at: ctx.now, updated_at: ctx.now },
});

/** The platform that the decision is about, whose payment takes a step. */
async function callerFor(runtime: Runtime, subject: Subject, prepared: Prepared | undefined) {
  const { day, difference } = subject;
  if (prepared) return systemCaller(prepared.platform.id, prepared.platform.environment);
  const { transaction_id: id } = difference;
  const row = id === null ? undefined : await readTransaction(runtime.db, id);
  return row ? callerOf(runtime.db, row.platform_id) : systemCaller('', day.environment);
}

async function stage(
  ctx: Ctx,
  subject: Subject,
  input: DecisionInput,
  prepared: Prepared | undefined,
): Promise<string | null> {
  const { difference } = subject;
  const isOurs = difference.kind === 'MISSING_AT_PROVIDER';
  switch (input.decision) {
    case 'MATCH':
      await stageChosen(ctx, subject, input);
      return input.transactionId ?? null;
    case 'RECORD_DEPOSIT':
      return prepared ? stageDeposit(ctx, subject, prepared) : null;
    case 'SETTLE':
      await stageSettlement(ctx, subject, input);
      break;
    case 'RETURN':
      await (isOurs ? stageReversal : stageSettlement)(ctx, subject, input);
      break;
    case 'IGNORE':
      await stageIgnored(ctx, subject);
      break;
    case 'CARRY':
      break;
    case 'WRITE_OFF':
    case 'RECORD_FEE':
    case 'OWN_FUNDS':
    case 'SUSPENSE':
      if (isOurs) await stageWriteOff(ctx, subject);
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

/** Settles a difference. Throws NOT_FOUND, CONFLICT, and INVALID_INPUT for a decision that is not allowed. */
export async function decideDifference(runtime: Runtime, input: DecisionInput): Promise<void> {
  const before = await subjectIn(runtime.db, input);
  assertAllowed(before, input);
  const prepared =
    input.decision === 'RECORD_DEPOSIT' ? await preparedDeposit(runtime, before, input) : undefined;
  const caller = await callerFor(runtime, before, prepared);
  await operate(runtime, caller, (ctx) => stageDecision(ctx, input, prepared)).catch((error) => {
    if (isKeyTaken(error)) throw conflict('The deposit is recorded already.');
    throw error;
  });
}

async function stageDecision(
  ctx: Ctx,
  input: DecisionInput,
  prepared: Prepared | undefined,
): Promise<void> {
  const subject = await subjectIn(ctx, input);
  assertAllowed(subject, input);
  const transaction_id = await stage(ctx, subject, input, prepared);
  const { difference, line } = subject;
  ctx.update(differences, difference, {
    ...decided(ctx, input),
    ...{ status: STATUS_AFTER[input.decision] ?? 'DECIDED', transaction_id },
  });
  // Other decisions about a line match it.
  const isPosted = ACCOUNT_OF[input.decision] !== undefined;
  if (line && isPosted && difference.key.startsWith('LINE/')) {
    ctx.update(statementLines, line, { state: 'DECIDED' });
  }
}
