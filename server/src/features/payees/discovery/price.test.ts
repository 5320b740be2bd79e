// Indicative prices: fees, rate, limits, and the cache of rates.
import { describe, expect, it } from 'vitest';
import { corridors } from '../../../catalog/currencies/corridors.ts';
import { serviceFeeOf } from '../../../catalog/currencies/fees.ts';
import { referenceRate } from '../../../catalog/currencies/reference-rates.ts';
import type { PaymentRail } from '../../../catalog/rails/rails.ts';
import type { RatePort } from '../../../connectors/ports/index.ts';
import type { Rate } from '../../../kernel/money.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { priceRow, readableRate } from './price.ts';
import { rateCache } from './rates.ts';

const platformWith = (overrides: Partial<PlatformRow> = {}) =>
  ({ currencies: [], fees: [], ...overrides }) as unknown as PlatformRow;

function priceOf(to: string, sendingAmount: bigint, pricedPlatform: PlatformRow = platformWith()) {
  const corridor = corridors('USD', to)[0];
  if (!corridor) throw new Error(`The corridor to ${to} was not found.`);
  const midRate = { rate: referenceRate('USD', to) as Rate, at: 0 };
  const money = { currency: 'USD', amount: sendingAmount };
  const rail = corridor.rail as PaymentRail;
  const service = serviceFeeOf('USD', to);
  return priceRow({
    corridor,
    rail,
    service,
    sendingMoney: money,
    midRate: midRate,
    platform: pricedPlatform,
  });
}

describe('priceRow', () => {
  it('deducts fees before conversion and includes them in the rate', () => {
    expect(priceOf('EUR', 10_000n)).toMatchObject({
      sendingAmount: 10_000,
      receivingAmount: 9_154,
      fees: { fixed: 0, total: 50 },
      exchangeRate: 1.09241861,
      updatedAt: '1970-01-01T00:00:00.000Z',
    });
  });

  it("adds the platform's default fee", () => {
    const fees = [
      {
        feeType: 'CROSS_CURRENCY_TRANSACTION' as const,
        sourceCurrency: 'USD',
        variableFeeBps: 30,
        fixedFee: { amount: 50, currency: 'USD' },
      },
    ];
    expect(priceOf('EUR', 1_000n, platformWith({ fees }))?.fees).toEqual({ fixed: 50, total: 58 });
  });

  it('shows the mid rate if the receiving amount is zero', () => {
    expect(priceOf('EUR', 0n)).toMatchObject({ receivingAmount: 0, exchangeRate: 1.08695652 });
  });

  it('intersects the limits of the corridor with the limits of the platform', () => {
    const currencies = [
      {
        currencyCode: 'USD',
        minAmount: 500,
        maxAmount: 60_000,
        requiredCounterpartyFields: [],
        enabledTransactionTypes: ['OUTGOING' as const],
      },
    ];
    expect(priceOf('EUR', 1_000n, platformWith({ currencies }))).toMatchObject({
      minSendingAmount: 500,
      maxSendingAmount: 60_000,
    });
  });

  it('returns undefined if the receiving amount exceeds the maximum', () => {
    expect(priceOf('VND', 9_000_000_000_000_000n)).toBeUndefined();
  });
});

describe('readableRate', () => {
  it('rounds to eight decimals and keeps six digits of a small rate', () => {
    expect(readableRate({ num: 100n, den: 8_250n })).toBe(0.01212121);
    expect(readableRate({ num: 1n, den: 26_000n })).toBe(0.0000384615);
  });
});

describe('rateCache', () => {
  it('requests a rate again after five minutes', async () => {
    let requestCount = 0;
    let now = 1_000_000;
    const port: RatePort = {
      rate: async () => ({ rate: { num: BigInt(++requestCount), den: 1n }, at: now }),
    };
    const cache = rateCache();
    const requestRate = async () => (await cache(port, 'USD', 'EUR', now))?.rate.num;
    expect([await requestRate(), await requestRate()]).toEqual([1n, 1n]);
    now += 299_999;
    expect(await requestRate()).toBe(1n);
    now += 1;
    expect(await requestRate()).toBe(2n);
  });

  it('requests no rate from a currency to itself', async () => {
    const port: RatePort = { rate: async () => undefined };
    const cache = rateCache();
    expect((await cache(port, 'USD', 'USD', 5))?.rate).toEqual({ num: 1n, den: 1n });
    expect(await cache(port, 'USD', 'EUR', 5)).toBeUndefined();
  });
});
