// Late, repeated, reordered or contradictory messages of a card network that require no decision.
import { describe, expect, it } from 'vitest';
import { expectBalancedBooks } from '../kit/app/books.ts';
import { ok } from '../kit/app/fixtures.ts';
import { erase } from '../kit/customers/erasure.ts';
import { cardIssuer } from '../kit/providers/cards.ts';

const issuer = cardIssuer();
const { service, order, send, authorize, balances, payment, read } = issuer;

const sendClearing = (
  cardId: string,
  authorizationId: string,
  amount: number,
  fields: object = {},
) => send(cardId, 'card.clearing', { authorizationId, amount, ...fields });

const readProblems = async () =>
  (await read('/provider-messages?result=CONTRADICTORY&limit=100')).data.map(
    (message: { problem: string }) => message.problem,
  );

const owedBy = async (account: string) => {
  const text = 'select owed from internal_accounts where id = $1';
  const [row] = await service.app.runtime.db.query<{ owed: bigint }>(text, [account]);
  return row?.owed;
};

describe('an authorization that the provider has approved', () => {
  it('is posted with its hold', async () => {
    const { cardId, account } = await order('30.00');
    const standInReply = await authorize(cardId, 20_00, { stoodIn: true });
    expect(standInReply).toMatchObject({ decision: 'APPROVED', result: 'APPLIED' });
    expect(await balances(account)).toEqual([10_00, 10_00]);
    const { authorizationId, transactionId } = standInReply;
    const repeatedReply = await authorize(cardId, 20_00, { stoodIn: true, authorizationId });
    expect(repeatedReply).toMatchObject({ result: 'IGNORED', transactionId });
    expect((await sendClearing(cardId, authorizationId, 20_00)).body).toEqual({
      result: 'APPLIED',
    });
    expect(await payment(transactionId)).toMatchObject({ status: 'SETTLED' });
    const otherFields = { authorizationId, amount: 21_00, stoodIn: true };
    expect((await send(cardId, 'card.authorization', otherFields)).status).toBe(409);
  });

  it('debits the available balance, and leaves the remaining amount to an operator', async () => {
    const { cardId, account } = await order('30.00');
    const { authorizationId, transactionId } = await authorize(cardId, 45_00, { stoodIn: true });
    expect(await balances(account)).toEqual([0, 0]);
    expect(await payment(transactionId)).toMatchObject({ status: 'AUTHORIZED' });
    await sendClearing(cardId, authorizationId, 45_00);
    expect(await payment(transactionId)).toMatchObject({ status: 'EXCEPTION' });
    await service.runJson('cards', 'resolve', transactionId, '--outcome', 'collect');
    expect(await payment(transactionId)).toMatchObject({ status: 'SETTLED' });
    expect(await balances(account)).toEqual([0, 0]);
    expect(await owedBy(account)).toBe(15_00n);
    await expectBalancedBooks(service.app);
  });

  it('is posted even if this server declined it', async () => {
    const { cardId, account } = await order('30.00');
    await issuer.change(cardId, { state: 'FROZEN' });
    const { authorizationId, reason } = await authorize(cardId, 5_00);
    expect(reason).toBe('CARD_PAUSED');
    const standInReply = await authorize(cardId, 5_00, { authorizationId, stoodIn: true });
    expect(standInReply).toMatchObject({ decision: 'APPROVED', result: 'APPLIED' });
    expect(await balances(account)).toEqual([25_00, 25_00]);
  });

  it('of a closed card is charged to the operator', async () => {
    const { cardId, account } = await order('30.00');
    await issuer.change(cardId, { state: 'CLOSED' });
    const { authorizationId, transactionId } = await authorize(cardId, 5_00, { stoodIn: true });
    await sendClearing(cardId, authorizationId, 5_00);
    expect(await payment(transactionId)).toMatchObject({ status: 'SETTLED' });
    expect(await balances(account)).toEqual([30_00, 30_00]);
    await expectBalancedBooks(service.app);
  });
});

describe('a clearing without an authorization', () => {
  it('is posted once, and later clearings are added to its payment', async () => {
    const { cardId, account } = await order('30.00');
    const merchant = { descriptor: 'Toll road' };
    const entry = { entryId: 'toll-1', merchant };
    expect((await sendClearing(cardId, 'toll', 12_00, entry)).body).toEqual({ result: 'APPLIED' });
    expect((await sendClearing(cardId, 'toll', 12_00, entry)).body).toEqual({ result: 'IGNORED' });
    expect((await sendClearing(cardId, 'toll', 13_00, entry)).status).toBe(409);
    expect(await balances(account)).toEqual([18_00, 18_00]);
    expect((await sendClearing(cardId, 'toll', 3_00)).body).toEqual({ result: 'APPLIED' });
    expect(await balances(account)).toEqual([15_00, 15_00]);
    const lateFields = { authorizationId: 'toll', amount: 12_00 };
    expect((await send(cardId, 'card.authorization', lateFields)).status).toBe(409);
    expect(await balances(account)).toEqual([15_00, 15_00]);
  });

  it('without funds is an exception for an operator', async () => {
    const { cardId, person } = await order('10.00');
    expect((await sendClearing(cardId, 'no-funds', 12_00)).body).toEqual({ result: 'APPLIED' });
    const path = `/transactions?type=CARD&customerId=${person.id}`;
    const { body } = await service.app.call('GET', path, undefined, service.callOptions);
    expect(body.data).toMatchObject([{ status: 'EXCEPTION' }]);
    await expectBalancedBooks(service.app);
  });
});

