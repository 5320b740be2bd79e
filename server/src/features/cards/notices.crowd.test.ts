// Concurrent notices about an approved payment. Each accepted notice is counted exactly once, in any
// order.
import { beforeAll, describe, expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { type CardPaymentFixture, cardPayments } from '../../../test/kit/cards/card-payments.ts';

const app = testApp();
let fixture: ReturnType<typeof cardPayments>;
beforeAll(() => {
  fixture = cardPayments(app);
});

const clearingNotice = (amount: number) => ({ kind: 'CLEARING', amount: BigInt(amount) }) as const;
const refundNotice = (amount: number) => ({ kind: 'RETURN', amount: BigInt(amount) }) as const;
const EXPIRY = { kind: 'AUTHORIZATION_EXPIRY' } as const;

describe('concurrent notices', () => {
  it('count each of two clearings', async () => {
    const payment = await fixture.startPayment();
    await Promise.all([payment.clear(60), payment.clear(60)]);
    await app.settle();
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '880 of 880',
      settled: 120,
    });
  });

  it('release the remainder for a clearing and an expiry in either order', async () => {
    const allPayments: CardPaymentFixture[] = [];
    while (allPayments.length < 4) allPayments.push(await fixture.startPayment());
    await Promise.all(
      allPayments.flatMap((cardPayment) => [
        cardPayment.clear(70),
        cardPayment.notify(EXPIRY, false),
      ]),
    );
    await app.settle();
    for (const cardPayment of allPayments) {
      expect(await cardPayment.readResource()).toMatchObject({
        status: 'SETTLED',
        settledAmount: { amount: 70 },
      });
      expect((await cardPayment.readState()).account).toBe('930 of 930');
    }
  });

  it('refund at most the cleared amount', async () => {
    const payment = await fixture.startPayment();
    await payment.notify(clearingNotice(100));
    const results = await Promise.allSettled(
      [1, 2, 3].map(() => payment.notify(refundNotice(60), false)),
    );
    expect(results.filter((each) => each.status === 'fulfilled')).toHaveLength(1);
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '960 of 960',
      settled: 40,
    });
  });
});
