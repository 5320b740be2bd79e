// The cost of a list page is independent of the number of rows and the position of the page. Among
// hundreds of thousands of rows, a list with a filter by owner, account or time reads an index range
// from the start of the page. The test examines PostgreSQL's query plan and the number of
// blocks read. Filters by status, type, region or change read a limited number of rows.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { trialSql } from '../../src/features/accounting/ledger-accounts.ts';
import { agentActions, agents } from '../../src/features/agents/store.ts';
import { cardMessages, cardReveals, cards } from '../../src/features/cards/store.ts';
import { LATEST_VERIFICATIONS } from '../../src/features/customers/verifications/review.ts';
import { messages } from '../../src/features/notifications/messages/store.ts';
import { BY_BENEFICIARY } from '../../src/features/payees/external-accounts/by-beneficiary.ts';
import {
  BY_DEPOSIT,
  BY_RESULT,
  depositIdsOf,
} from '../../src/features/payments/manual/bank-references.ts';
import { metricsSql } from '../../src/features/payments/monitoring/metrics.ts';
import { transactions } from '../../src/features/payments/transactions/store.ts';
import { mintsAndBurns, stablecoins } from '../../src/features/stablecoins/store.ts';
import { SYSTEM_ACCOUNT_IDS } from '../../src/ledger/chart.ts';
import { countSql, type PageQuery, pageSql } from '../../src/runtime/db/paging.ts';
import { stepSql } from '../../src/runtime/db/steps.ts';
import type { Table } from '../../src/runtime/db/table.ts';
import { agentFixture } from '../kit/agents/agents.ts';
import { createExternalAccount, createFundedCustomer, ok, quoteBody } from '../kit/app/fixtures.ts';
import {
  ACCOUNTS,
  createFiller,
  fillRemainingTables,
  PEOPLE,
  RARE_INTERVAL,
  TRANSACTIONS,
} from '../kit/app/flat-rows.ts';
import {
  blocksOfGenericPlan,
  type CheckPlan,
  createPlanner,
  idSql,
  uuid,
} from '../kit/app/query-plans.ts';
import { testApp } from '../kit/app/test-app.ts';

/** Maximum blocks for a page of twenty rows, including the index path of each branch. */
const MAX_PAGE_BLOCKS = 150;
/** Maximum blocks for a count, which ends at ten thousand rows. */
const MAX_COUNT_BLOCKS = 12_000;

const app = testApp();
/** A separate connection without a statement timeout. */
let client: pg.Client;
let checkPlan: CheckPlan;
const pages: { table: Table; query: PageQuery }[] = [];

const ONBOARDING_TABLES = ['beneficial_owners', 'documents', 'verifications', 'messages'];

const STATUS_SQL = `case when n % ${RARE_INTERVAL} = 1 then 'CLOSED' else t.status end`;

beforeAll(async () => {
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  // Copies need no foreign key checks, which would dominate the runtime.
  await client.query('set session_replication_role = replica');
  checkPlan = createPlanner(client);
  const fill = createFiller(app, client);
  const { person, account } = await createFundedCustomer(app);
  const payee = await createExternalAccount(app, person.id, 'USD');
  const quote = ok(await app.call('POST', '/quotes', quoteBody(account.id, payee.id, 100_00)), 201);
  // A third of the payments have one owner and one account. Every hundredth payment belongs to the
  // platform itself.
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
    // An encrypted value can be decrypted only in the row that it was encrypted for.
    data_key: 'null',
    personal: 'null',
  });
  for (const [table, resource, id, filters] of [
    // A platform has one account in each currency, and closed accounts.
    ['internal_accounts', 'InternalAccount', account.id, { status: STATUS_SQL }],
    ['external_accounts', 'ExternalAccount', payee.id, { duplicate_key: "'key ' || n" }],
  ] as const) {
    await fill(table, id, ACCOUNTS, {
      id: idSql(resource, 'n'),
      customer_id: `case when n % ${RARE_INTERVAL} <> 1 then ${idSql('Customer', `n % ${PEOPLE}`)} end`,
      currency: `(array['USD', 'EUR', 'GBP'])[1 + (n - 1) / ${PEOPLE}]`,
      ...filters,
    });
  }
  const { agent } = await agentFixture(app).createUnconnectedAgent(person.id);
  await fill('agents', agent.id, ACCOUNTS, {
    id: idSql('Agent', 'n'),
    customer_id: idSql('Customer', `n % ${PEOPLE}`),
  });
  await client.query(`insert into ledger_accounts (id, currency, floor, created_at)
    select id, currency, 0, created_at from internal_accounts on conflict do nothing`);
  await fillRemainingTables(app, fill);
  for (const table of [
    'transactions',
    'customers',
    'internal_accounts',
    'external_accounts',
    'agents',
    'agent_actions',
    'cards',
    'card_funding_sources',
    'card_messages',
    'card_reveals',
    'stablecoin_provider_accounts',
    'stablecoins',
    'stablecoin_operations',
    ...ONBOARDING_TABLES,
  ]) {
    await client.query(`vacuum analyze ${table}`);
  }
  const { db } = app.runtime;
  const { page } = db;
  db.page = (table, query) => {
    pages.push({ table, query });
    // A document without its customer's key cannot be shown.
    return table.name === 'documents'
      ? Promise.resolve({ rows: [], hasMore: false })
      : page(table, query);
  };
}, 120_000);
afterAll(() => client?.end());

