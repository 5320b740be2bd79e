// The platform fee: default and override, in one or two currencies, its credit and refund, and payments of
// the platform from its fee account.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createExternalAccount,
  createFundedCustomer,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';

const app = testApp();
let platform: TestPlatform;
let options: { platform: TestPlatform };
let platformAccount: { id: string };
beforeAll(async () => {
  platform = await app.newPlatform('Charging');
  options = { platform };
  platformAccount = await findInternalAccount(app, null, 'USD', options);
  const feeConfigs = [
    {
      feeType: 'CROSS_CURRENCY_TRANSACTION',
      sourceCurrency: 'USD',
      variableFeeBps: 30,
      fixedFee: { amount: 50, currency: 'USD' },
    },
  ];
  ok(await app.call('PATCH', '/config', { feeConfigs }, options), 200);
});

const feeOverride = (amount: number, bps: number, currency = 'USD') => ({
  platformFeeOverride: {
    platformFixedFee: { amount, currency },
    platformVariableFeeBps: bps,
  },
});

async function createQuote(from: string, to: string, amount: number, overrides: object = {}) {
  return ok(
    await app.call('POST', '/quotes', quoteBody(from, to, amount, overrides), options),
    201,
  );
}

const execute = async (id: string) =>
  ok(await app.call('POST', `/quotes/${id}/execute`, undefined, options), 200);
const getTransaction = async (id: string) =>
  ok(await app.call('GET', `/transactions/${id}`, undefined, options), 200);
const totalBalanceOf = async (id: string) => (await readBalances(app, id, options)).total;

/** Balance events after the first `eventCountBefore` events, as account, balance and held amount. */
async function readBalanceEvents(eventCountBefore: number) {
  const emittedEvents = (await app.events()).slice(eventCountBefore);
  return emittedEvents
    .filter((each) => each.type === 'INTERNAL_ACCOUNT.BALANCE_UPDATED')
    .map((each) => [each.subject, Number(each.balance), Number(each.held)]);
}

