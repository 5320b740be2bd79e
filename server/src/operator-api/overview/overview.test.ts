// The overview: the counted items, the platforms and modes that select them, and the cached numbers.
import { afterEach, expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  ok,
} from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';

const app = testApp();
const client = operatorClient(app);
// The call fails if an earlier reply did not match its contract.
afterEach(async () => {
  ok(await app.call('GET', '/config'), 200);
});

/** Numbers are cached for a second. */
const nextSecond = () => new Promise((resolve) => setTimeout(resolve, 1_050));
const get = async (query = '', secret?: string) =>
  ok(await client.call('GET', `/overview${query}`, secret === undefined ? {} : { secret }), 200);

const workOf = (overview: { work: { name: string; count: number }[] }, name: string) =>
  overview.work.find((each) => each.name === name);

it('the overview contains open work, balances and providers', async () => {
  await createFundedCustomer(app, 500_00);
  const overview = await get();
  expect(overview.platforms).toBeGreaterThanOrEqual(4);
  expect(overview.work.map(({ name }: { name: string }) => name)).toEqual([
    'heldDeposits',
    'awaitedTransfers',
    'suspenseItems',
    'verifications',
    'externalAccounts',
    'factorResets',
    'walletRecoveries',
    'cardExceptions',
    'stablecoins',
    'approvals',
  ]);
  const usdBalance = overview.balances.data.find(
    (each: { type: string; currency: string; mode: string }) =>
      each.type === 'CUSTOMER' && each.currency === 'USD' && each.mode === 'sandbox',
  );
  expect(usdBalance.net).toBe(500_00);
  expect(overview.connectors.environments).toHaveLength(2);
  const [{ capabilities }] = overview.connectors.environments;
  expect(capabilities).toContain('rail');

  const platformOverview = await get(`?platformId=${app.platform.id}`);
  expect(platformOverview.balances).toMatchObject({ isComplete: true });
  expect(platformOverview.balances.data).toContainEqual({ ...usdBalance });
  expect(platformOverview.platforms).toBe(1);
  expect((await get('?mode=production')).balances.data).toEqual([]);
});

it('the overview counts accounts in review', async () => {
  const person = await createCustomer(app);
  await nextSecond();
  const countBefore = workOf(await get(), 'externalAccounts')?.count ?? 0;
  const payee = await createExternalAccount(app, person.id, 'USD');
  const body = { reason: 'Looks unusual.' };
  const path = `/external-accounts/${payee.id}`;
  ok(await client.call('POST', `${path}/check`, { body }), 200);
  ok(await client.call('POST', `${path}/review`, { body }), 200);
  await nextSecond();
  expect(workOf(await get(), 'externalAccounts')).toMatchObject({
    count: countBefore + 1,
    hasMore: false,
    oldestAt: expect.any(String),
  });
  expect(workOf(await get('?mode=production'), 'externalAccounts')).toMatchObject({ count: 0 });
});

it('the overview caches its numbers separately for each set of platforms', async () => {
  const firstOverview = await get();
  expect(await get()).toEqual(firstOverview);
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  const otherOverview = await get('', secret);
  expect(otherOverview.platforms).toBe(1);
  expect(otherOverview).not.toHaveProperty('connectors');
  expect(JSON.stringify(otherOverview)).not.toContain(app.platform.id);
  const foreignPath = `/overview?platformId=${app.platform.id}`;
  expect((await client.call('GET', foreignPath, { secret })).status).toBe(404);
});