/** A cursor into the middle of the list, in the server's format. */
const middleCursor = (resource: string) => {
  const position = TRANSACTIONS / 2;
  const time = app.effects.now() - position * 1_000;
  return Buffer.from(`${time} ${resource}:${uuid(position)}`).toString('base64url');
};

const largestCustomer = `Customer:${uuid(1)}`;
const rareCustomer = `Customer:${uuid(4_321)}`;
const largestAccount = `InternalAccount:${uuid(1)}`;
const rareAccount = `InternalAccount:${uuid(ACCOUNTS - 5_679)}`;
/** The time of the row of this number. */
const timeOf = (n: number) => new Date(Date.UTC(2026, 0, 5, 9) - n * 1_000).toISOString();
const fromTime = timeOf(0.41 * TRANSACTIONS);
const untilTime = timeOf(0.38 * TRANSACTIONS);

const LISTS: [string, string, string[]][] = [
  [
    '/transactions',
    'Transaction',
    [
      '',
      'sortOrder=asc',
      `customerId=${largestCustomer}`,
      `customerId=${rareCustomer}`,
      `customerId=${largestCustomer}&sortOrder=asc`,
      'customerId=PLATFORM',
      'customerId=unknown',
      'platformCustomerId=person 1',
      'platformCustomerId=person 4321',
      'platformCustomerId=PLATFORM',
      'platformCustomerId=unknown',
      `accountIdentifier=${largestAccount}`,
      `accountIdentifier=${rareAccount}`,
      `accountIdentifier=${largestAccount}&sortOrder=asc`,
      `senderAccountIdentifier=${largestAccount}`,
      `senderAccountIdentifier=${rareAccount}`,
      `receiverAccountIdentifier=${largestAccount}`,
      `receiverAccountIdentifier=unknown`,
      'reference=nothing',
      `startDate=${fromTime}`,
      `endDate=${untilTime}`,
      `startDate=${fromTime}&endDate=${untilTime}&sortOrder=asc`,
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
      `createdAfter=${fromTime}`,
      `createdBefore=${untilTime}`,
    ],
  ],
  ...['/customers/internal-accounts', '/internal-accounts', '/customers/external-accounts'].map(
    (path): [string, string, string[]] => [
      path,
      path.includes('external') ? 'ExternalAccount' : 'InternalAccount',
      [
        '',
        'currency=GBP',
        'currency=MXN',
        `customerId=${rareCustomer}`,
        `customerId=${rareCustomer}&currency=USD`,
      ],
    ],
  ),
  ['/platform/external-accounts', 'ExternalAccount', ['', 'currency=USD']],
  [
    '/beneficial-owners',
    'BeneficialOwner',
    [`customerId=${largestCustomer}`, `customerId=${rareCustomer}`],
  ],
  [
    '/documents',
    'Document',
    [
      '',
      `documentHolder=${rareCustomer}`,
      `documentHolder=BeneficialOwner:${uuid(ACCOUNTS - 5_679)}`,
    ],
  ],
  [
    '/verifications',
    'Verification',
    ['', `customerId=${largestCustomer}`, `customerId=${rareCustomer}`],
  ],
  [
    '/agents',
    'Agent',
    ['', `customerId=${rareCustomer}`, `createdAfter=${fromTime}`, 'isPaused=false'],
  ],
  [
    '/agents/approvals',
    'AgentAction',
    [
      '',
      'sortOrder=asc',
      `agentId=Agent:${uuid(1)}`,
      `agentId=Agent:${uuid(4_321)}`,
      `customerId=${largestCustomer}`,
      `customerId=${rareCustomer}`,
      `startDate=${fromTime}&sortOrder=asc`,
      `endDate=${untilTime}`,
    ],
  ],
  [
    '/cards',
    'Card',
    [
      '',
      'sortOrder=asc',
      `cardholderId=${largestCustomer}`,
      `cardholderId=${rareCustomer}`,
      `accountId=${largestAccount}`,
      `accountId=${largestAccount}&sortOrder=asc`,
      `accountId=${rareAccount}`,
      'platformCardId=card 77',
      'platformCardId=nothing',
      'state=ACTIVE',
      'state=CLOSED',
      'state=PENDING_KYC',
    ],
  ],
  ['/stablecoin-provider-accounts', 'StablecoinProviderAccount', ['', 'provider=BRALE']],
  ['/stablecoins', 'Stablecoin', ['', 'provider=BRALE']],
  [
    `/stablecoins/Stablecoin:${uuid(1)}/operations`,
    'StablecoinOperation',
    ['', 'operationType=MINT', 'operationType=BURN'],
  ],
  ['/tokens', 'Token', ['', 'name=none']],
];

