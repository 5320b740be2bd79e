// The table of networks, compared with the account types, and its address formats.
import { describe, expect, it } from 'vitest';
import { ACCOUNT_TYPE_ROWS } from '../accounts/account-types.ts';
import { findCurrency } from '../currencies/currencies.ts';
import { NETWORKS, WITHDRAWAL_NETWORKS } from './crypto-networks.ts';

const networks = Object.entries(NETWORKS);

describe('networks', () => {
  it('support the digital assets of their account types', () => {
    const accountTypes = Object.entries(ACCOUNT_TYPE_ROWS);
    for (const [name, { currencies }] of networks) {
      for (const code of currencies) expect(findCurrency(code)?.kind).toBe('crypto');
      const accountTypeEntry = accountTypes.find(
        ([type, row]) => row.network === name || type === name,
      );
      if (accountTypeEntry)
        expect([name, [...accountTypeEntry[1].currencies].sort()]).toEqual([
          name,
          [...currencies].sort(),
        ]);
    }
    expect(networks).toHaveLength(WITHDRAWAL_NETWORKS.length);
  });

  it('have the price of their fee asset, unless it is a currency', () => {
    for (const [name, { feeAsset, fee, price }] of networks) {
      expect([name, price === undefined]).toEqual([name, findCurrency(feeAsset) !== undefined]);
      expect(fee).toBeLessThanOrEqual(9_000_000_000_000_000n);
      // Typical fees are below ten dollars.
      if (price) expect((fee * price.num) / price.den).toBeLessThan(10_00n);
    }
  });
});

describe('addresses', () => {
  const EVM_ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const BITCOIN_ADDRESS = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';

  it('of one network are invalid on another', () => {
    expect(NETWORKS.BASE.isAddress(EVM_ADDRESS, true)).toBe(true);
    expect(NETWORKS.BITCOIN.isAddress(BITCOIN_ADDRESS, true)).toBe(true);
    expect(NETWORKS.SOLANA.isAddress(EVM_ADDRESS, false)).toBe(false);
    expect(NETWORKS.BITCOIN.isAddress(EVM_ADDRESS, false)).toBe(false);
    expect(NETWORKS.ETHEREUM.isAddress(BITCOIN_ADDRESS, false)).toBe(false);
    expect(NETWORKS.LIGHTNING.isAddress('ada@wallet.example', true)).toBe(true);
    expect(NETWORKS.LIGHTNING.isAddress(BITCOIN_ADDRESS, false)).toBe(false);
  });
});