describe('platform fee', () => {
  it('is deducted from the sending amount and included in every status', async () => {
    const { person, account } = await createFundedCustomer(app, 1_000_00, options);
    const target = await createExternalAccount(app, person.id, 'EUR', '005', options);
    const quote = await createQuote(account.id, target.id, 100_00);
    // The platform fee is 0.50 plus 0.30 % of 99.50 (29.85 cents). The service fee is 0.50 % of 99.50
    // (49.75 cents).
    expect(quote).toMatchObject({ platformFeesIncluded: 80, feesIncluded: 130 });
    const totalBefore = await totalBalanceOf(platformAccount.id);
    const readFees = async () => {
      const { platformFees, fees, status } = await getTransaction(quote.transactionId);
      return [status, platformFees, fees];
    };
    expect(await readFees()).toEqual(['PENDING', 80, 130]);
    await execute(quote.id);
    expect(await readFees()).toEqual(['PROCESSING', 80, 130]);
    expect(await totalBalanceOf(platformAccount.id)).toBe(totalBefore);
    await app.settle();
    expect(await readFees()).toEqual(['COMPLETED', 80, 130]);
    expect(await totalBalanceOf(platformAccount.id)).toBe(totalBefore + 80);
    await app.advance(60_000);
    expect(await readFees()).toEqual(['FAILED', 80, 130]);
    expect(await totalBalanceOf(platformAccount.id)).toBe(totalBefore);
  });

  it('is not charged in one currency by default', async () => {
    const { person, account } = await createFundedCustomer(app, 1_000_00, options);
    const target = await createExternalAccount(app, person.id, 'USD', '000', options);
    expect(await createQuote(account.id, target.id, 100_00)).toMatchObject({ feesIncluded: 0 });
    const quote = await createQuote(account.id, target.id, 100_00, feeOverride(25, 100));
    expect(quote).toMatchObject({
      exchangeRate: 1,
      feesIncluded: 125,
      platformFeesIncluded: 125,
      totalReceivingAmount: 98_75,
    });
    const totalBefore = await totalBalanceOf(platformAccount.id);
    await execute(quote.id);
    await app.settle();
    expect(await totalBalanceOf(platformAccount.id)).toBe(totalBefore + 125);
    expect(await totalBalanceOf(account.id)).toBe(900_00);
    const lockedQuote = await createQuote(account.id, target.id, 100_00, {
      ...feeOverride(25, 100),
      lockedCurrencySide: 'RECEIVING',
    });
    // 0.25 + 100.00 / 0.99 is 101.2601…, rounded up.
    expect(lockedQuote).toMatchObject({
      totalSendingAmount: 101_27,
      totalReceivingAmount: 100_00,
      exchangeRate: 1,
    });
  });

  it('delivers the quoted amount to the cent, even with a rounding remainder', async () => {
    const { person, account } = await createFundedCustomer(app, 1_000_00, options);
    const externalPayee = await createExternalAccount(app, person.id, 'USD', '000', options);
    const returnedAccount = await createExternalAccount(app, person.id, 'USD', '005', options);
    const { account: receivingAccount } = await createFundedCustomer(app, 1, options);
    let remainingAmount = 1_000_00;
    for (const target of [externalPayee, receivingAccount, returnedAccount]) {
      const quote = await createQuote(account.id, target.id, 100_00, {
        ...feeOverride(0, 100),
        lockedCurrencySide: 'RECEIVING',
      });
      // One cent remains of 101.02 after 100.00 and the fee of 1.01.
      expect(quote).toMatchObject({ totalSendingAmount: 101_02, feesIncluded: 1_01 });
      await execute(quote.id);
      await app.advance(60_000);
      remainingAmount -= target === returnedAccount ? 0 : 101_02;
      expect(await totalBalanceOf(account.id)).toBe(remainingAmount);
    }
    expect(await totalBalanceOf(receivingAccount.id)).toBe(100_01);
    const [railSum] = await app.runtime.db.query(
      `select sum(case when credit like '%:rail_in_transit:%' then amount else -amount end)::text as net
        from ledger_transfers where phase in ('post', 'posted') and step <> 'deposit'
          and 'rail_in_transit' in (split_part(credit, ':', 3), split_part(debit, ':', 3))`,
      [],
    );
    expect(railSum?.net).toBe('0');
  });

  it('can be overridden or waived per payment', async () => {
    const { person, account } = await createFundedCustomer(app, 1_000_00, options);
    const target = await createExternalAccount(app, person.id, 'EUR', '000', options);
    const readPlatformFees = async (overrides: object) =>
      (await createQuote(account.id, target.id, 100_00, overrides)).platformFeesIncluded;
    expect(await readPlatformFees({})).toBe(80);
    expect(await readPlatformFees(feeOverride(0, 0))).toBe(0);
    expect(await readPlatformFees(feeOverride(10, 0))).toBe(10);
    expect(await readPlatformFees(feeOverride(0, 9_900))).toBe(99_00);
  });

  it('rejects invalid overrides', async () => {
    const { person, account } = await createFundedCustomer(app, 1_000_00, options);
    const eur = await findInternalAccount(app, person.id, 'EUR', options);
    const target = await createExternalAccount(app, person.id, 'EUR', '000', options);
    const expectError = async (from: string, overrides: object, code = 'INVALID_INPUT') => {
      const response = await app.call(
        'POST',
        '/quotes',
        quoteBody(from, target.id, 100_00, overrides),
        options,
      );
      expect([response.status, response.body.code]).toEqual([400, code]);
      return response.body.details?.errors?.map((each: { field: string }) => each.field);
    };
    expect(await expectError(account.id, feeOverride(1, 0, 'EUR'))).toEqual([
      'platformFeeOverride.platformFixedFee.currency',
    ]);
    expect(await expectError(eur.id, feeOverride(1, 0, 'EUR'))).toEqual(['platformFeeOverride']);
    expect(await expectError(account.id, feeOverride(-1, 10_001))).toEqual([
      'platformFeeOverride.platformFixedFee.amount',
      'platformFeeOverride.platformVariableFeeBps',
    ]);
    expect(await expectError(account.id, { platformFeeOverride: {} })).toEqual([
      'platformFeeOverride.platformFixedFee',
      'platformFeeOverride.platformVariableFeeBps',
    ]);
    await expectError(account.id, feeOverride(0, 10_000), 'AMOUNT_OUT_OF_RANGE');
    await expectError(account.id, feeOverride(100_00, 0), 'AMOUNT_OUT_OF_RANGE');
    await expectError(
      account.id,
      { ...feeOverride(9_000_000_000_000_000, 0), lockedCurrencySide: 'RECEIVING' },
      'TRANSACTION_SIZE_LIMIT_EXCEEDED',
    );
  });

  it('requires an ACTIVE account of the platform', async () => {
    const { person, account } = await createFundedCustomer(app, 1_000_00, options);
    const target = await createExternalAccount(app, person.id, 'EUR', '000', options);
    const setAccountStatus = (status: string) =>
      app.runtime.db.query('update internal_accounts set status = $2 where id = $1', [
        platformAccount.id,
        status,
      ]);
    await setAccountStatus('FROZEN');
    const body = quoteBody(account.id, target.id, 100_00);
    const response = await app.call('POST', '/quotes', body, options);
    expect([response.status, response.body.code]).toEqual([400, 'INVALID_INPUT']);
    const waivedFeeBody = { ...body, ...feeOverride(0, 0) };
    ok(await app.call('POST', '/quotes', waivedFeeBody, options), 201);
    await setAccountStatus('ACTIVE');
  });
});

