// Reconciles a day: compares its lines with the transfers and deposits of the ledger, posts each line once,
// and lists the differences. A run can be repeated at any time, because it posts only new lines and resolves
// differences whose cause no longer exists.

import { formatAmount } from '../../catalog/currencies/money-format.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { prefunding, reportedTransfers } from '../providers/index.ts';
import { systemCaller } from '../tenancy/platform/index.ts';
import { applyStatements, daysOf, LINES_PER_COMMIT, linesOf } from './apply.ts';
import { type BookItem, bookItemsFor, chunksOf } from './book-items.ts';
import { periodOf } from './days.ts';
import { type Finding, type Line, matchLines } from './matching.ts';
import { effectOf, postAtProvider, postBetween, signedAmountOf } from './postings.ts';
import { ensureSource, type Source, sourceOf } from './sources.ts';
import {
  type DayKey,
  type DayRow,
  type DifferenceKind,
  type DifferenceRow,
  dayIdOf,
  differences,
  type LineRow,
  missingKeyOf,
  providerDays,
  SQL,
  statementLines,
  statementSources,
} from './store.ts';

/** Maximum time between a line and a transfer that are matched by amount only. */
const WINDOW_MS = 5 * 86_400_000;

interface DayLine extends Line {
  row: LineRow;
}

type DayFinding = Finding<DayLine, BookItem>;

/** Number of new differences by kind. */
export type NewDifferences = Map<DifferenceKind, number>;

interface Run {
  runtime: Runtime;
  source: Source;
  key: DayKey;
  newDifferences: NewDifferences;
  /** Kinds of the differences that the current attempt of a commit creates. */
  stagedKinds: DifferenceKind[];
  /** Version of the source that the comparison is based on. */
  sourceVersion: number;
}

const SOURCE_CHANGED = 'SOURCE_CHANGED';

/** A concurrent comparison, request or settings change has updated the settings of the provider. */
const sourceChanged = () =>
  Object.assign(new Error('the source of statements has changed'), { code: SOURCE_CHANGED });

const isSourceChanged = (error: unknown) => (error as { code?: string }).code === SOURCE_CHANGED;

/** Maximum comparisons of a day in one run of its job. */
const MAX_COMPARISONS = 10;

const asLine = (row: LineRow): DayLine => ({
  ...{ id: row.id, direction: row.direction, amount: row.amount, currency: row.currency },
  ...{ at: row.at, transferId: row.transfer_id, reference: row.reference },
  ...{ bankReference: row.bank_reference, row },
});

const notFound = ({ day, currency }: DayKey) =>
  new Fault('NOT_FOUND', `The provider has no statement of ${day} in ${currency}.`);

async function dayIn(ctx: Ctx, key: DayKey): Promise<DayRow> {
  const day = await ctx.read(providerDays, dayIdOf(key));
  if (!day) throw notFound(key);
  if (day.status === 'CLOSED') {
    const reason = `The day ${key.day} is closed and can no longer be reconciled.`;
    throw new Fault('CONFLICT', reason);
  }
  return day;
}

async function differencesBy(
  ctx: Pick<Ctx, 'db'>,
  keys: readonly string[],
): Promise<Map<string, DifferenceRow>> {
  const rows = await ctx.db.query<DifferenceRow>(SQL.byKey, [[...keys]]);
  return new Map(rows.map((each) => [each.key, each]));
}

type NewDifference = Pick<DifferenceRow, 'key' | 'kind' | 'amount' | 'detail'> &
  Partial<Pick<DifferenceRow, 'line_id' | 'subject' | 'transaction_id'>>;

function stageDifference(
  ctx: Ctx,
  { stagedKinds }: Run,
  day: DayRow,
  difference: NewDifference,
): void {
  const { provider_id, environment, currency } = day;
  stagedKinds.push(difference.kind);
  ctx.insert(differences, {
    id: ctx.id('ReconciliationDifference'),
    ...{ day_id: day.id, provider_id, environment, currency, status: 'OPEN', line_id: null },
    ...difference,
    ...{ created_at: ctx.now, updated_at: ctx.now },
  });
}

const isOpen = ({ status }: DifferenceRow) => status !== 'DECIDED' && status !== 'RESOLVED';

const resolve = (ctx: Ctx, difference: DifferenceRow | undefined) => {
  if (difference && isOpen(difference)) {
    ctx.update(differences, difference, { status: 'RESOLVED', updated_at: ctx.now });
  }
};

