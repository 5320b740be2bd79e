// Notices after an approval: clearings, expiry, adjustments, refunds and their reversal. Each test
// compares the account, the system accounts, the events in order and the payment. The books must
// balance at the end.
import { beforeAll, describe, expect, it } from 'vitest';
import { fundAccount, ok } from '../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../test/kit/app/harness.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { cardPayments } from '../../../test/kit/cards/card-payments.ts';

const app = testApp();
let fixture: ReturnType<typeof cardPayments>;
beforeAll(() => {
  fixture = cardPayments(app);
});

const clearingNotice = (amount: number) => ({ kind: 'CLEARING', amount: BigInt(amount) }) as const;
const refundNotice = (amount: number) => ({ kind: 'RETURN', amount: BigInt(amount) }) as const;
const adjustmentNotice = (amount: number) =>
  ({ kind: 'AUTHORIZATION_ADVICE', amount: BigInt(amount) }) as const;
const EXPIRY = { kind: 'AUTHORIZATION_EXPIRY' } as const;
/** Maximum amount of a payment, in cents. */
const MAX_AMOUNT = 900_000_000_000;
const REVERSAL = { kind: 'RETURN_REVERSAL' } as const;

describe('an authorization', () => {
  it('holds and then debits the funds before the clearing', async () => {
    const payment = await fixture.startPayment();
    const authorizedState = { status: 'AUTHORIZED', account: '900 of 900', cards: 100 };
    expect(await payment.readState()).toEqual(authorizedState);
    expect(await payment.readEvents()).toEqual(['900 of 1000', 'AUTHORIZED', '900 of 900']);
    expect(await payment.readResource()).toMatchObject({
      authorizedAmount: { amount: 100 },
      pullSummary: { count: 1, totalAmount: 100, pendingCount: 0 },
    });
  });

  it('that is cleared immediately is created as SETTLED', async () => {
    const payment = await fixture.startPayment({ kind: 'financial_authorization' });
    const settledState = { status: 'SETTLED', account: '900 of 900', settled: 100 };
    expect(await payment.readState()).toEqual(settledState);
    expect(await payment.readEvents()).toEqual(['900 of 1000', 'SETTLED', '900 of 900']);
  });
});

