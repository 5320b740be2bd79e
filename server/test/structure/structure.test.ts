// Structure of the server: the exports of features, and the tables that their SQL may name.
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { trackedFiles as files, read } from './sources.ts';
import { tablesIn, tablesNamedIn } from './sql.ts';

const sourceFiles = files.filter((file) => /^server\/src\/.*(?<!\.test)\.ts$/.test(file));
const featureFolders = [...read('.dependency-cruiser.cjs').matchAll(/^ {2}'([\w/-]+)',$/gm)].map(
  ([, folder]) => folder as string,
);

const MAX_NAMES = 20;
const MAX_FILES = 15;

/** Exported names of a module, each with the name in the file that defines it. */
function exportsOf(file: string): { name: string; originalName: string }[] {
  const text = read(file);
  const listedNames = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(
    ([, names = '']) =>
      names
        .split(',')
        .map((name) => name.trim().replace(/^type /, ''))
        .filter(Boolean)
        .map((specifier) => {
          const [originalName = specifier, name = originalName] = specifier.split(' as ');
          return { name, originalName };
        }),
  );
  const declarationPattern = /^export (?:async )?(?:const|function|type|interface) (\w+)/gm;
  const declarations = [...text.matchAll(declarationPattern)].map(([, name = '']) => ({
    name,
    originalName: name,
  }));
  return [...listedNames, ...declarations];
}

describe('the public interface of a feature', () => {
  const interfaces = featureFolders.map((folder) => ({
    folder,
    file: `server/src/features/${folder}/index.ts`,
  }));

  it('is listed for every feature', () => {
    const indexFiles = files.filter((file) => /^server\/src\/features\/.*\/index\.ts$/.test(file));
    expect(interfaces.map(({ file }) => file).sort()).toEqual(indexFiles.sort());
  });

  it(`has at most ${MAX_NAMES} names, and no wildcard export`, () => {
    const wideInterfaces = interfaces
      .map(({ folder, file }) => [folder, exportsOf(file).length] as const)
      .filter(([, nameCount]) => nameCount > MAX_NAMES);
    expect(Object.fromEntries(wideInterfaces)).toEqual({});
    expect(interfaces.filter(({ file }) => /^export \*/m.test(read(file)))).toEqual([]);
  });

  it('exports no table and no state table', () => {
    const exposedTables = interfaces.flatMap(({ folder, file }) => {
      const files = sourceFiles.filter((candidate) =>
        candidate.startsWith(`server/src/features/${folder}/`),
      );
      const internalNames = new Set(
        files.flatMap((file) =>
          [...read(file).matchAll(/\bconst (\w+) = (?:table|stateTable)\b/g)].map(
            ([, name]) => name,
          ),
        ),
      );
      return exportsOf(file)
        .filter(({ originalName }) => internalNames.has(originalName))
        .map(({ name }) => `${folder} ${name}`);
    });
    expect(exposedTables).toEqual([]);
  });
});

describe('a folder', () => {
  it(`has at most ${MAX_FILES} source files`, () => {
    const counts = new Map<string, number>();
    for (const file of files.filter((file) => /(?<!\.test)\.(ts|mjs)$/.test(file))) {
      counts.set(path.dirname(file), (counts.get(path.dirname(file)) ?? 0) + 1);
    }
    expect([...counts].filter(([, count]) => count > MAX_FILES)).toEqual([]);
  });
});

/** The wing of a file, or its layer outside of features. */
const wingOf = (file: string) => file.replace(/^server\/src\/(features\/)?/, '').split('/')[0];

/**
 * Statements that may name tables of other wings, because a function of the owner cannot do the
 * same.
 */
