// Transaction filters, alone and combined, over pages, in ascending and descending order.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';

interface TransactionView {
  id: string;
  status: string;
  type: string;
  customerId: string;
  platformCustomerId: string;
  createdAt: string;
  source?: { accountId?: string };
  destination: { accountId?: string };
  refund?: { reference: string };
  reconciliationInstructions: { reference: string };
}

const app = testApp();
let shownTransactions: TransactionView[];
const ids: Record<string, string> = {};

/** Creates a customer who pays another customer, and bank accounts that accept, reject and delay payouts. */
async function populate(): Promise<void> {
  const ada = await createCustomer(app, {}, { platformCustomerId: 'ada' });
  const bob = await createCustomer(app, {}, { platformCustomerId: 'bob' });
  const [adaUsd, bobEur, platformAccount] = [
    await findInternalAccount(app, ada.id, 'USD'),
    await findInternalAccount(app, bob.id, 'EUR'),
    await findInternalAccount(app, null, 'USD'),
  ];
  const acceptingAccount = await createExternalAccount(app, ada.id, 'EUR', '000');
  const rejectingAccount = await createExternalAccount(app, ada.id, 'EUR', '002');
  const delayingAccount = await createExternalAccount(app, ada.id, 'EUR', '003');
  Object.assign(ids, { ada: ada.id, bob: bob.id, adaUsd: adaUsd.id, bobEur: bobEur.id });
  Object.assign(ids, {
    platformAccount: platformAccount.id,
    accepting: acceptingAccount.id,
    rejecting: rejectingAccount.id,
    delaying: delayingAccount.id,
  });
  const advanceClock = () => app.advance(1_000);
  await fundAccount(app, adaUsd.id, 1_000_00);
  await advanceClock();
  await fundAccount(app, platformAccount.id, 1_000_00);
  await advanceClock();
  ok(
    await app.call('POST', '/quotes', quoteBody(platformAccount.id, acceptingAccount.id, 50_00)),
    201,
  );
  await app.advance(6 * 60_000);
  for (const target of [acceptingAccount, rejectingAccount, delayingAccount, bobEur]) {
    const body = quoteBody(adaUsd.id, target.id, 100_00, { immediatelyExecute: true });
    ok(await app.call('POST', '/quotes', body), 201);
    await advanceClock();
  }
  ok(await app.call('POST', '/quotes', quoteBody(adaUsd.id, acceptingAccount.id, 50_00)), 201);
  await advanceClock();
  const adaQuoteBody = quoteBody(platformAccount.id, bobEur.id, 10_00, {
    source: { sourceType: 'ACCOUNT', accountId: platformAccount.id, customerId: ada.id },
    immediatelyExecute: true,
  });
  ok(await app.call('POST', '/quotes', adaQuoteBody), 201);
  await advanceClock();
}

const list = async (query: string, options = {}) =>
  ok(await app.call('GET', `/transactions?${query}`, undefined, options), 200);

beforeAll(async () => {
  await populate();
  shownTransactions = (await list('limit=100&sortOrder=asc')).data;
});

const parseTime = (text: string) => Date.parse(text);

