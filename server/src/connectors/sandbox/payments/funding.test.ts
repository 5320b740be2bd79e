// Generated account details pass the checks of the catalog for real account details.
import { bech32m } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAbaRouting, isClabe, isIban } from '../../../catalog/accounts/checks.ts';
import {
  isEvmAddress,
  isSolanaAddress,
  isSparkAddress,
  isTronAddress,
} from '../../../catalog/crypto/addresses.ts';
import { clabeOf, crc16, ibanOf } from './account-details.ts';
import { sandboxFunding } from './funding.ts';

const accountInfosOf = (accountId: string, currency: string) =>
  sandboxFunding
    .instructions({ accountId, currency, owner: 'customer' })
    .map((each) => each.accountOrWalletInfo as Record<string, string>);

const CHECKS: Record<string, (info: Record<string, string>) => boolean> = {
  USD_ACCOUNT: (info) =>
    isAbaRouting(info.routingNumber ?? '') && /^\d{14}$/.test(info.accountNumber ?? ''),
  EUR_ACCOUNT: (info) => isIban(info.iban ?? ''),
  GBP_ACCOUNT: (info) =>
    /^\d{6}$/.test(info.sortCode ?? '') && /^\d{8}$/.test(info.accountNumber ?? ''),
  MXN_ACCOUNT: (info) => isClabe(info.clabeNumber ?? ''),
  BRL_ACCOUNT: ({ qrCode = '' }) => crc16(qrCode.slice(0, -4)) === qrCode.slice(-4),
  SPARK_WALLET: (info) => isSparkAddress(info.address ?? '', 'regtest'),
  BITCOIN_L1: ({ address = '' }) =>
    bech32m.decode(address as `${string}1${string}`).words.length === 53,
  SOLANA_WALLET: (info) => isSolanaAddress(info.address ?? ''),
  TRON_WALLET: (info) => isTronAddress(info.address ?? ''),
};

const isEvmWallet = (info: Record<string, string>) => isEvmAddress(info.address ?? '');

describe('sandboxFunding', () => {
  const currencies = ['USD', 'EUR', 'GBP', 'MXN', 'BRL', 'BTC', 'USDB', 'USDC', 'USDT'];

  it('returns valid account details for any account', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.constantFrom(...currencies), (uuid, currency) => {
        const accountInfos = accountInfosOf(`InternalAccount:${uuid}`, currency);
        expect(accountInfos.length).toBeGreaterThan(0);
        for (const info of accountInfos) {
          const isValid = CHECKS[info.accountType ?? ''] ?? isEvmWallet;
          expect(isValid(info), JSON.stringify(info)).toBe(true);
        }
      }),
    );
  });

  it('returns the same details for one account and different details for another', () => {
    for (const currency of currencies) {
      expect(accountInfosOf('InternalAccount:a', currency)).toEqual(
        accountInfosOf('InternalAccount:a', currency),
      );
      const [firstDetails, secondDetails] = [
        accountInfosOf('InternalAccount:a', currency),
        accountInfosOf('InternalAccount:b', currency),
      ];
      for (const [index, info] of firstDetails.entries())
        expect(info).not.toEqual(secondDetails[index]);
    }
  });

  it('returns no instructions for a currency without deposits', () => {
    expect(accountInfosOf('InternalAccount:a', 'NGN')).toEqual([]);
  });

  it('distinguishes platform accounts from customer accounts', () => {
    const isPlatformAccountOf = (owner: 'customer' | 'platform') =>
      sandboxFunding.instructions({ accountId: 'x', currency: 'USD', owner })[0]?.isPlatformAccount;
    expect([isPlatformAccountOf('customer'), isPlatformAccountOf('platform')]).toEqual([
      false,
      true,
    ]);
  });
});

describe('check digits', () => {
  it('match published examples', () => {
    expect(ibanOf('LU', '0019400644750000')).toBe('LU280019400644750000');
    expect(ibanOf('DE', '370400440532013000')).toBe('DE89370400440532013000');
    expect(clabeOf('00201007777777777')).toBe('002010077777777771');
    expect(crc16('123456789')).toBe('29B1');
  });
});