describe('a clearing', () => {
  it('of an invalid amount is rejected', async () => {
    const payment = await fixture.startPayment();
    await expect(payment.notify(clearingNotice(-1))).rejects.toThrow('-1 is not a valid amount');
    const excess = { kind: 'CLEARING', amount: 2n ** 63n } as const;
    await expect(payment.notify(excess)).rejects.toThrow('is not a valid amount for the payment');
  });

  it('above the maximum amount is rejected, in one clearing or several', async () => {
    const payment = await fixture.startPayment();
    const message = 'is not a valid amount for the payment';
    await expect(payment.notify(clearingNotice(MAX_AMOUNT + 1))).rejects.toThrow(message);
    await expect(payment.notify(adjustmentNotice(MAX_AMOUNT + 1))).rejects.toThrow(message);
    await payment.notify(clearingNotice(60));
    await expect(payment.notify(clearingNotice(MAX_AMOUNT - 59))).rejects.toThrow(message);
  });

  it('has its own maximum, separate from an adjusted total and from refunds', async () => {
    const payment = await fixture.startPayment({ currency: 'USDB', funds: 2_000_000 });
    await payment.notify(adjustmentNotice(MAX_AMOUNT));
    await payment.notify(clearingNotice(MAX_AMOUNT / 2 + 1));
    await payment.notify(adjustmentNotice(MAX_AMOUNT / 2 + 2));
    expect((await payment.readResource()).authorizedAmount).toMatchObject({
      amount: MAX_AMOUNT / 2 + 2,
    });
    await payment.notify(refundNotice(MAX_AMOUNT / 2 + 1));
    expect((await payment.readResource()).refundedAmount).toMatchObject({
      amount: MAX_AMOUNT / 2 + 1,
    });
  });

  it('of the full amount settles the payment', async () => {
    const payment = await fixture.startPayment();
    await payment.notify(clearingNotice(100));
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '900 of 900',
      settled: 100,
    });
    expect((await payment.readEvents()).slice(3)).toEqual(['SETTLED']);
    expect(await payment.readResource()).toMatchObject({
      settledAmount: { amount: 100 },
      settlementSummary: { count: 1, totalAmount: 100 },
    });
  });

  it('in parts settles the payment with the last part', async () => {
    const payment = await fixture.startPayment();
    await payment.notify(clearingNotice(30));
    const partialState = {
      status: 'PARTIALLY_SETTLED',
      account: '900 of 900',
      cards: 70,
      settled: 30,
    };
    expect(await payment.readState()).toEqual(partialState);
    await payment.notify(clearingNotice(20));
    await payment.notify(clearingNotice(50));
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '900 of 900',
      settled: 100,
    });
    const expectedEvents = ['PARTIALLY_SETTLED', 'PARTIALLY_SETTLED', 'SETTLED'];
    expect((await payment.readEvents()).slice(3)).toEqual(expectedEvents);
    expect(await payment.readResource()).toMatchObject({
      settlementSummary: { count: 3, totalAmount: 100 },
    });
  });

  it('above the authorization debits the difference', async () => {
    const payment = await fixture.startPayment();
    await payment.notify(clearingNotice(120));
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '880 of 880',
      settled: 120,
    });
    expect((await payment.readEvents()).slice(3)).toEqual(['880 of 900', 'SETTLED', '880 of 880']);
    expect(await payment.readResource()).toMatchObject({
      settledAmount: { amount: 120 },
      pullSummary: { count: 2, totalAmount: 120, pendingCount: 0 },
    });
  });

  it('is accepted after the expiry', async () => {
    const payment = await fixture.startPayment();
    await payment.notify(EXPIRY);
    await payment.notify(clearingNotice(40));
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '960 of 960',
      settled: 40,
    });
    await payment.notify(clearingNotice(10));
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '950 of 950',
      settled: 50,
    });
    expect((await payment.readEvents()).filter((each) => each === 'SETTLED')).toHaveLength(3);
  });

  it('that the account cannot cover is an exception', async () => {
    const payment = await fixture.startPayment({ funds: 110 });
    await payment.notify(clearingNotice(120));
    const exception = { status: 'EXCEPTION', account: '10 of 10', cards: -20, settled: 120 };
    expect(await payment.readState()).toEqual(exception);
    expect((await payment.readEvents()).slice(3)).toEqual(['EXCEPTION']);
    // Further notices of the network each emit an event.
    await payment.notify(clearingNotice(5));
    expect(await payment.readState()).toEqual({ ...exception, account: '5 of 5', settled: 125 });
    await payment.notify(EXPIRY);
    expect((await payment.readEvents()).slice(4)).toEqual(['5 of 10', 'EXCEPTION', '5 of 5']);
  });

  it('on a frozen account is an exception without a posting', async () => {
    const payment = await fixture.startPayment();
    await fixture.freezeAccount(payment.accountId);
    await payment.notify(clearingNotice(120));
    const exception = { status: 'EXCEPTION', account: '900 of 900', cards: -20, settled: 120 };
    expect(await payment.readState()).toEqual(exception);
  });

  it('on a closed card writes off the amount that was not debited', async () => {
    const payment = await fixture.startPayment();
    await payment.close();
    await payment.notify(clearingNotice(120));
    const writeOff = { status: 'SETTLED', account: '900 of 900', settled: 120, losses: -20 };
    expect(await payment.readState()).toEqual(writeOff);
    expect((await payment.readEvents()).slice(3)).toEqual(['SETTLED']);
    // The account is credited with at most the amount that it has paid.
    await payment.notify(refundNotice(120));
    expect(await payment.readState()).toEqual({ status: 'REFUNDED', account: '1000 of 1000' });
    await payment.notify(REVERSAL);
    expect(await payment.readState()).toEqual(writeOff);
  });
});

