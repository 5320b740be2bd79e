// Routes by country and cost, limits, prefunded balances, and the stored reasons of a choice.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR_OPERATIONS } from '../../src/operator-api/index.ts';
import { DAY } from '../kit/app/production.ts';
import { operatorService } from '../kit/operator/production.ts';
import { type Adapter, startAdapter } from '../kit/providers/adapter.ts';

const { service, read, rejects, write } = operatorService();
const PRODUCTION = { environment: 'production' };
const adapters = new Map<string, Adapter>();

async function addProvider(providerId: string): Promise<Adapter> {
  const adapter = await startAdapter(service.app);
  adapters.set(providerId, adapter);
  const provider = await write('POST', '/providers', {
    ...{ ...PRODUCTION, providerId, url: adapter.url, privateAddressAllowed: true },
    publicKeyPem: adapter.publicKeyPem,
  });
  adapter.accept(provider.ownKeys);
  await write('POST', `/providers/${providerId}/check`);
  return adapter;
}

const addRoute = (providerId: string | null, fields: object = {}) =>
  write('POST', '/provider-routes', { ...PRODUCTION, providerId, priority: 10, ...fields });

const setTerms = (providerId: string, terms: object) =>
  write('POST', `/providers/${providerId}/terms`, { terms });

// biome-ignore lint/suspicious/noExplicitAny: the tests check the fields that they read.
const explain = (fields: Record<string, string> = {}): Promise<any> => {
  const query = new URLSearchParams({
    ...{ ...PRODUCTION, platformId: service.platform.id, kind: 'payout', currency: 'EUR' },
    ...{ rail: 'SEPA', amount: '100000', ...fields },
  });
  return read(`/provider-routes/choice?${query}`);
};

/** The provider and the verdict of each route. */
const verdictsOf = (choice: { routes: { providerId: string | null; verdict: string }[] }) =>
  choice.routes.map((route) => `${route.providerId ?? 'built-in'} ${route.verdict}`);

beforeAll(async () => {
  await addProvider('alpha-bank');
  await addProvider('beta-bank');
});
afterAll(async () => {
  for (const adapter of adapters.values()) await adapter.close();
});

async function removeRoutes() {
  const { data } = await read('/provider-routes');
  for (const { routeId } of data) await write('DELETE', `/provider-routes/${routeId}`);
}

describe('the order of routes', () => {
  it('depends on the priority, then on the cost for the amount', async () => {
    await addRoute('alpha-bank', { currency: 'EUR', costFixed: 20 });
    await addRoute('beta-bank', { currency: 'EUR', costBasisPoints: 5 });
    await addRoute(null, { priority: 20 });
    const largeTransferChoice = await explain();
    expect(verdictsOf(largeTransferChoice)).toEqual([
      ...['alpha-bank SELECTED', 'beta-bank HIGHER_COST', 'built-in LOWER_PRIORITY'],
    ]);
    expect(largeTransferChoice.routes.map((route: { cost: number }) => route.cost)).toEqual([
      20, 50, 0,
    ]);
    const smallTransferChoice = await explain({ amount: '30001' });
    expect(verdictsOf(smallTransferChoice).slice(0, 2)).toEqual([
      'beta-bank SELECTED',
      'alpha-bank HIGHER_COST',
    ]);
    // 0.05 % of 300.01 is 15.0005 cents, rounded up.
    expect(smallTransferChoice.routes[0].cost).toBe(16);
    await removeRoutes();
  });

  it('depends on the time of creation if priority and cost are equal', async () => {
    await addRoute('beta-bank');
    await addRoute('alpha-bank');
    expect(verdictsOf(await explain())).toEqual(['beta-bank SELECTED', 'alpha-bank HIGHER_COST']);
    await removeRoutes();
  });
});

describe('a route by country', () => {
  it('matches the country of the account', async () => {
    await addRoute('beta-bank', { country: 'DE' });
    await addRoute('alpha-bank', { priority: 20 });
    expect((await explain({ country: 'DE' })).providerId).toBe('beta-bank');
    expect((await explain({ country: 'FR' })).providerId).toBe('alpha-bank');
    const choiceWithoutCountry = await explain();
    expect(verdictsOf(choiceWithoutCountry)).toEqual([
      'beta-bank OTHER_TRANSFERS',
      'alpha-bank SELECTED',
    ]);
    const { id } = await service.createPayment();
    expect(adapters.get('beta-bank')?.transfers.has(id)).toBe(true);
    await removeRoutes();
  });

  it('is skipped if the provider does not offer the country', async () => {
    const adapter = adapters.get('alpha-bank');
    const capabilitiesReply = adapter?.replies['/capabilities'];
    if (!adapter || !capabilitiesReply)
      throw new Error('alpha-bank has no reply for /capabilities');
    const sepa = { kinds: ['payout'], rails: ['SEPA'], currencies: ['EUR'], countries: ['FR'] };
    adapter.replies['/capabilities'] = () => ({ body: { protocol: '1', transfers: [sepa] } });
    await write('POST', '/providers/alpha-bank/check');
    await addRoute('alpha-bank');
    expect(verdictsOf(await explain({ country: 'DE' }))).toEqual(['alpha-bank NOT_OFFERED']);
    expect(verdictsOf(await explain({ country: 'FR' }))).toEqual(['alpha-bank SELECTED']);
    adapter.replies['/capabilities'] = capabilitiesReply;
    await write('POST', '/providers/alpha-bank/check');
    await removeRoutes();
  });
});