const textOf = (money: { currency: string; amount: bigint }) => formatAmount(money);

function detailOf({ line, kind, candidate }: DayFinding): string {
  const entry = `Line ${line.row.line_id}: ${line.direction} ${textOf(line)}`;
  if (!candidate) return `${entry} matches no transfer or deposit of the ledger.`;
  const candidateText = `${candidate.transferId} with ${textOf(candidate)}`;
  if (kind === 'DUPLICATED') return `${entry} repeats the line of ${candidateText}.`;
  if (kind === 'STATE_DIFFERS')
    return `${entry} matches ${candidateText}, which is ${candidate.state}.`;
  return `${entry} matches ${candidateText}.`;
}

/** The part of the amount of a line that the candidate accounts for. */
const matchedAmount = ({ kind, line, candidate }: DayFinding): bigint => {
  if (kind === 'MATCH') return line.amount;
  return kind === 'AMOUNT_DIFFERS' ? candidate.amount : 0n;
};

/** Stages the fee of a line: an expense if it is expected, otherwise a difference. */
function stageFee(ctx: Ctx, run: Run, day: DayRow, { row }: DayLine): void {
  if (row.fee === 0n) return;
  const isExpected = run.source.fees_expected;
  const posting = { postingId: row.id, step: 'fee', amount: -row.fee };
  postAtProvider(ctx, day, posting, isExpected ? 'expenses' : 'suspense');
  if (isExpected) return;
  const detail = `Fee ${textOf({ currency: row.currency, amount: row.fee })} of line ${row.line_id}.`;
  const key = `FEE/${row.id}`;
  stageDifference(ctx, run, day, {
    key,
    kind: 'FEE_UNEXPECTED',
    amount: -row.fee,
    detail,
    line_id: row.id,
  });
}

/** Posts a new line to the account of its match, or to suspense with a difference. */
function stageNewLine(ctx: Ctx, run: Run, day: DayRow, finding: DayFinding, row: LineRow): void {
  const { line, kind, candidate } = finding;
  const { direction } = row;
  const isMatch = kind === 'MATCH';
  const posting = {
    postingId: row.id,
    step: 'line',
    amount: signedAmountOf(direction, row.amount),
  };
  postAtProvider(ctx, day, posting, isMatch ? candidate.account : 'suspense');
  const matchedMoney = matchedAmount(finding);
  if (!isMatch && candidate && matchedMoney > 0n) stageMatch(ctx, day, finding, row);
  stageFee(ctx, run, day, line);
  if (isMatch) return;
  stageDifference(ctx, run, day, {
    ...{ key: `LINE/${row.id}`, kind, detail: detailOf(finding), line_id: row.id },
    amount: signedAmountOf(direction, row.amount - matchedMoney),
    ...(candidate ? { subject: candidate.key, transaction_id: candidate.transactionId } : {}),
  });
}

/** Posts the matched amount of a line from suspense to the account of its candidate. */
function stageMatch(ctx: Ctx, day: DayRow, finding: DayFinding, row: LineRow): void {
  const { candidate } = finding;
  if (!candidate) return;
  const amount = signedAmountOf(row.direction, matchedAmount(finding));
  const posting = { postingId: row.id, step: 'match', amount };
  postBetween(ctx, day, posting, { from: 'suspense', to: candidate.account });
}

/** Applies a new finding to a line whose funds are in suspense. Returns whether it changed the difference. */
function stageSuspense(
  ctx: Ctx,
  day: DayRow,
  finding: DayFinding,
  row: LineRow,
  difference: DifferenceRow | undefined,
): boolean {
  if (!difference || !isOpen(difference) || difference.kind === finding.kind) return false;
  const { kind, candidate } = finding;
  if (kind === 'MATCH' || kind === 'AMOUNT_DIFFERS') stageMatch(ctx, day, finding, row);
  if (kind === 'MATCH') {
    resolve(ctx, difference);
    return true;
  }
  ctx.update(differences, difference, {
    ...{ kind, detail: detailOf(finding), updated_at: ctx.now },
    amount: signedAmountOf(row.direction, row.amount - matchedAmount(finding)),
    subject: candidate?.key ?? null,
    transaction_id: candidate?.transactionId ?? null,
  });
  return true;
}

