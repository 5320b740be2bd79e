// Applies complete statements to their day: adds and removes the lines that changed since the previous
// statement. A closed day cannot change, so a later statement of it becomes a difference of the current day.

import type { StatementPage } from '../../connectors/ports/providers/protocol.ts';
import { transfersOf } from '../../runtime/committer/ledger-reads.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { reportedTransfers } from '../providers/index.ts';
import { systemCaller } from '../tenancy/platform/index.ts';
import { chunksOf } from './book-items.ts';
import { addDays } from './days.ts';
import { effectOf, openProviderAccount, postAtProvider } from './postings.ts';
import type { Source } from './sources.ts';
import {
  type DayKey,
  type DayRow,
  type DifferenceRow,
  dayIdOf,
  differences,
  type LineRow,
  providerDays,
  providerStatements,
  SQL,
  type StatementRow,
  statementLines,
  statementPages,
  statementSources,
} from './store.ts';

type PageLine = StatementPage['lines'][number];
type NewLine = Omit<LineRow, 'version' | 'created_at'>;

export const LINES_PER_COMMIT = 200;

/** Creates the row of a day if it does not exist. */
async function ensureDay(ctx: Ctx, source: Source, key: DayKey): Promise<DayRow> {
  const id = dayIdOf(key);
  const existingDay = await ctx.read(providerDays, id);
  if (existingDay) return existingDay;
  const account = {
    provider_id: key.providerId,
    environment: source.environment,
    currency: key.currency,
  };
  await openProviderAccount(ctx, account);
  return ctx.insert(providerDays, {
    ...{ id, ...account, day: key.day, status: 'OPEN', statement_id: null, statement_version: 0 },
    ...{ opening_balance: null, closing_balance: null, opening_posted: 0n, line_net: 0n },
    ...{ adjusted_net: 0n, created_at: ctx.now, updated_at: ctx.now },
  });
}

/** Returns the current lines of a day, ordered by ID. */
export async function linesOf({ db }: Pick<Runtime, 'db'>, dayId: string): Promise<LineRow[]> {
  const lines: LineRow[] = [];
  let lastLineId = '';
  for (;;) {
    const rows = await db.query<LineRow>(SQL.lines, [dayId, lastLineId]);
    lines.push(...rows);
    const lastLine = rows.at(-1);
    if (!lastLine || rows.length < 1_000) return lines;
    lastLineId = lastLine.id;
  }
}

const lineOf = (
  { day_id, provider_id, currency }: StatementRow,
  line: PageLine,
  lineId: string,
  version: number,
): NewLine => ({
  id: `${day_id}/${lineId}@${version}`,
  ...{ day_id, provider_id, currency, line_id: lineId },
  direction: line.direction,
  amount: BigInt(line.amount),
  fee: BigInt(line.fee ?? 0),
  kind: line.kind,
  at: Date.parse(line.at),
  transfer_id: line.transferId ?? null,
  reference: line.reference ?? null,
  bank_reference: line.bankReference ?? null,
  ...{ state: 'NEW', matched_key: null, matched_by: null },
});

/** Reads the lines of a statement by ID. A repeated ID belongs to another line, so a suffix is appended. */
async function statementLinesOf(
  { db }: Pick<Runtime, 'db'>,
  statement: StatementRow,
  version: number,
): Promise<Map<string, NewLine>> {
  const lines = new Map<string, NewLine>();
  for (let number = 1; number <= statement.page_count; number++) {
    const page = await db.read(statementPages, `${statement.id}/${number}`);
    if (!page) throw new Error(`page ${number} of ${statement.id} is missing`);
    const { lines: pageLines } = JSON.parse(page.body) as StatementPage;
    for (const each of pageLines) {
      let lineId = each.id;
      for (let copy = 2; lines.has(lineId); copy++) lineId = `${each.id}#${copy}`;
      lines.set(lineId, lineOf(statement, each, lineId, version));
    }
  }
  return lines;
}

const CONTENT_FIELDS = [
  ...(['direction', 'amount', 'fee', 'kind', 'at'] as const),
  ...(['transfer_id', 'reference', 'bank_reference'] as const),
];

const isSame = (a: NewLine, b: NewLine) => CONTENT_FIELDS.every((name) => a[name] === b[name]);