describe('an expiry', () => {
  it('releases the uncleared amount', async () => {
    const payment = await fixture.startPayment();
    await payment.notify(EXPIRY);
    expect(await payment.readState()).toEqual({ status: 'SETTLED', account: '1000 of 1000' });
    expect((await payment.readEvents()).slice(3)).toEqual(['1000 of 1000', 'SETTLED']);
    expect(await payment.readResource()).toMatchObject({ settledAmount: { amount: 0 } });
    await payment.notify(EXPIRY);
    expect(await payment.readEvents()).toHaveLength(5);
  });

  it('by a clearing of zero releases the remainder after a partial clearing', async () => {
    const payment = await fixture.startPayment();
    await payment.notify(clearingNotice(30));
    await payment.notify(clearingNotice(0));
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '970 of 970',
      settled: 30,
    });
  });

  it('after a full refund leaves the payment REFUNDED', async () => {
    const payment = await fixture.startPayment();
    await payment.notify(clearingNotice(30));
    await payment.notify(refundNotice(30));
    expect((await payment.readState()).status).toBe('PARTIALLY_SETTLED');
    await payment.notify(EXPIRY);
    expect(await payment.readState()).toEqual({ status: 'REFUNDED', account: '1000 of 1000' });
    const expectedEvents = [
      'PARTIALLY_SETTLED',
      '930 of 930',
      'PARTIALLY_SETTLED',
      '1000 of 1000',
      'REFUNDED',
    ];
    expect((await payment.readEvents()).slice(3)).toEqual(expectedEvents);
  });
});

describe('an authorization adjustment', () => {
  it('to a higher amount debits the difference', async () => {
    const payment = await fixture.startPayment();
    await payment.notify(adjustmentNotice(150));
    expect(await payment.readState()).toEqual({
      status: 'AUTHORIZED',
      account: '850 of 850',
      cards: 150,
    });
    expect((await payment.readEvents()).slice(3)).toEqual([
      '850 of 900',
      'AUTHORIZED',
      '850 of 850',
    ]);
    expect(await payment.readResource()).toMatchObject({
      authorizedAmount: { amount: 150 },
      pullSummary: { count: 2, totalAmount: 150 },
    });
  });

  it('to a lower amount releases the difference', async () => {
    const payment = await fixture.startPayment();
    await payment.notify(adjustmentNotice(60));
    expect(await payment.readState()).toEqual({
      status: 'AUTHORIZED',
      account: '940 of 940',
      cards: 60,
    });
    expect((await payment.readEvents()).slice(3)).toEqual(['940 of 940', 'AUTHORIZED']);
    await payment.notify(adjustmentNotice(30));
    await payment.notify(clearingNotice(30));
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '970 of 970',
      settled: 30,
    });
  });

  it('to the cleared amount settles the payment', async () => {
    const payment = await fixture.startPayment();
    await payment.notify(clearingNotice(40));
    await payment.notify(adjustmentNotice(40));
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '960 of 960',
      settled: 40,
    });
    expect((await payment.readEvents()).slice(4)).toEqual(['960 of 960', 'SETTLED']);
    // A further total of the settled payment is recorded and has no effect.
    const resourceBefore = await payment.readResource();
    await payment.notify(adjustmentNotice(60));
    await payment.notify(adjustmentNotice(20));
    expect(await payment.readResource()).toEqual(resourceBefore);
    expect(await payment.readEvents()).toHaveLength(6);
    const text = 'select amount from card_messages where transaction_id = $1 and kind = $2';
    const recordedRows = await app.runtime.db.query(text, [payment.id, 'AUTHORIZATION_ADVICE']);
    expect(recordedRows.map((each) => each.amount).sort()).toEqual([20n, 40n, 60n]);
  });

  it('that the account cannot cover causes no debit until the clearing', async () => {
    const payment = await fixture.startPayment({ funds: 110 });
    await payment.notify(adjustmentNotice(150));
    expect(await payment.readState()).toEqual({
      status: 'AUTHORIZED',
      account: '10 of 10',
      cards: 100,
    });
    expect((await payment.readEvents()).slice(3)).toEqual(['AUTHORIZED']);
    await payment.notify(clearingNotice(105));
    const partialState = { status: 'PARTIALLY_SETTLED', account: '5 of 5', settled: 105 };
    expect(await payment.readState()).toEqual(partialState);
    await payment.notify(clearingNotice(20));
    expect((await payment.readState()).status).toBe('EXCEPTION');
  });

  it('on a closed card causes no debit before the clearing', async () => {
    const payment = await fixture.startPayment();
    await payment.close();
    await payment.notify(adjustmentNotice(150));
    expect(await payment.readState()).toEqual({
      status: 'AUTHORIZED',
      account: '900 of 900',
      cards: 100,
    });
    await payment.notify(clearingNotice(120));
    const partialState = {
      status: 'PARTIALLY_SETTLED',
      account: '900 of 900',
      settled: 120,
      losses: -20,
    };
    expect(await payment.readState()).toEqual(partialState);
    await payment.notify(EXPIRY);
    expect(await payment.readState()).toEqual({ ...partialState, status: 'SETTLED' });
  });
});