/** Filters without an index, each of which matches no copied row. */
const UNINDEXED_FILTERS = [
  ['/transactions', 'Transaction', 'status=EXPIRED'],
  ['/transactions', 'Transaction', 'type=INCOMING&sortOrder=asc'],
  ['/transactions', 'Transaction', `customerId=${largestCustomer}&type=INCOMING`],
  ['/transactions', 'Transaction', `accountIdentifier=${largestAccount}&status=EXPIRED`],
  ['/customers', 'Customer', 'customerType=BUSINESS'],
  ['/customers', 'Customer', 'region=ZW'],
  ['/customers', 'Customer', 'updatedAfter=2100-01-01T00:00:00Z'],
] as const;

it.each(UNINDEXED_FILTERS)(
  'GET %s reads a limited number of rows: %s %s',
  async (path, resource, query) => {
    for (const cursor of ['', `&cursor=${middleCursor(resource)}`]) {
      pages.length = 0;
      const { data } = ok(await app.call('GET', `${path}?${query}${cursor}`), 200);
      expect(data.length).toBeLessThanOrEqual(1);
      const [{ table, query: requestedQuery } = { table: undefined, query: undefined }] = pages;
      if (!table || !requestedQuery) throw new Error(`GET ${path} read no page of a table`);
      await checkPlan(pageSql(table, requestedQuery), MAX_COUNT_BLOCKS);
      await checkPlan(countSql(table, requestedQuery), MAX_COUNT_BLOCKS);
    }
  },
);

describe.each(LISTS)('GET %s', (path, resource, queries) => {
  it.each(queries)('reads an index range for any page: %s', async (queryTemplate) => {
    const query = queryTemplate.replace('PLATFORM', app.platform.id).replaceAll(' ', '%20');
    for (const cursor of ['', `&cursor=${middleCursor(resource)}`]) {
      pages.length = 0;
      ok(await app.call('GET', `${path}?${query}${cursor}`), 200);
      const [{ table, query: requestedQuery } = { table: undefined, query: undefined }] = pages;
      if (!table || !requestedQuery) throw new Error(`GET ${path} read no page of a table`);
      if (table.name === 'tokens') continue; // A platform has few tokens.
      await checkPlan(pageSql(table, requestedQuery), MAX_PAGE_BLOCKS);
      await checkPlan(countSql(table, requestedQuery), MAX_COUNT_BLOCKS);
    }
  });
});