const EXCEPTIONS: readonly { file: string; tables: readonly string[]; reason: string }[] = [
  {
    file: 'server/src/features/accounting/export.ts',
    tables: [
      ...['platforms', 'transactions', 'rail_results', 'ledger_transfers'],
      ...['internal_accounts', 'ledger_accounts'],
    ],
    reason: 'an export is one streamed statement with one consistent snapshot',
  },
  {
    file: 'server/src/features/accounting/ledger-accounts.ts',
    tables: ['ledger_accounts', 'internal_accounts', 'platforms'],
    reason: 'a trial balance needs one consistent snapshot',
  },
  {
    file: 'server/src/features/accounting/account-postings.ts',
    tables: ['ledger_transfers', 'ledger_accounts'],
    reason: 'postings of one account and its balance in one snapshot',
  },
  {
    file: 'server/src/features/accounting/ledger.ts',
    tables: ['ledger_transfers', 'ledger_accounts'],
    reason: 'the recount while a server posts needs one consistent snapshot',
  },
  {
    file: 'server/src/features/stablecoins/supply/reconciliation.ts',
    tables: ['ledger_accounts', 'ledger_transfers'],
    reason: 'the recount of token supplies needs one consistent snapshot',
  },
  {
    file: 'server/src/features/cards/clearing/funding-debits.ts',
    tables: ['jobs', 'transactions'],
    reason: 'a pending funding debit has no index and is found by its job',
  },
  {
    file: 'server/src/features/payments/manual/held.ts',
    tables: ['jobs'],
    reason: 'held funds have no index and are found by their job',
  },
  {
    file: 'server/src/features/customers/imports/personal-data.ts',
    tables: ['events'],
    reason: 'the privacy feature combines statements that select the data of an export',
  },
  {
    file: 'server/src/features/stablecoins/personal-data.ts',
    tables: ['external_accounts', 'internal_accounts'],
    reason: 'the accounts of an order determine its customer',
  },
  {
    file: 'server/src/features/customers/privacy/erase.ts',
    tables: ['events', 'webhook_attempts', 'webhook_queue', 'webhook_endpoints', 'idempotency'],
    reason: 'an erasure empties stored replies and events in one statement each',
  },
  {
    file: 'server/src/features/customers/privacy/export.ts',
    tables: ['internal_accounts', 'events'],
    reason: 'an export contains the events of all resources of a customer in one order',
  },
  {
    file: 'server/src/features/notifications/webhooks/store.ts',
    tables: ['events', 'platforms', 'customers', 'sandbox_clocks'],
    reason: 'delivery reads events with their endpoint, key and clock in one statement',
  },
  {
    file: 'server/src/features/notifications/endpoints/retained.ts',
    tables: ['sandbox_clocks'],
    reason: 'finds deliveries of all platforms that are too old on the clock of each',
  },
  {
    file: 'server/src/features/notifications/endpoints/pausing.ts',
    tables: ['sandbox_clocks'],
    reason: 'finds endpoints of all platforms that have failed for too long on the clock of each',
  },
  {
    file: 'server/src/features/cards/sweep.ts',
    tables: ['sandbox_clocks'],
    reason: 'payments of platforms with their own clock have no index and would be read each time',
  },
  {
    file: 'server/src/features/notifications/webhooks/attempts-store.ts',
    tables: ['events', 'customers', 'sandbox_clocks'],
    reason: 'resending reads an event with its endpoint, key and clock in one statement',
  },
  {
    file: 'server/src/features/notifications/deliveries/all-platforms.ts',
    tables: ['events'],
    reason: 'deliveries of all platforms are found along the events',
  },
  {
    file: 'server/src/features/notifications/deliveries/store.ts',
    tables: ['events'],
    reason: 'a list of deliveries is filtered by their events in the same statement',
  },
  {
    file: 'server/src/features/notifications/events/store.ts',
    tables: ['events', 'customers'],
    reason: 'a list of events reads their order and their keys in one statement',
  },
  {
    file: 'server/src/features/notifications/events/heads.ts',
    tables: ['events'],
    reason: 'the events of several platforms in one order',
  },
  {
    file: 'server/src/features/notifications/pulls/store.ts',
    tables: ['events', 'customers'],
    reason: 'a page of deliveries reads their events and their keys in one statement',
  },
  {
    file: 'server/src/features/retention/lines.ts',
    tables: ['events'],
    reason: 'the archive of an attempt needs the customer of its event',
  },
  {
    file: 'server/src/features/retention/store.ts',
    tables: ['webhook_queue'],
    reason: 'a partition is removed only if none of its events is queued, in the same transaction',
  },
  {
    file: 'server/src/features/wallets/credentials/contacts.ts',
    tables: ['customers'],
    reason: 'one statement checks both credentials and customers for a contact',
  },
];

/** Files whose statements may interpolate a table name. */
const INTERPOLATING_FILES: readonly { files: RegExp; reason: string }[] = [
  {
    files: /^server\/src\/runtime\/(db|committer)\//,
    reason: 'statements are derived from the descriptions of tables',
  },
  {
    files: /^server\/src\/features\/accounting\/export\.ts$/,
    reason: 'the name refers to a part of the same statement, with or without idle days',
  },
  {
    files: /^server\/src\/runtime\/security\/reseal\.ts$/,
    reason: 'the names are those of the sealed columns of the features',
  },
  {
    files: /^server\/src\/features\/retention\/(lines|store)\.ts$/,
    reason: 'the names are names of partitions',
  },
  {
    files: /^server\/src\/features\/customers\/privacy\/(erase|export|subjects)\.ts$/,
    reason: 'the names are those in the personal-data descriptions of the features',
  },
];

