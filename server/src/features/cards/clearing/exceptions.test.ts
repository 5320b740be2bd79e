// Resolution of an exception by an operator, and refunds and reversals while an exception is open.
// The tests compare the amounts that the account pays, that the operator pays and that are
// released. No account is credited with more than it has paid.
import { beforeAll, describe, expect, it } from 'vitest';
import { fundAccount } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { type CardPaymentFixture, cardPayments } from '../../../../test/kit/cards/card-payments.ts';
import type { Resolution } from './arithmetic.ts';
import { listCardExceptions, resolveException } from './exceptions.ts';
import { cardPaymentOf } from './payment.ts';

const app = testApp();
let fixture: ReturnType<typeof cardPayments>;
beforeAll(() => {
  fixture = cardPayments(app);
});

const clearingNotice = (amount: number) => ({ kind: 'CLEARING', amount: BigInt(amount) }) as const;
const refundNotice = (amount: number) => ({ kind: 'RETURN', amount: BigInt(amount) }) as const;
const REVERSAL = { kind: 'RETURN_REVERSAL' } as const;
const FAILING_MERCHANT = { descriptor: 'Shop 006' };

const resolve = ({ id }: Pick<CardPaymentFixture, 'id'>, outcome: Resolution, reason?: string) =>
  app.operate(async (ctx) => {
    await resolveException(ctx, await cardPaymentOf(ctx, id), { outcome, reason });
  });

const exceptionsOf = async ({ id }: CardPaymentFixture): Promise<number> =>
  (await app.runtime.db.query('select 1 from card_exceptions where id = $1', [id])).length;

/** An exception with 100 debited, 120 cleared, and a failed further debit. */
async function createShortfall() {
  const payment = await fixture.startPayment({ funds: 110 });
  await payment.notify(clearingNotice(120));
  expect(await payment.readState()).toMatchObject({ status: 'EXCEPTION', cards: -20 });
  expect(await exceptionsOf(payment)).toBe(1);
  return payment;
}

/** An exception with a failed debit and this cleared amount. */
async function createException(clearedAmount: number) {
  const payment = await fixture.startPayment(FAILING_MERCHANT);
  if (clearedAmount) await payment.notify(clearingNotice(clearedAmount));
  expect(await payment.readState()).toMatchObject({ status: 'EXCEPTION', account: '900 of 1000' });
  return payment;
}

describe('listCardExceptions', () => {
  it('includes suspense and lists each payment once, by its older date', async () => {
    const [firstShortfall, secondShortfall] = [await createShortfall(), await createShortfall()];
    await app.runtime.db.query(
      'insert into suspense_items (id, platform_id, since) values ($1, $2, $3)',
      [secondShortfall.id, app.platform.id, new Date(0)],
    );
    const listExceptions = async (limit: number) =>
      (await listCardExceptions(app.runtime, { limit })).data.map(({ transactionId, since }) => [
        transactionId,
        since,
      ]);
    const epoch = new Date(0).toISOString();
    expect(await listExceptions(10)).toEqual([
      [secondShortfall.id, epoch],
      [firstShortfall.id, expect.any(String)],
    ]);
    expect(await listExceptions(1)).toEqual([[secondShortfall.id, epoch]]);
    await app.runtime.db.query('delete from suspense_items where id = $1', [secondShortfall.id]);
    for (const each of [firstShortfall, secondShortfall]) await resolve(each, 'collect');
  });
});