/** Whether the line is matched with its candidate. A candidate matches one line only. */
const isMatched = ({ kind }: DayFinding) => kind !== 'DUPLICATED' && kind !== 'MISSING_WITH_US';

async function stageLines(ctx: Ctx, run: Run, findings: readonly DayFinding[]): Promise<void> {
  const day = await dayIn(ctx, run.key);
  const keys = findings.flatMap(({ line, candidate }) => [
    `LINE/${line.id}`,
    ...(candidate ? [missingKeyOf(candidate.key)] : []),
  ]);
  const differencesByKey = await differencesBy(ctx, keys);
  let net = 0n;
  for (const finding of findings) {
    const { kind, candidate, by } = finding;
    const row = await ctx.read(statementLines, finding.line.id);
    if (!row || (row.state !== 'NEW' && row.state !== 'SUSPENSE')) continue;
    if (row.state === 'NEW') {
      stageNewLine(ctx, run, day, finding, row);
      net += effectOf(row);
    } else if (!stageSuspense(ctx, day, finding, row, differencesByKey.get(`LINE/${row.id}`)))
      continue;
    const hasCandidate = isMatched(finding);
    ctx.update(statementLines, row, {
      state: kind === 'MATCH' ? 'MATCHED' : 'SUSPENSE',
      ...(hasCandidate && candidate ? { matched_key: candidate.key, matched_by: by } : {}),
    });
    if (!hasCandidate || !candidate) continue;
    resolve(ctx, differencesByKey.get(missingKeyOf(candidate.key)));
    if (candidate.isMain && candidate.transfer !== null) {
      await reportedTransfers.mark(ctx, candidate.transferId, day.day);
    }
  }
  if (net !== 0n) {
    ctx.update(providerDays, day, { line_net: day.line_net + net, updated_at: ctx.now });
  }
}

/** Outgoing lines of kind `fee` are expenses if the fees of the provider are expected. */
const isExpectedFee = ({ fees_expected }: Source, { row }: DayLine) =>
  fees_expected && row.kind === 'fee' && row.direction === 'out' && row.state === 'NEW';

async function stageFees(ctx: Ctx, run: Run, lines: readonly DayLine[]): Promise<void> {
  const day = await dayIn(ctx, run.key);
  let net = 0n;
  for (const { id } of lines) {
    const row = await ctx.read(statementLines, id);
    if (row?.state !== 'NEW') continue;
    const amount = effectOf(row);
    postAtProvider(ctx, day, { postingId: row.id, step: 'line', amount }, 'expenses');
    ctx.update(statementLines, row, { state: 'MATCHED', matched_by: 'DECISION' });
    net += amount;
  }
  ctx.update(providerDays, day, { line_net: day.line_net + net, updated_at: ctx.now });
}

/** Returns the keys of items that are matched to lines outside `lineIds`. */
async function readKeysOfOtherLines(
  { db }: Runtime,
  items: readonly BookItem[],
  lineIds: ReadonlySet<string>,
) {
  const matchedKeys = new Set<string>();
  for (const chunk of chunksOf(items.map(({ key }) => key))) {
    const rows = await db.query<{ id: string; matched_key: string }>(SQL.matched, [chunk]);
    for (const { id, matched_key } of rows) if (!lineIds.has(id)) matchedKeys.add(matched_key);
  }
  return matchedKeys;
}

/**
 * Lists items that are missing on the statement. A resolved difference, or a carried difference of an
 * earlier day, is reopened.
 */
async function stageMissing(ctx: Ctx, run: Run, items: readonly BookItem[]): Promise<void> {
  const day = await dayIn(ctx, run.key);
  const differencesByKey = await differencesBy(
    ctx,
    items.map(({ key }) => missingKeyOf(key)),
  );
  for (const item of items) {
    const key = missingKeyOf(item.key);
    const existingDifference = differencesByKey.get(key);
    if (existingDifference?.status === 'CARRIED' && existingDifference.day_id < day.id) {
      ctx.update(differences, existingDifference, {
        status: 'OPEN',
        day_id: day.id,
        updated_at: ctx.now,
      });
    } else if (existingDifference?.status === 'RESOLVED') {
      ctx.update(differences, existingDifference, {
        status: 'OPEN',
        day_id: day.id,
        updated_at: ctx.now,
      });
    }
    if (existingDifference) continue;
    const detail = `${item.transferId} with ${textOf(item)} is settled and on no statement.`;
    stageDifference(ctx, run, day, {
      ...{ key, kind: 'MISSING_AT_PROVIDER', detail, subject: item.key },
      ...{
        amount: signedAmountOf(item.direction, item.amount),
        transaction_id: item.transactionId,
      },
    });
  }
}

