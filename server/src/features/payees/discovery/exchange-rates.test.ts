// Exchange rates of corridors with fees, limits and filters, and the institutions of a country.
import { describe, expect, it } from 'vitest';
import { testApp } from '../../../../test/kit/app/test-app.ts';

const app = testApp();

interface ExchangeRateView {
  sourceCurrency: { code: string };
  destinationCurrency: { code: string };
  destinationPaymentRail: string;
  updatedAt: string;
}
const getRates = (query = '', options = {}) =>
  app.call('GET', `/exchange-rates${query}`, undefined, options);
const pairsOf = (data: ExchangeRateView[]) =>
  data.map((each) => `${each.destinationCurrency.code} ${each.destinationPaymentRail}`).sort();

describe('getExchangeRates', () => {
  it('prices every rail of a corridor', async () => {
    const { status, body } = await getRates('?sourceCurrency=USD&destinationCurrency=EUR');
    expect(status).toBe(200);
    expect(pairsOf(body.data)).toEqual(['EUR SEPA', 'EUR SEPA_INSTANT', 'EUR SWIFT']);
    expect(body.data[0]).toMatchObject({
      sourceCurrency: { code: 'USD', decimals: 2 },
      sendingAmount: 10_000,
      receivingAmount: 9_154,
      exchangeRate: 1.09241861,
      fees: { fixed: 0, total: 50 },
      updatedAt: new Date(app.effects.now()).toISOString(),
    });
  });

  it('accepts several destinations, repeated or separated by commas', async () => {
    const repeatedResponse = await getRates(
      '?sourceCurrency=USD&destinationCurrency=MXN&destinationCurrency=GBP',
    );
    const commaSeparatedResponse = await getRates(
      '?sourceCurrency=USD&destinationCurrency=MXN,GBP',
    );
    expect(commaSeparatedResponse.body).toEqual(repeatedResponse.body);
    expect(pairsOf(commaSeparatedResponse.body.data)).toEqual([
      'GBP FASTER_PAYMENTS',
      'GBP SWIFT',
      'MXN SPEI',
    ]);
  });

  it('covers all currencies of the platform by default', async () => {
    const { body } = await getRates('?destinationCurrency=MXN&sendingAmount=500');
    const sources = new Set(body.data.map((each: ExchangeRateView) => each.sourceCurrency.code));
    expect(sources).toContain('BTC');
    expect(sources).toContain('USD');
    for (const each of body.data) expect(each.sendingAmount).toBe(500);
    const response = await getRates();
    expect(response.body.data.length).toBeGreaterThan(300);
  });

  it("includes the platform's fee", async () => {
    const platform = await app.newPlatform('With a fee');
    const feeConfigs = [
      {
        feeType: 'CROSS_CURRENCY_TRANSACTION',
        sourceCurrency: 'USD',
        variableFeeBps: 30,
        fixedFee: { amount: 50, currency: 'USD' },
      },
    ];
    expect((await app.call('PATCH', '/config', { feeConfigs }, { platform })).status).toBe(200);
    const { body } = await getRates('?sourceCurrency=USD&destinationCurrency=EUR', {
      platform,
    });
    expect(body.data[0].fees).toEqual({ fixed: 50, total: 50 + 30 + 50 });
  });

  it('caches a rate for five minutes', async () => {
    const readUpdateTime = async () =>
      (await getRates('?sourceCurrency=EUR&destinationCurrency=GBP')).body.data[0].updatedAt;
    const firstUpdateTime = await readUpdateTime();
    await app.advance(299_000);
    expect(await readUpdateTime()).toBe(firstUpdateTime);
    await app.advance(1_000);
    expect(Date.parse(await readUpdateTime()) - Date.parse(firstUpdateTime)).toBe(300_000);
  });

  it('rejects an invalid currency or amount', async () => {
    const unknownResponse = await getRates('?sourceCurrency=QQQ&destinationCurrency=EUR,YYY');
    expect([unknownResponse.status, unknownResponse.body.code]).toEqual([400, 'INVALID_CURRENCY']);
    expect(unknownResponse.body.details.errors).toHaveLength(2);
    const negativeResponse = await getRates('?sendingAmount=-1');
    expect([negativeResponse.status, negativeResponse.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect((await getRates('?sendingAmount=1.5')).status).toBe(400);
  });

  it('returns an empty list without a connected rail', async () => {
    expect((await getRates('', { platform: app.production })).body).toEqual({ data: [] });
  });
});

describe('getDiscoveries', () => {
  const getDiscoveries = (query = '') => app.call('GET', `/discoveries${query}`);

  it('returns all institutions, or the institutions of a country and currency', async () => {
    const response = await getDiscoveries();
    expect(response.status).toBe(200);
    const nigerianResponse = await getDiscoveries('?country=NG');
    expect(nigerianResponse.body.data).toContainEqual({
      bankName: 'Guaranty Trust Bank',
      displayName: 'GTBank',
      country: 'NG',
      currency: 'NGN',
    });
    expect(nigerianResponse.body.data.length).toBeLessThan(response.body.data.length);
    expect((await getDiscoveries('?country=SV&currency=USD')).body.data.length).toBeGreaterThan(0);
    expect((await getDiscoveries('?country=NG&currency=USD')).body.data).toEqual([]);
  });

  it('rejects an invalid code', async () => {
    expect((await getDiscoveries('?country=Nigeria')).status).toBe(400);
    expect((await getDiscoveries('?currency=naira')).status).toBe(400);
  });
});
