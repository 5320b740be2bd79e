// Checks of statements: they tie, they stay the same, and a day that has not ended has none.
import type { Static } from '@sinclair/typebox';
import { StatementPage } from '../../connectors/ports/providers/protocol.ts';
import type { CheckGroup } from '../check.ts';
import type { Trial } from '../trial.ts';
import { problem } from '../verdict.ts';

const DAY_MS = 86_400_000;
const MAX_PAGES = 100;

const dayOf = ({ parts }: Trial, offset: number) =>
  new Date(parts.effects.now() + offset * DAY_MS).toISOString().slice(0, 10);

const currencyOf = ({ capabilities }: Trial) => capabilities.transfers?.[0]?.currencies[0] ?? 'EUR';

type Page = Static<typeof StatementPage>;

/** The pages of a day that has ended in every time zone. */
async function statementOf(trial: Trial): Promise<Page[]> {
  const request = { day: dayOf(trial, -2), currency: currencyOf(trial) };
  const read = (page: number) => trial.read('/statements/day', { ...request, page }, StatementPage);
  const first = await read(1);
  const pages = [first];
  for (let page = 2; page <= Math.min(first.pageCount, MAX_PAGES); page++) {
    pages.push(await read(page));
  }
  return pages;
}

const changeOf = ({ direction, amount, fee = 0 }: Page['lines'][number]) =>
  (direction === 'in' ? amount : -amount) - fee;

/** What is wrong with the balances and counts of a statement. */
function problemOf(pages: readonly Page[]): string | undefined {
  const [first] = pages;
  if (!first) return 'no page';
  const lines = pages.flatMap((page) => page.lines);
  const sum = lines.reduce((total, line) => total + changeOf(line), first.openingBalance);
  if (sum !== first.closingBalance) {
    return `opening balance and lines are ${sum}, the closing balance is ${first.closingBalance}`;
  }
  if (lines.length !== first.lineCount) return `${lines.length} of ${first.lineCount} lines`;
  if (new Set(lines.map(({ id }) => id)).size < lines.length) return 'two lines have one ID';
  const heads = pages.map(({ lines: _, page: __, ...head }) => JSON.stringify(head));
  return new Set(heads).size > 1 ? 'the pages have different balances or IDs' : undefined;
}

export const statementChecks: CheckGroup = {
  applies: ({ statements }) => statements === true,
  when: 'together',
  checks: [
    {
      name: 'statements.balance',
      tried: 'the statement of a past day, all pages',
      expected: 'opening balance + lines = closing balance; every line is there once',
      remedy: 'Report each entry of the account, and the balances of the bank.',
      async run(trial) {
        const pages = await statementOf(trial);
        const wrong = problemOf(pages);
        if (wrong !== undefined) throw problem(wrong);
        return `${pages[0]?.lineCount} lines, closing balance ${pages[0]?.closingBalance}`;
      },
    },
    {
      name: 'statements.repeat',
      tried: 'the same statement is requested twice',
      expected: 'the same pages under the same statementId',
      remedy: 'A corrected statement has another statementId; the same one never changes.',
      async run(trial) {
        const [one, other] = [await statementOf(trial), await statementOf(trial)];
        const isSame = one[0]?.statementId === other[0]?.statementId;
        if (isSame && JSON.stringify(one) !== JSON.stringify(other)) {
          throw problem(`${one[0]?.statementId} has two contents`);
        }
        return isSame ? 'the same' : 'corrected under another ID';
      },
    },
    {
      name: 'statements.open-day',
      tried: 'the statement of a day that has not ended',
      expected: 'status 404',
      remedy: 'Return 404 until the day has ended in the time zone of the bank.',
      async run(trial) {
        const body = { day: dayOf(trial, 2), currency: currencyOf(trial), page: 1 };
        const { status } = await trial.call('/statements/day', body);
        if (status !== 404) throw problem(`status ${status}`);
        return 'status 404';
      },
    },
  ],
};
