// The currencies and networks of real-time funding.
import { describe, expect, it } from 'vitest';
import { CURRENCIES, findCurrency } from '../currencies/currencies.ts';
import { PAY_IN_TYPES } from './payment-instructions.ts';
import { RAILS } from './rails.ts';
import { REALTIME_FIAT, realtimeFundingOf } from './realtime.ts';

describe('realtimeFundingOf', () => {
  it('returns no network for a fiat currency, and undefined for an unsupported currency', () => {
    expect(realtimeFundingOf('USD')).toEqual({
      isCrypto: false,
      networks: [],
      payInTypes: ['USD_ACCOUNT'],
      ttlMs: 900_000,
    });
    for (const code of ['KES', 'JPY', 'XYZ', '']) expect(realtimeFundingOf(code)).toBeUndefined();
  });

  it.each([
    ['USDC', undefined, [], 300_000],
    ['USDC', 'SOLANA', ['SOLANA_WALLET'], 300_000],
    ['USDC', 'TRON', [], 300_000],
    ['USDT', 'PLASMA', ['PLASMA_WALLET'], 300_000],
    ['USDB', 'SPARK', ['SPARK_WALLET'], 300_000],
    ['BTC', 'SPARK', ['SPARK_WALLET'], 300_000],
    ['BTC', 'LIGHTNING', ['LIGHTNING'], 120_000],
    ['BTC', 'BITCOIN', ['BITCOIN_L1'], 900_000],
  ])('returns for %s over %s the types %j and %d ms', (currency, network, payInTypes, ttlMs) => {
    expect(realtimeFundingOf(currency, network)).toMatchObject({
      isCrypto: true,
      payInTypes,
      ttlMs,
    });
  });

  it('returns the networks of each digital asset', () => {
    const networks = (code: string) => realtimeFundingOf(code)?.networks;
    expect(networks('USDC')).toEqual(['SOLANA', 'BASE', 'POLYGON', 'ETHEREUM']);
    expect(networks('USDT')).toEqual(['TRON', 'ETHEREUM', 'SOLANA', 'PLASMA']);
    expect(networks('BTC')).toEqual(['SPARK', 'LIGHTNING', 'BITCOIN']);
    expect(networks('USDB')).toEqual(['SPARK']);
    for (const { code, kind } of CURRENCIES) {
      if (kind === 'crypto') expect(networks(code)?.length, code).toBeGreaterThan(0);
    }
  });

  it('returns existing pay-in types and only instant rails for fiat currencies', () => {
    for (const [code, { payInType, rails }] of Object.entries(REALTIME_FIAT)) {
      expect(findCurrency(code)?.kind).toBe('fiat');
      expect(PAY_IN_TYPES).toContain(payInType);
      for (const rail of rails) expect(RAILS[rail].instant, rail).toBe(true);
    }
  });
});
