// Network fees are charged exactly as estimated: on transfers, on quotes with either locked side,
// and across currencies. Refunds include network fees. Payments to banks and over chains without
// known fees have no network fee.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';

const EVM_ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const SOLANA_ADDRESS = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const FULL_BALANCE = 50_000_000;
const SENT_AMOUNT = 10_000_000;

const app = testApp();
let person: { id: string };
beforeAll(async () => {
  person = await createCustomer(app);
});

const accountOf = (currency: string) => findInternalAccount(app, person.id, currency);

/** Registers an external wallet and returns its ID. */
async function registerWallet(
  accountType: string,
  currency: string,
  details: object,
): Promise<string> {
  const accountInfo = { accountType, ...details };
  const body = { customerId: person.id, currency, accountInfo };
  return ok(await app.call('POST', '/customers/external-accounts', body), 201).id;
}

const transfer = (from: string, to: string, amount: number) =>
  app.call('POST', '/transfer-out', {
    source: { accountId: from },
    destination: { accountId: to },
    amount,
  });

const createQuote = (from: string, to: string, amount: number, overrides: object = {}) =>
  app.call('POST', '/quotes', quoteBody(from, to, amount, overrides));

const postingsOf = async (id: string): Promise<string[]> => {
  const rows = await app.runtime.db.query(
    'select phase, step, amount from ledger_transfers where transaction_id = $1',
    [id],
  );
  return rows.map(({ phase, step, amount }) => `${phase} ${step} ${amount}`).sort();
};

describe('network fee', () => {
  it.each([
    ['SOLANA', 'USDC', 'SOLANA_WALLET', SOLANA_ADDRESS, 750],
    ['SOLANA', 'USDT', 'SOLANA_WALLET', SOLANA_ADDRESS, 750],
    ['ETHEREUM', 'USDC', 'ETHEREUM_WALLET', EVM_ADDRESS, 1_137_500],
    ['ETHEREUM', 'USDT', 'ETHEREUM_WALLET', EVM_ADDRESS, 1_137_500],
    ['BASE', 'USDC', 'BASE_WALLET', EVM_ADDRESS, 2_275],
    ['POLYGON', 'USDC', 'POLYGON_WALLET', EVM_ADDRESS, 488],
    ['PLASMA', 'USDT', 'PLASMA_WALLET', EVM_ADDRESS, 33],
    ['TRON', 'USDT', 'TRON_WALLET', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 4_050_000],
    ['SPARK', 'BTC', 'SPARK_WALLET', `sparkrt1${'q'.repeat(40)}`, 0],
    ['SPARK', 'USDB', 'SPARK_WALLET', `sparkrt1${'q'.repeat(40)}`, 0],
    ['LIGHTNING', 'BTC', 'LIGHTNING', 'ada@wallet.example', 10],
    ['BITCOIN', 'BTC', 'BITCOIN_L1', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 705],
  ])('on %s in %s is charged as estimated', async (cryptoNetwork, currency, type, address, fee) => {
    const { id: from } = await accountOf(currency);
    const key = type === 'LIGHTNING' ? 'lightningAddress' : 'address';
    const to = await registerWallet(type, currency, { [key]: address });
    await fundAccount(app, from, FULL_BALANCE);
    const balanceBefore = (await readBalances(app, from)).total;
    const request = { internalAccountId: from, currency, cryptoNetwork, amount: SENT_AMOUNT };
    const body = { ...request, destinationAddress: address };
    const estimate = ok(await app.call('POST', '/crypto/estimate-withdrawal-fee', body), 200);
    expect([estimate.totalFee, estimate.netAmount]).toEqual([fee, SENT_AMOUNT - fee]);

    const payment = ok(await transfer(from, to, SENT_AMOUNT), 201);
    expect(payment.sentAmount.amount).toBe(SENT_AMOUNT);
    expect(payment.receivedAmount.amount).toBe(estimate.netAmount);
    expect(payment.fees).toBe(estimate.totalFee);
    await app.settle();
    const completedTransaction = ok(await app.call('GET', `/transactions/${payment.id}`), 200);
    expect([completedTransaction.status, completedTransaction.fees]).toEqual([
      'COMPLETED',
      estimate.totalFee,
    ]);
    expect((await readBalances(app, from)).total).toBe(balanceBefore - SENT_AMOUNT);
    const feePostings = fee ? [`pending fee.service ${fee}`, `post fee.service! ${fee}`] : [];
    expect(await postingsOf(payment.id)).toEqual(
      [
        ...feePostings,
        `pending pay ${estimate.netAmount}`,
        `post pay! ${estimate.netAmount}`,
        `posted settle ${estimate.netAmount}`,
      ].sort(),
    );

    expect(ok(await createQuote(from, to, SENT_AMOUNT), 201)).toMatchObject({
      totalSendingAmount: SENT_AMOUNT,
      totalReceivingAmount: estimate.netAmount,
      feesIncluded: estimate.totalFee,
      exchangeRate: 1,
      rateDetails: { serviceApiFixedFee: fee, serviceApiVariableFeeAmount: 0 },
    });
    const lockedResponse = await createQuote(from, to, SENT_AMOUNT, {
      lockedCurrencySide: 'RECEIVING',
    });
    expect(ok(lockedResponse, 201)).toMatchObject({
      totalSendingAmount: SENT_AMOUNT + fee,
      totalReceivingAmount: SENT_AMOUNT,
      feesIncluded: fee,
    });
  });

  it('is converted to the sending currency, in addition to the exchange fee', async () => {
    const { id: from } = await accountOf('USD');
    const ethereumWalletId = await registerWallet('ETHEREUM_WALLET', 'USDC', {
      address: `0x${'d'.repeat(40)}`,
    });
    // 113.75 cents, rounded up. 0.1 % of 98.86 dollars is 9.886 cents.
    expect(ok(await createQuote(from, ethereumWalletId, 100_00), 201)).toMatchObject({
      feesIncluded: 124,
      rateDetails: { serviceApiFixedFee: 114, serviceApiVariableFeeAmount: 10 },
    });
    const receivingLock = { lockedCurrencySide: 'RECEIVING' };
    const lockedQuote = ok(
      await createQuote(from, ethereumWalletId, 98_760_000, receivingLock),
      201,
    );
    expect(lockedQuote).toMatchObject({ totalReceivingAmount: 98_760_000, feesIncluded: 124 });
    expect(lockedQuote.totalSendingAmount).toBe(100_00);
  });

  it('is refunded with the payment', async () => {
    const { id: from } = await accountOf('USDC');
    await fundAccount(app, from, FULL_BALANCE);
    const balancesBefore = await readBalances(app, from);
    for (const [suffix, startPayment] of [
      ['005', transfer],
      [
        '004',
        (a: string, b: string) => createQuote(a, b, SENT_AMOUNT, { immediatelyExecute: true }),
      ],
    ] as const) {
      const address = `0x${'b'.repeat(37)}${suffix}`;
      const to = await registerWallet('BASE_WALLET', 'USDC', { address });
      const { id, transactionId = id } = ok(await startPayment(from, to, SENT_AMOUNT), 201);
      await app.advance(60_000);
      const payment = ok(await app.call('GET', `/transactions/${transactionId}`), 200);
      expect([payment.status, payment.refund.status]).toEqual(['FAILED', 'COMPLETED']);
      expect(await readBalances(app, from)).toEqual(balancesBefore);
      expect(await postingsOf(transactionId)).toContain('posted refund.fee.service 2275');
    }
  });

  it('must be less than the amount', async () => {
    const { id: from } = await accountOf('USDT');
    await fundAccount(app, from, FULL_BALANCE);
    const to = await registerWallet('ETHEREUM_WALLET', 'USDT', { address: `0x${'c'.repeat(40)}` });
    for (const response of [
      await transfer(from, to, 1_137_500),
      await createQuote(from, to, 1_137_500),
    ]) {
      expect([response.status, response.body.code]).toEqual([400, 'AMOUNT_OUT_OF_RANGE']);
    }
    expect(ok(await transfer(from, to, 1_137_501), 201).receivedAmount.amount).toBe(1);
  });
});