/** Returns the lines that a statement removes and adds. */
function changesOf<L extends NewLine>(
  currentLines: readonly L[],
  nextLines: ReadonlyMap<string, NewLine>,
) {
  const unchangedIds = new Set(
    currentLines
      .filter((currentLine) => {
        const line = nextLines.get(currentLine.line_id);
        return line !== undefined && isSame(currentLine, line);
      })
      .map((each) => each.line_id),
  );
  return {
    removed: currentLines.filter((each) => !unchangedIds.has(each.line_id)),
    added: [...nextLines.values()].filter((each) => !unchangedIds.has(each.line_id)),
  };
}

/** Removes a line that the corrected statement omits or changes, and reverses its postings. */
async function removeLine(ctx: Ctx, dayId: string, lineId: string): Promise<void> {
  const line = await ctx.read(statementLines, lineId);
  const day = await ctx.read(providerDays, dayId);
  if (!line || !day || line.state === 'REMOVED') return;
  for (const transfer of await transfersOf(ctx.db, line.id)) {
    const { step, debit, credit, currency, amount } = transfer;
    const reversal = { debit: credit, credit: debit, currency, amount };
    ctx.transfer({ transactionId: line.id, step: `${step}.reverse`, ...reversal });
  }
  if (line.state !== 'NEW') {
    const line_net = day.line_net - effectOf(line);
    ctx.update(providerDays, day, { line_net, updated_at: ctx.now });
  }
  const [transferId = ''] = line.matched_key?.split('#') ?? [];
  if (transferId) await reportedTransfers.mark(ctx, transferId, null);
  ctx.update(statementLines, line, { state: 'REMOVED', matched_key: null });
  const keys = [`LINE/${line.id}`, `FEE/${line.id}`];
  for (const each of await ctx.db.query<DifferenceRow>(SQL.byKey, [keys])) {
    if (each.status === 'DECIDED') continue;
    ctx.update(differences, each, { status: 'RESOLVED', updated_at: ctx.now });
  }
}

/**
 * Posts the opening balance of the first day, or its difference after a correction. Returns the
 * amount, or 0 for any other day.
 */
async function postOpening(ctx: Ctx, day: DayRow, opening: bigint): Promise<bigint> {
  const source = await ctx.read(statementSources, day.provider_id);
  const days = await daysOf(ctx, { providerId: day.provider_id, currency: day.currency });
  const isFirst = !days.some((each) => each.id < day.id && each.statement_id !== null);
  if (!isFirst) return 0n;
  // Days that are applied concurrently conflict here, so that only one of them is the first.
  if (source) ctx.update(statementSources, source, { updated_at: ctx.now });
  const amount = opening - days.reduce((sum, each) => sum + each.opening_posted, 0n);
  const step = `opening.${day.version}`;
  postAtProvider(ctx, day, { postingId: day.id, step, amount }, 'external_settlement');
  return amount;
}

/** Returns the days of a provider and currency, oldest first. */
export const daysOf = (
  { db }: Pick<Runtime, 'db'>,
  { providerId, currency }: Omit<DayKey, 'day'>,
): Promise<DayRow[]> => db.query(SQL.days, [`${providerId}/${currency}`]);

interface Application {
  runtime: Runtime;
  source: Source;
  key: DayKey;
  statement: StatementRow;
}

/** Returns false, because no closed day changed. */
async function applyToOpenDay({ runtime, source, key, statement }: Application): Promise<false> {
  const dayId = statement.day_id;
  const commit = <R>(work: (ctx: Ctx) => Promise<R>) =>
    operate(runtime, systemCaller('', source.environment), work);
  const day = await commit((ctx) => ensureDay(ctx, source, key));
  const version = day.statement_version + 1;
  const nextLines = await statementLinesOf(runtime, statement, version);
  const { removed, added } = changesOf(await linesOf(runtime, dayId), nextLines);
  for (const each of removed) await commit((ctx) => removeLine(ctx, dayId, each.id));
  for (const chunk of chunksOf(added, LINES_PER_COMMIT)) {
    await commit(async (ctx) => {
      for (const each of chunk) {
        if (await ctx.read(statementLines, each.id)) continue;
        ctx.insert(statementLines, { ...each, created_at: ctx.now });
      }
    });
  }
  await commit(async (ctx) => {
    const [currentDay, row] = [
      await ctx.read(providerDays, dayId),
      await ctx.read(providerStatements, statement.id),
    ];
    if (!currentDay || row?.status !== 'COMPLETE') return;
    const opening = await postOpening(ctx, currentDay, row.opening_balance);
    const replacedStatements = await ctx.db.find(providerStatements, {
      day_id: dayId,
      status: 'APPLIED',
    });
    for (const each of replacedStatements)
      ctx.update(providerStatements, each, { status: 'REPLACED' });
    ctx.update(providerStatements, row, { status: 'APPLIED' });
    ctx.update(providerDays, currentDay, {
      statement_id: row.statement_id,
      statement_version: version,
      opening_balance: row.opening_balance,
      closing_balance: row.closing_balance,
      opening_posted: currentDay.opening_posted + opening,
      updated_at: ctx.now,
    });
  });
  return false;
}

