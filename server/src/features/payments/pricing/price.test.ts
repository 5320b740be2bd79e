// Prices of payments in integers, at both locked sides and with every fee.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FeeSchedule } from '../../../catalog/currencies/fees.ts';
import { divide, type Rate } from '../../../kernel/money.ts';
import * as price from './price.ts';

const FROM = 'USD';
const TO = 'EUR';

/** Terms between two currencies, as plain amounts. */
interface Terms {
  lock: 'SENDING' | 'RECEIVING';
  amount: bigint;
  rate: Rate;
  service: FeeSchedule;
  platform: FeeSchedule;
}

/** The price as plain amounts, each in the currency of its side. */
function priceOf({ lock, amount, rate, ...fees }: Terms) {
  const lockedAmount = { currency: lock === 'SENDING' ? FROM : TO, amount };
  const foundPrice = price.priceOf({
    ...fees,
    lock,
    amount: lockedAmount,
    rate: { ...rate, from: FROM, to: TO },
  });
  if (!foundPrice) return undefined;
  const { receiving, ...sent } = foundPrice;
  expect(receiving.currency).toBe(TO);
  for (const each of Object.values(sent)) expect(each.currency).toBe(FROM);
  return {
    sending: sent.sending.amount,
    receiving: receiving.amount,
    net: sent.net.amount,
    serviceFee: sent.serviceFee.amount,
    serviceVariable: sent.serviceVariable.amount,
    platformFee: sent.platformFee.amount,
  };
}

/** A currency for each number of decimals. */
const CURRENCY_WITH_DECIMALS: Record<number, string> = { 2: 'USD', 8: 'BTC' };

const exchangeRate = (
  { net, receiving }: { net: bigint; receiving: bigint },
  decimals: { sending: number; receiving: number },
) =>
  price.exchangeRate({
    net: { currency: CURRENCY_WITH_DECIMALS[decimals.sending] as string, amount: net },
    receiving: {
      currency: CURRENCY_WITH_DECIMALS[decimals.receiving] as string,
      amount: receiving,
    },
  });

const noFees = { fixed: 0n, variableBps: 0 };
const par = { num: 1n, den: 1n };

describe('exchangeRate', () => {
  const roundedExchangeRate = (sending: bigint, fee: bigint, receiving: bigint, decimals: number) =>
    exchangeRate({ net: sending - fee, receiving }, { sending: 2, receiving: decimals });

  it('is the sending amount after fees divided by the receiving amount, in major units', () => {
    expect(roundedExchangeRate(100000n, 500n, 828835n, 8)).toBe('120048.01920768');
    expect(roundedExchangeRate(100000n, 500n, 91540n, 2)).toBe('1.08695652');
    expect(roundedExchangeRate(100000n, 500n, 1716375n, 2)).toBe('0.05797101');
    expect(roundedExchangeRate(100n, 0n, 100n, 2)).toBe('1');
  });

  it('has more than 8 decimals only for very small rates', () => {
    const bitcoin = { sending: 8, receiving: 2 };
    // 0.001 BTC for 180,072.00 NGN, and for 9.00 of a currency whose rate fits in 8 decimals.
    expect(exchangeRate({ net: 100_000n, receiving: 18_007_200n }, bitcoin)).toBe('0.000000005553');
    expect(exchangeRate({ net: 100_000n, receiving: 9_00n }, bitcoin)).toBe('0.00011111');
    expect(exchangeRate({ net: 1n, receiving: 9_000_000_000_000_000n }, bitcoin)).toBe(
      '0.000000000000000000000111',
    );
    // For 100.00 USD in rupiahs, 8 decimals contain four significant digits.
    expect(roundedExchangeRate(100_00n, 0n, 164_000_000n, 2)).toBe('0.00006098');
  });
});