it('the trial balance of a small platform reads no accounts of other platforms', async () => {
  const { after, before } = SYSTEM_ACCOUNT_IDS;
  const { id } = await app.newPlatform('Small', { environment: 'sandbox', regulated: true });
  const blocks = await blocksOfGenericPlan(
    client,
    { text: trialSql(true), values: [5_000, null, after, before, [id]] },
    ['int', 'text', 'text', 'text', 'text[]'],
  );
  expect(blocks).toBeLessThanOrEqual(MAX_PAGE_BLOCKS);
});

it('the payment metrics of a platform read no payments of other platforms', async () => {
  await client.query(`insert into payment_metrics (platform_id, grain, bucket, type, currency, rail,
      payments, completed, failed, returned, amount, completed_amount, returned_amount)
    select 'platform ' || p, 'day', '2026-01-01'::timestamptz + d * interval '1 day', 'OUTGOING',
      'USD', '', 1, 1, 0, 0, 1, 1, 0
    from generate_series(1, 2000) p, generate_series(1, 30) d`);
  await client.query('vacuum analyze payment_metrics');
  const values = ['day', '2026-01-01', '2026-02-01', null, null, null];
  const types = ['text', 'timestamptz', 'timestamptz', 'text', 'text', 'text', 'text[]'];
  const blocks = await blocksOfGenericPlan(
    client,
    { text: metricsSql('day', [], true), values: [...values, ['platform 7', 'platform 8']] },
    types,
  );
  expect(blocks).toBeLessThanOrEqual(MAX_PAGE_BLOCKS);
});

it('the accounts of a platform itself are found without accounts of its customers', async () => {
  const { db } = app.runtime;
  const { find } = db;
  const requestedQueries: string[] = [];
  db.find = (table, conditions, options) => {
    requestedQueries.push(
      `${table.name} ${Object.keys(conditions).join()} ${options?.orderBy ?? ''}`,
    );
    return find(table, conditions, options);
  };
  ok(await app.call('GET', '/platform/internal-accounts'), 200);
  db.find = find;
  expect(requestedQueries).toEqual(['internal_accounts platform_id,customer_id id']);
  const text = `select * from internal_accounts
    where platform_id = $1 and customer_id is null order by id limit 1000`;
  await checkPlan({ text, values: [app.platform.id] }, MAX_PAGE_BLOCKS);
});

const filtersOf = (filter: object) =>
  Object.entries(filter).map(([column, value]) => ({
    ...{ column, op: '=' as const },
    value: value === 'main' ? app.platform.id : value,
  }));

async function checkPage(table: Table, filters: PageQuery['filters']) {
  const query: PageQuery = { filters, sort: 'desc', limit: 20 };
  await checkPlan(pageSql(table, query), MAX_PAGE_BLOCKS);
  await checkPlan(countSql(table, query), MAX_COUNT_BLOCKS);
}

it.each([{}, { status: 'REJECTED' }])(
  'the list of the actions of an agent reads an index range: %j',
  async (filter) => {
    for (const id of [uuid(1), uuid(4_321)]) {
      await checkPage(agentActions, filtersOf({ agent_id: `Agent:${id}`, ...filter }));
    }
  },
);

