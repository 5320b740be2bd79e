// Stores the pages of a statement. Pages are requested, or arrive as messages. A statement is complete when
// all its pages are stored. A corrected statement of the same day has another ID.

import { Type } from '@sinclair/typebox';
import { findCurrency } from '../../catalog/currencies/currencies.ts';
import type { ReportResult } from '../../connectors/ports/providers/port.ts';
import type { StatementPage } from '../../connectors/ports/providers/protocol.ts';
import { defineJob } from '../../kernel/contract/job.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { systemCaller } from '../tenancy/platform/index.ts';
import { dayOf } from './days.ts';
import { type Source, sourceOf } from './sources.ts';
import { dayIdOf, providerStatements, type StatementRow, statementPages } from './store.ts';

const DayInput = Type.Object({
  providerId: Type.String(),
  currency: Type.String(),
  day: Type.String(),
});

/** Requests the statement of a day from the provider, and reconciles the day. */
export const FETCH_STATEMENT = defineJob('statements.fetch', DayInput);
/** Reconciles a day: compares its complete statement with the payments of the ledger. */
export const RECONCILE_DAY = defineJob('statements.reconcile', DayInput);

interface PageResult {
  /** CONTRADICTORY: the page was not stored. `problem` states the reason. */
  result: ReportResult;
  problem?: string;
  isComplete?: boolean;
}

const contradictoryResult = (problem: string): PageResult => ({ result: 'CONTRADICTORY', problem });

/** Returns the problem of an invalid page. */
function pageProblem(page: StatementPage, { time_zone }: Source, now: number): string | undefined {
  if (!findCurrency(page.currency)) return `The currency ${page.currency} is not supported.`;
  if (page.page > page.pageCount) {
    return `The page number ${page.page} is higher than pageCount, which is ${page.pageCount}.`;
  }
  if (page.day >= dayOf(now, time_zone)) {
    return `The day ${page.day} has not ended in the time zone ${time_zone}.`;
  }
  return undefined;
}

const totalsOf = ({ openingBalance, closingBalance, lineCount, pageCount }: StatementPage) => ({
  opening_balance: BigInt(openingBalance),
  closing_balance: BigInt(closingBalance),
  line_count: lineCount,
  page_count: pageCount,
});

const hasTotals = (row: StatementRow, totals: ReturnType<typeof totalsOf>) =>
  row.opening_balance === totals.opening_balance &&
  row.closing_balance === totals.closing_balance &&
  row.line_count === totals.line_count &&
  row.page_count === totals.page_count;

async function storePage(ctx: Ctx, source: Source, page: StatementPage): Promise<PageResult> {
  const { providerId, environment } = source;
  const { currency, day, statementId } = page;
  const day_id = dayIdOf({ providerId, currency, day });
  const id = `${day_id}/${statementId}`;
  const totals = totalsOf(page);
  const pageId = `${id}/${page.page}`;
  const body = JSON.stringify(page);
  const [previousStatement, previousPage] = [
    await ctx.read(providerStatements, id),
    await ctx.read(statementPages, pageId),
  ];
  if (previousStatement && !hasTotals(previousStatement, totals)) {
    return contradictoryResult(
      'An earlier page of this statement has other balances, lineCount or pageCount. ' +
        'Send a corrected statement with another statementId.',
    );
  }
  if (previousPage) {
    const isSame = previousPage.body === body;
    return isSame
      ? { result: 'IGNORED' }
      : contradictoryResult(
          'This page was already received with other content. ' +
            'Send a corrected statement with another statementId.',
        );
  }
  const pages_received = (previousStatement?.pages_received ?? 0) + 1;
  const lines_received = (previousStatement?.lines_received ?? 0) + page.lines.length;
  const isComplete = pages_received === page.pageCount;
  if (isComplete ? lines_received !== page.lineCount : lines_received > page.lineCount) {
    return contradictoryResult(
      `The statement has ${lines_received} lines, but lineCount is ${page.lineCount}.`,
    );
  }
  ctx.insert(statementPages, {
    ...{ id: pageId, lines: page.lines.length, body },
    created_at: ctx.now,
  });
  const progress = {
    ...{ pages_received, lines_received },
    status: isComplete ? ('COMPLETE' as const) : ('INCOMPLETE' as const),
    completed_at: isComplete ? ctx.now : null,
  };
  if (previousStatement) ctx.update(providerStatements, previousStatement, progress);
  else {
    ctx.insert(providerStatements, {
      ...{ id, day_id, provider_id: providerId, environment, currency, day },
      ...{ statement_id: statementId, ...totals, ...progress, created_at: ctx.now },
    });
  }
  return { result: 'APPLIED', isComplete };
}

/** Stores a page once. With `stagesJob`, the page that completes the statement stages its job. */
export async function receivePage(
  runtime: Runtime,
  providerId: string,
  page: StatementPage,
  stagesJob = true,
): Promise<PageResult> {
  const source = await sourceOf(runtime, providerId);
  const problem = pageProblem(page, source, runtime.effects.now());
  if (problem) return contradictoryResult(problem);
  return operate(runtime, systemCaller('', source.environment), async (ctx) => {
    const result = await storePage(ctx, source, page);
    const { currency, day } = page;
    if (result.isComplete && stagesJob) ctx.later(RECONCILE_DAY, { providerId, currency, day });
    return result;
  });
}

type PageReader = (page: number) => Promise<StatementPage | undefined>;

/**
 * Requests the pages of a statement and stores them. Returns false if the provider does not have
 * the statement yet. Throws CONFLICT if the statement is contradictory or lacks a page.
 */
export async function fetchStatement(
  runtime: Runtime,
  providerId: string,
  pageOf: PageReader,
): Promise<boolean> {
  const firstPage = await pageOf(1);
  if (!firstPage) return false;
  for (let number = 1; number <= firstPage.pageCount; number++) {
    const page = number === 1 ? firstPage : await pageOf(number);
    if (page?.page !== number || page.statementId !== firstPage.statementId) {
      throw new Fault('CONFLICT', `${providerId} did not return page ${number} of its statement.`);
    }
    const { problem } = await receivePage(runtime, providerId, page, false);
    if (problem) throw new Fault('CONFLICT', `The statement is contradictory: ${problem}`);
  }
  return true;
}
