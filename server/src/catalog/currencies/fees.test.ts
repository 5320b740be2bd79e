// Service and platform fees of example payments.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calculateFees, NO_FEE, serviceFeeOf } from './fees.ts';

describe('serviceFeeOf', () => {
  it('returns 50 bps for an exchange, 10 bps between dollar assets, and zero for one currency', () => {
    expect(serviceFeeOf('USD', 'EUR').variableBps).toBe(50);
    expect(serviceFeeOf('USDC', 'USD').variableBps).toBe(10);
    expect(serviceFeeOf('USD', 'USD')).toEqual(NO_FEE);
  });

  it('results in a total fee of 5 dollars on 1,000 dollars to euros', () => {
    expect(calculateFees(100_000n, serviceFeeOf('USD', 'EUR')).total).toBe(500n);
  });
});

describe('calculateFees', () => {
  it('calculates a service fee of 1 % and a platform fee of 30 bps and 50 cents on 10 dollars', () => {
    const service = { fixed: 0n, variableBps: 100 };
    const platform = { fixed: 50n, variableBps: 30 };
    expect(calculateFees(1_000n, service, platform)).toEqual({
      fixed: 50n,
      serviceVariable: 10n,
      platformVariable: 3n,
      service: 10n,
      platform: 53n,
      total: 63n,
    });
  });

  it('returns no variable fees if the fixed fees exceed the amount', () => {
    expect(calculateFees(30n, NO_FEE, { fixed: 50n, variableBps: 100 }).total).toBe(50n);
  });

  it('returns a consistent total for any amount and schedule', () => {
    const schedule = fc.record({
      fixed: fc.bigInt({ min: 0n, max: 10_000n }),
      variableBps: fc.integer({ min: 0, max: 10_000 }),
    });
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), schedule, schedule, (amount, a, b) => {
        const fees = calculateFees(amount, a, b);
        expect(fees.service + fees.platform).toBe(fees.total);
        expect(fees.total).toBeGreaterThanOrEqual(fees.fixed);
      }),
    );
  });
});
