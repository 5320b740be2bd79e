// Hundreds of thousands of rows for tests of the cost of lists. A row of each kind is created over
// the API and copied. IDs, owners and times of the copies follow from their number. Some owners
// have very many rows.
import type pg from 'pg';
import { expect } from 'vitest';
import { openAgentPayer, REQUIRES_APPROVAL } from '../agents/agent-payments.ts';
import { agentFixture } from '../agents/agents.ts';
import { cardFixture } from '../cards/cards.ts';
import { createEuropeanCustomer, sendCode } from '../customers/contacts.ts';
import { ownerHarness } from '../customers/owners.ts';
import { documentForm, pdfFile } from '../http/documents.ts';
import { lengthOf } from '../length.ts';
import { mintFixture } from '../payments/mints.ts';
import { ok } from './fixtures.ts';
import type { TestApp } from './harness.ts';
import { idSql } from './query-plans.ts';

export const TRANSACTIONS = lengthOf(80_000, 200_000);
export const PEOPLE = TRANSACTIONS / 10;
export const ACCOUNTS = 3 * PEOPLE;
/** Number of rows for each row with a rare status. */
export const RARE_INTERVAL = TRANSACTIONS / 40;

/** Inserts copies of one row into a table, with SQL expressions for some columns. */
type Fill = (
  table: string,
  id: string,
  count: number,
  expressions: Record<string, string>,
) => Promise<void>;

/**
 * Runs `work` without indexes, because building an index afterwards is much faster than inserting
 * single entries.
 */
