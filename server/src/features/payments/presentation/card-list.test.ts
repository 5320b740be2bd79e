// Card payments in the list of transactions. Platforms and agents list and filter card payments
// like all other transactions. Card payments are read-only.
import { beforeAll, describe, expect, it } from 'vitest';
import { agentFixture } from '../../../../test/kit/agents/agents.ts';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { cardNetwork } from '../../../../test/kit/cards/card-network.ts';
import { type CardFixture, cardFixture } from '../../../../test/kit/cards/cards.ts';

const app = testApp();
let cards: CardFixture;
let network: ReturnType<typeof cardNetwork>;
let person: { id: string; platformCustomerId: string };
let accountId: string;
// biome-ignore lint/suspicious/noExplicitAny: replies are untyped. Each test reads the asserted fields.
let allTransactions: any[];

/** A deposit, then two payments and a credit, each at a different time. */
beforeAll(async () => {
  cards = cardFixture(app);
  network = cardNetwork(app);
  const holder = await cards.createCardholder({ funds: 100_00 });
  person = holder.customer as typeof person;
  accountId = holder.accountId;
  const { id } = await cards.createCard(holder);
  for (const kind of [
    'AUTHORIZATION',
    'FINANCIAL_AUTHORIZATION',
    'CREDIT_AUTHORIZATION',
  ] as const) {
    await app.advance(1_000);
    expect(await network.request(id, 10_00, kind)).toMatchObject({ approved: true });
  }
  await app.settle();
  await cards.createCard(await cards.createCardholder());
  allTransactions = await list(`customerId=${person.id}&sortOrder=asc`);
});

const list = async (query: string) =>
  ok(await app.call('GET', `/transactions?${query}`), 200).data as typeof allTransactions;

const idsOf = (rows: typeof allTransactions) => rows.map((each) => each.id);

describe('listTransactions', () => {
  it('includes each card payment as its complete resource', async () => {
    expect(allTransactions.map((each) => `${each.type} ${each.status}`)).toEqual([
      'INCOMING COMPLETED',
      'CARD AUTHORIZED',
      'CARD SETTLED',
      'CARD AUTHORIZED',
    ]);
    for (const each of allTransactions) {
      expect(ok(await app.call('GET', `/transactions/${each.id}`), 200)).toEqual(each);
    }
  });

  it.each([
    ['type', () => 'type=CARD', [1, 2, 3]],
    ['other types', () => 'type=INCOMING', [0]],
    ['either account', () => `accountIdentifier=${accountId}`, [0, 1, 2, 3]],
    ['the sender account', () => `senderAccountIdentifier=${accountId}`, [1, 2]],
    ['the receiver account', () => `receiverAccountIdentifier=${accountId}`, [0, 3]],
    ['platformCustomerId', () => `platformCustomerId=${person.platformCustomerId}`, [0, 1, 2, 3]],
    ['startDate', () => `startDate=${allTransactions[2].createdAt}`, [2, 3]],
    ['endDate', () => `endDate=${allTransactions[1].createdAt}`, [0, 1]],
    [
      'several filters',
      () =>
        `type=CARD&senderAccountIdentifier=${accountId}&endDate=${allTransactions[1].createdAt}`,
      [1],
    ],
    ['a status of other types', () => 'status=COMPLETED', [0]],
  ])('filters card payments by %s', async (_, query, indexes) => {
    const listedTransactions = await list(`customerId=${person.id}&sortOrder=asc&${query()}`);
    expect(idsOf(listedTransactions)).toEqual(indexes.map((index) => allTransactions[index].id));
  });

  it('lists all pages', async () => {
    const listedIds: string[] = [];
    let cursor = '';
    do {
      const path = `/transactions?customerId=${person.id}&limit=1${cursor && `&cursor=${cursor}`}`;
      const page = ok(await app.call('GET', path), 200);
      listedIds.push(...idsOf(page.data));
      cursor = page.nextCursor ?? '';
    } while (cursor);
    expect(listedIds).toEqual(idsOf(allTransactions).reverse());
  });
});

describe('operations on transactions', () => {
  it.each([
    ['cancel', {}],
    ['confirm', {}],
    ['approve', {}],
    ['reject', {}],
  ])('reject card payments: %s', async (operation, body) => {
    const response = await app.call(
      'POST',
      `/transactions/${allTransactions[1].id}/${operation}`,
      body,
    );
    expect([response.status, response.body.code]).toEqual([404, 'TRANSACTION_NOT_FOUND']);
  });

  it('return 404 for unknown payments and payments of another platform', async () => {
    const otherResponse = await app.call(
      'GET',
      `/transactions/${allTransactions[1].id}`,
      undefined,
      {
        platform: app.other,
      },
    );
    expect(otherResponse.body.code).toBe('TRANSACTION_NOT_FOUND');
    const path = '/transactions/CardTransaction:019b8d7f-0000-7000-8000-000000000000';
    expect((await app.call('GET', path)).body.code).toBe('TRANSACTION_NOT_FOUND');
  });
});

describe('an agent of the customer', () => {
  it('reads the transactions of its customer only, with the required permission', async () => {
    const fixture = agentFixture(app);
    const agent = await fixture.connectAgent(person.id);
    const agentPage = ok(await agent.call('GET', '/agents/me/transactions?sortOrder=asc'), 200);
    expect(agentPage.data).toEqual(allTransactions);
    const path = `/agents/me/transactions/${allTransactions[1].id}`;
    expect(ok(await agent.call('GET', path), 200)).toEqual(allTransactions[1]);
    const otherAgent = await fixture.connectAgent((await cards.createCardholder()).customer.id);
    expect((await otherAgent.call('GET', path)).body.code).toBe('TRANSACTION_NOT_FOUND');
    const agentWithoutPermissions = await fixture.connectAgent(person.id, { permissions: [] });
    expect((await agentWithoutPermissions.call('GET', path)).status).toBe(403);
  });
});
