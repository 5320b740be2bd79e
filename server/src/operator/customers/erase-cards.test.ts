// A customer's cards in an export, and after an erasure.
import { expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { cardNetwork } from '../../../test/kit/cards/card-network.ts';
import { cardPayments } from '../../../test/kit/cards/card-payments.ts';
import { cardFixture } from '../../../test/kit/cards/cards.ts';
import { erase } from '../../../test/kit/customers/erasure.ts';
import { exportOf } from '../../../test/kit/customers/export.ts';
import type { CardRequestKind } from '../../connectors/ports/cards.ts';
import { cardMessages, cards } from '../../features/cards/store.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';

const app = testApp();

const PLATFORM_CARD_ID = 'vesna-quorbats-card';
const SHOP = 'Quorbat Bakery';

/** A customer with a card and one declined authorization. */
async function createCardholderWithDecline() {
  const fixture = cardFixture(app);
  const holder = await fixture.createCardholder();
  const card = await fixture.createCard(holder, { platformCardId: PLATFORM_CARD_ID });
  const { id: customer_id } = holder.customer;
  const message = await app.operate(async (ctx) =>
    ctx.insert(cardMessages, {
      id: `sandbox ${ctx.id('CardMessage')}`,
      platform_id: app.platform.id,
      customer_id,
      card_id: card.id,
      token: 'sandbox token',
      kind: 'AUTHORIZATION',
      amount: 5n,
      currency: 'USD',
      merchant: { descriptor: SHOP },
      approved: false,
      reason: 'CARD_PAUSED',
      created_at: ctx.now,
    }),
  );
  return { fixture, card, message, id: customer_id as string };
}

it('an export contains cards, their funding sources and authorizations without card numbers', async () => {
  const { card, id } = await createCardholderWithDecline();
  const row = await app.runtime.db.read(cards, card.id);
  const { text, all } = await exportOf(app, id);
  expect(text).toContain(PLATFORM_CARD_ID);
  expect(text).toContain(SHOP);
  expect(row?.secret).toBeTruthy();
  expect(text).not.toContain(row?.secret);
  expect(JSON.stringify(all)).toContain(card.fundingSources[0]);
  ok(await app.call('PATCH', `/cards/${card.id}`, { state: 'CLOSED' }), 200);
});

it('an erasure closes cards and leaves no personal data in them', async () => {
  const { card, message, id, fixture } = await createCardholderWithDecline();
  ok(await app.call('DELETE', `/customers/${id}`), 200);
  // The job of the deletion has not run.
  const { counts } = await erase(app.runtime, id, { actor: 'operator', reason: null });
  expect(counts).toMatchObject({ cards: 1, card_messages: 1 });
  const row = await app.runtime.db.read(cards, card.id);
  expect(row).toMatchObject({ state: 'CLOSED', state_reason: 'CLOSED_BY_SERVICE' });
  expect([row?.secret, row?.last4, row?.exp_month, row?.exp_year]).toEqual([
    null,
    null,
    null,
    null,
  ]);
  expect((await app.runtime.db.read(cardMessages, message.id))?.merchant).toBeNull();
  const events = await app.runtime.db.query('select data from events where subject = $1', [
    card.id,
  ]);
  expect(events.map((each) => each.data)).toEqual(['', '']);
  const { text } = await exportOf(app, id);
  expect(text).not.toContain(PLATFORM_CARD_ID);
  expect(text).not.toContain(SHOP);
  const erasedCard = await fixture.readCard(card.id);
  expect(erasedCard.platformCardId).toBe(`erased ${card.id}`);
  await app.settle();
  expect(await fixture.readCard(card.id)).toEqual(erasedCard);
  const network = cardNetwork(app);
  const merchant = { descriptor: SHOP };
  await network.send(network.message(card.id, 5, { merchant }));
  expect((await network.logOf(card.id)).at(-1)).toMatchObject({
    reason: 'CARD_NOT_ACTIVE',
    merchant: { descriptor: '-' },
  });
  expect((await erase(app.runtime, id, { actor: 'operator', reason: null })).counts).toEqual(
    counts,
  );
});

/** Merchants of a customer's messages in the decision log, as JSON. */
const merchantsOf = async (customer_id: string) =>
  JSON.stringify(
    (await app.runtime.db.find(cardMessages, { customer_id })).map((each) => each.merchant),
  );

const DECISION = { actor: 'operator', reason: null };

/** A runtime that deletes and erases the customer before its first commit. */
function runtimeWithErasure(customerId: string): Runtime {
  let isErased = false;
  return {
    ...app.runtime,
    committer: {
      async commit(set) {
        if (!isErased) {
          isErased = true;
          ok(await app.call('DELETE', `/customers/${customerId}`), 200);
          await erase(app.runtime, customerId, DECISION);
        }
        return app.runtime.committer.commit(set);
      },
    },
  };
}

/** A completed payment of a customer without remaining funds. */
async function createClearedPayment() {
  const payment = await cardPayments(app).startPayment({ funds: 100, descriptor: SHOP });
  await payment.notify({ kind: 'CLEARING', amount: 100n });
  return { payment, id: payment.card.cardholderId as string };
}

it('an erasure leaves no merchant of a concurrent refund', async () => {
  const { payment, id } = await createClearedPayment();
  ok(await app.call('DELETE', `/customers/${id}`), 200);
  const { db } = app.runtime;
  let updateCount = 0;
  const query: typeof db.query = async (sql, values) => {
    if (sql.includes('update transactions') && updateCount++ === 0) {
      await payment.notify({ kind: 'RETURN', amount: 40n }, false);
    }
    return db.query(sql, values);
  };
  await erase({ ...app.runtime, db: { ...db, query } }, id, DECISION);
  expect(updateCount).toBe(1);
  expect(await merchantsOf(id)).toBe('[null,null,null]');
});

it('an erasure leaves no merchant of a concurrent message without effect', async () => {
  const { payment, id } = await createClearedPayment();
  const network = cardNetwork(app, runtimeWithErasure(id));
  await network.notify(payment.token, { kind: 'AUTHORIZATION_EXPIRY' });
  const storedMerchants = JSON.parse(await merchantsOf(id));
  expect(storedMerchants).toHaveLength(3);
  expect(JSON.stringify(storedMerchants)).not.toContain(SHOP);
});

it.each<[string, CardRequestKind, number]>([
  ['a decline', 'AUTHORIZATION', 5],
  ['a balance inquiry', 'BALANCE_INQUIRY', 0],
])('an erasure leaves no merchant of %s that is decided concurrently', async (_, kind, amount) => {
  const fixture = cardFixture(app);
  const holder = await fixture.createCardholder();
  const card = await fixture.createCard(holder);
  const network = cardNetwork(app, runtimeWithErasure(holder.customer.id));
  const request = network.message(card.id, amount, { kind, merchant: { descriptor: SHOP } });
  expect(await network.send(request)).toEqual({ approved: false, reason: 'CARD_NOT_ACTIVE' });
  expect(await merchantsOf(holder.customer.id)).toBe('[{"descriptor":"-"}]');
});
