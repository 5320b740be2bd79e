// Limit for payments to unverified wallets: one thousand euros at the rates of the provider, and zero without
// rates.
import { describe, expect, it } from 'vitest';
import type { RatePort } from '../../../connectors/ports/index.ts';
import { needsProof } from '../pricing/limits.ts';

type Wallet = Parameters<typeof needsProof>[0];

const walletWith = (overrides: object = {}): Wallet => {
  const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const info = { accountType: 'ETHEREUM_WALLET', address, ...overrides };
  return { kind: 'external', currency: 'USDC', account: { info } } as unknown as Wallet;
};

/** One USDC is `num` / `den` euros. */
const ratePortWith = (num: bigint, den: bigint): RatePort => ({
  rate: async () => ({ rate: { num, den: den * 10_000n }, at: 0 }),
});

const UNITS_PER_USDC = 1_000_000n;
const usdc = (amount: bigint) => ({ currency: 'USDC', amount });

describe('needsProof', () => {
  it.each<[bigint, bigint, bigint, boolean]>([
    [1n, 1n, 1_000n, false],
    [1n, 1n, 1_001n, true],
    [1n, 2n, 2_000n, false],
    [1n, 2n, 2_001n, true],
    [2n, 1n, 500n, false],
    [2n, 1n, 501n, true],
  ])(
    'at %s/%s euros per USDC and for %s USDC returns %s',
    async (num, den, usdcAmount, isNeeded) => {
      expect(
        await needsProof(walletWith(), usdc(usdcAmount * UNITS_PER_USDC), ratePortWith(num, den)),
      ).toBe(isNeeded);
    },
  );

  it('is true without a rate, and false for a custodial wallet', async () => {
    const noRates: RatePort = { rate: async () => undefined };
    expect(await needsProof(walletWith(), usdc(1n), noRates)).toBe(true);
    expect(await needsProof(walletWith(), usdc(1n), undefined)).toBe(true);
    expect(await needsProof(walletWith({ vaspName: 'Kraken' }), usdc(1n), undefined)).toBe(false);
  });
});