describe('SQL', () => {
  const owners = new Map(
    sourceFiles.flatMap((file) =>
      [...read(file).matchAll(/\btable\(\s*'(\w+)'/g)].map(([, name = '']) => [name, wingOf(file)]),
    ),
  );
  // Tables without a description. The committer and the deliverer have separate statements for
  // them.
  for (const name of ['events', 'event_epochs', 'ledger_transfers']) owners.set(name, 'runtime');
  for (const name of ['webhook_attempts', 'webhook_lanes', 'webhook_queue']) {
    owners.set(name, 'notifications');
  }
  for (const name of ['payment_counts', 'payment_metrics', 'payment_metric_marks']) {
    owners.set(name, 'payments');
  }
  owners.set('job_cancellations', 'runtime');
  owners.set('provider_calls', 'providers');
  owners.set('archives', 'retention');
  owners.set('operator_data_keys', 'staff');
  owners.set('ledger_checks', 'accounting');

  it('has an owner for every table', () => {
    const migrations = files.filter((file) => /^server\/migrations\/.*\.sql$/.test(file));
    const sql = migrations.map(read).join('\n');
    const newNames = new Map(
      [...sql.matchAll(/alter table (\w+) rename to (\w+)/gi)].map(([, from = '', to = '']) => [
        from,
        to,
      ]),
    );
    const createdTables = [...sql.matchAll(/create table (\w+)/gi)]
      .map(([, name = '']) => newNames.get(name) ?? name)
      .filter((name) => !sql.includes(`drop table ${name};`));
    expect(createdTables.length).toBeGreaterThan(50);
    expect(createdTables.filter((name) => !owners.has(name))).toEqual([]);
  });

  it('names only tables of its own wing, with listed exceptions', () => {
    const foreignTables = sourceFiles.flatMap((file) => {
      const tables = tablesNamedIn(file).filter(
        (name) => owners.has(name) && owners.get(name) !== wingOf(file),
      );
      return tables.length ? [[file, tables.sort()] as const] : [];
    });
    const allowedTables = EXCEPTIONS.map(({ file, tables }) => [file, [...tables].sort()] as const);
    expect(Object.fromEntries(foreignTables)).toEqual(Object.fromEntries(allowedTables));
  });

  it('interpolates table names only in the listed files', () => {
    const interpolatingFiles = sourceFiles.filter((file) =>
      tablesNamedIn(file).some((name) => name.startsWith('$')),
    );
    const isAllowed = (file: string) =>
      INTERPOLATING_FILES.some((exemption) => exemption.files.test(file));
    expect(interpolatingFiles.filter((file) => !isAllowed(file))).toEqual([]);
    expect(
      INTERPOLATING_FILES.filter(
        (exemption) => !interpolatingFiles.some((file) => exemption.files.test(file)),
      ),
    ).toEqual([]);
  });

  it.each([
    ['SELECT * FROM customers', ['customers']],
    ['select * from "customers" where true', ['customers']],
    ['select * from public.customers c', ['customers']],
    ['select * from quotes q, customers c where q.id = c.id', ['quotes', 'customers']],
    [
      'select * from quotes q join jobs j on f(q.a, j.a), customers',
      ['quotes', 'jobs', 'customers'],
    ],
    ['select (select 1 from quotes), x from customers', ['quotes', 'customers']],
    ['delete from quotes using customers c', ['quotes', 'customers']],
    ['insert into Customers (id) select id from unnest($1)', ['customers']],
    ['UPDATE customers SET name = null', ['customers']],
    ['  join customers c on true', ['customers']],
    ['select a is distinct from customers', []],
    ['Funds are paid from customers.', []],
  ])('names the expected tables: %s', (sql, tables) => {
    expect(tablesIn(sql).sort()).toEqual([...tables].sort());
  });

  it('is found in strings and templates', () => {
    const text = 'const a = `select 1 from $' + '{f({ b })} join "jobs"`; // select from quotes';
    expect(tablesNamedIn('a.ts', text)).toEqual([`\${f( b )}`, 'jobs']);
  });
});