describe('resolution by collecting', () => {
  it('posts a stuck debit and releases the uncleared amount', async () => {
    const exceptionPayment = await createException(70);
    const eventCount = (await exceptionPayment.readEvents()).length;
    await resolve(exceptionPayment, 'collect', 'Agreed');
    expect(await exceptionPayment.readState()).toEqual({
      status: 'SETTLED',
      account: '930 of 930',
      settled: 70,
    });
    expect((await exceptionPayment.readEvents()).slice(eventCount)).toEqual([
      '930 of 930',
      'SETTLED',
    ]);
    expect(await exceptionsOf(exceptionPayment)).toBe(0);
    const resultSql = 'select kind, state, reason from rail_results where transaction_id = $1';
    expect(await app.runtime.db.query(resultSql, [exceptionPayment.id])).toEqual([
      { kind: 'card', state: 'settled', reason: 'Agreed' },
    ]);
  });

  it('records the remainder as a receivable, which the next deposit repays', async () => {
    const shortfallPayment = await createShortfall();
    await resolve(shortfallPayment, 'collect');
    const receivableState = { status: 'SETTLED', account: '0 of 0', settled: 120, receivable: -10 };
    expect(await shortfallPayment.readState()).toEqual(receivableState);
    expect(await shortfallPayment.readResource()).toMatchObject({
      pullSummary: { count: 2, totalAmount: 120 },
    });
    await fundAccount(app, shortfallPayment.accountId, 15);
    expect(await shortfallPayment.readState()).toEqual({
      status: 'SETTLED',
      account: '5 of 5',
      settled: 120,
    });
  });

  it('voids unnecessary debits', async () => {
    const exceptionPayment = await createException(0);
    await resolve(exceptionPayment, 'collect');
    expect(await exceptionPayment.readState()).toEqual({
      status: 'SETTLED',
      account: '1000 of 1000',
    });
    expect(await exceptionPayment.readResource()).toMatchObject({ settledAmount: { amount: 0 } });
    // A later clearing is still applied.
    await exceptionPayment.notify(clearingNotice(40));
    expect(await exceptionPayment.readState()).toMatchObject({
      status: 'EXCEPTION',
      account: '960 of 1000',
    });
    await resolve(exceptionPayment, 'collect');
    expect(await exceptionPayment.readState()).toEqual({
      status: 'SETTLED',
      account: '960 of 960',
      settled: 40,
    });
  });
});

describe('resolution by writing off', () => {
  it('posts a loss and voids a stuck debit', async () => {
    const exceptionPayment = await createException(70);
    await resolve(exceptionPayment, 'write-off');
    const writtenOffState = {
      status: 'SETTLED',
      account: '1000 of 1000',
      settled: 70,
      losses: -70,
    };
    expect(await exceptionPayment.readState()).toEqual(writtenOffState);
    // A later refund is credited to the operator.
    await exceptionPayment.notify(refundNotice(70));
    expect(await exceptionPayment.readState()).toEqual({
      status: 'REFUNDED',
      account: '1000 of 1000',
    });
  });

  it('writes off only the amount that the account could not pay', async () => {
    const shortfallPayment = await createShortfall();
    await resolve(shortfallPayment, 'write-off');
    const writtenOffState = { status: 'SETTLED', account: '10 of 10', settled: 120, losses: -20 };
    expect(await shortfallPayment.readState()).toEqual(writtenOffState);
    expect((await shortfallPayment.readEvents()).at(-1)).toBe('SETTLED');
  });

  it('credits no refund of an amount that was never paid', async () => {
    const exceptionPayment = await createException(100);
    await exceptionPayment.notify(refundNotice(100));
    expect(await exceptionPayment.readState()).toMatchObject({
      status: 'EXCEPTION',
      account: '1000 of 1100',
    });
    await resolve(exceptionPayment, 'write-off');
    expect(await exceptionPayment.readState()).toEqual({
      status: 'REFUNDED',
      account: '1000 of 1000',
    });
    expect((await exceptionPayment.readEvents()).slice(-2)).toEqual(['SETTLED', 'REFUNDED']);
  });
});

