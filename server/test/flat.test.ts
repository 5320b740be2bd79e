// Lists cost the same however much there is and however deep the page lies: with a few hundred thousand rows
// each list, with each filter that names an owner, an account or a time, is a walk along an index from the
// place where the page begins. What is looked at is PostgreSQL's own account of it: the plan, and how many
// blocks it read. Filters by a status, a type or a region are not here: they read past what does not match.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentActions, agents } from '../src/features/agents/store.ts';
import { messages } from '../src/features/messages/index.ts';
import { STANDING } from '../src/operator/verifications.ts';
import { countSql, type PageQuery, pageSql } from '../src/runtime/paging.ts';
import type { Table } from '../src/runtime/table.ts';
import { agentDesk } from './agent-desk.ts';
import { ASKS, agentPayer } from './agent-payer.ts';
import { european, sendCode } from './contacts.ts';
import { externalAccount, fundedCustomer, ok, quoteBody } from './fixtures.ts';
import { startApp, type TestApp } from './harness.ts';
import { ownerDesk } from './owners.ts';
import { paperForm, pdfFile } from './papers.ts';

const TRANSACTIONS = 200_000;
const PEOPLE = 20_000;
const ACCOUNTS = 60_000;
/** Blocks for a page of twenty: the rows, and the way down an index for each branch. */
const FEW = 150;
/** Blocks for a count, which ends at ten thousand rows. */
const MANY = 12_000;

let app: TestApp;
/** A connection of our own, whose statements may take their time. */
let client: pg.Client;
const seen: { table: Table; query: PageQuery }[] = [];

const uuid = (n: number | string) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;

/** SQL for `resource` and the hexadecimal of an expression as an id. */
const idSql = (resource: string, n: string) =>
  `'${resource}:00000000-0000-7000-8000-' || lpad((${n})::text, 12, '0')`;

/** Copies of one row with other values in some columns; every fourth is the other platform's. */
async function fill(table: string, id: string, count: number, given: Record<string, string>) {
  const columns: Record<string, string> = {
    platform_id: `case when n % 4 = 0 then '${app.other.id}' else '${app.platform.id}' end`,
    created_at: `to_timestamp(${app.world.now() / 1000} - n)`,
    ...given,
  };
  const { rows } = await client.query<{ name: string }>(
    `select column_name as name from information_schema.columns where table_name = '${table}'`,
  );
  const names = rows.map(({ name }) => name);
  const values = names.map((name) => columns[name] ?? `t.${name}`);
  await client.query(`insert into ${table} (${names.join(', ')})
    select ${values.join(', ')} from ${table} t, generate_series(1, ${count}) n where t.id = '${id}'`);
}

const NEW = ['beneficial_owners', 'documents', 'verifications', 'messages'];

/** Owners, documents, verifications and messages; the first customer has most of the last two. */
async function fillOnboarding() {
  const firm = await ownerDesk(app).made();
  const person = await european(app);
  const paper = { documentType: 'UTILITY_BILL', country: 'DE', documentHolder: person.id };
  const { id: bill } = ok(
    await app.call('POST', '/documents', paperForm(paper, { bytes: pdfFile() })),
    201,
  );
  const made = ok(await app.call('POST', '/verifications', { customerId: firm.customerId }), 200);
  expect((await sendCode(app, person.id, 'email')).status).toBe(204);
  const [message] = await app.runtime.db.query<{ id: string }>('select id from messages', []);
  const each = idSql('Customer', `n % ${PEOPLE}`);
  const often = `case when n % 3 = 0 then ${idSql('Customer', '1')} else ${each} end`;
  await fill('beneficial_owners', firm.id, ACCOUNTS, {
    id: idSql('BeneficialOwner', 'n'),
    customer_id: each,
  });
  await fill('documents', bill, ACCOUNTS, {
    id: idSql('Document', 'n'),
    customer_id: each,
    holder_id: `case when n < ${PEOPLE} then ${each} else ${idSql('BeneficialOwner', 'n')} end`,
  });
  await fill('verifications', made.id, TRANSACTIONS, {
    id: idSql('Verification', 'n'),
    customer_id: `case when n < ${PEOPLE} then ${each} else ${often} end`,
    latest: `n < ${PEOPLE}`,
    status: "case when n % 5000 = 1 then 'PENDING_MANUAL_REVIEW' else 'APPROVED' end",
  });
  await fill('messages', message?.id ?? '', TRANSACTIONS, {
    id: idSql('Message', 'n'),
    customer_id: often,
    status: "case when n % 5000 = 1 then 'FAILED' else 'SENT' end",
  });
}

