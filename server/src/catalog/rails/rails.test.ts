// Properties of the rails, and the choice of the rail of a payment.
import { describe, expect, it } from 'vitest';
import { chooseRail, isRail, PAYMENT_RAILS, RAILS } from './rails.ts';

describe('rails', () => {
  it('each have a settlement time, and are instant up to 60 seconds', () => {
    expect(Object.keys(RAILS).sort()).toEqual([...PAYMENT_RAILS].sort());
    for (const rail of Object.values(RAILS)) {
      expect(rail.settlementSeconds).toBeGreaterThan(0);
      expect(rail.instant).toBe(rail.settlementSeconds <= 60);
    }
    expect([isRail('PIX'), isRail('pix'), isRail('toString')]).toEqual([true, false, false]);
  });

  it('allow cancellation only for ACH and wire', () => {
    expect(PAYMENT_RAILS.filter((rail) => RAILS[rail].cancellable)).toEqual(['ACH', 'WIRE']);
    expect(RAILS.ACH.settlementSeconds).toBe(86_400);
  });
});

describe('chooseRail', () => {
  it('returns the cheapest instant rail, or else the cheapest rail', () => {
    expect(chooseRail(['ACH', 'WIRE', 'RTP', 'FEDNOW'])).toBe('RTP');
    expect(chooseRail(['SEPA', 'SEPA_INSTANT'])).toBe('SEPA_INSTANT');
    expect(chooseRail(['WIRE', 'ACH'])).toBe('ACH');
    expect(chooseRail(['BANK_TRANSFER'])).toBe('BANK_TRANSFER');
    expect(chooseRail([])).toBeUndefined();
  });

  it('excludes rails that are not allowed, and preserves the order of its input', () => {
    const rails = ['ACH', 'WIRE', 'RTP'] as const;
    expect(chooseRail(rails, (rail) => RAILS[rail].maxUsd > 10_000_000n)).toBe('WIRE');
    expect(rails).toEqual(['ACH', 'WIRE', 'RTP']);
  });
});
