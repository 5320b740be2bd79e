// The chart of accounts, the trial balance and postings with running balances, against the ledger.
import { afterEach, beforeAll, expect, it } from 'vitest';
import {
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
} from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';
import { trialBalance } from '../../features/accounting/index.ts';

const app = testApp();
const client = operatorClient(app);
const customers: { id: string; accountId: string }[] = [];

beforeAll(async () => {
  for (const amount of [10_00, 20_00, 30_00]) {
    const { person, account } = await createFundedCustomer(app);
    customers.push({ id: person.id, accountId: account.id });
    const payee = await createExternalAccount(app, person.id, 'USD');
    const body = quoteBody(account.id, payee.id, amount);
    const { id } = ok(await app.call('POST', '/quotes', body), 201);
    ok(await app.call('POST', `/quotes/${id}/execute`), 200);
    await app.advance(60_000);
    await app.settle();
  }
});
// The call fails if an earlier reply did not match its contract.
afterEach(async () => {
  ok(await app.call('GET', '/config'), 200);
});

const get = async (path: string, secret?: string) =>
  ok(await client.call('GET', path, secret === undefined ? {} : { secret }), 200);

// biome-ignore lint/suspicious/noExplicitAny: the lists have different items.
async function readAll(path: string): Promise<any[]> {
  const items = [];
  let cursor: string | undefined;
  do {
    const separator = path.includes('?') ? '&' : '?';
    const page = await get(`${path}${separator}${cursor ? `cursor=${cursor}` : ''}`);
    items.push(...page.data);
    cursor = page.nextCursor;
    expect(page.hasMore).toBe(cursor !== undefined);
  } while (cursor);
  return items;
}

const readLedgerAccounts = () =>
  app.runtime.db.query<{ id: string; balance: bigint; held: bigint }>(
    "select id, balance, held from ledger_accounts where currency not like '%.%'",
    [],
  );

it('the API lists every account once with its balance', async () => {
  const storedAccounts = await readLedgerAccounts();
  const listedAccounts = await readAll('/ledger/accounts?limit=100');
  expect(listedAccounts.map(({ id }) => id).sort()).toEqual(
    storedAccounts.map(({ id }) => id).sort(),
  );
  const balances = new Map(listedAccounts.map(({ id, balance, held }) => [id, [balance, held]]));
  for (const { id, balance, held } of storedAccounts) {
    expect([id, balances.get(id)]).toEqual([id, [Number(balance), Number(held)]]);
  }
});

it('the API filters by owner, type, currency, environment and balance', async () => {
  const [firstCustomer] = customers;
  const customerAccounts = await readAll(`/ledger/accounts?customerId=${firstCustomer?.id}`);
  expect(customerAccounts.map(({ id }) => id)).toContain(firstCustomer?.accountId);
  expect(new Set(customerAccounts.map(({ customerId }) => customerId))).toEqual(
    new Set([firstCustomer?.id]),
  );
  const suspenseAccounts = await readAll('/ledger/accounts?type=SUSPENSE&currency=USD');
  expect(suspenseAccounts.map(({ id }) => id)).toEqual([
    'system:production:suspense:USD',
    'system:sandbox:suspense:USD',
  ]);
  const ownAccounts = await readAll(
    `/ledger/accounts?type=PLATFORM&platformId=${app.platform.id}&limit=3`,
  );
  expect(ownAccounts.length).toBeGreaterThan(3);
  expect(ownAccounts.every((each) => each.type === 'PLATFORM')).toBe(true);
  expect(await readAll(`/ledger/accounts?type=FEES&platformId=${app.platform.id}`)).toEqual([]);
  const accountsWithBalance = await readAll('/ledger/accounts?mode=sandbox&hasBalance=true');
  expect(
    accountsWithBalance.every(({ balance, held, mode }) => mode === 'sandbox' && (balance || held)),
  ).toBe(true);
  const accountsOfSmallPages = await readAll(
    '/ledger/accounts?mode=sandbox&hasBalance=true&limit=1',
  );
  expect(accountsOfSmallPages).toEqual(accountsWithBalance);
  expect((await client.call('GET', '/ledger/accounts?cursor=x')).body.code).toBe('INVALID_INPUT');
});

