// Cards after the deletion of their holder and before the job that closes them. Networks and
// platforms cannot use these cards.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { cardNetwork } from '../../../test/kit/cards/card-network.ts';
import { cardPayments } from '../../../test/kit/cards/card-payments.ts';
import { cardFixture } from '../../../test/kit/cards/cards.ts';

const app = testApp();
let payments: ReturnType<typeof cardPayments>;
beforeAll(() => {
  payments = cardPayments(app);
});
afterAll(() => app.settle());

/** Deletes a customer without running the job that closes the cards. */
const deleteWithoutJobs = async (customerId: string) =>
  void ok(await app.call('DELETE', `/customers/${customerId}`), 200);

describe('a card of a deleted holder', () => {
  it('funds no late clearing, which is written off', async () => {
    const cardPayment = await payments.startPayment({ funds: 100 });
    await cardPayment.notify({ kind: 'CLEARING', amount: 100n });
    await deleteWithoutJobs(cardPayment.card.cardholderId);
    await cardPayment.notify({ kind: 'CLEARING', amount: 20n }, false);
    const { data } = ok(
      await app.call('GET', `/cards?cardholderId=${cardPayment.card.cardholderId}`),
      200,
    );
    expect(data).toMatchObject([{ state: 'ACTIVE' }]);
    const expectedState = { status: 'SETTLED', account: '0 of 0', settled: 120, losses: -20 };
    expect(await cardPayment.readState()).toEqual(expectedState);
  });

  it('accepts no credit authorization, even if approved in stand-in processing', async () => {
    const fixture = cardFixture(app);
    const network = cardNetwork(app);
    const holder = await fixture.createCardholder();
    const card = await fixture.createCard(holder);
    await deleteWithoutJobs(holder.customer.id);
    const declineDecision = { approved: false, reason: 'CARDHOLDER_NOT_READY' };
    expect(await network.request(card.id, 5_00, 'CREDIT_AUTHORIZATION')).toEqual(declineDecision);
    expect(await network.request(card.id, 5_00, 'CREDIT_AUTHORIZATION_ADVICE')).toEqual(
      declineDecision,
    );
    expect(await network.paymentsOf(holder.customer.id)).toEqual([]);
  });

  it('cannot be changed', async () => {
    const fixture = cardFixture(app);
    const holder = await fixture.createCardholder();
    const card = await fixture.createCard(holder);
    await deleteWithoutJobs(holder.customer.id);
    for (const change of [
      { state: 'FROZEN' },
      { state: 'CLOSED' },
      { maxSpendPerTransaction: 5 },
      { fundingSources: [holder.accountId] },
    ]) {
      const { status, body } = await fixture.patchCard(card.id, change);
      expect([status, body.code]).toEqual([410, 'CUSTOMER_DELETED']);
    }
    await app.settle();
    const { status, body } = await fixture.patchCard(card.id, { state: 'FROZEN' });
    expect([status, body.code]).toEqual([409, 'INVALID_STATE_TRANSITION']);
  });
});
