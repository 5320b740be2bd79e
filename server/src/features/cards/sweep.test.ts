// Payments that are still open thirty days after their approval are closed. Closed payments do not
// block the deletion of the holder.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { cardNetwork } from '../../../test/kit/cards/card-network.ts';
import { type CardPaymentFixture, cardPayments } from '../../../test/kit/cards/card-payments.ts';
import { cardFixture } from '../../../test/kit/cards/cards.ts';
import { resolveException } from './clearing/exceptions.ts';
import { cardPaymentOf } from './index.ts';
import { cardSweep } from './sweep.ts';

const app = testApp();
let fixture: ReturnType<typeof cardPayments>;
beforeAll(() => {
  fixture = cardPayments(app);
});

const DAY_MS = 24 * 3_600_000;
const clearingNotice = (amount: number) => ({ kind: 'CLEARING', amount: BigInt(amount) }) as const;
const EXPIRY = { kind: 'AUTHORIZATION_EXPIRY' } as const;

/** IDs of the payments that are open. */
const listOpenPaymentIds = async (...payments: { id: string }[]) => {
  const text = 'select id from card_open_payments where id = any($1) order by id';
  const rows = await app.runtime.db.query(text, [payments.map((each) => each.id)]);
  return rows.map((each) => each.id as string);
};
const sortIds = (...payments: { id: string }[]) => payments.map((each) => each.id).sort();

/** Advances the clock, then by one more minute, in which the sweep runs. */
const advancePastSweep = async (ms: number) => {
  await app.advance(ms);
  await app.advance(60_000);
};

describe('open payments', () => {
  it('are listed until they are closed, for every kind of closure', async () => {
    const clearedPayment = await fixture.startPayment();
    const expiredPayment = await fixture.startPayment();
    const adjustedPayment = await fixture.startPayment();
    const resolvedPayment = await fixture.startPayment({ descriptor: 'Shop 006' });
    const credit = await fixture.startPayment({ kind: 'credit_authorization' });
    const immediatelyClearedPayment = await fixture.startPayment({
      kind: 'financial_authorization',
    });
    const immediateCredit = await fixture.startPayment({
      kind: 'financial_credit_authorization',
    });
    const payments = [
      clearedPayment,
      expiredPayment,
      adjustedPayment,
      resolvedPayment,
      credit,
      immediatelyClearedPayment,
      immediateCredit,
    ];
    expect(await listOpenPaymentIds(...payments)).toEqual(
      sortIds(clearedPayment, expiredPayment, adjustedPayment, resolvedPayment, credit),
    );
    for (const each of [clearedPayment, adjustedPayment, credit])
      await each.notify(clearingNotice(40));
    expect(await listOpenPaymentIds(...payments)).toEqual(
      sortIds(clearedPayment, expiredPayment, adjustedPayment, resolvedPayment, credit),
    );
    await clearedPayment.notify(clearingNotice(60));
    await expiredPayment.notify(EXPIRY);
    await adjustedPayment.notify({ kind: 'AUTHORIZATION_ADVICE', amount: 40n });
    await app.operate(async (ctx) => {
      await resolveException(ctx, await cardPaymentOf(ctx, resolvedPayment.id), {
        outcome: 'write-off',
      });
    });
    await credit.notify(clearingNotice(60));
    expect(await listOpenPaymentIds(...payments)).toEqual([]);
    // Late notices add no row.
    await expiredPayment.notify(clearingNotice(10));
    await expiredPayment.notify(EXPIRY);
    expect(await listOpenPaymentIds(...payments)).toEqual([]);
  });
});

describe('after thirty days', () => {
  it('a payment is closed according to its notices, and its holder can be deleted', async () => {
    const cardPayment = await fixture.startPayment({ funds: 100 });
    const partialPayment = await fixture.startPayment();
    await partialPayment.notify(clearingNotice(30));
    const credit = await fixture.startPayment({ kind: 'credit_authorization' });
    await app.advance(30 * DAY_MS - 60_001);
    expect((await cardPayment.readState()).status).toBe('AUTHORIZED');
    expect((await partialPayment.readState()).status).toBe('PARTIALLY_SETTLED');
    await advancePastSweep(60_001);
    expect(await cardPayment.readState()).toMatchObject({
      status: 'SETTLED',
      account: '100 of 100',
    });
    expect((await cardPayment.readEvents()).slice(-2)).toEqual(['100 of 100', 'SETTLED']);
    expect(await partialPayment.readState()).toMatchObject({
      status: 'SETTLED',
      account: '970 of 970',
    });
    expect(await credit.readState()).toMatchObject({ status: 'SETTLED', account: '1000 of 1000' });
    expect(await listOpenPaymentIds(cardPayment, partialPayment, credit)).toEqual([]);
    // The network has sent no message about the closure, so the log has no entry for it.
    const log = await cardNetwork(app).logOf(cardPayment.card.id);
    expect(log.map((each) => each.kind)).toEqual(['AUTHORIZATION']);
    // A clearing after the closure is a late clearing.
    await cardPayment.notify(clearingNotice(100));
    expect(await cardPayment.readState()).toMatchObject({ status: 'SETTLED', account: '0 of 0' });
    ok(await app.call('DELETE', `/customers/${cardPayment.card.cardholderId}`), 200);
  });

  it('an exception remains for an operator', async () => {
    const paymentInException = await fixture.startPayment({ descriptor: 'Shop 006' });
    await advancePastSweep(30 * DAY_MS);
    expect(await paymentInException.readState()).toEqual({
      status: 'EXCEPTION',
      account: '900 of 1000',
    });
    expect(await listOpenPaymentIds(paymentInException)).toEqual([]);
  });

  it('each payment is closed once with several processes and concurrent notices', async () => {
    const allPayments: CardPaymentFixture[] = [];
    while (allPayments.length < 5) allPayments.push(await fixture.startPayment());
    app.effects.set(app.effects.now() + 30 * DAY_MS);
    await Promise.all([
      ...[1, 2, 3].map(() => cardSweep().run(app.runtime)),
      ...allPayments.map((each) => each.clear(40)),
    ]);
    await app.settle();
    for (const each of allPayments) {
      const expectedState = { status: 'SETTLED', account: '960 of 960' };
      expect(await each.readState()).toMatchObject(expectedState);
      const { settledAmount } = await each.readResource();
      expect(settledAmount.amount).toBe(40);
    }
    expect(await listOpenPaymentIds(...allPayments)).toEqual([]);
  });

  it('payments of every platform are closed', async () => {
    const otherPlatformFixture = cardFixture(app, { platform: app.other });
    const holder = await otherPlatformFixture.createCardholder({ funds: 10_00 });
    const { id } = await otherPlatformFixture.createCard(holder);
    const network = cardNetwork(app);
    expect(await network.request(id, 4_00)).toMatchObject({ approved: true });
    await advancePastSweep(30 * DAY_MS);
    const [payment] = await network.paymentsOf(holder.customer.id, { platform: app.other });
    expect(payment).toMatchObject({ status: 'SETTLED', settledAmount: { amount: 0 } });
  });
});