/** Returns the first open day after the closed day, or the day after the last day. */
async function currentDayOf({ runtime, key }: Application): Promise<string> {
  const days = await daysOf(runtime, key);
  const openDay = days.find((each) => each.day > key.day && each.status === 'OPEN');
  return openDay?.day ?? addDays(days.at(-1)?.day ?? key.day, 1);
}

/** Returns the lines of the latest statement of a closed day, applied or late. */
async function latestLines({ runtime, statement }: Application): Promise<NewLine[]> {
  const laterStatements = (
    await runtime.db.find(providerStatements, { day_id: statement.day_id, status: 'LATE' })
  ).toSorted((a, b) => (a.completed_at ?? 0) - (b.completed_at ?? 0));
  const latestStatement = laterStatements.at(-1);
  if (!latestStatement) return linesOf(runtime, statement.day_id);
  return [...(await statementLinesOf(runtime, latestStatement, 0)).values()];
}

const linesText = (lines: readonly { line_id: string }[]) =>
  lines
    .slice(0, 5)
    .map((each) => each.line_id)
    .join(', ') + (lines.length > 5 ? ' …' : '');

/**
 * Posts the effect of a statement of a closed day to suspense, as a difference of the current day. Returns
 * whether the statement changed a line.
 */
async function applyToClosedDay(application: Application): Promise<boolean> {
  const { runtime, source, key, statement } = application;
  const nextLines = await statementLinesOf(runtime, statement, 0);
  const { removed, added } = changesOf(await latestLines(application), nextLines);
  const effectOfLines = (lines: readonly NewLine[]) =>
    lines.reduce((sum, each) => sum + effectOf(each), 0n);
  const amount = effectOfLines(added) - effectOfLines(removed);
  const currentKey = { ...key, day: await currentDayOf(application) };
  return operate(runtime, systemCaller('', source.environment), async (ctx) => {
    const row = await ctx.read(providerStatements, statement.id);
    if (row?.status !== 'COMPLETE') return false;
    ctx.update(providerStatements, row, { status: 'LATE' });
    if (removed.length + added.length === 0) return false;
    const day = await ensureDay(ctx, source, currentKey);
    const id = ctx.id('ReconciliationDifference');
    postAtProvider(ctx, day, { postingId: id, step: 'correction', amount }, 'suspense');
    const adjusted_net = day.adjusted_net + amount;
    ctx.update(providerDays, day, { adjusted_net, updated_at: ctx.now });
    const { environment, provider_id, currency } = day;
    ctx.insert(differences, {
      ...{ id, key: `LATE/${statement.id}`, day_id: day.id, provider_id, environment, currency },
      ...{ kind: 'LATE_CORRECTION', status: 'OPEN', line_id: null, amount },
      detail:
        `Statement ${row.statement_id} changes the closed day ${key.day}: ` +
        `added ${linesText(added) || 'none'}, removed ${linesText(removed) || 'none'}.`,
      ...{ created_at: ctx.now, updated_at: ctx.now },
    });
    return true;
  });
}

/**
 * Applies the complete statements of a day in the order of their completion. Returns the number of
 * statements that changed a closed day.
 */
export async function applyStatements(
  runtime: Runtime,
  source: Source,
  key: DayKey,
): Promise<number> {
  const day_id = dayIdOf(key);
  const completeStatements = (
    await runtime.db.find(providerStatements, { day_id, status: 'COMPLETE' })
  ).toSorted((a, b) => (a.completed_at ?? 0) - (b.completed_at ?? 0) || (a.id < b.id ? -1 : 1));
  let lateCount = 0;
  for (const statement of completeStatements) {
    const day = await runtime.db.read(providerDays, day_id);
    const apply = day?.status === 'CLOSED' ? applyToClosedDay : applyToOpenDay;
    if (await apply({ runtime, source, key, statement })) lateCount += 1;
  }
  return lateCount;
}
