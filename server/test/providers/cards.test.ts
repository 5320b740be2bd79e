// Cards of a production platform that an adapter issues over the protocol: real HTTP and signatures
// in both directions, from the order to the refund.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { cardIssuer, ISSUER, STAND_IN_MAX } from '../kit/providers/cards.ts';

const issuer = cardIssuer();
const { service, order, send, authorize, balances, payment, read, write } = issuer;

describe('an order', () => {
  it('is sent to the routed provider, with limits, state and stand-in rules', async () => {
    const { cardId, person } = await order('10.00', { maxSpendPerTransaction: 20_00 });
    expect(issuer.adapter().cards.get(cardId)).toMatchObject({
      ...{ cardId, cardholderId: person.id, currency: 'USD', count: 1 },
      standIn: { state: 'ACTIVE', maxPerPayment: 20_00, maxAmount: 20_00 },
    });
    expect(await issuer.cardOf(cardId)).toMatchObject({
      ...{ state: 'ACTIVE', brand: 'MASTERCARD', last4: '4444', expMonth: 12, expYear: 2030 },
    });
    const readStandIn = () => issuer.adapter().cards.get(cardId).standIn;
    await issuer.change(cardId, { maxSpendPerTransaction: null });
    expect(readStandIn()).toEqual({ state: 'ACTIVE', maxAmount: STAND_IN_MAX });
    await issuer.change(cardId, { state: 'FROZEN' });
    expect(readStandIn()).toEqual({ state: 'FROZEN', maxAmount: 0 });
    await issuer.change(cardId, { state: 'ACTIVE' });
    expect(readStandIn()).toEqual({ state: 'ACTIVE', maxAmount: STAND_IN_MAX });
    await issuer.change(cardId, { state: 'CLOSED' });
    expect(readStandIn()).toEqual({ state: 'CLOSED', maxAmount: 0 });
  });

  it('is repeated to the same provider until it responds, and issues one card', async () => {
    const { replies } = issuer.adapter();
    const reply = replies['/cards/issue'];
    replies['/cards/issue'] = () => null;
    const { cardId } = await order('10.00');
    expect(await issuer.cardOf(cardId)).toMatchObject({ state: 'PROCESSING' });
    const route = (await read('/provider-routes')).data[0];
    await write('POST', `/providers/${ISSUER}/pause`);
    if (reply) replies['/cards/issue'] = reply;
    await service.app.advance(3_600_000);
    await write('POST', `/providers/${ISSUER}/resume`);
    expect(issuer.adapter().cards.get(cardId).count).toBeGreaterThan(1);
    expect(await issuer.cardOf(cardId)).toMatchObject({ state: 'ACTIVE', last4: '4444' });
    expect(route).toMatchObject({ kind: 'card', providerId: ISSUER });
  });

  it('can be pending, and rejected later', async () => {
    const { replies } = issuer.adapter();
    const [issueReply, stateReply] = [replies['/cards/issue'], replies['/cards/state']];
    replies['/cards/issue'] = () => ({ body: { state: 'pending', checkAfterSeconds: 30 } });
    replies['/cards/state'] = () => ({ body: { state: 'rejected' } });
    const { cardId } = await order('10.00');
    expect(await issuer.cardOf(cardId)).toMatchObject({ state: 'PROCESSING' });
    await service.app.advance(31_000);
    const rejectedState = { state: 'CLOSED', stateReason: 'ISSUER_REJECTED' };
    expect(await issuer.cardOf(cardId)).toMatchObject(rejectedState);
    if (issueReply && stateReply)
      Object.assign(replies, { '/cards/issue': issueReply, '/cards/state': stateReply });
  });

  it('is rejected while no route selects an issuer', async () => {
    const explain = () =>
      read(
        `/provider-routes/choice?environment=production&kind=card&currency=USD` +
          `&platformId=${service.platform.id}`,
      );
    expect(await explain()).toMatchObject({ providerId: ISSUER });
    await write('POST', `/providers/${ISSUER}/pause`);
    expect(await explain()).toMatchObject({
      ...{ providerId: null, routes: [{ verdict: 'PROVIDER_PAUSED' }] },
    });
    const { person, account } = await service.createPayer('10.00');
    const body = { cardholderId: person.id, form: 'VIRTUAL', fundingSources: [account] };
    const reply = await service.app.call('POST', '/cards', body, service.callOptions);
    expect(reply).toMatchObject({ status: 501, body: { code: 'NOT_IMPLEMENTED' } });
    await write('POST', `/providers/${ISSUER}/resume`);
  });

  it('has a card number that the provider returns and the database does not store', async () => {
    const { cardId } = await order('10.00');
    const path = `/cards/${cardId}/reveal`;
    const { body } = await service.app.call('POST', path, undefined, service.callOptions);
    const link = new URL(body.panEmbedUrl).pathname;
    const page = await service.app.server.inject({ method: 'GET', url: link });
    expect(page.body).toContain('5555 5555 5555 4444');
    const rows = await service.app.runtime.db.query('select * from cards where id = $1', [cardId]);
    expect(JSON.stringify(rows, (_, value) => String(value))).not.toContain('5555555555554444');
  });
});

