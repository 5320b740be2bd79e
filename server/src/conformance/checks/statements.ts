// Checks of statements. The lines are the difference between the balances, and the pages of a
// statement ID do not change. A day that has not ended has no statement.
import type { Static } from '@sinclair/typebox';
import { StatementPage } from '../../connectors/ports/providers/protocol.ts';
import type { CheckGroup } from '../check.ts';
import type { Session } from '../session.ts';
import { failure } from '../verdict.ts';

const DAY_MS = 86_400_000;
const MAX_PAGES = 100;

const dayOf = ({ context }: Session, offset: number) =>
  new Date(context.effects.now() + offset * DAY_MS).toISOString().slice(0, 10);

const currencyOf = ({ capabilities }: Session) =>
  capabilities.transfers?.[0]?.currencies[0] ?? 'EUR';

type Page = Static<typeof StatementPage>;

/** The first 100 pages of a day that has ended in every time zone. */
async function statementOf(session: Session): Promise<Page[]> {
  const request = { day: dayOf(session, -2), currency: currencyOf(session) };
  const read = (page: number) =>
    session.read('/statements/day', { ...request, page }, StatementPage);
  const firstPage = await read(1);
  const pages = [firstPage];
  for (let page = 2; page <= Math.min(firstPage.pageCount, MAX_PAGES); page++) {
    pages.push(await read(page));
  }
  return pages;
}

const changeOf = ({ direction, amount, fee = 0 }: Page['lines'][number]) =>
  (direction === 'in' ? amount : -amount) - fee;

/** The first error in the balances, counts and IDs of a statement. Undefined if there is none. */
function problemOf(pages: readonly Page[]): string | undefined {
  const [firstPage] = pages;
  if (!firstPage) return 'no page';
  const lines = pages.flatMap((page) => page.lines);
  const sum = lines.reduce((total, line) => total + changeOf(line), firstPage.openingBalance);
  if (sum !== firstPage.closingBalance) {
    return `opening balance and lines are ${sum}, but the closing balance is ${firstPage.closingBalance}`;
  }
  if (lines.length !== firstPage.lineCount)
    return `${lines.length} of ${firstPage.lineCount} lines`;
  if (new Set(lines.map(({ id }) => id)).size < lines.length) return 'two lines have the same ID';
  const heads = pages.map(({ lines: _, page: __, ...head }) => JSON.stringify(head));
  return new Set(heads).size > 1 ? 'the pages have different balances or IDs' : undefined;
}

export const statementChecks: CheckGroup = {
  applies: ({ statements }) => statements === true,
  phase: 'parallel',
  checks: [
    {
      name: 'statements.balance',
      action: 'all pages of the statement of a past day are requested',
      expected: 'opening balance + lines = closing balance. Every line is present once',
      remedy: 'Report each entry of the account, and the balances of the bank.',
      async run(session) {
        const pages = await statementOf(session);
        const problem = problemOf(pages);
        if (problem !== undefined) throw failure(problem);
        return `${pages[0]?.lineCount} lines, closing balance ${pages[0]?.closingBalance}`;
      },
    },
    {
      name: 'statements.repeat',
      action: 'the same statement is requested twice',
      expected: 'the same pages under the same statementId',
      remedy:
        'A corrected statement has another statementId. A statement with the same ID never changes.',
      async run(session) {
        const [firstPages, secondPages] = [await statementOf(session), await statementOf(session)];
        const isSame = firstPages[0]?.statementId === secondPages[0]?.statementId;
        if (isSame && JSON.stringify(firstPages) !== JSON.stringify(secondPages)) {
          throw failure(`${firstPages[0]?.statementId} has two contents`);
        }
        return isSame ? 'the same' : 'corrected under another ID';
      },
    },
    {
      name: 'statements.open-day',
      action: 'the statement of a day that has not ended is requested',
      expected: 'status 404',
      remedy: 'Return 404 until the day has ended in the time zone of the bank.',
      async run(session) {
        const body = { day: dayOf(session, 2), currency: currencyOf(session), page: 1 };
        const { status } = await session.call('/statements/day', body);
        if (status !== 404) throw failure(`status ${status}`);
        return 'status 404';
      },
    },
  ],
};
