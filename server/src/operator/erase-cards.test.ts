// What an export says of a customer's cards, and what an erasure leaves of them.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cardDesk } from '../../test/card-desk.ts';
import { cardNetwork } from '../../test/card-network.ts';
import { exportOf } from '../../test/exports.ts';
import { ok } from '../../test/fixtures.ts';
import { startApp, type TestApp } from '../../test/harness.ts';
import { cardMessages, cards } from '../features/cards/index.ts';
import { erase } from './erase.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const NAMED = 'vesna-quorbats-card';
const SHOP = 'Quorbat Bakery';

/** A customer with a card that was used once. */
async function cardholder() {
  const desk = cardDesk(app);
  const holder = await desk.holder();
  const card = await desk.card(holder, { platformCardId: NAMED });
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
  return { desk, card, message, id: customer_id as string };
}

it('an export has cards, what paid for them and what was asked of them, and no number', async () => {
  const { card, id } = await cardholder();
  const row = await app.runtime.db.read(cards, card.id);
  const { text, all } = await exportOf(app, id);
  expect(text).toContain(NAMED);
  expect(text).toContain(SHOP);
  expect(row?.secret).toBeTruthy();
  expect(text).not.toContain(row?.secret);
  expect(JSON.stringify(all)).toContain(card.fundingSources[0]);
  ok(await app.call('PATCH', `/cards/${card.id}`, { state: 'CLOSED' }), 200);
});

it('an erasure closes cards and leaves nothing of them that is about anybody', async () => {
  const { card, message, id, desk } = await cardholder();
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
  expect(text).not.toContain(NAMED);
  expect(text).not.toContain(SHOP);
  const shown = await desk.cardNow(card.id);
  expect(shown.platformCardId).toBe(`erased ${card.id}`);
  await app.settle();
  expect(await desk.cardNow(card.id)).toEqual(shown);
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