describe('limits of a provider', () => {
  it('are applied to each transfer and to the sum of the day', async () => {
    await addRoute('alpha-bank');
    await addRoute('beta-bank', { priority: 20 });
    await setTerms('alpha-bank', {
      limits: [{ currency: 'EUR', perTransfer: 10_000, perDay: 15_000 }],
    });
    expect(verdictsOf(await explain({ amount: '10001' }))[0]).toBe('alpha-bank OVER_LIMIT');
    expect(verdictsOf(await explain({ amount: '10000' }))[0]).toBe('alpha-bank SELECTED');
    const payments = await Promise.all([service.createPayment(), service.createPayment()]);
    const alphaAdapter = adapters.get('alpha-bank');
    const alphaPayments = payments.filter(({ id }) => alphaAdapter?.transfers.has(id));
    expect(alphaPayments).toHaveLength(1);
    const choiceAboveLimit = await explain({ amount: '10000' });
    expect(verdictsOf(choiceAboveLimit)).toEqual([
      'alpha-bank OVER_DAILY_LIMIT',
      'beta-bank SELECTED',
    ]);
    expect(choiceAboveLimit.routes[0].sentToday).toBeGreaterThan(5_000);
    await service.app.advance(DAY);
    expect(verdictsOf(await explain({ amount: '10000' }))[0]).toBe('alpha-bank SELECTED');
    // The first transfers of a day compete for its limit, and every transfer has a provider.
    const concurrentPayments = await Promise.all(
      Array.from({ length: 4 }, () => service.createPayment()),
    );
    const sentBy = (name: string) =>
      concurrentPayments.filter(({ id }) => adapters.get(name)?.transfers.has(id)).length;
    expect([sentBy('alpha-bank'), sentBy('beta-bank')]).toEqual([1, 3]);
    await setTerms('alpha-bank', {});
    await removeRoutes();
  });

  it('are rejected with every invalid field', async () => {
    const terms = {
      limits: [{ currency: 'XXY', perTransfer: 5, perDay: 4 }, { currency: 'XXY' }],
      cutOffs: [{ rail: 'SEPA', time: '16:00', timeZone: 'Europe/Nowhere' }],
      autoPause: { windowMinutes: 5, minimum: 1 },
    };
    const input = { body: { terms } };
    const path = '/providers/alpha-bank/terms';
    const { details } = await rejects(400, 'INVALID_INPUT', 'POST', path, input);
    expect(details.errors.map((error: { field: string }) => error.field)).toEqual([
      ...['limits.0.currency', 'limits.1.currency', 'limits.1.currency', 'limits.0.perDay'],
      ...['cutOffs.0.timeZone', 'autoPause.errorPercent'],
    ]);
    const termsInput = { body: { terms: {} } };
    await rejects(404, 'NOT_FOUND', 'POST', '/providers/none-bank/terms', termsInput);
    const balance = { body: { currency: 'EUR', amount: 1 } };
    await rejects(404, 'NOT_FOUND', 'POST', '/providers/none-bank/balances', balance);
  });
});

describe('a prefunded balance', () => {
  it('is required for payouts, reduced by them, and replaced by a report', async () => {
    await addRoute('alpha-bank');
    await addRoute('beta-bank', { priority: 20 });
    await setTerms('alpha-bank', { prefunding: [{ currency: 'EUR', alertBelow: 5_000 }] });
    expect(verdictsOf(await explain())[0]).toBe('alpha-bank OVER_BALANCE');
    const reportBalance = (amount: number, fields: object = {}) =>
      write('POST', '/providers/alpha-bank/balances', { currency: 'EUR', amount, ...fields });
    await reportBalance(10_000);
    const { id } = await service.createPayment();
    expect(adapters.get('alpha-bank')?.transfers.has(id)).toBe(true);
    const { balances } = await read('/providers/alpha-bank');
    expect(balances).toMatchObject([{ currency: 'EUR', amount: 10_000, isLow: true }]);
    expect(balances[0].available).toBe(10_000 - balances[0].sentSince);
    expect(balances[0].sentSince).toBeGreaterThan(9_000);
    expect((await explain({ amount: '10000' })).routes[0]).toMatchObject({
      ...{ verdict: 'OVER_BALANCE', availableBalance: balances[0].available },
    });
    const metrics = await service.app.server.inject('/metrics');
    expect(metrics.body).toContain('railhead_provider_balances_low{provider="alpha-bank"} 1');
    // A report of a time after the payment includes the payment.
    const balanceTime = new Date(service.app.effects.now() + 1).toISOString();
    await service.app.advance(60_000);
    const laterBalance = await reportBalance(50_000, { asOf: balanceTime });
    expect(laterBalance.balances).toMatchObject([{ amount: 50_000, sentSince: 0, isLow: false }]);
    await rejects(400, 'INVALID_INPUT', 'POST', '/providers/alpha-bank/balances', {
      body: { currency: 'EUR', amount: 1, asOf: '2026-01-01T00:00:00Z' },
    });
    await rejects(409, 'CONFLICT', 'POST', '/providers/alpha-bank/balances', {
      body: { currency: 'USD', amount: 1 },
    });
    await removeRoutes();
  });

  it('is requested from a provider that reports it', async () => {
    const adapter = adapters.get('alpha-bank');
    const capabilitiesReply = adapter?.replies['/capabilities'];
    if (!adapter || !capabilitiesReply)
      throw new Error('alpha-bank has no reply for /capabilities');
    const { body } = capabilitiesReply({}) ?? {};
    adapter.replies['/capabilities'] = () => ({ body: { ...(body as object), balances: true } });
    adapter.replies['/balances'] = () => {
      const reportTime = new Date(service.app.effects.now()).toISOString();
      const otherBalance = { currency: 'USD', amount: 1, asOf: reportTime };
      return {
        body: { balances: [{ currency: 'EUR', amount: 77_000, asOf: reportTime }, otherBalance] },
      };
    };
    await write('POST', '/providers/alpha-bank/check');
    await service.app.advance(5 * 60_000);
    const { balances } = await read('/providers/alpha-bank');
    expect(balances).toMatchObject([{ currency: 'EUR', amount: 77_000, source: 'PROVIDER' }]);
    adapter.replies['/capabilities'] = capabilitiesReply;
    await write('POST', '/providers/alpha-bank/check');
    await setTerms('alpha-bank', {});
  });
});