describe('a payment', () => {
  it('is authorized, partly cleared, partly reversed and refunded', async () => {
    const { cardId, account } = await order('100.00');
    const { authorizationId, transactionId, ...decision } = await authorize(cardId, 40_00);
    expect(decision).toMatchObject({
      ...{ decision: 'APPROVED', approvedAmount: 40_00, currency: 'USD', result: 'APPLIED' },
    });
    expect(await balances(account)).toEqual([60_00, 60_00]);
    const sendMessage = async (type: string, amount?: number) => {
      const { body } = await send(cardId, type, { authorizationId, amount });
      expect(body).toEqual({ result: 'APPLIED' });
      return { ...(await payment(transactionId)), balances: await balances(account) };
    };
    expect(await sendMessage('card.adjustment', 50_00)).toMatchObject({
      ...{ status: 'AUTHORIZED', balances: [50_00, 50_00] },
    });
    expect(await sendMessage('card.clearing', 25_00)).toMatchObject({
      ...{ status: 'PARTIALLY_SETTLED', balances: [50_00, 50_00] },
    });
    expect(await sendMessage('card.reversal', 5_00)).toMatchObject({
      ...{ status: 'PARTIALLY_SETTLED', balances: [55_00, 55_00] },
    });
    expect(await sendMessage('card.reversal')).toMatchObject({
      ...{ status: 'SETTLED', balances: [75_00, 75_00] },
    });
    expect(await sendMessage('card.refund', 10_00)).toMatchObject({
      ...{ status: 'SETTLED', balances: [85_00, 85_00] },
    });
    expect(await sendMessage('card.refund_reversal', 10_00)).toMatchObject({
      ...{ status: 'SETTLED', balances: [75_00, 75_00] },
    });
    expect(await sendMessage('card.refund', 25_00)).toMatchObject({
      ...{ status: 'REFUNDED', balances: [100_00, 100_00] },
    });
  });

  it('is declined without a hold, with the first reason that applies', async () => {
    const { cardId, account } = await order('30.00', { maxSpendPerTransaction: 25_00 });
    const reasonOf = async (amount: number, fields: object = {}) => {
      const { decision, approvedAmount, reason } = await authorize(cardId, amount, fields);
      expect({ decision, approvedAmount }).toEqual({ decision: 'DECLINED', approvedAmount: 0 });
      return reason;
    };
    expect(await reasonOf(10_00, { currency: 'EUR' })).toBe('CURRENCY_NOT_SUPPORTED');
    expect(await reasonOf(26_00)).toBe('SPEND_LIMIT_EXCEEDED');
    expect(await authorize(cardId, 20_00)).toMatchObject({ decision: 'APPROVED' });
    expect(await reasonOf(20_00)).toBe('INSUFFICIENT_FUNDS');
    await issuer.change(cardId, { state: 'FROZEN' });
    expect(await reasonOf(1)).toBe('CARD_PAUSED');
    await issuer.change(cardId, { state: 'CLOSED' });
    expect(await reasonOf(1)).toBe('CARD_NOT_ACTIVE');
    expect(await balances(account)).toEqual([10_00, 10_00]);
  });

  it('of an unknown card has no decision', async () => {
    const fields = { authorizationId: 'unknown-card', amount: 1_00 };
    const unknownCard = 'Card:01a21758-15bf-71ea-aa5b-996c3b49c144';
    const reply = await send(unknownCard, 'card.authorization', { ...fields, id: 'unknown-card' });
    expect(reply).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    const { data } = await read('/provider-messages?result=CONTRADICTORY');
    expect(data[0]).toMatchObject({
      ...{ messageId: 'unknown-card', type: 'card.authorization' },
      problem: 'The provider has not issued this card.',
    });
  });

  it('of zero is approved without a transaction', async () => {
    const { cardId, account } = await order('10.00');
    const { decision, transactionId } = await authorize(cardId, 0);
    expect({ decision, transactionId }).toEqual({ decision: 'APPROVED', transactionId: undefined });
    expect(await balances(account)).toEqual([10_00, 10_00]);
  });

  it('is decided once, and repetitions receive the same decision', async () => {
    const { cardId, account } = await order('30.00');
    const fields = { id: randomUUID(), authorizationId: randomUUID(), amount: 20_00 };
    const authorizationFields = { ...fields, occurredAt: '2026-01-05T09:00:00Z' };
    const firstReply = await send(cardId, 'card.authorization', authorizationFields);
    const { authorization } = firstReply.body;
    expect(firstReply.body).toMatchObject({
      result: 'APPLIED',
      authorization: { decision: 'APPROVED' },
    });
    const repeatedReply = await send(cardId, 'card.authorization', authorizationFields);
    expect(repeatedReply).toEqual({ status: 200, body: { result: 'DUPLICATE', authorization } });
    const otherReply = await send(cardId, 'card.authorization', {
      ...authorizationFields,
      id: 'other-message',
    });
    expect(otherReply.body).toEqual({ result: 'IGNORED', authorization });
    expect(
      (await send(cardId, 'card.authorization', { ...authorizationFields, amount: 1 })).status,
    ).toBe(409);
    const changedFields = { ...authorizationFields, id: 'changed', amount: 1 };
    expect((await send(cardId, 'card.authorization', changedFields)).status).toBe(409);
    const declinedFields = { ...authorizationFields, id: 'declined', authorizationId: 'declined' };
    const authorizations = [
      await send(cardId, 'card.authorization', declinedFields),
      await send(cardId, 'card.authorization', declinedFields),
    ].map(({ body }) => body.authorization);
    expect(authorizations[0]).toMatchObject({ reason: 'INSUFFICIENT_FUNDS' });
    expect(authorizations[1]).toEqual(authorizations[0]);
    expect(await balances(account)).toEqual([10_00, 10_00]);
  });

  it('never holds more than the balance, even if many payments arrive concurrently', async () => {
    const { cardId, account } = await order('100.00');
    const authorizations = await Promise.all(
      Array.from({ length: 24 }, () => authorize(cardId, 30_00, { answerWithinMs: 10_000 })),
    );
    const approvedAuthorizations = authorizations.filter(({ decision }) => decision === 'APPROVED');
    const reasons = authorizations.flatMap(({ reason }) => reason ?? []);
    expect(approvedAuthorizations).toHaveLength(3);
    expect(new Set(reasons)).toEqual(new Set(['INSUFFICIENT_FUNDS']));
    expect(await balances(account)).toEqual([10_00, 10_00]);
    const sameFields = { id: randomUUID(), authorizationId: 'twice', amount: 10_00 };
    const repeatedFields = { ...sameFields, occurredAt: '2026-01-05T09:00:00Z' };
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => send(cardId, 'card.authorization', repeatedFields)),
    );
    const transactionIds = replies.map(({ body }) => body.authorization.transactionId);
    expect(new Set(transactionIds).size).toBe(1);
    expect(await balances(account)).toEqual([0, 0]);
  });
});