describe('priceOf', () => {
  it('throws for an amount in a currency other than the currency of the locked side', () => {
    const rate = { ...par, from: FROM, to: TO };
    const terms = {
      rate,
      service: noFees,
      platform: noFees,
      amount: { currency: 'JPY', amount: 1n },
    };
    const currencyMismatchError = expect.objectContaining({ name: 'CurrencyMismatch' });
    expect(() => price.priceOf({ ...terms, lock: 'SENDING' })).toThrow(currencyMismatchError);
    expect(() => price.priceOf({ ...terms, lock: 'RECEIVING' })).toThrow(currencyMismatchError);
  });

  it('deducts fees from the sending amount first', () => {
    const price = priceOf({
      lock: 'SENDING',
      amount: 1000n,
      rate: par,
      service: { fixed: 0n, variableBps: 100 },
      platform: { fixed: 50n, variableBps: 30 },
    });
    expect(price).toMatchObject({ serviceFee: 10n, platformFee: 53n, net: 937n });
    expect(price && price.sending - price.net).toBe(63n);
  });

  it('adds variable and fixed fees to a locked receiving amount', () => {
    const service = { fixed: 30n, variableBps: 100 };
    const platform = { fixed: 20n, variableBps: 0 };
    const terms = { rate: { num: 92n, den: 100n }, service, platform };
    const price = priceOf({ ...terms, lock: 'RECEIVING', amount: 92_00n });
    // 92.00 / 0.92 is 100.00. 100.00 / 0.99 is 101.0101…. The fixed fees add 0.50.
    expect(price).toMatchObject({ sending: 101_52n, serviceFee: 131n, platformFee: 20n });
  });

  it('charges a fee of 10 bps of 50 and rounds the sending amount up', () => {
    const fee = { fixed: 0n, variableBps: 10 };
    const terms = { rate: par, service: fee, platform: noFees };
    const price = priceOf({ ...terms, lock: 'SENDING', amount: 50_00000000n });
    expect(price?.receiving).toBe(49_95000000n);
    const receivingPrice = priceOf({ ...terms, lock: 'RECEIVING', amount: 50_00000000n });
    expect(receivingPrice?.sending).toBe(50_05005006n); // 50.05005005… rounded up
    const centPrice = priceOf({ ...terms, lock: 'RECEIVING', amount: 50_00n });
    expect(centPrice).toMatchObject({ sending: 50_06n, serviceFee: 5n, receiving: 50_00n });
  });

  it('returns undefined if no amount remains after fees and conversion', () => {
    const fixedFee = { ...noFees, fixed: 100n };
    const terms = { rate: par, service: fixedFee, platform: noFees };
    expect(priceOf({ ...terms, lock: 'SENDING', amount: 100n })).toBeUndefined();
    expect(priceOf({ ...terms, lock: 'SENDING', amount: 99n })).toBeUndefined();
    const fullFeeTerms = {
      rate: par,
      service: { fixed: 0n, variableBps: 10_000 },
      platform: noFees,
    };
    expect(priceOf({ ...fullFeeTerms, lock: 'RECEIVING', amount: 1n })).toBeUndefined();
    const lowRateTerms = { rate: { num: 1n, den: 1000n }, service: noFees, platform: noFees };
    expect(priceOf({ ...lowRateTerms, lock: 'SENDING', amount: 999n })).toBeUndefined();
  });

  const terms = fc.record<Terms>({
    lock: fc.constantFrom('SENDING', 'RECEIVING'),
    amount: fc.bigInt({ min: 1n, max: 9_000_000_000_000_000n }),
    rate: fc.record({
      num: fc.bigInt({ min: 1n, max: 10n ** 12n }),
      den: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    }),
    service: fc.record({
      fixed: fc.bigInt({ min: 0n, max: 10_000n }),
      variableBps: fc.integer({ min: 0, max: 5000 }),
    }),
    platform: fc.record({
      fixed: fc.bigInt({ min: 0n, max: 10_000n }),
      variableBps: fc.integer({ min: 0, max: 4999 }),
    }),
  });

  it('has exact sums and delivers at most the value of a locked sending amount', () => {
    fc.assert(
      fc.property(terms, (input) => {
        const price = priceOf(input);
        if (!price) return;
        expect(price.net + price.serviceFee + price.platformFee).toBe(price.sending);
        const { rate, lock, amount } = input;
        expect(lock === 'SENDING' ? price.sending : price.receiving).toBe(amount);
        if (lock === 'RECEIVING') return;
        expect(price.receiving).toBe(divide(price.net * rate.num, rate.den, 'floor'));
      }),
      { numRuns: 2000 },
    );
  });

  it('charges the cost of the delivered amount plus fees, rounded up once', () => {
    fc.assert(
      fc.property(terms, ({ service, platform, ...input }) => {
        const price = priceOf({ ...input, service, platform, lock: 'RECEIVING' });
        if (!price) return;
        const { amount, rate } = input;
        const remainingBps = 10_000n - BigInt(service.variableBps + platform.variableBps);
        const base = price.sending - service.fixed - platform.fixed;
        // base × (1 - v) ≥ amount / rate, and one unit less is insufficient.
        const isSufficient = (candidate: bigint) =>
          candidate * remainingBps * rate.num >= amount * rate.den * 10_000n;
        expect([isSufficient(base), isSufficient(base - 1n)]).toEqual([true, false]);
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps the FX position within two units of the rate', () => {
    fc.assert(
      fc.property(terms, (input) => {
        const price = priceOf({ ...input, lock: 'RECEIVING' });
        if (!price) return;
        const { num, den } = input.rate;
        const remainder = price.net * num - price.receiving * den; // in units of 1 / num
        expect(remainder >= -num && remainder < 2n * num).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
