// Estimates of withdrawal fees.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createCustomer,
  findInternalAccount,
  fundAccount,
  ok,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';

const EVM_ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const SOLANA_ADDRESS = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const BITCOIN_ADDRESS = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const TRON_ADDRESS = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const SPARK_ADDRESS = `sparkrt1${'q'.repeat(40)}`;

const app = testApp();
const accounts: Record<string, string> = {};
beforeAll(async () => {
  const person = await createCustomer(app);
  for (const currency of ['USDC', 'USDT', 'USDB', 'BTC', 'USD']) {
    accounts[currency] = (await findInternalAccount(app, person.id, currency)).id;
  }
});

const estimateBody = (overrides: object = {}) => ({
  internalAccountId: accounts.USDC,
  currency: 'USDC',
  cryptoNetwork: 'SOLANA',
  amount: 1_000_000,
  destinationAddress: SOLANA_ADDRESS,
  ...overrides,
});
const estimate = (overrides: object = {}, platform: TestPlatform = app.platform) =>
  app.call('POST', '/crypto/estimate-withdrawal-fee', estimateBody(overrides), { platform });

describe('estimateCryptoWithdrawalFee', () => {
  it.each([
    // 5,000 lamports at 150 dollars per billion.
    ['SOLANA', 'USDC', SOLANA_ADDRESS, 'SOL', 5_000, 750],
    ['SOLANA', 'USDT', SOLANA_ADDRESS, 'SOL', 5_000, 750],
    ['ETHEREUM', 'USDC', EVM_ADDRESS, 'ETH', 325_000_000_000_000, 1_137_500],
    ['BASE', 'USDC', EVM_ADDRESS, 'ETH', 650_000_000_000, 2_275],
    // 487.5 minor units, rounded up.
    ['POLYGON', 'USDC', EVM_ADDRESS, 'POL', 1_950_000_000_000_000, 488],
    ['PLASMA', 'USDT', EVM_ADDRESS, 'XPL', 65_000_000_000_000, 33],
    ['TRON', 'USDT', TRON_ADDRESS, 'TRX', 13_500_000, 4_050_000],
    ['SPARK', 'BTC', SPARK_ADDRESS, 'BTC', 0, 0],
    ['SPARK', 'USDB', SPARK_ADDRESS, 'BTC', 0, 0],
    ['LIGHTNING', 'BTC', 'ada@wallet.example', 'BTC', 10, 10],
    ['BITCOIN', 'BTC', BITCOIN_ADDRESS, 'BTC', 705, 705],
  ])(
    'estimates the fees on %s in %s',
    async (cryptoNetwork, currency, destinationAddress, asset, fee, total) => {
      const amount = 10_000_000;
      const internalAccountId = accounts[currency];
      const request = { internalAccountId, currency, cryptoNetwork, amount, destinationAddress };
      expect(ok(await estimate(request), 200)).toEqual({
        networkFee: fee,
        networkFeeAsset: asset,
        applicationFee: 0,
        totalFee: total,
        netAmount: amount - total,
      });
    },
  );

  it('creates no hold and no event', async () => {
    const { USDC } = accounts as { USDC: string };
    await fundAccount(app, USDC, 2_000_000);
    const emittedEventsBefore = await app.events();
    ok(await estimate(), 200);
    expect(await readBalances(app, USDC)).toEqual({ balance: 2_000_000, total: 2_000_000 });
    expect(await app.events()).toHaveLength(emittedEventsBefore.length);
  });

  it('rejects an amount that does not exceed the fees', async () => {
    const response = await estimate({ amount: 750 });
    expect([response.status, response.body.code]).toEqual([400, 'AMOUNT_OUT_OF_RANGE']);
    expect(response.body.details).toEqual({ min: 751 });
    expect(ok(await estimate({ amount: 751 }), 200).netAmount).toBe(1);
  });

  it('reports every invalid field in one response', async () => {
    const readErrorFields = async (overrides: object) => {
      const response = await estimate(overrides);
      expect([response.status, response.body.code]).toEqual([400, 'INVALID_INPUT']);
      return response.body.details.errors.map((each: { field: string }) => each.field).sort();
    };
    expect(await readErrorFields({ amount: 0, cryptoNetwork: 'BASE', currency: 'USDT' })).toEqual([
      'amount',
      'currency',
      'destinationAddress',
    ]);
    expect(await readErrorFields({ cryptoNetwork: 'DOGECOIN' })).toEqual(['cryptoNetwork']);
    expect(await readErrorFields({ amount: 1.5 })).toEqual(['amount']);
    expect(await readErrorFields({ currency: 'USD' })).toEqual(['currency']);
    const emptyBody = Object.fromEntries(
      Object.keys(estimateBody()).map((key) => [key, undefined]),
    );
    expect(await readErrorFields(emptyBody)).toEqual(Object.keys(estimateBody()).sort());
  });

  it('rejects a currency other than the currency of the account', async () => {
    const response = await estimate({ internalAccountId: accounts.USDT });
    expect([response.status, response.body.code]).toEqual([400, 'INVALID_CURRENCY']);
    expect(response.body.details.errors[0].field).toBe('currency');
    const fiatResponse = await estimate({ internalAccountId: accounts.USD });
    expect(fiatResponse.body.code).toBe('INVALID_CURRENCY');
  });

  it('accepts accounts of the caller only', async () => {
    const otherPlatformAccount = await findInternalAccount(app, null, 'USDC', {
      platform: app.other,
    });
    for (const internalAccountId of [
      otherPlatformAccount.id,
      'unknown',
      `InternalAccount:${'0'.repeat(36)}`,
    ]) {
      const response = await estimate({ internalAccountId });
      expect([response.status, response.body.code]).toEqual([404, 'ACCOUNT_NOT_FOUND']);
    }
  });

  it('validates the checksum in production, where no network provides fees yet', async () => {
    const platformAccount = await findInternalAccount(app, null, 'USDC', {
      platform: app.production,
    });
    const request = { internalAccountId: platformAccount.id, cryptoNetwork: 'BASE' };
    const invalidAddress = EVM_ADDRESS.replace('5aAeb', '5AAeb');
    const invalidResponse = await estimate(
      { ...request, destinationAddress: invalidAddress },
      app.production,
    );
    expect([invalidResponse.status, invalidResponse.body.code]).toEqual([400, 'INVALID_INPUT']);
    const validResponse = await estimate(
      { ...request, destinationAddress: EVM_ADDRESS },
      app.production,
    );
    expect([validResponse.status, validResponse.body.code]).toEqual([501, 'NOT_IMPLEMENTED']);
    const sandboxResponse = await estimate({
      cryptoNetwork: 'BASE',
      destinationAddress: invalidAddress,
    });
    expect(sandboxResponse.status).toBe(200);
  });
});
