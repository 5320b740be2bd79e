// Operations of cards, their decisions and their payments.
import { afterEach, beforeAll, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { cardNetwork } from '../../../test/kit/cards/card-network.ts';
import { cardPayments } from '../../../test/kit/cards/card-payments.ts';
import { cardFixture } from '../../../test/kit/cards/cards.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';

const app = testApp();
const client = operatorClient(app);
// The call fails if an earlier reply did not match its contract.
afterEach(async () => {
  ok(await app.call('GET', '/config'), 200);
});
let payments: ReturnType<typeof cardPayments>;
let fixture: ReturnType<typeof cardFixture>;
beforeAll(() => {
  payments = cardPayments(app);
  fixture = cardFixture(app);
});

const get = async (path: string) => ok(await client.call('GET', path), 200);
const post = (path: string, body: object, secret?: string) =>
  client.call('POST', path, { body, ...(secret ? { secret } : {}) });
const recordsOf = async (subject: string) =>
  (await get(`/audit-records?outcome=SUCCEEDED&subject=${subject}`)).data;
const advanceClock = () => app.effects.set(app.effects.now() + 1_000);

it('the API lists, shows and closes cards', async () => {
  const holder = await fixture.createCardholder();
  const firstCard = await fixture.createCard(holder);
  advanceClock();
  const secondCard = await fixture.createCard(holder);
  const listPath = `/cards?customerId=${holder.customer.id}&limit=1`;
  const firstPage = await get(listPath);
  expect(firstPage).toMatchObject({
    data: [{ cardId: secondCard.id, state: 'ACTIVE' }],
    hasMore: true,
  });
  expect((await get(`${listPath}&cursor=${firstPage.nextCursor}`)).data).toMatchObject([
    { cardId: firstCard.id, platformId: app.platform.id },
  ]);
  expect(await get(`/cards/${firstCard.id}`)).toMatchObject({
    ...{ id: firstCard.id, platformId: app.platform.id, note: null },
    bindings: [{ endedAt: null }],
  });
  const closePath = `/cards/${firstCard.id}/close`;
  expect(ok(await post(closePath, { reason: 'Found' }), 200)).toMatchObject({
    ...{ state: 'CLOSED', note: 'Found', stateReason: 'CLOSED_BY_SERVICE' },
  });
  expect((await recordsOf(firstCard.id))[0]).toMatchObject({ operationId: 'closeCard' });
  expect((await post(closePath, { reason: 'Found' })).body.code).toBe('CONFLICT');

  const secret = await client.secretOf({ platformIds: [app.other.id] });
  expect((await client.call('GET', `/cards/${secondCard.id}`, { secret })).status).toBe(404);
  expect((await post(`/cards/${secondCard.id}/close`, { reason: 'x' }, secret)).status).toBe(404);
  expect(ok(await client.call('GET', '/cards', { secret }), 200).data).toEqual([]);
});

it('the API lists decisions and reveals of card numbers', async () => {
  const network = cardNetwork(app);
  const { id } = await fixture.createCard(await fixture.createCardholder({ funds: 50_00 }));
  await network.request(id, 12_34);
  advanceClock();
  await network.request(id, 100_00);
  const allDecisions = await get(`/card-decisions?cardId=${id}`);
  expect(allDecisions.data).toMatchObject([
    { approved: false, amount: 100_00, reason: 'INSUFFICIENT_FUNDS', transactionId: null },
    { approved: true, amount: 12_34, reason: null, currency: 'USD' },
  ]);
  expect(allDecisions.data[0]).not.toHaveProperty('readable');
  expect((await get(`/card-decisions?cardId=${id}&declined=true`)).data).toHaveLength(1);
  ok(await app.call('POST', `/cards/${id}/reveal`), 200);
  expect((await get(`/card-reveals?cardId=${id}`)).data).toMatchObject([
    { cardId: id, platformId: app.platform.id, openedAt: null },
  ]);
});

/** Creates a payment whose account could not pay 20 of 120. Returns its ID. */
async function createException() {
  const payment = await payments.startPayment({ funds: 110 });
  await payment.notify({ kind: 'CLEARING', amount: 120n });
  advanceClock();
  return payment.id;
}

it('the API lists and resolves exceptions', async () => {
  const [firstPaymentId, secondPaymentId] = [await createException(), await createException()];
  const listPath = `/card-exceptions?platformId=${app.platform.id}&limit=1`;
  const firstPage = await get(listPath);
  expect(firstPage).toMatchObject({
    data: [{ transactionId: firstPaymentId, missingAmount: 20 }],
    hasMore: true,
  });
  const secondPage = await get(`${listPath}&cursor=${firstPage.nextCursor}`);
  expect(secondPage).toMatchObject({ data: [{ transactionId: secondPaymentId }], hasMore: false });
  const resolve = (id: string, outcome: string, secret?: string) =>
    post(`/card-exceptions/${id}/resolve`, { outcome, reason: 'Agreed' }, secret);
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  expect((await resolve(firstPaymentId, 'collect', secret)).status).toBe(404);
  expect(ok(await resolve(firstPaymentId, 'collect'), 200)).toMatchObject({ writtenOffAmount: 0 });
  expect(ok(await resolve(secondPaymentId, 'write-off'), 200)).toMatchObject({
    writtenOffAmount: 20,
  });
  expect((await resolve(secondPaymentId, 'collect')).body.code).toBe('CONFLICT');
  expect((await recordsOf(firstPaymentId))[0]).toMatchObject({
    ...{ operationId: 'resolveCardException', reason: 'Agreed' },
  });
});

it('the API lists and resolves funding debits in progress', async () => {
  const { id } = await payments.startPayment({ descriptor: 'Shop 005' });
  const payment = await payments.startPayment({ descriptor: 'Shop 005' });
  const listPath = `/funding-debits?platformId=${app.platform.id}&limit=1`;
  const firstPage = await get(listPath);
  expect(firstPage).toMatchObject({ data: [{ transactionId: id, number: 1 }], hasMore: true });
  expect(await get(`${listPath}&cursor=${firstPage.nextCursor}`)).toMatchObject({
    data: [{ transactionId: payment.id }],
    hasMore: false,
  });
  const path = `/funding-debits/${id}/resolve`;
  const body = { outcome: 'completed', reason: 'Confirmed by the issuer' };
  expect(ok(await post(path, body), 200)).toMatchObject({ number: 1, currency: 'USD' });
  expect((await post(path, body)).body.code).toBe('CONFLICT');
  expect((await recordsOf(id))[0]).toMatchObject({ operationId: 'resolveFundingDebit' });
  ok(await post(`/funding-debits/${payment.id}/resolve`, { ...body, number: 1 }), 200);
  await app.settle();
});
