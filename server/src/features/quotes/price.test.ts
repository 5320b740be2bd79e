import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { divide } from '../../kernel/money.ts';
import { exchangeRate, priceOf, type Terms } from './price.ts';

const none = { fixed: 0n, variableBps: 0 };
const par = { num: 1n, den: 1n };

describe('exchangeRate', () => {
  const rate = (sending: bigint, fee: bigint, receiving: bigint, decimals: number) =>
    exchangeRate({ net: sending - fee, receiving }, { sending: 2, receiving: decimals });

  it('is sending over receiving in whole units', () => {
    expect(rate(100000n, 500n, 828835n, 8)).toBe('120048.01920768');
    expect(rate(100000n, 500n, 91540n, 2)).toBe('1.08695652');
    expect(rate(100000n, 500n, 1716375n, 2)).toBe('0.05797101');
    expect(rate(100n, 0n, 100n, 2)).toBe('1');
  });
});

describe('priceOf', () => {
  it('takes fees out of the sending amount first', () => {
    const price = priceOf({
      lock: 'SENDING',
      amount: 1000n,
      rate: par,
      service: { fixed: 0n, variableBps: 100 },
      platform: { fixed: 50n, variableBps: 30 },
    });
    expect(price).toMatchObject({ serviceFee: 10n, platformFee: 53n, net: 937n });
  });

  it('takes 10 bps of 50', () => {
    const fee = { fixed: 0n, variableBps: 10 };
    const terms = { rate: par, service: fee, platform: none };
    const sent = priceOf({ ...terms, lock: 'SENDING', amount: 50_00000000n });
    expect(sent?.receiving).toBe(49_95000000n);
    const received = priceOf({ ...terms, lock: 'RECEIVING', amount: 50_00000000n });
    expect(received?.sending).toBe(50_05005006n); // 50.05005005… rounded up
  });

  it('has no price when fees leave nothing', () => {
    const fixed = { ...none, fixed: 100n };
    const terms = { rate: par, service: fixed, platform: none };
    expect(priceOf({ ...terms, lock: 'SENDING', amount: 100n })).toBeUndefined();
    expect(priceOf({ ...terms, lock: 'SENDING', amount: 99n })).toBeUndefined();
    const all = { rate: par, service: { fixed: 0n, variableBps: 10_000 }, platform: none };
    expect(priceOf({ ...all, lock: 'RECEIVING', amount: 1n })).toBeUndefined();
    const tiny = { rate: { num: 1n, den: 1000n }, service: none, platform: none };
    expect(priceOf({ ...tiny, lock: 'SENDING', amount: 999n })).toBeUndefined();
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

  it('adds up to the unit and never delivers more than it took', () => {
    fc.assert(
      fc.property(terms, (given) => {
        const price = priceOf(given);
        if (!price) return;
        expect(price.net + price.serviceFee + price.platformFee).toBe(price.sending);
        const { rate, lock, amount } = given;
        expect(price.receiving * rate.den).toBeLessThanOrEqual(price.net * rate.num);
        expect(lock === 'SENDING' ? price.sending : price.receiving).toBe(amount);
      }),
      { numRuns: 2000 },
    );
  });

  it('asks for the amount that delivers, rounded up, and at most one unit for the fees', () => {
    fc.assert(
      fc.property(terms, ({ service, platform, ...given }) => {
        const price = priceOf({ ...given, service, platform, lock: 'RECEIVING' });
        if (!price) return;
        const net = divide(given.amount * given.rate.den, given.rate.num, 'ceil');
        const left = 10_000n - BigInt(service.variableBps + platform.variableBps);
        const base = divide(net * 10_000n, left, 'ceil');
        const asked = price.sending - service.fixed - platform.fixed;
        expect([base, base + 1n, base + 2n]).toContain(asked);
      }),
      { numRuns: 2000 },
    );
  });
});
