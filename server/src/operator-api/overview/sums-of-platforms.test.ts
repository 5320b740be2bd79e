// Sums for an operator of two platforms, by currency. They exclude a third platform.
import { afterEach, expect, it, vi } from 'vitest';
import {
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
} from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';
import { OPERATOR_OPERATIONS } from '../index.ts';

type Platform = NonNullable<NonNullable<Parameters<typeof createFundedCustomer>[2]>['platform']>;

const app = testApp();
const client = operatorClient(app);
// The call fails if an earlier reply did not match its contract.
afterEach(async () => {
  ok(await app.call('GET', '/config'), 200);
});

const twoPlatformIds = () => [app.platform.id, app.other.id].sort();
const get = async (path: string, platformIds: readonly string[] = twoPlatformIds()) =>
  ok(await client.call('GET', path, { secret: await client.secretOf({ platformIds }) }), 200);

async function pay(platform: Platform, amount: number) {
  const { person, account } = await createFundedCustomer(app, 500_00, { platform });
  const payee = await createExternalAccount(app, person.id, 'USD', '000', { platform });
  const quote = ok(
    await app.call('POST', '/quotes', quoteBody(account.id, payee.id, amount), { platform }),
    201,
  );
  ok(await app.call('POST', `/quotes/${quote.id}/execute`, undefined, { platform }), 200);
}

interface Sums {
  currency: string;
  type: string;
  payments: number;
  amount: string;
}

const outgoingSums = (data: readonly Sums[]) =>
  data
    .filter(({ type }) => type === 'OUTGOING')
    .map(({ currency, payments, amount }) => ({ currency, payments, amount: Number(amount) }));

/** Waits for the sweep, which counts payments a few seconds later. */
async function waitUntilCounted(startTime: number) {
  await vi.waitFor(
    async () => {
      await app.advance(6_000);
      const { completeUntil } = await get('/metrics/payments');
      expect(Date.parse(completeUntil)).toBeGreaterThanOrEqual(startTime);
    },
    { timeout: 20_000, interval: 20 },
  );
}

interface Balance {
  type: string;
  currency: string;
  net: number;
}

/** Balances of the lines by type and currency. */
const netsOf = (data: readonly Balance[]) =>
  Object.fromEntries(data.map(({ type, currency, net }) => [`${type} ${currency}`, net]));

function addAll(...maps: Record<string, number>[]) {
  const keys = [...new Set(maps.flatMap(Object.keys))];
  return Object.fromEntries(
    keys.map((key) => [key, maps.reduce((sum, each) => sum + (each[key] ?? 0), 0)]),
  );
}

it('the sum contains the payments of only the two platforms', async () => {
  const thirdPlatform = await app.newPlatform('Third', { environment: 'sandbox', regulated: true });
  await pay(app.platform, 10_00);
  await pay(app.other, 20_00);
  await pay(thirdPlatform, 40_00);
  const startTime = app.effects.now();
  await app.advance(120_000);
  await waitUntilCounted(startTime);
  const { data } = await get('/metrics/payments');
  expect(outgoingSums(data)).toEqual([{ currency: 'USD', payments: 2, amount: 30_00 }]);
  const platformGroups = await get('/metrics/payments?groupBy=platform&type=OUTGOING');
  expect(platformGroups.data.map((each: { platformId: string }) => each.platformId)).toEqual(
    twoPlatformIds(),
  );
  expect(outgoingSums((await get('/metrics/payments?mode=sandbox')).data)).toEqual(
    outgoingSums(data),
  );
  expect((await get('/metrics/payments?mode=production')).data).toEqual([]);
  const platformMetrics = await get(`/metrics/payments?platformId=${app.other.id}`);
  expect(outgoingSums(platformMetrics.data)).toEqual([
    { currency: 'USD', payments: 1, amount: 20_00 },
  ]);
});

it('the sum contains the balances of the two platforms, per currency', async () => {
  await createFundedCustomer(app, 700_00, { platform: app.other });
  const readNets = async (ids?: readonly string[]) =>
    netsOf((await get('/ledger/trial-balance', ids)).data);
  const [firstNets, secondNets] = [
    await readNets([app.platform.id]),
    await readNets([app.other.id]),
  ];
  expect(await readNets()).toEqual(addAll(firstNets, secondNets));
  expect(Object.keys(firstNets).length).toBeGreaterThan(0);
  const overview = await get('/overview');
  expect(overview.balances.isComplete).toBe(true);
  expect(netsOf(overview.balances.data)).toEqual(addAll(firstNets, secondNets));
});

it('the API counts the open work and the jobs of the two platforms', async () => {
  for (const platform of [app.platform, app.other]) {
    const { person } = await createFundedCustomer(app, 100, { platform });
    const payee = await createExternalAccount(app, person.id, 'USD', '000', { platform });
    const body = { reason: 'Looks unusual.' };
    for (const step of ['check', 'review'])
      ok(await client.call('POST', `/external-accounts/${payee.id}/${step}`, { body }), 200);
  }
  const countOf = async (ids?: readonly string[]) => {
    const { work, platforms } = await get('/overview', ids);
    const item = work.find(({ name }: { name: string }) => name === 'externalAccounts');
    return { platforms, count: item.count };
  };
  // The numbers of earlier requests are cached for a second.
  await new Promise((resolve) => setTimeout(resolve, 1_050));
  const [firstCount, secondCount] = [
    await countOf([app.platform.id]),
    await countOf([app.other.id]),
  ];
  expect(firstCount.count).toBeGreaterThan(0);
  expect(await countOf()).toEqual({ platforms: 2, count: firstCount.count + secondCount.count });
  const readJobs = async (ids?: readonly string[]) => {
    const { jobs: groups } = await get('/overview?mode=sandbox', ids);
    return Object.fromEntries(
      groups.map(({ group, queued }: { group: string; queued: number }) => [group, queued]),
    );
  };
  expect(await readJobs()).toEqual(
    addAll(await readJobs([app.platform.id]), await readJobs([app.other.id])),
  );
  const unknownPath = '/overview?platformId=Platform:018f0000-0000-7000-8000-000000000000';
  expect((await client.call('GET', unknownPath)).status).toBe(404);
});

it('no sum requires a platform', async () => {
  const sums = OPERATOR_OPERATIONS.map(({ contract }) => contract).filter(
    (contract) => contract.auth === 'operator' && contract.sumsPlatforms,
  );
  expect(sums.map(({ operationId }) => operationId).sort()).toEqual([
    'getOverview',
    'getPaymentMetrics',
    'getTrialBalance',
  ]);
  for (const { path } of sums) await get(path);
});