/** Actions of agents, a third of them waiting; the first agent and the first customer have a third. */
async function fillActions() {
  const { asked } = await agentPayer(app, agentDesk(app), ASKS);
  const { id } = await asked('TRANSFER_OUT', 'PENDING_APPROVAL');
  const often = (resource: string) =>
    `case when n % 3 = 0 then ${idSql(resource, '1')} else ${idSql(resource, `n % ${PEOPLE}`)} end`;
  await fill('agent_actions', id, TRANSACTIONS, {
    id: idSql('AgentAction', 'n'),
    transaction_id: idSql('Transaction', 'n'),
    agent_id: often('Agent'),
    customer_id: often('Customer'),
    status: "case when n % 7 < 3 then 'PENDING_APPROVAL' else 'REJECTED' end",
  });
}

const CLOSED = "case when n % 5000 = 1 then 'CLOSED' else t.status end";

beforeAll(async () => {
  app = await startApp();
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  const { person, account } = await fundedCustomer(app);
  const payee = await externalAccount(app, person.id, 'USD');
  const quote = ok(await app.call('POST', '/quotes', quoteBody(account.id, payee.id, 100_00)), 201);
  // One owner in three payments, and one account, have most of them; every hundredth is the platform's own.
  await fill('transactions', quote.transactionId, TRANSACTIONS, {
    id: idSql('Transaction', 'n'),
    customer_id: `case when n % 100 = 1 then null when n % 3 = 0 then ${idSql('Customer', '1')}
      else ${idSql('Customer', `n % ${PEOPLE}`)} end`,
    source_account: `case when n % 3 = 0 then ${idSql('InternalAccount', '1')}
      else ${idSql('InternalAccount', `n % ${ACCOUNTS}`)} end`,
    destination_account: idSql('InternalAccount', `1 + n % 7777`),
  });
  await fill('customers', person.id, PEOPLE, {
    id: idSql('Customer', 'n'),
    platform_customer_id: `'person ' || n`,
    uma_address: `'$p' || n || '@example.com'`,
    // What is sealed opens in its own row alone.
    data_key: 'null',
    personal: 'null',
  });
  for (const [table, resource, id, more] of [
    // Of its own a platform has one in each currency; closed ones do not count.
    ['internal_accounts', 'InternalAccount', account.id, { status: CLOSED }],
    ['external_accounts', 'ExternalAccount', payee.id, { duplicate_key: "'key ' || n" }],
  ] as const) {
    await fill(table, id, ACCOUNTS, {
      id: idSql(resource, 'n'),
      customer_id: `case when n % 5000 = 1 then null else ${idSql('Customer', `n % ${PEOPLE}`)} end`,
      currency: `(array['USD', 'EUR', 'GBP'])[1 + (n - 1) / ${PEOPLE}]`,
      ...more,
    });
  }
  const { agent } = await agentDesk(app).unconnected(person.id);
  await fill('agents', agent.id, ACCOUNTS, {
    id: idSql('Agent', 'n'),
    customer_id: idSql('Customer', `n % ${PEOPLE}`),
  });
  await client.query(`insert into ledger_accounts (id, currency, floor, created_at)
    select id, currency, 0, created_at from internal_accounts on conflict do nothing`);
  await fillOnboarding();
  await fillActions();
  for (const table of [
    'transactions',
    'customers',
    'internal_accounts',
    'external_accounts',
    'agents',
    'agent_actions',
    ...NEW,
  ]) {
    await client.query(`vacuum analyze ${table}`);
  }
  const { db } = app.runtime;
  const { page } = db;
  db.page = (table, query) => {
    seen.push({ table, query });
    // A document without its customer's key cannot be shown.
    return table.name === 'documents'
      ? Promise.resolve({ rows: [], hasMore: false })
      : page(table, query);
  };
}, 120_000);
afterAll(async () => {
  await client?.end();
  await app.close();
});