async function withoutIndexes(client: pg.Client, table: string, work: () => Promise<unknown>) {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass as name, pg_get_indexdef(indexrelid) as definition from pg_index
      where indrelid = $1::regclass
        and not exists (select from pg_constraint where conindid = indexrelid)`,
    [table],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  await work();
  for (const { definition } of rows) await client.query(definition);
}

/**
 * Every fourth copy belongs to the other platform. Each copy is a second older than the previous
 * one.
 */
export const createFiller =
  (app: TestApp, client: pg.Client): Fill =>
  async (table, id, count, expressions) => {
    const columns: Record<string, string> = {
      platform_id: `case when n % 4 = 0 then '${app.other.id}' else '${app.platform.id}' end`,
      created_at: `to_timestamp(${app.effects.now() / 1000} - n)`,
      ...expressions,
    };
    const { rows } = await client.query<{ name: string }>(
      `select column_name as name from information_schema.columns
        where table_name = '${table}' and is_generated = 'NEVER'`,
    );
    const names = rows.map(({ name }) => name);
    const values = names.map((name) => columns[name] ?? `t.${name}`);
    const copies = `select ${values.join(', ')} from ${table} t, generate_series(1, ${count}) n`;
    const insert = `insert into ${table} (${names.join(', ')}) ${copies} where t.id = '${id}'`;
    await withoutIndexes(client, table, () => client.query(insert));
  };

/** SQL for one of `max` values. A third of the rows has the first value. */
const oneThirdFirst = (resource: string, max = PEOPLE) =>
  `case when n % 3 = 0 then ${idSql(resource, '1')} else ${idSql(resource, `n % ${max}`)} end`;

/**
 * Owners, documents, verifications and messages. The first customer has about a third of the
 * verifications and messages.
 */
async function fillOnboarding(app: TestApp, fill: Fill) {
  const business = await ownerHarness(app).create();
  const person = await createEuropeanCustomer(app);
  const document = { documentType: 'UTILITY_BILL', country: 'DE', documentHolder: person.id };
  const { id: bill } = ok(
    await app.call('POST', '/documents', documentForm(document, { bytes: pdfFile() })),
    201,
  );
  const createdVerification = ok(
    await app.call('POST', '/verifications', { customerId: business.customerId }),
    200,
  );
  expect((await sendCode(app, person.id, 'email')).status).toBe(204);
  const [message] = await app.runtime.db.query<{ id: string }>('select id from messages', []);
  const customerId = idSql('Customer', `n % ${PEOPLE}`);
  await fill('beneficial_owners', business.id, ACCOUNTS, {
    id: idSql('BeneficialOwner', 'n'),
    customer_id: customerId,
  });
  await fill('documents', bill, ACCOUNTS, {
    id: idSql('Document', 'n'),
    customer_id: customerId,
    holder_id: `case when n < ${PEOPLE} then ${customerId} else ${idSql('BeneficialOwner', 'n')} end`,
  });
  await fill('verifications', createdVerification.id, TRANSACTIONS, {
    id: idSql('Verification', 'n'),
    customer_id: `case when n < ${PEOPLE} then ${customerId} else ${oneThirdFirst('Customer')} end`,
    latest: `n < ${PEOPLE}`,
    status: `case when n % ${RARE_INTERVAL} = 1 then 'PENDING_MANUAL_REVIEW' else 'APPROVED' end`,
  });
  await fill('messages', message?.id ?? '', TRANSACTIONS, {
    id: idSql('Message', 'n'),
    customer_id: oneThirdFirst('Customer'),
    status: `case when n % ${RARE_INTERVAL} = 1 then 'FAILED' else 'SENT' end`,
  });
}

/**
 * Actions of agents. Three in seven actions are pending. The first agent and the first customer have
 * two thirds. With fewer rows than a count reads, PostgreSQL would sort all rows of the owner.
 */
async function fillActions(app: TestApp, fill: Fill) {
  const twoThirdsFirst = (resource: string) =>
    `case when n % 3 = 1 then ${idSql(resource, `n % ${PEOPLE}`)} else ${idSql(resource, '1')} end`;
  const { requestAction } = await openAgentPayer(app, agentFixture(app), REQUIRES_APPROVAL);
  const { id } = await requestAction('TRANSFER_OUT', 'PENDING_APPROVAL');
  await fill('agent_actions', id, TRANSACTIONS, {
    id: idSql('AgentAction', 'n'),
    transaction_id: idSql('Transaction', 'n'),
    agent_id: twoThirdsFirst('Agent'),
    customer_id: twoThirdsFirst('Customer'),
    status: "case when n % 7 < 3 then 'PENDING_APPROVAL' else 'REJECTED' end",
  });
}

/**
 * Cards, most of them closed. The first customer has a third of the cards. The first account funds
 * a third, of which few are open. The first card has a third of the messages and reveal links, and
 * few declines.
 */
async function fillCards(app: TestApp, fill: Fill) {
  const fixture = cardFixture(app);
  const { id } = await fixture.createCard(await fixture.createCardholder());
  const [source] = await app.runtime.db.query<{ id: string }>(
    'select id from card_funding_sources',
    [],
  );
  await fill('cards', id, ACCOUNTS, {
    id: idSql('Card', 'n'),
    customer_id: oneThirdFirst('Customer'),
    platform_card_id: "'card ' || n",
    state: `case when n % ${ACCOUNTS / 20} = 3 then 'ACTIVE' else 'CLOSED' end`,
  });
  await fill('card_funding_sources', source?.id ?? '', ACCOUNTS, {
    id: idSql('CardFundingSource', 'n'),
    card_id: idSql('Card', 'n'),
    account_id: oneThirdFirst('InternalAccount', ACCOUNTS),
    ended_at: `case when n % ${ACCOUNTS / 20} <> 3 then t.created_at end`,
  });
  const inquiry = { merchant: { descriptor: 'Corner shop' } };
  ok(await app.call('POST', `/sandbox/cards/${id}/simulate/balance_inquiry`, inquiry), 202);
  ok(await app.call('POST', `/cards/${id}/reveal`), 200);
  const [message] = await app.runtime.db.query<{ id: string }>('select id from card_messages', []);
  const [reveal] = await app.runtime.db.query<{ id: string }>('select id from card_reveals', []);
  await fill('card_messages', message?.id ?? '', TRANSACTIONS, {
    id: "'message ' || n",
    card_id: oneThirdFirst('Card', ACCOUNTS),
    approved: `n % ${RARE_INTERVAL} <> 1`,
    reason: `case when n % ${RARE_INTERVAL} = 1 then 'CARD_PAUSED' end`,
  });
  await fill('card_reveals', reveal?.id ?? '', ACCOUNTS, {
    id: "'link ' || n",
    card_id: oneThirdFirst('Card', ACCOUNTS),
  });
}

/**
 * Provider accounts and coins. Each of three coins has a third of the operations, with few burns.
 */
async function fillMints(app: TestApp, fill: Fill) {
  const fixture = mintFixture(app);
  const coin = await fixture.createCoin();
  const createdMint = ok(
    await fixture.mint(coin.id, fixture.mintBody((await fixture.createWallet()).id)),
    201,
  );
  await fill('stablecoin_provider_accounts', coin.stablecoinProviderAccountId, PEOPLE, {
    id: idSql('StablecoinProviderAccount', 'n'),
    provider_account_id: "'account ' || n",
  });
  await fill('stablecoins', coin.id, PEOPLE, {
    id: idSql('Stablecoin', 'n'),
    symbol: "'S' || n",
    network_token_identifier: "'token ' || n",
  });
  await fill('stablecoin_operations', createdMint.id, TRANSACTIONS, {
    id: idSql('StablecoinOperation', 'n'),
    stablecoin_id: idSql('Stablecoin', '1 + n % 3'),
    type: `case when n % ${RARE_INTERVAL} = 1 then 'BURN' else 'MINT' end`,
  });
}

/** Inserts all rows except payments. */
export async function fillRemainingTables(app: TestApp, fill: Fill): Promise<void> {
  await fillOnboarding(app, fill);
  await fillActions(app, fill);
  await fillCards(app, fill);
  await fillMints(app, fill);
}