/**
 * Returns the closing balance of the day less the previous closing balance, the lines and the
 * decisions. The first day starts with its opening balance. 0 if the statement is consistent or the
 * day has none.
 */
export function balanceGap(day: DayRow, days: readonly DayRow[]): bigint {
  if (day.closing_balance === null || day.opening_balance === null) return 0n;
  const earlierDays = days.filter((each) => each.id < day.id);
  const reportedIndex = earlierDays.findLastIndex((each) => each.closing_balance !== null);
  const start = earlierDays[reportedIndex]?.closing_balance ?? day.opening_balance;
  // Days without a statement have corrections only.
  const adjustments = earlierDays
    .slice(reportedIndex + 1)
    .reduce((sum, each) => sum + each.adjusted_net, 0n);
  return day.closing_balance - (start + adjustments + day.line_net + day.adjusted_net);
}

/** Opens, updates or resolves the difference of the closing balance of `day`. */
async function stageGap(ctx: Ctx, run: Run, day: DayRow, days: readonly DayRow[]): Promise<void> {
  const amount = balanceGap(day, days);
  const key = `BALANCE/${day.id}`;
  const existingDifference = (await differencesBy(ctx, [key])).get(key);
  if (amount === 0n) return resolve(ctx, existingDifference);
  const money = (value: bigint | null) => textOf({ currency: day.currency, amount: value ?? 0n });
  const detail =
    `The closing balance is ${money(day.closing_balance)}, and the previous balance with the lines and ` +
    `decisions of the day is ${money((day.closing_balance ?? 0n) - amount)}. ` +
    `The opening balance is ${money(day.opening_balance)}.`;
  if (!existingDifference)
    return stageDifference(ctx, run, day, { key, kind: 'BALANCE_DIFFERS', amount, detail });
  if (existingDifference.amount === amount && existingDifference.status !== 'RESOLVED') return;
  ctx.update(differences, existingDifference, {
    amount,
    detail,
    status: 'OPEN',
    updated_at: ctx.now,
  });
}

/**
 * Stages the difference of the closing balance, and that of the next day if it is open and
 * reconciled. The next day starts with this balance.
 */
async function stageBalance(ctx: Ctx, run: Run): Promise<void> {
  const day = await dayIn(ctx, run.key);
  const days = await daysOf(ctx, run.key);
  await stageGap(ctx, run, day, days);
  ctx.update(providerDays, day, { reconciled_at: ctx.now, updated_at: ctx.now });
  const nextDay = days.find((each) => each.id > day.id && each.closing_balance !== null);
  if (nextDay?.status !== 'OPEN') return;
  if (nextDay.reconciled_at !== null) await stageGap(ctx, run, nextDay, days);
  // A concurrent run of the next day conflicts, so that it reads this day again.
  ctx.update(providerDays, nextDay, { updated_at: ctx.now });
}

/** Stages the closing balance as the reported balance of a prefunded provider. */
async function stagePrefunding(ctx: Ctx, { source, key }: Run, since: number): Promise<void> {
  const { closing_balance: amount } = await dayIn(ctx, key);
  if (amount === null) return;
  const { providerId, currency, day } = key;
  const [, asOf] = periodOf(day, source.time_zone);
  await prefunding.stageClosing(ctx, providerId, { currency, amount, asOf, since });
}

/** Excludes the failed transfers from statements. */
async function markFailed({ runtime, source }: Run, items: readonly BookItem[]): Promise<void> {
  const failedItems = items.filter(
    (each) => each.isMain && each.transfer && each.state === 'failed',
  );
  for (const chunk of chunksOf(failedItems, LINES_PER_COMMIT)) {
    await operate(runtime, systemCaller('', source.environment), async (ctx) => {
      for (const each of chunk) await reportedTransfers.mark(ctx, each.transferId, 'none');
    });
  }
}

/** Start of the first day with a statement. Older transfers are not expected on any statement. */
async function firstDayOf({ runtime, source, key }: Run): Promise<number> {
  const firstDay = (await daysOf(runtime, key)).find((each) => each.statement_id !== null);
  return firstDay ? periodOf(firstDay.day, source.time_zone)[0] : 0;
}