describe('resolveException', () => {
  it('uses the recovered amount of a refund first', async () => {
    const shortfallPayment = await createShortfall();
    await shortfallPayment.notify(refundNotice(120));
    const expectedState = { status: 'EXCEPTION', account: '110 of 110', cards: -20, losses: 20 };
    expect(await shortfallPayment.readState()).toEqual(expectedState);
    await resolve(shortfallPayment, 'collect');
    expect(await shortfallPayment.readState()).toEqual({
      status: 'REFUNDED',
      account: '110 of 110',
    });
  });

  it('makes no debit for an adjustment that a refund already covers', async () => {
    const payment = await fixture.startPayment({ funds: 100 });
    await payment.notify({ kind: 'AUTHORIZATION_ADVICE', amount: 102n });
    await payment.notify(clearingNotice(101));
    await payment.notify(refundNotice(101));
    const expectedState = { status: 'EXCEPTION', cards: -1, losses: 1 };
    expect(await payment.readState()).toEqual({ ...expectedState, account: '100 of 100' });
    await payment.notify({ kind: 'AUTHORIZATION_ADVICE', amount: 103n });
    expect(await payment.readState()).toMatchObject({ status: 'EXCEPTION', account: '99 of 99' });
    await payment.notify({ kind: 'AUTHORIZATION_EXPIRY' });
    expect(await payment.readState()).toEqual({ ...expectedState, account: '100 of 100' });
    await resolve(payment, 'collect');
    expect(await payment.readState()).toEqual({ status: 'REFUNDED', account: '100 of 100' });
  });

  it('debits a refunded amount whose refund was reversed', async () => {
    const shortfallPayment = await createShortfall();
    await shortfallPayment.notify(refundNotice(120));
    await shortfallPayment.notify(REVERSAL);
    const expectedState = { status: 'EXCEPTION', account: '10 of 10', cards: -20, settled: 120 };
    expect(await shortfallPayment.readState()).toEqual(expectedState);
    await resolve(shortfallPayment, 'collect');
    expect(await shortfallPayment.readState()).toMatchObject({
      status: 'SETTLED',
      settled: 120,
      receivable: -10,
    });
  });

  it('accepts one of two concurrent resolutions', async () => {
    const exceptionPayment = await createException(100);
    const results = await Promise.allSettled([
      resolve(exceptionPayment, 'collect'),
      resolve(exceptionPayment, 'write-off'),
    ]);
    expect(results.filter((each) => each.status === 'rejected')).toHaveLength(1);
    const { status, cards } = (await exceptionPayment.readState()) as {
      status: string;
      cards?: number;
    };
    expect({ status, cards }).toEqual({ status: 'SETTLED', cards: undefined });
    await expect(resolve(exceptionPayment, 'collect')).rejects.toThrow(
      'The payment is SETTLED. Only a payment in EXCEPTION can be resolved.',
    );
  });

  it('is rejected while a funding debit is pending', async () => {
    const payment = await fixture.startPayment({ funds: 110, descriptor: 'Shop 005' });
    await payment.notify(clearingNotice(120));
    expect((await payment.readState()).status).toBe('EXCEPTION');
    await expect(resolve(payment, 'collect')).rejects.toThrow('is pending');
    await app.advance(30_000);
    expect(await payment.readState()).toMatchObject({ status: 'EXCEPTION', cards: -20 });
    await resolve(payment, 'write-off');
    expect(await payment.readState()).toMatchObject({ status: 'SETTLED', losses: -20 });
  });

  it('cannot collect from a closed account', async () => {
    const payment = await fixture.startPayment({ funds: 100 });
    await payment.notify(clearingNotice(100));
    await fixture.closeAccount(payment.accountId);
    await payment.notify(clearingNotice(30));
    const exceptionState = { status: 'EXCEPTION', account: '0 of 0', cards: -30, settled: 130 };
    expect(await payment.readState()).toEqual(exceptionState);
    await expect(resolve(payment, 'collect')).rejects.toThrow('The account is closed');
    await resolve(payment, 'write-off');
    expect(await payment.readState()).toMatchObject({
      status: 'SETTLED',
      settled: 130,
      losses: -30,
    });
  });
});

describe('a refund', () => {
  it('can be reversed in any status of the payment', async () => {
    const payment = await fixture.startPayment({ funds: 110 });
    await expect(payment.notify(REVERSAL)).rejects.toThrow('no refund to reverse');
    await payment.notify(clearingNotice(40));
    await payment.notify(refundNotice(10));
    await payment.notify(refundNotice(20));
    await payment.notify(REVERSAL);
    const partialState = {
      status: 'PARTIALLY_SETTLED',
      account: '20 of 20',
      cards: 60,
      settled: 30,
    };
    expect(await payment.readState()).toEqual(partialState);
    expect(await payment.readResource()).toMatchObject({
      refundSummary: { count: 1, totalAmount: 10 },
    });
    expect((await payment.readEvents()).slice(-2)).toEqual(['20 of 20', 'PARTIALLY_SETTLED']);
    // After the payment is settled.
    await payment.notify(clearingNotice(60));
    await payment.notify(REVERSAL);
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '10 of 10',
      settled: 100,
    });
    expect((await payment.readEvents()).slice(-2)).toEqual(['10 of 10', 'SETTLED']);
    // While an exception is open.
    await payment.notify(clearingNotice(40));
    await payment.notify(refundNotice(30));
    const exceptionState = { status: 'EXCEPTION', cards: -40 };
    expect(await payment.readState()).toEqual({
      ...exceptionState,
      account: '40 of 40',
      settled: 110,
    });
    await payment.notify(REVERSAL);
    expect(await payment.readState()).toEqual({
      ...exceptionState,
      account: '10 of 10',
      settled: 140,
    });
    expect((await payment.readEvents()).at(-1)).toBe('EXCEPTION');
  });
});