describe('explainProviderRoute', () => {
  it('returns the cut-off time, the start and the expected day', async () => {
    await addRoute('alpha-bank');
    const cutOffs = [{ rail: 'SEPA', time: '00:00', timeZone: 'Europe/Berlin' }];
    await setTerms('alpha-bank', { cutOffs });
    const [route] = (await explain()).routes;
    expect(route).toMatchObject({
      ...{ cutOff: { time: '00:00', timeZone: 'Europe/Berlin' }, isAfterCutOff: true },
      ...{ calendars: ['T2'], incompleteCalendars: [] },
    });
    expect(route.expectedOn > route.startsOn).toBe(true);
    expect(route.startsOn > new Date(service.app.effects.now()).toISOString().slice(0, 10)).toBe(
      true,
    );
    const [instantRoute] = (await explain({ rail: 'SEPA_INSTANT' })).routes;
    expect(instantRoute).toMatchObject({ isAfterCutOff: false, calendars: [] });
    await setTerms('alpha-bank', {});
    await removeRoutes();
  });
});

describe('explainProviderOfTransaction', () => {
  it('returns the reasons that were stored at the choice, and the result', async () => {
    await addRoute('alpha-bank', { currency: 'EUR', costFixed: 9 });
    await addRoute('beta-bank', { currency: 'USD' });
    await write('POST', '/providers/beta-bank/pause', { reason: 'Maintenance' });
    await addRoute('beta-bank', { priority: 5 });
    const { id } = await service.createPayment();
    await write('POST', '/providers/beta-bank/resume');
    await removeRoutes();
    const storedChoice = await read(`/provider-choices/${id}`);
    expect(storedChoice.data).toMatchObject([
      {
        ...{ transferId: id, kind: 'payout', currency: 'EUR', providerId: 'alpha-bank' },
        ...{ outcome: null, platformId: service.platform.id },
        routes: [
          { providerId: 'beta-bank', verdict: 'PROVIDER_PAUSED', priority: 5 },
          { providerId: 'alpha-bank', verdict: 'SELECTED', cost: 9, currency: 'EUR' },
        ],
      },
    ]);
    const transfer = { state: 'settled', reference: 'BANK-9' };
    const message = { type: 'transfer.updated', transferId: id, transfer };
    await adapters.get('alpha-bank')?.send('alpha-bank', message);
    expect((await read(`/provider-choices/${id}`)).data[0].outcome).toBe('SETTLED');
    expect((await read('/provider-choices/Transaction:none')).data).toEqual([]);
  });
});

describe('listProviders', () => {
  it('contains gateway and built-in providers of the sandbox and of production', async () => {
    const { data } = await read('/providers');
    const providerOf = (id: string, environment: string) =>
      data.find(
        (provider: { providerId: string; environment: string }) =>
          provider.providerId === id && provider.environment === environment,
      );
    expect(providerOf('alpha-bank', 'production')).toMatchObject({
      ...{ kind: 'GATEWAY', status: 'ACTIVE', serves: ['payout', 'refund'], operations: [] },
    });
    const manual = providerOf('manual', 'production');
    expect(manual).toMatchObject({ kind: 'BUILT_IN', available: true });
    expect(manual.serves).toContain('rail');
    expect(providerOf('sandbox', 'sandbox').serves).toContain('rail');
    expect(providerOf('sandbox', 'production')).toBeUndefined();
    const operations = OPERATOR_OPERATIONS.map(({ contract }) => contract.operationId);
    expect(operations).toEqual(expect.arrayContaining(manual.operations));
  });
});