async function compare(run: Run): Promise<void> {
  const { runtime, source, key } = run;
  run.sourceVersion = (await runtime.db.read(statementSources, key.providerId))?.version ?? 0;
  // Days share items and balances, so each commit is based on all earlier commits.
  const commit = async (work: (ctx: Ctx) => Promise<void>) => {
    await operate(runtime, systemCaller('', source.environment), async (ctx) => {
      run.stagedKinds.length = 0;
      const row = await ctx.read(statementSources, key.providerId);
      if ((row?.version ?? 0) !== run.sourceVersion) throw sourceChanged();
      if (row) ctx.update(statementSources, row, { updated_at: ctx.now });
      return work(ctx);
    });
    if (run.sourceVersion > 0) run.sourceVersion += 1;
    for (const kind of run.stagedKinds)
      run.newDifferences.set(kind, (run.newDifferences.get(kind) ?? 0) + 1);
  };
  const period = periodOf(key.day, source.time_zone);
  const openLines = (await linesOf(runtime, dayIdOf(key)))
    .filter(({ state }) => state === 'NEW' || state === 'SUSPENSE')
    .map(asLine);
  const fees = openLines.filter((line) => isExpectedFee(source, line));
  const lines = openLines.filter((line) => !isExpectedFee(source, line));
  for (const chunk of chunksOf(fees, LINES_PER_COMMIT)) {
    await commit((ctx) => stageFees(ctx, run, chunk));
  }
  const rows = lines.map(({ row }) => row);
  const { providerId, currency } = key;
  const missingItems = await runtime.db.query<{ subject: string }>(SQL.missing, [
    providerId,
    currency,
  ]);
  const missingKeys = missingItems.map(({ subject }) => subject);
  const scope = { currency, period, missingKeys, includesUnreported: true };
  const items = await bookItemsFor(runtime, source, rows, scope);
  const matchedKeys = await readKeysOfOtherLines(
    runtime,
    items,
    new Set(lines.map(({ id }) => id)),
  );
  const findings = matchLines(lines, items, { windowMs: WINDOW_MS, matchedKeys });
  for (const chunk of chunksOf(findings, LINES_PER_COMMIT)) {
    await commit((ctx) => stageLines(ctx, run, chunk));
  }
  const usedKeys = new Set([
    ...matchedKeys,
    ...findings.flatMap(({ candidate }) => candidate?.key ?? []),
  ]);
  const from = await firstDayOf(run);
  const missingBookItems = items.filter(
    (bookItem) =>
      bookItem.isExpected &&
      bookItem.currency === currency &&
      !usedKeys.has(bookItem.key) &&
      bookItem.at >= from &&
      bookItem.at < period[1],
  );
  for (const chunk of chunksOf(missingBookItems, LINES_PER_COMMIT)) {
    await commit((ctx) => stageMissing(ctx, run, chunk));
  }
  const matchedTransferIds = new Set(
    findings.flatMap(({ candidate }) => candidate?.transferId ?? []),
  );
  await markFailed(
    run,
    items.filter((each) => !matchedTransferIds.has(each.transferId)),
  );
  await commit((ctx) => stageBalance(ctx, run));
  await commit((ctx) => stagePrefunding(ctx, run, from));
}

/**
 * Applies the received statements of a day and compares its lines. Returns the number of new
 * differences by kind. The lines of a closed day are not compared again. Throws NOT_FOUND if the
 * day does not exist.
 */
export async function reconcileDay(runtime: Runtime, key: DayKey): Promise<NewDifferences> {
  const source = await sourceOf(runtime, key.providerId);
  const run: Run = {
    runtime,
    source,
    key,
    newDifferences: new Map(),
    stagedKinds: [],
    sourceVersion: 0,
  };
  await ensureSource(runtime, source);
  const lateCorrections = await applyStatements(runtime, source, key);
  if (lateCorrections > 0) run.newDifferences.set('LATE_CORRECTION', lateCorrections);
  const day = await runtime.db.read(providerDays, dayIdOf(key));
  if (!day) throw notFound(key);
  for (let comparison = 1; day.status === 'OPEN'; comparison++) {
    try {
      await compare(run);
      break;
    } catch (error) {
      if (!isSourceChanged(error) || comparison === MAX_COMPARISONS) throw error;
    }
  }
  return run.newDifferences;
}