it('the trial balance has equal debits and credits', async () => {
  const { data, totals, isCounted } = await get('/ledger/trial-balance');
  expect(isCounted).toBe(true);
  expect(totals.length).toBeGreaterThan(0);
  for (const each of totals) expect(each.difference).toBe(0);
  const findLine = (type: string) =>
    data.find(
      (each: { type: string; mode: string; currency: string }) =>
        each.type === type && each.mode === 'sandbox' && each.currency === 'USD',
    );
  const storedAccounts = await readLedgerAccounts();
  const ownedSum = storedAccounts
    .filter(({ id }) => customers.some(({ accountId }) => accountId === id))
    .reduce((sum, { balance }) => sum + Number(balance), 0);
  expect(findLine('CUSTOMER')).toMatchObject({ credit: ownedSum, debit: 0, net: ownedSum });
  const platformBalance = await get(`/ledger/trial-balance?platformId=${app.platform.id}`);
  expect(platformBalance.data).toContainEqual(findLine('CUSTOMER'));

  // Above the maximum number of accounts, the sums are derived from the system accounts.
  const derivedBalance = await trialBalance(app.runtime, { maxCounted: 1 });
  expect(derivedBalance.isCounted).toBe(false);
  const derivedLine = derivedBalance.data.find(
    ({ type, mode, currency }) => type === 'CUSTOMER' && mode === 'sandbox' && currency === 'USD',
  );
  const netOfInternalAccounts = (findLine('CUSTOMER')?.net ?? 0) + (findLine('PLATFORM')?.net ?? 0);
  expect(derivedLine).toMatchObject({ net: netOfInternalAccounts, accounts: null });
  for (const each of derivedBalance.totals) expect(each.difference).toBe(0);
});

it('the API lists the postings of each account with running balances', async () => {
  const accounts = await readLedgerAccounts();
  const accountIds = new Set<string>();
  for (const { debit, credit } of await app.runtime.db.query<{ debit: string; credit: string }>(
    'select distinct debit, credit from ledger_transfers',
    [],
  )) {
    accountIds.add(debit).add(credit);
  }
  const unusedAccounts = accounts.filter(({ id }) => !accountIds.has(id)).slice(0, 2);
  expect([accountIds.size > 4, unusedAccounts.length]).toEqual([true, 2]);
  for (const { id, balance, held } of [
    ...accounts.filter(({ id }) => accountIds.has(id)),
    ...unusedAccounts,
  ]) {
    const expectedRows = await app.runtime.db.query<{ step: string; transaction_id: string }>(
      `select transaction_id, step from ledger_transfers where debit = $1 or credit = $1
       order by created_at desc, transaction_id desc, step desc`,
      [id],
    );
    const path = `/ledger/accounts/${id}/postings`;
    const postings = await readAll(`${path}?limit=2`);
    const keys = postings.map(({ transactionId, step }) => [transactionId, step]);
    expect(keys).toEqual(expectedRows.map((each) => [each.transaction_id, each.step]));
    const [newestPosting] = postings;
    if (newestPosting) {
      expect([newestPosting.balanceAfter, newestPosting.heldAfter]).toEqual([
        Number(balance),
        Number(held),
      ]);
    }
    for (const [index, each] of postings.entries()) {
      const isPosted = each.phase === 'posted' || each.phase === 'post';
      const change = isPosted ? (each.direction === 'DEBIT' ? -each.amount : each.amount) : 0;
      expect(each.balanceAfter - change).toBe(postings[index + 1]?.balanceAfter ?? 0);
    }
    expect(await readAll(`${path}?limit=100`)).toEqual(postings);
  }
});

it('the API hides accounts of other platforms and system accounts', async () => {
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  const { data } = await get('/ledger/accounts?limit=100', secret);
  expect(new Set(data.map((each: { platformId: string }) => each.platformId))).toEqual(
    new Set([app.other.id]),
  );
  for (const id of [customers[0]?.accountId, 'system:sandbox:fees:USD']) {
    const reply = await client.call('GET', `/ledger/accounts/${id}/postings`, { secret });
    expect([id, reply.status]).toEqual([id, 404]);
  }
  const unknownId = 'InternalAccount:018f0000-0000-7000-8000-000000000000';
  const unknownReply = await client.call('GET', `/ledger/accounts/${unknownId}/postings`);
  expect(unknownReply.body.code).toBe('ACCOUNT_NOT_FOUND');
  const foreignPath = `/ledger/trial-balance?platformId=${app.platform.id}`;
  expect((await client.call('GET', foreignPath, { secret })).status).toBe(404);
});