describe('a refund', () => {
  it('of a part leaves the payment SETTLED, and of the remainder REFUNDED', async () => {
    const payment = await fixture.startPayment();
    await payment.notify(clearingNotice(100));
    await payment.notify(refundNotice(30));
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '930 of 930',
      settled: 70,
    });
    expect(await payment.readResource()).toMatchObject({
      refundedAmount: { amount: 30 },
      refundSummary: { count: 1, totalAmount: 30 },
    });
    await payment.notify(refundNotice(70));
    expect(await payment.readState()).toEqual({ status: 'REFUNDED', account: '1000 of 1000' });
    const expectedEvents = ['SETTLED', '930 of 930', 'SETTLED', '1000 of 1000', 'REFUNDED'];
    expect((await payment.readEvents()).slice(3)).toEqual(expectedEvents);
  });

  it('above the cleared amount is rejected', async () => {
    const payment = await fixture.startPayment();
    await expect(payment.notify(refundNotice(1))).rejects.toThrow('exceeds the cleared amount');
    await payment.notify(clearingNotice(40));
    await expect(payment.notify(refundNotice(41))).rejects.toThrow('exceeds the cleared amount');
    await payment.notify(refundNotice(40));
    await expect(payment.notify(refundNotice(1))).rejects.toThrow('exceeds the cleared amount');
    await expect(payment.notify(refundNotice(0))).rejects.toThrow('must be above zero');
    expect((await payment.readState()).account).toBe('940 of 940');
  });

  it('is credited to a frozen account', async () => {
    const payment = await fixture.startPayment();
    await payment.notify(clearingNotice(100));
    await fixture.freezeAccount(payment.accountId);
    await payment.notify(refundNotice(100));
    expect(await payment.readState()).toEqual({ status: 'REFUNDED', account: '1000 of 1000' });
  });

  it('for a closed account is posted to suspense', async () => {
    const payment = await fixture.startPayment({ funds: 100 });
    await payment.notify(clearingNotice(100));
    await fixture.closeAccount(payment.accountId);
    await payment.notify(refundNotice(100));
    expect(await payment.readState()).toEqual({
      status: 'REFUNDED',
      account: '0 of 0',
      suspense: 100,
    });
    const text = 'select 1 from suspense_items where id = $1';
    expect(await app.runtime.db.query(text, [payment.id])).toHaveLength(1);
    // The refund is reversed before it was sent, so no amount is owed.
    await payment.notify(REVERSAL);
    expect(await app.runtime.db.query(text, [payment.id])).toHaveLength(0);
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '0 of 0',
      settled: 100,
    });
  });

  it('that is reversed is debited, and the next credit repays the shortfall', async () => {
    const payment = await fixture.startPayment({ funds: 100 });
    await payment.notify(clearingNotice(100));
    await payment.notify(refundNotice(100));
    expect((await payment.readState()).account).toBe('100 of 100');
    const secondPaymentId = await createOtherPayment(payment.card.id, 60);
    await payment.notify(REVERSAL);
    expect(await payment.readState()).toMatchObject({
      ...{ status: 'SETTLED', account: '0 of 0' },
      ...{ settled: 100, receivable: -60, cards: 60 },
    });
    expect(await payment.readResource()).not.toHaveProperty('refundSummary');
    expect((await payment.readEvents()).at(-1)).toBe('SETTLED');
    // The amount released by the second payment repays the shortfall first.
    await simulate(payment.card.id, 'clearing', {
      cardTransactionId: secondPaymentId,
      amount: 0,
    });
    expect(await payment.readState()).toMatchObject({ account: '0 of 0' });
    expect(await payment.readState()).not.toHaveProperty('receivable');
    // A second refund and reversal have their own steps.
    await fundAccount(app, payment.accountId, 5);
    await payment.notify(refundNotice(100));
    await payment.notify(REVERSAL);
    expect(await payment.readState()).toMatchObject({ status: 'SETTLED', account: '5 of 5' });
  });
});