describe('an operator list over all platforms', () => {
  const CURSOR = { id: `Transaction:${uuid(TRANSACTIONS / 2)}`, created_at: Date.parse(fromTime) };
  const PERIOD = { createdAfter: Date.parse(fromTime), createdBefore: Date.parse(untilTime) };

  it.each([
    [{}, {}],
    [{}, PERIOD],
    [{ platform_id: 'main' }, {}],
    [{ platform_id: 'main' }, PERIOD],
    [{ customer_id: largestCustomer }, {}],
    [{ customer_id: rareCustomer }, PERIOD],
    [{ source_account: largestAccount }, {}],
    [{ source_account: rareAccount }, PERIOD],
    [{ destination_account: rareAccount }, {}],
  ])('reads an index range for a step through payments: %j %j', async (filter, period) => {
    const scope = filtersOf(filter);
    const query = { scope, ...period, resources: [], filters: [], limit: 20 };
    for (const after of [undefined, CURSOR]) {
      const step = { resource: 'Transaction', after, length: 21, limit: 21 };
      await checkPlan(stepSql(transactions, query, step), MAX_PAGE_BLOCKS);
    }
  });

  it.each([{}, { platform_id: 'main' }, { customer_id: rareCustomer }])(
    'reads an index range for agents: %j',
    (filter) => checkPage(agents, [...filtersOf(filter), { column: 'deleted_at', op: 'isNull' }]),
  );

  it.each([{}, { platform_id: 'main' }, { customer_id: rareCustomer }])(
    'reads an index range for cards: %j',
    (filter) => checkPage(cards, filtersOf(filter)),
  );

  const largestCard = `Card:${uuid(1)}`;
  const rareCard = `Card:${uuid(4_321)}`;

  it.each([
    {},
    { platform_id: 'main' },
    { platform_id: 'main', approved: false },
    { card_id: largestCard },
    { card_id: rareCard },
  ])('reads an index range for card decisions: %j', (filter) =>
    checkPage(cardMessages, filtersOf(filter)),
  );

  it.each([{}, { platform_id: 'main' }, { card_id: largestCard }, { card_id: rareCard }])(
    'reads an index range for card reveals: %j',
    (filter) => checkPage(cardReveals, filtersOf(filter)),
  );

  it('reads an index range for the funding sources of a card', async () => {
    const text = 'select * from card_funding_sources where card_id = $1 order by id limit 1000';
    await checkPlan({ text, values: [rareCard] }, MAX_PAGE_BLOCKS);
  });

  it.each([{}, { platform_id: 'main' }, { customer_id: rareCustomer }, { status: 'FAILED' }])(
    'reads an index range for messages: %j',
    (filter) => checkPage(messages, filtersOf(filter)),
  );

  it.each([{}, { platform_id: 'main' }, { status: 'FAILED' }])(
    'reads an index range for mints and burns: %j',
    (filter) => checkPage(mintsAndBurns, filtersOf(filter)),
  );

  it.each([{}, { platform_id: 'main' }, { service_status: 'PENDING_APPROVAL' }])(
    'reads an index range for stablecoins: %j',
    (filter) => checkPage(stablecoins, filtersOf(filter)),
  );

  it('reads an index range for external accounts of a beneficiary', async () => {
    await checkPlan({ text: BY_BENEFICIARY, values: ['A name without accounts'] }, MAX_PAGE_BLOCKS);
  });

  it('reads an index range for customers by their ID at the platform', async () => {
    const text = 'select * from customers where platform_customer_id = $1 order by id limit 51';
    await checkPlan({ text, values: ['person 4321'] }, MAX_PAGE_BLOCKS);
  });

  it('reads an index range for payments of a bank reference', async () => {
    await client.query(`insert into rail_results
        (id, transaction_id, kind, state, reference, created_at)
      select 'result ' || n, ${idSql('Transaction', 'n')}, 'payout', 'settled', 'bank ' || n, now()
      from generate_series(1, ${ACCOUNTS}) n`);
    await client.query(`insert into deposits
        (id, platform_id, transaction_id, currency, amount, target, created_at)
      select 'sandbox/USD/bank ' || n, '', ${idSql('Transaction', 'n')}, 'USD', 1, '', now()
      from generate_series(1, ${ACCOUNTS}) n`);
    await client.query('vacuum analyze rail_results, deposits');
    await checkPlan({ text: BY_RESULT, values: ['bank 4321', 51] }, MAX_PAGE_BLOCKS);
    const ids = depositIdsOf('bank 4321');
    await checkPlan({ text: BY_DEPOSIT, values: [ids] }, 4 * ids.length);
  });

  it.each(['PENDING_MANUAL_REVIEW', 'APPROVED'])(
    'reads an index range for verifications: %s',
    async (status) => {
      for (const platformId of [null, app.platform.id]) {
        const values = [status, platformId, new Date(0), '', 20];
        await checkPlan({ text: LATEST_VERIFICATIONS, values }, MAX_PAGE_BLOCKS);
      }
    },
  );

  it('reads an index for the owners and documents of many customers', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `Customer:${uuid(index + 10)}`);
    for (const [table, column] of [
      ['beneficial_owners', 'customer_id'],
      ['documents', 'holder_id'],
    ]) {
      const text = `select id from ${table} where ${column} = any($1::text[])`;
      await checkPlan({ text, values: [ids] }, 10 * MAX_PAGE_BLOCKS);
    }
  });
});
