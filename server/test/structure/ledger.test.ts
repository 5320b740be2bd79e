// Boundaries of the ledger, checked on the source: comparison of currencies, SQL that names ledger
// tables, and creation of account IDs.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');
const sourceFolder = path.join(root, 'server/src');

const sources = readdirSync(sourceFolder, { recursive: true, encoding: 'utf8' })
  .filter((file) => /(?<!\.test)\.ts$/.test(file))
  .map((file) => file.replaceAll(path.sep, '/'))
  .map((file) => ({ file, text: readFileSync(path.join(sourceFolder, file), 'utf8') }));

it('the source compares currencies in the ledger with sameCurrency', () => {
  const comparisons = sources
    .filter(({ file }) => file.startsWith('ledger/'))
    .flatMap(({ file, text }) =>
      text
        .split('\n')
        .flatMap((line) =>
          /currenc\w*\)*( \?\? \w+\))? [!=]==|[!=]== [\w.(]*currenc/i.test(line)
            ? `${file}: ${line.trim()}`
            : [],
        ),
    );
  expect(comparisons).toEqual([]);
});

const STATEMENTS = 'runtime/committer/ledger-statements.ts';

/** Reports that read one consistent snapshot. structure.test.ts checks which tables they name. */
const REPORTS = [
  'features/accounting/account-postings.ts',
  'features/accounting/export.ts',
  'features/accounting/ledger-accounts.ts',
  'features/accounting/ledger.ts',
  'features/stablecoins/supply/reconciliation.ts',
];

const filesWith = (sql: RegExp): string[] =>
  sources.filter(({ text }) => sql.test(text)).map(({ file }) => file);

it('the source names ledger tables only in the statements of the committer and in reports', () => {
  const tables = /\b(from|join|into|update)\s+ledger_(accounts|transfers)\b/;
  expect(filesWith(tables).sort()).toEqual([...REPORTS, STATEMENTS].sort());
});

it('the source writes ledger tables only in the statements of the committer', () => {
  const writes = /\b(insert\s+into|update|delete\s+from)\s+ledger_(accounts|transfers)\b/;
  expect(filesWith(writes)).toEqual([STATEMENTS]);
});

it('the source creates IDs of system accounts only in the chart', () => {
  expect(filesWith(/['`](system|velocity|stablecoin|cards):/)).toEqual(['ledger/chart.ts']);
});