describe('listTransactions', () => {
  it('returns all transactions, newest first by default', async () => {
    expect(shownTransactions.map((each) => `${each.type} ${each.status}`)).toEqual([
      'INCOMING COMPLETED',
      'INCOMING COMPLETED',
      'OUTGOING EXPIRED',
      'OUTGOING COMPLETED',
      'OUTGOING FAILED',
      'OUTGOING PROCESSING',
      'OUTGOING COMPLETED',
      'INCOMING COMPLETED',
      'OUTGOING PENDING',
      'OUTGOING COMPLETED',
      'INCOMING COMPLETED',
    ]);
    expect((await list('')).data).toEqual([...shownTransactions].reverse());
    expect((await list('sortOrder=desc')).data).toEqual([...shownTransactions].reverse());
    for (const each of shownTransactions) {
      expect(ok(await app.call('GET', `/transactions/${each.id}`), 200)).toEqual(each);
    }
  });

  const senderOf = (each: TransactionView) => each.source?.accountId;
  const receiverOf = (each: TransactionView) => each.destination.accountId;
  const middleTime = () => parseTime((shownTransactions[5] as TransactionView).createdAt);
  const filters: [string, () => string, (each: TransactionView) => boolean, number][] = [
    ['customerId', () => ids.ada as string, (each) => each.customerId === ids.ada, 7],
    ['customerId of no customer', () => 'Customer:unknown', () => false, 0],
    [
      'customerId of the platform',
      () => app.platform.id,
      (e) => e.customerId === app.platform.id,
      2,
    ],
    ['platformCustomerId', () => 'bob', (each) => each.platformCustomerId === 'bob', 2],
    [
      'senderAccountIdentifier',
      () => ids.platformAccount as string,
      (each) => senderOf(each) === ids.platformAccount,
      3,
    ],
    [
      'receiverAccountIdentifier',
      () => ids.bobEur as string,
      (e) => receiverOf(e) === ids.bobEur,
      4,
    ],
    [
      'accountIdentifier',
      () => ids.platformAccount as string,
      (each) => [senderOf(each), receiverOf(each)].includes(ids.platformAccount),
      4,
    ],
    ['status', () => 'COMPLETED', (each) => each.status === 'COMPLETED', 7],
    ['status EXPIRED', () => 'EXPIRED', (each) => each.status === 'EXPIRED', 1],
    ['status REFUNDED', () => 'REFUNDED', () => false, 0],
    ['type', () => 'INCOMING', (each) => each.type === 'INCOMING', 4],
    ['type CARD', () => 'CARD', () => false, 0],
    [
      'reference',
      () => (shownTransactions[3] as TransactionView).reconciliationInstructions.reference,
      (each) => each.id === shownTransactions[3]?.id,
      1,
    ],
    [
      'reference of a refund',
      () => (shownTransactions[4] as TransactionView).refund?.reference as string,
      (each) => each.id === shownTransactions[4]?.id,
      1,
    ],
    [
      'reference of an absent refund',
      () =>
        (shownTransactions[3] as TransactionView).reconciliationInstructions.reference.replace(
          'RH',
          'RF',
        ),
      () => false,
      0,
    ],
    ['reference of no transaction', () => 'RH0', () => false, 0],
    [
      'startDate, inclusive',
      () => (shownTransactions[5] as TransactionView).createdAt,
      (each) => parseTime(each.createdAt) >= middleTime(),
      6,
    ],
    [
      'endDate, inclusive',
      () => (shownTransactions[5] as TransactionView).createdAt,
      (each) => parseTime(each.createdAt) <= middleTime(),
      6,
    ],
    [
      'startDate in another zone',
      () => `${new Date(middleTime() + 3_600_001).toISOString().slice(0, -1)}%2B01:00`,
      (each) => parseTime(each.createdAt) > middleTime(),
      5,
    ],
  ];

  it.each(filters)('filters by %s', async (label, value, matches, count) => {
    const name = label.split(/[ ,]/, 1)[0] as string;
    const expectedTransactions = shownTransactions.filter(matches);
    expect(expectedTransactions).toHaveLength(count);
    const query = `${name}=${value()}`;
    expect((await list(`${query}&sortOrder=asc`)).data).toEqual(expectedTransactions);
    for (const sortOrder of ['asc', 'desc']) {
      const pages: TransactionView[] = [];
      let cursor = '';
      do {
        const page = await list(`${query}&sortOrder=${sortOrder}&limit=2${cursor}`);
        expect(page.totalCount).toBe(count);
        expect(page.hasMore).toBe(pages.length + 2 < count);
        expect('nextCursor' in page).toBe(page.hasMore);
        pages.push(...page.data);
        cursor = page.hasMore ? `&cursor=${page.nextCursor}` : '';
      } while (cursor);
      expect(pages).toEqual(
        sortOrder === 'asc' ? expectedTransactions : [...expectedTransactions].reverse(),
      );
    }
  });

  it('combines filters with AND', async () => {
    const matchingTransactions = await list(
      `customerId=${ids.ada}&senderAccountIdentifier=${ids.adaUsd}` +
        '&type=OUTGOING&status=COMPLETED&sortOrder=asc',
    );
    expect(matchingTransactions.data.map((each: TransactionView) => each.id)).toEqual([
      shownTransactions[3]?.id,
      shownTransactions[6]?.id,
    ]);
    expect((await list(`customerId=${ids.bob}&platformCustomerId=ada`)).data).toEqual([]);
    const [start, end] = [shownTransactions[4]?.createdAt, shownTransactions[6]?.createdAt];
    const periodQuery = `startDate=${start}&endDate=${end}&type=OUTGOING`;
    expect((await list(periodQuery)).data).toHaveLength(3);
    expect(
      (
        await list(
          `startDate=${shownTransactions[6]?.createdAt}&endDate=${shownTransactions[4]?.createdAt}`,
        )
      ).data,
    ).toEqual([]);
  });

  it('keeps pages stable while new transactions are created', async () => {
    const firstPage = await list('limit=3');
    await fundAccount(app, ids.adaUsd as string, 1);
    const secondPage = await list(`limit=3&cursor=${firstPage.nextCursor}`);
    const newestFirst = [...shownTransactions].reverse();
    expect([...firstPage.data, ...secondPage.data]).toEqual(newestFirst.slice(0, 6));
    expect(secondPage.totalCount).toBe(shownTransactions.length + 1);
  });

  it('omits transactions of other platforms for every filter', async () => {
    const platform = app.other;
    expect((await list('', { platform })).data).toEqual([]);
    const transaction = shownTransactions[3] as TransactionView;
    for (const query of [
      `customerId=${ids.ada}`,
      `customerId=${app.platform.id}`,
      'platformCustomerId=ada',
      `accountIdentifier=${ids.adaUsd}`,
      `reference=${transaction.reconciliationInstructions.reference}`,
    ]) {
      const page = await list(query, { platform });
      expect([page.data, page.totalCount, page.hasMore]).toEqual([[], 0, false]);
    }
    const response = await app.call('GET', `/transactions/${transaction.id}`, undefined, {
      platform,
    });
    expect([response.status, response.body.code]).toEqual([404, 'TRANSACTION_NOT_FOUND']);
  });

  it('accepts dates from the year 1 to 9999', async () => {
    const query = 'startDate=0001-01-01T00:00:00Z&endDate=9999-12-31T23:59:59.999Z';
    expect((await app.call('GET', `/transactions?${query}`)).status).toBe(200);
  });

  it('reports every invalid parameter in one response', async () => {
    const query =
      'limit=0&status=DONE&type=IN&startDate=yesterday&endDate=2026-02-30T00:00:00Z&sortOrder=up';
    const response = await app.call('GET', `/transactions?${query}`);
    expect([response.status, response.body.code]).toEqual([400, 'INVALID_INPUT']);
    const fields = response.body.details.errors.map((each: { field: string }) => each.field);
    expect(fields.sort()).toEqual(['endDate', 'limit', 'sortOrder', 'startDate', 'status', 'type']);
    for (const invalidQuery of [
      'limit=101',
      'limit=1.5',
      'limit=',
      'cursor=x',
      'status=FAILED&status=PENDING',
      'startDate=0000-01-01T00:00:00Z',
      'endDate=0001-01-01T00:00:00%2B00:01',
      'endDate=9999-12-31T23:59:59-00:01',
    ]) {
      expect([
        invalidQuery,
        (await app.call('GET', `/transactions?${invalidQuery}`)).status,
      ]).toEqual([invalidQuery, 400]);
    }
  });
});
