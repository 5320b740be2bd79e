// The boundaries of the ledger, checked on the source: how it compares currencies, where the SQL
// stands that names its tables, and where ids of accounts are made.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');
const source = path.join(root, 'server/src');

const sources = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => /(?<!\.test)\.ts$/.test(file))
  .map((file) => file.replaceAll(path.sep, '/'))
  .map((file) => ({ file, text: readFileSync(path.join(source, file), 'utf8') }));

it('compares currencies in the ledger with sameCurrency', () => {
  const compared = sources
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
  expect(compared).toEqual([]);
});

const STATEMENTS = 'runtime/committer/ledger-statements.ts';

/** Reports that see one moment; which tables they name is checked in structure.test.ts. */
const REPORTS = [
  'features/accounting/export.ts',
  'features/accounting/ledger.ts',
  'features/stablecoins/supply/reconciliation.ts',
];

const named = (sql: RegExp): string[] =>
  sources.filter(({ text }) => sql.test(text)).map(({ file }) => file);

it('names tables of the ledger in the statements beside the committer, and in reports', () => {
  const tables = /\b(from|join|into|update)\s+ledger_(accounts|transfers)\b/;
  expect(named(tables).sort()).toEqual([...REPORTS, STATEMENTS].sort());
});

it('writes tables of the ledger in the statements beside the committer alone', () => {
  const writes = /\b(insert\s+into|update|delete\s+from)\s+ledger_(accounts|transfers)\b/;
  expect(named(writes)).toEqual([STATEMENTS]);
});

it('creates ids of system accounts only in the chart', () => {
  expect(named(/['`](system|velocity|stablecoin|cards):/)).toEqual(['ledger/chart.ts']);
});
