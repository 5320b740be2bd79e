// Wallets and beneficiaries of the examples of account types.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  bitcoinWallet,
  evmWallet,
  solanaWallet,
  sparkWallet,
  tronWallet,
} from '../../../test/kit/wallets/chain-wallets.ts';
import { evmChecksumAddress } from '../crypto/addresses.ts';
import { exampleOf } from './account-examples.ts';
import { beneficiaryNameOf, sandboxSuffixOf } from './account-info.ts';
import { ACCOUNT_TYPES, type AccountType } from './account-types.ts';

interface Person {
  countryOfResidence: string;
  address?: { country: string };
}

describe('examples of account types', () => {
  it('have the addresses of wallets whose secret is derived from a text', () => {
    const seed = createHash('sha256').update('Railhead example wallet').digest();
    const secret = BigInt(`0x${seed.toString('hex')}`);
    const addressOf = (type: AccountType) => exampleOf(type).address;
    for (const type of ['BASE', 'ETHEREUM', 'POLYGON', 'PLASMA', 'ARBITRUM'] as const)
      expect(addressOf(`${type}_WALLET`)).toBe(evmChecksumAddress(evmWallet(secret).address));
    expect(addressOf('SOLANA_WALLET')).toBe(solanaWallet(seed).address);
    expect(addressOf('SPARK_WALLET')).toBe(sparkWallet(secret, 'spark').address);
    expect(addressOf('TRON_WALLET')).toBe(tronWallet(secret).address);
    expect(addressOf('BITCOIN_L1')).toBe(bitcoinWallet(secret).segwit);
  });

  it('have different beneficiaries, whose addresses are in the country of residence', () => {
    const names = ACCOUNT_TYPES.flatMap((type) => beneficiaryNameOf(exampleOf(type)) ?? []);
    expect(names.length).toBeGreaterThan(40);
    expect(new Set(names).size).toBe(names.length);
    for (const type of ['AED_ACCOUNT', 'JMD_ACCOUNT'] as const) {
      const { address, countryOfResidence } = exampleOf(type).beneficiary as Person;
      expect(address?.country).toBe(countryOfResidence);
      expect(type.startsWith(countryOfResidence)).toBe(true);
    }
  });

  it('have no suffix with which the sandbox simulates a failure', () => {
    const suffixes = ACCOUNT_TYPES.map((type) => sandboxSuffixOf(exampleOf(type)));
    expect(suffixes.filter((suffix) => /^00[2-7]$/.test(suffix))).toEqual([]);
  });
});