describe('a refund', () => {
  it('debits the fee from the platform and emits its balance', async () => {
    const { person, account } = await createFundedCustomer(app, 1_000_00, options);
    const target = await createExternalAccount(app, person.id, 'EUR', '004', options);
    const quote = await createQuote(account.id, target.id, 100_00);
    const totalBefore = await totalBalanceOf(platformAccount.id);
    await execute(quote.id);
    const eventCountBefore = (await app.events()).length;
    await app.settle();
    expect(await readBalanceEvents(eventCountBefore)).toEqual([
      [account.id, 900_00, 0],
      [platformAccount.id, totalBefore + 80, 0],
    ]);
    await app.advance(60_000);
    expect((await readBalanceEvents(eventCountBefore)).slice(2)).toEqual(
      expect.arrayContaining([
        [account.id, 1_000_00, 0],
        [platformAccount.id, totalBefore, 0],
      ]),
    );
    expect(await readBalanceEvents(eventCountBefore)).toHaveLength(4);
  });

  it('emits no platform balance if the fee was never charged', async () => {
    const { person, account } = await createFundedCustomer(app, 1_000_00, options);
    const target = await createExternalAccount(app, person.id, 'EUR', '002', options);
    const quote = await createQuote(account.id, target.id, 100_00);
    const eventCountBefore = (await app.events()).length;
    await execute(quote.id);
    await app.settle();
    expect(await readBalanceEvents(eventCountBefore)).toEqual([
      [account.id, 1_000_00, 100_00],
      [account.id, 1_000_00, 0],
    ]);
  });

  it('emits no payer balance if the funds are transferred to suspense', async () => {
    const { person, account } = await createFundedCustomer(app, 1_000_00, options);
    const target = await createExternalAccount(app, person.id, 'EUR', '007', options);
    const quote = await createQuote(account.id, target.id, 100_00);
    const totalBefore = await totalBalanceOf(platformAccount.id);
    await execute(quote.id);
    const eventCountBefore = (await app.events()).length;
    await app.advance(60_000);
    expect(await readBalanceEvents(eventCountBefore)).toEqual([
      [account.id, 900_00, 0],
      [platformAccount.id, totalBefore + 80, 0],
      [platformAccount.id, totalBefore, 0],
    ]);
    const suspense = await app.runtime.db.query(
      `select sum(amount)::bigint as stored from ledger_transfers
        where transaction_id = $1 and credit like 'system:sandbox:suspense:%'`,
      [quote.transactionId],
    );
    expect(suspense[0]?.stored).toBe(100_00n);
  });

  it('is complete if the platform has spent its fee, which becomes a shortfall', async () => {
    const { person, account } = await createFundedCustomer(app, 1_000_00, options);
    const target = await createExternalAccount(app, person.id, 'EUR', '005', options);
    const quote = await createQuote(account.id, target.id, 100_00);
    await execute(quote.id);
    await app.settle();
    const paidFee = await totalBalanceOf(platformAccount.id);
    const feeTargetAccount = await findInternalAccount(app, person.id, 'USD', options);
    const feeQuote = await createQuote(
      platformAccount.id,
      feeTargetAccount.id,
      paidFee,
      feeOverride(0, 0),
    );
    await execute(feeQuote.id);
    expect(await totalBalanceOf(platformAccount.id)).toBe(0);
    const eventCountBefore = (await app.events()).length;
    await app.advance(60_000);
    expect(await getTransaction(quote.transactionId)).toMatchObject({
      status: 'FAILED',
      refund: { status: 'COMPLETED' },
    });
    expect(await totalBalanceOf(account.id)).toBe(1_000_00 + paidFee);
    expect(await totalBalanceOf(platformAccount.id)).toBe(0);
    expect((await readBalanceEvents(eventCountBefore)).map(([id]) => id)).toEqual([account.id]);
    const [receivable] = await app.runtime.db.query(
      'select balance from ledger_accounts where id = $1',
      ['system:sandbox:receivable:USD'],
    );
    expect(receivable?.balance).toBe(-80n);
  });
});

describe('a platform that pays from its fee account', () => {
  it.each(['000', '002', '004', '005', '006'])(
    'is debited except for its fee, or refunded in full, for an account with suffix %s',
    async (suffix) => {
      await fundAccount(app, platformAccount.id, 1_000_00, options);
      const totalBefore = await totalBalanceOf(platformAccount.id);
      const target = await createExternalAccount(app, null, 'EUR', suffix, options);
      const quote = await createQuote(platformAccount.id, target.id, 100_00);
      expect(quote).toMatchObject({ platformFeesIncluded: 80, feesIncluded: 130 });
      await execute(quote.id);
      await app.advance(60_000);
      expect(await totalBalanceOf(platformAccount.id)).toBe(
        suffix === '000' ? totalBefore - 99_20 : totalBefore,
      );
    },
  );

  it('is debited except for its fee if the refund fails', async () => {
    const totalBefore = await totalBalanceOf(platformAccount.id);
    const target = await createExternalAccount(app, null, 'EUR', '007', options);
    const quote = await createQuote(platformAccount.id, target.id, 100_00);
    await execute(quote.id);
    await app.advance(60_000);
    expect(await totalBalanceOf(platformAccount.id)).toBe(totalBefore - 99_20);
    expect((await getTransaction(quote.transactionId)).refund.status).toBe('FAILED');
  });
});