describe('network fee of zero', () => {
  it('applies to a bank, and to a chain without a known fee', async () => {
    const { id: usd } = await accountOf('USD');
    const { id: usdc } = await accountOf('USDC');
    await fundAccount(app, usd, 100_00);
    await fundAccount(app, usdc, FULL_BALANCE);
    const bank = await createExternalAccount(app, person.id, 'USD');
    const arbitrumWalletId = await registerWallet('ARBITRUM_WALLET', 'USDC', {
      address: EVM_ADDRESS,
    });
    for (const [from, to] of [
      [usd, bank.id],
      [usdc, arbitrumWalletId],
    ] as const) {
      const payment = ok(await transfer(from, to, 100_00), 201);
      expect([payment.receivedAmount.amount, payment.fees]).toEqual([100_00, 0]);
      expect(payment).not.toHaveProperty('rateDetails');
    }
  });

  it('applies without a connector that provides network fees', async () => {
    const platform = app.production;
    const platformAccount = await findInternalAccount(app, null, 'USDC', { platform });
    const accountInfo = { accountType: 'BASE_WALLET', address: EVM_ADDRESS, vaspName: 'Kraken' };
    const body = { currency: 'USDC', accountInfo };
    const wallet = ok(
      await app.call('POST', '/platform/external-accounts', body, { platform }),
      201,
    );
    const request = quoteBody(platformAccount.id, wallet.id, SENT_AMOUNT);
    expect(ok(await app.call('POST', '/quotes', request, { platform }), 201)).toMatchObject({
      feesIncluded: 0,
      totalReceivingAmount: SENT_AMOUNT,
    });
  });
});