interface Plan {
  'Node Type': string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  'Actual Rows': number;
  'Index Name'?: string;
  Plans?: Plan[];
}

const flatten = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flatten)];

async function explain({ text, values }: { text: string; values: unknown[] }): Promise<Plan[]> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (analyze, buffers, format json) ${text}`,
    values,
  );
  const [said] = rows;
  if (!said) throw new Error('nothing was explained');
  return flatten(said['QUERY PLAN'][0].Plan);
}

const blocksOf = ([top]: Plan[]) =>
  (top?.['Shared Hit Blocks'] ?? 0) + (top?.['Shared Read Blocks'] ?? 0);

/** A sort of what two walks have found is short; any other reads everything first. */
const longSorts = (nodes: Plan[]) =>
  nodes.filter(
    (each) => /Sort/.test(each['Node Type']) && (each.Plans?.[0]?.['Actual Rows'] ?? 0) > 50,
  );

async function checkFlat(sql: { text: string; values: unknown[] }, most: number): Promise<void> {
  const nodes = await explain(sql);
  const told = nodes
    .map((each) => `${each['Node Type']} ${each['Index Name'] ?? ''} ${each['Actual Rows']}`)
    .join(', ');
  expect(
    nodes.map((each) => each['Node Type']),
    told,
  ).not.toContain('Seq Scan');
  expect(longSorts(nodes), told).toEqual([]);
  expect(blocksOf(nodes), told).toBeLessThanOrEqual(most);
}

/** A cursor into the middle of everything, as the server writes them. */
const deep = (resource: string) => {
  const n = 100_000;
  const time = app.world.now() - n * 1_000;
  return Buffer.from(`${time} ${resource}:${uuid(n)}`).toString('base64url');
};

const hub = `Customer:${uuid(1)}`;
const rare = `Customer:${uuid(4_321)}`;
const hubAccount = `InternalAccount:${uuid(1)}`;
const rareAccount = `InternalAccount:${uuid(54_321)}`;
const from = '2026-01-04T10:00:00Z';
const until = '2026-01-04T12:00:00Z';

const LISTS: [string, string, string[]][] = [
  [
    '/transactions',
    'Transaction',
    [
      '',
      'sortOrder=asc',
      `customerId=${hub}`,
      `customerId=${rare}`,
      `customerId=${hub}&sortOrder=asc`,
      'customerId=PLATFORM',
      'customerId=nobody',
      'platformCustomerId=person 1',
      'platformCustomerId=person 4321',
      'platformCustomerId=PLATFORM',
      'platformCustomerId=nobody',
      `accountIdentifier=${hubAccount}`,
      `accountIdentifier=${rareAccount}`,
      `accountIdentifier=${hubAccount}&sortOrder=asc`,
      `senderAccountIdentifier=${hubAccount}`,
      `senderAccountIdentifier=${rareAccount}`,
      `receiverAccountIdentifier=${hubAccount}`,
      `receiverAccountIdentifier=nobody`,
      'reference=nothing',
      `startDate=${from}`,
      `endDate=${until}`,
      `startDate=${from}&endDate=${until}&sortOrder=asc`,
      'type=OUTGOING',
      'status=PENDING',
    ],
  ],
  [
    '/customers',
    'Customer',
    [
      '',
      'isIncludingDeleted=true',
      'platformCustomerId=person 77',
      'platformCustomerId=person 77&isIncludingDeleted=true',
      'umaAddress=$p77@example.com',
      `createdAfter=${from}`,
      `createdBefore=${until}`,
    ],
  ],
  ...['/customers/internal-accounts', '/internal-accounts', '/customers/external-accounts'].map(
    (path): [string, string, string[]] => [
      path,
      path.includes('external') ? 'ExternalAccount' : 'InternalAccount',
      ['', 'currency=GBP', 'currency=MXN', `customerId=${rare}`, `customerId=${rare}&currency=USD`],
    ],
  ),
  ['/platform/external-accounts', 'ExternalAccount', ['', 'currency=USD']],
  ['/beneficial-owners', 'BeneficialOwner', [`customerId=${hub}`, `customerId=${rare}`]],
  [
    '/documents',
    'Document',
    ['', `documentHolder=${rare}`, `documentHolder=BeneficialOwner:${uuid(54_321)}`],
  ],
  ['/verifications', 'Verification', ['', `customerId=${hub}`, `customerId=${rare}`]],
  ['/agents', 'Agent', ['', `customerId=${rare}`, `createdAfter=${from}`, 'isPaused=false']],
  [
    '/agents/approvals',
    'AgentAction',
    [
      '',
      'sortOrder=asc',
      `agentId=Agent:${uuid(1)}`,
      `agentId=Agent:${uuid(4_321)}`,
      `customerId=${hub}`,
      `customerId=${rare}`,
      `startDate=${from}&sortOrder=asc`,
      `endDate=${until}`,
    ],
  ],
  ['/tokens', 'Token', ['', 'name=none']],
];

describe.each(LISTS)('GET %s', (path, resource, queries) => {
  it.each(queries)('walks an index, whatever the page: %s', async (given) => {
    const query = given.replace('PLATFORM', app.platform.id).replaceAll(' ', '%20');
    for (const cursor of ['', `&cursor=${deep(resource)}`]) {
      seen.length = 0;
      ok(await app.call('GET', `${path}?${query}${cursor}`), 200);
      const [{ table, query: asked } = { table: undefined, query: undefined }] = seen;
      if (!table || !asked) throw new Error(`${path} asked for no page`);
      if (table.name === 'tokens') continue; // a platform has a handful
      await checkFlat(pageSql(table, asked), FEW);
      await checkFlat(countSql(table, asked), MANY);
    }
  });
});

it('finds the accounts of the platform itself without looking at those of its customers', async () => {
  const { db } = app.runtime;
  const { find } = db;
  const asked: string[] = [];
  db.find = (table, where, options) => {
    asked.push(`${table.name} ${Object.keys(where).join()} ${options?.orderBy ?? ''}`);
    return find(table, where, options);
  };
  ok(await app.call('GET', '/platform/internal-accounts'), 200);
  db.find = find;
  expect(asked).toEqual(['internal_accounts platform_id,customer_id id']);
  const text = `select * from internal_accounts
    where platform_id = $1 and customer_id is null order by id limit 1000`;
  await checkFlat({ text, values: [app.platform.id] }, FEW);
});

const equals = (wanted: object) =>
  Object.entries(wanted).map(([column, value]) => ({
    ...{ column, op: '=' as const },
    value: value === 'main' ? app.platform.id : value,
  }));

async function checkPage(table: Table, filters: PageQuery['filters']) {
  const query: PageQuery = { filters, sort: 'desc', limit: 20 };
  await checkFlat(pageSql(table, query), FEW);
  await checkFlat(countSql(table, query), MANY);
}

it.each([{}, { status: 'REJECTED' }])('actions of an agent walk an index: %j', async (wanted) => {
  for (const id of [uuid(1), uuid(4_321)]) {
    await checkPage(agentActions, equals({ agent_id: `Agent:${id}`, ...wanted }));
  }
});

describe('what the operator asks of all platforms', () => {
  it.each([{}, { platform_id: 'main' }, { customer_id: rare }])(
    'agents walk an index: %j',
    (wanted) => checkPage(agents, [...equals(wanted), { column: 'deleted_at', op: 'isNull' }]),
  );

  it.each([{}, { platform_id: 'main' }, { customer_id: rare }, { status: 'FAILED' }])(
    'messages walk an index: %j',
    (wanted) => checkPage(messages, equals(wanted)),
  );

  it.each(['PENDING_MANUAL_REVIEW', 'APPROVED'])('verifications do: %s', async (status) => {
    for (const platform of [null, app.platform.id]) {
      const values = [status, platform, new Date(0), '', 20];
      await checkFlat({ text: STANDING, values }, FEW);
    }
  });

  it('owners and documents of many are read by their index', async () => {
    const ids = Array.from({ length: 100 }, (_, at) => `Customer:${uuid(at + 10)}`);
    for (const [table, column] of [
      ['beneficial_owners', 'customer_id'],
      ['documents', 'holder_id'],
    ]) {
      const text = `select id from ${table} where ${column} = any($1::text[])`;
      await checkFlat({ text, values: [ids] }, 10 * FEW);
    }
  });
});