async function simulate(cardId: string, kind: string, body: object): Promise<void> {
  ok(await app.call('POST', `/sandbox/cards/${cardId}/simulate/${kind}`, body), 202);
  await app.settle();
}

/** Creates a second payment of a card. Returns the ID of the payment. */
async function createOtherPayment(cardId: string, amount: number): Promise<string> {
  const secondPurchase = { currency: { code: 'USD' }, merchant: { descriptor: 'Second' } };
  await simulate(cardId, 'authorization', { amount, ...secondPurchase });
  const { data } = ok(await app.call('GET', '/transactions?limit=100&sortOrder=desc'), 200);
  const [createdTransaction] = data.filter(
    (each: ApiResponse['body']) => each.cardId === cardId && each.merchant.descriptor === 'Second',
  );
  return createdTransaction.id;
}

describe('a credit', () => {
  it('is credited with the clearing', async () => {
    const payment = await fixture.startPayment({ kind: 'credit_authorization' });
    expect(await payment.readState()).toEqual({ status: 'AUTHORIZED', account: '1000 of 1000' });
    await payment.notify(clearingNotice(40));
    const partialState = { status: 'PARTIALLY_SETTLED', account: '1040 of 1040', settled: -40 };
    expect(await payment.readState()).toEqual(partialState);
    await payment.notify(clearingNotice(60));
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '1100 of 1100',
      settled: -100,
    });
    const expectedEvents = [
      'AUTHORIZED',
      '1040 of 1040',
      'PARTIALLY_SETTLED',
      '1100 of 1100',
      'SETTLED',
    ];
    expect(await payment.readEvents()).toEqual(expectedEvents);
    await expect(payment.notify(refundNotice(10))).rejects.toThrow('A credit cannot be refunded.');
    await expect(payment.notify(adjustmentNotice(10))).rejects.toThrow(
      'The authorization of a credit cannot be adjusted.',
    );
  });

  it('that is never cleared expires without postings', async () => {
    const payment = await fixture.startPayment({ kind: 'credit_authorization' });
    await payment.notify(EXPIRY);
    expect(await payment.readState()).toEqual({ status: 'SETTLED', account: '1000 of 1000' });
    expect(await payment.readEvents()).toEqual(['AUTHORIZED', 'SETTLED']);
  });
});

describe('an account in USDB', () => {
  it('is debited ten thousand units for each cent', async () => {
    const payment = await fixture.startPayment({ currency: 'USDB', funds: 2_000_003, amount: 101 });
    const cards = 1_010_000;
    expect(await payment.readState()).toEqual({
      status: 'AUTHORIZED',
      account: '990003 of 990003',
      cards,
    });
    await payment.notify(clearingNotice(33));
    await payment.notify(EXPIRY);
    const account = '1670003 of 1670003';
    expect(await payment.readState()).toEqual({ status: 'SETTLED', account, settled: 330_000 });
    await payment.notify(refundNotice(33));
    expect(await payment.readState()).toEqual({
      status: 'REFUNDED',
      account: '2000003 of 2000003',
    });
    expect(await payment.readResource()).toMatchObject({ authorizedAmount: { amount: 101 } });
  });
});

describe('further debits', () => {
  it('of two concurrent payments do not exceed the balance', async () => {
    const payment = await fixture.startPayment({ funds: 230 });
    const secondPaymentId = await createOtherPayment(payment.card.id, 100);
    const path = `/sandbox/cards/${payment.card.id}/simulate/clearing`;
    const body = { cardTransactionId: secondPaymentId, amount: 120 };
    await Promise.all([payment.clear(120), app.call('POST', path, body)]);
    await app.settle();
    const transactions = [
      await payment.readResource(),
      ok(await app.call('GET', `/transactions/${secondPaymentId}`), 200),
    ];
    expect(transactions.map((each) => each.status).sort()).toEqual(['EXCEPTION', 'SETTLED']);
    expect((await payment.readState()).account).toBe('10 of 10');
  });
});