describe('a reversal', () => {
  it('of an unknown authorization is recorded without its merchant after an erasure', async () => {
    const { cardId, account, person } = await order('5.00');
    const { app, callOptions } = service;
    const { authorizationId } = await authorize(cardId, 5_00);
    await sendClearing(cardId, authorizationId, 5_00);
    expect(await balances(account)).toEqual([0, 0]);
    ok(await app.call('DELETE', `/customers/${person.id}`, undefined, callOptions), 200);
    await app.settle();
    await erase(app.runtime, person.id, { actor: 'test', reason: null });
    const merchant = { descriptor: 'Corner shop' };
    const fields = { authorizationId: 'erased', merchant };
    expect((await send(cardId, 'card.reversal', fields)).body).toEqual({ result: 'APPLIED' });
    const messages = await app.runtime.db.query<{ merchant: object }>(
      `select merchant from card_messages where card_id = $1 and kind = 'AUTHORIZATION_REVERSAL'`,
      [cardId],
    );
    expect(messages).toEqual([{ merchant: { descriptor: '-' } }]);
  });

  it('of an unknown authorization declines the authorization when it arrives', async () => {
    const { cardId, account } = await order('30.00');
    const earlyFields = { authorizationId: 'early', entryId: 'early-1' };
    const reversal = await send(cardId, 'card.reversal', earlyFields);
    expect(reversal.body).toEqual({ result: 'APPLIED' });
    expect((await send(cardId, 'card.reversal', earlyFields)).body).toEqual({ result: 'IGNORED' });
    const reply = await authorize(cardId, 5_00, { authorizationId: 'early' });
    expect(reply).toMatchObject({ decision: 'DECLINED', reason: 'TOO_LATE' });
    const standInReply = await authorize(cardId, 5_00, { authorizationId: 'early', stoodIn: true });
    expect(standInReply).toMatchObject({ result: 'IGNORED' });
    expect(await balances(account)).toEqual([30_00, 30_00]);
  });

  it('of more than the open amount is not applied', async () => {
    const { cardId, account } = await order('30.00');
    const { authorizationId } = await authorize(cardId, 10_00);
    const reversal = { authorizationId, amount: 11_00 };
    expect((await send(cardId, 'card.reversal', reversal)).status).toBe(409);
    expect(await balances(account)).toEqual([20_00, 20_00]);
    expect(await readProblems()).toContain('The reversal of 1100 exceeds the open amount of 1000.');
  });
});

describe('a refund', () => {
  it('without a payment is a credit', async () => {
    const { cardId, account } = await order('10.00');
    const sendRefund = (fields: object) => send(cardId, 'card.refund', fields);
    const credit = { authorizationId: 'credit', amount: 7_00, entryId: 'credit-1' };
    expect((await sendRefund(credit)).body).toEqual({ result: 'APPLIED' });
    expect((await sendRefund(credit)).body).toEqual({ result: 'IGNORED' });
    expect(await balances(account)).toEqual([17_00, 17_00]);
  });

  it('of more than was cleared, or in another currency, is not applied', async () => {
    const { cardId, account } = await order('30.00');
    const { authorizationId } = await authorize(cardId, 10_00);
    await sendClearing(cardId, authorizationId, 10_00);
    const sendRefund = (fields: object) =>
      send(cardId, 'card.refund', { authorizationId, amount: 1_00, ...fields });
    expect((await sendRefund({ amount: 11_00 })).status).toBe(409);
    expect((await sendRefund({ currency: 'EUR' })).status).toBe(409);
    const { cardId: otherCard } = await order('10.00');
    expect((await send(otherCard, 'card.refund', { authorizationId, amount: 1 })).status).toBe(409);
    expect(await balances(account)).toEqual([20_00, 20_00]);
    expect(await readProblems()).toEqual(
      expect.arrayContaining([
        'The refund of 1100 exceeds the cleared amount of 1000.',
        'The message has 100 EUR. The currency of the card is USD.',
        'The payment belongs to another card.',
      ]),
    );
  });
});

describe('a message that cannot be applied', () => {
  it('is stored for an operator if its payment is unknown', async () => {
    const { cardId } = await order('10.00');
    const fields = { authorizationId: 'none', amount: 1_00 };
    expect((await send(cardId, 'card.adjustment', fields)).status).toBe(409);
    expect((await send(cardId, 'card.refund_reversal', fields)).status).toBe(409);
    expect(await readProblems()).toContain('No payment has this authorizationId.');
  });

  it('is rejected with a list of its invalid fields', async () => {
    const { cardId } = await order('10.00');
    const fields = { amount: -1, merchant: { descriptor: '', mcc: 'x' }, currency: 1 };
    const { status, body } = await send(cardId, 'card.authorization', fields);
    expect(status).toBe(400);
    const names = body.details.errors.map((error: { field: string }) => error.field).sort();
    expect(names).toEqual([
      ...['amount', 'authorizationId', 'currency', 'merchant.descriptor', 'merchant.mcc'],
    ]);
  });
});
