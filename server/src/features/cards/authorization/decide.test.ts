// Decisions about authorization requests and their effects: a payment with a hold, or an entry in
// the decision log only.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok, readBalances } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { cardNetwork } from '../../../../test/kit/cards/card-network.ts';
import { cardFixture } from '../../../../test/kit/cards/cards.ts';
import {
  checkClosable,
  transitionInternalAccount,
} from '../../balances/internal-accounts/lifecycle.ts';
import { internalAccounts } from '../../balances/internal-accounts/store.ts';
import { isPaymentInProgress } from '../../payments/lifecycle/payments-in-progress.ts';

const app = testApp();
const fixture = cardFixture(app);
let network: ReturnType<typeof cardNetwork>;
beforeAll(() => {
  network = cardNetwork(app);
});
afterAll(() => app.settle());

/** A holder with funds and an active card. */
async function cardOf(funds = 100_00, overrides: object = {}, currency = 'USD') {
  const holder = await fixture.createCardholder({ currency, funds });
  const card = await fixture.createCard(holder, { ...overrides });
  expect(card.state).toBe('ACTIVE');
  return { ...holder, cardId: card.id as string };
}

const declineDecision = (reason: string) => ({ approved: false, reason });
const approvedDecision = {
  approved: true,
  transactionId: expect.stringMatching(/^CardTransaction:/),
};

/** Asserts that the only effect of a decline is an entry in the decision log. */
async function expectOnlyDecision(
  card: Awaited<ReturnType<typeof cardOf>>,
  reason: string,
  funds: number,
) {
  expect(await network.paymentsOf(card.customer.id)).toEqual([]);
  expect(await readBalances(app, card.accountId)).toEqual({ balance: funds, total: funds });
  expect(await network.logOf(card.cardId)).toMatchObject([
    { approved: false, reason, transaction_id: null, amount: 10_00n },
  ]);
}

describe('an authorization', () => {
  it('creates a payment with a hold, and emits a balance event and a payment event', async () => {
    const card = await cardOf();
    const eventCountBefore = (await app.events()).length;
    const request = network.message(card.cardId, 30_00);
    expect(await network.send(request)).toEqual(approvedDecision);
    expect(await readBalances(app, card.accountId)).toEqual({
      balance: 70_00,
      total: 100_00,
    });
    const [payment] = await network.paymentsOf(card.customer.id);
    expect(payment).toMatchObject({
      type: 'CARD',
      cardId: card.cardId,
      customerId: card.customer.id,
      issuerTransactionToken: request.token,
      status: 'AUTHORIZED',
      direction: 'DEBIT',
      merchant: { descriptor: 'Corner shop', mcc: '5411', country: 'US' },
      authorizedAmount: { amount: 30_00, currency: { code: 'USD', decimals: 2 } },
      accountId: card.accountId,
      pullSummary: { count: 1, totalAmount: 30_00, pendingCount: 1 },
    });
    for (const absentField of [
      'settledAmount',
      'refundedAmount',
      'settlementSummary',
      'refundSummary',
    ]) {
      expect(payment).not.toHaveProperty(absentField);
    }
    expect(payment.authorizedAt).toBe(payment.createdAt);
    const emittedEvents = (await app.events()).slice(eventCountBefore);
    expect(emittedEvents.map((each) => each.type)).toEqual([
      'INTERNAL_ACCOUNT.BALANCE_UPDATED',
      'CARD_TRANSACTION.AUTHORIZED',
    ]);
    expect(emittedEvents[1]).toMatchObject({ subject: payment.id, data: payment });
    expect(await network.logOf(card.cardId)).toMatchObject([
      { approved: true, reason: null, transaction_id: payment.id, kind: 'AUTHORIZATION' },
    ]);
    await app.settle();
    const transaction = ok(await app.call('GET', `/transactions/${payment.id}`), 200);
    expect(transaction.pullSummary).toEqual({ count: 1, totalAmount: 30_00, pendingCount: 0 });
    expect(await readBalances(app, card.accountId)).toEqual({ balance: 70_00, total: 70_00 });
  });

  it('may use the full balance and the exact card limit', async () => {
    const card = await cardOf(50_00, { maxSpendPerTransaction: 30_00 });
    expect(await network.request(card.cardId, 30_01)).toEqual(
      declineDecision('SPEND_LIMIT_EXCEEDED'),
    );
    expect(await network.request(card.cardId, 30_00)).toEqual(approvedDecision);
    expect(await network.request(card.cardId, 20_01)).toEqual(
      declineDecision('INSUFFICIENT_FUNDS'),
    );
    expect(await network.request(card.cardId, 20_00)).toEqual(approvedDecision);
    expect((await readBalances(app, card.accountId)).balance).toBe(0);
  });

  it('is exact to the cent for an account with six decimals', async () => {
    const card = await cardOf(10_009_999, {}, 'USDB');
    expect(await network.request(card.cardId, 10_01)).toEqual(
      declineDecision('INSUFFICIENT_FUNDS'),
    );
    expect(await network.request(card.cardId, 10_00)).toEqual(approvedDecision);
    expect(await readBalances(app, card.accountId)).toEqual({
      balance: 9_999,
      total: 10_009_999,
    });
    const [payment] = await network.paymentsOf(card.customer.id);
    expect(payment.authorizedAmount).toMatchObject({ amount: 10_00, currency: { code: 'USD' } });
  });

  it('is declined on an unissued, a frozen or a closed card', async () => {
    const holder = await fixture.createCardholder({ funds: 100_00 });
    const processingCard = await fixture.createCard(holder, {
      platformCardId: `waits-${app.effects.now()}-001`,
    });
    expect(processingCard.state).toBe('PROCESSING');
    expect(await network.request(processingCard.id, 10_00)).toEqual(
      declineDecision('CARD_NOT_ACTIVE'),
    );
    const { id } = await fixture.createCard(holder);
    ok(await fixture.patchCard(id, { state: 'FROZEN' }), 200);
    expect(await network.request(id, 10_00)).toEqual(declineDecision('CARD_PAUSED'));
    ok(await fixture.patchCard(id, { state: 'ACTIVE' }), 200);
    expect(await network.request(id, 10_00)).toEqual(approvedDecision);
    ok(await fixture.patchCard(id, { state: 'CLOSED' }), 200);
    expect(await network.request(id, 10_00)).toEqual(declineDecision('CARD_NOT_ACTIVE'));
  });

  it('in another currency is declined and recorded', async () => {
    const card = await cardOf();
    const request = network.message(card.cardId, 10_00, { currency: 'EUR' });
    expect(await network.send(request)).toEqual(declineDecision('CURRENCY_NOT_SUPPORTED'));
    await expectOnlyDecision(card, 'CURRENCY_NOT_SUPPORTED', 100_00);
    expect((await network.logOf(card.cardId))[0]).toMatchObject({ currency: 'EUR' });
  });

  it('is declined with the reason of the issuer before the balance is checked', async () => {
    const card = await cardOf(5_00);
    const merchant = { descriptor: 'Nothing 003' };
    const request = network.message(card.cardId, 10_00, { merchant });
    expect(await network.send(request)).toEqual(declineDecision('CARD_PAUSED'));
    await expectOnlyDecision(card, 'CARD_PAUSED', 5_00);
  });

  it('is declined if the holder is not approved', async () => {
    const card = await cardOf();
    const { id } = card.customer;
    await app.runtime.db.query("update customers set status = 'REJECTED' where id = $1", [id]);
    expect(await network.request(card.cardId, 10_00)).toEqual(
      declineDecision('CARDHOLDER_NOT_READY'),
    );
    await expectOnlyDecision(card, 'CARDHOLDER_NOT_READY', 100_00);
  });

  it('is declined if the only account is frozen or owes funds', async () => {
    const card = await cardOf();
    const applyAccountEvent = (event: 'freeze' | 'unfreeze') =>
      app.operate(async (ctx) => {
        const row = await ctx.read(internalAccounts, card.accountId);
        if (row) transitionInternalAccount(ctx, row, event);
      });
    const setOwedAmount = (units: number) =>
      app.runtime.db.query('update internal_accounts set owed = $2 where id = $1', [
        card.accountId,
        units,
      ]);
    await applyAccountEvent('freeze');
    expect(await network.request(card.cardId, 10_00)).toEqual(declineDecision('NO_FUNDING_SOURCE'));
    await applyAccountEvent('unfreeze');
    await setOwedAmount(1);
    expect(await network.request(card.cardId, 10_00)).toEqual(declineDecision('NO_FUNDING_SOURCE'));
    await setOwedAmount(0);
    expect(await network.request(card.cardId, 10_00)).toEqual(approvedDecision);
  });

  it('is rejected for an invalid amount and for an unknown card', async () => {
    const card = await cardOf();
    for (const amount of [-1, Number.MAX_SAFE_INTEGER]) {
      await expect(network.request(card.cardId, amount)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
      });
    }
    await expect(network.request('Card:unknown', 1)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await network.logOf(card.cardId)).toEqual([]);
  });
});

describe('decide', () => {
  it('checks the card for a balance inquiry without a payment', async () => {
    const card = await cardOf(0);
    expect(await network.request(card.cardId, 0, 'BALANCE_INQUIRY')).toEqual({
      approved: true,
    });
    ok(await fixture.patchCard(card.cardId, { state: 'FROZEN' }), 200);
    expect(await network.request(card.cardId, 0, 'BALANCE_INQUIRY')).toEqual(
      declineDecision('CARD_PAUSED'),
    );
    expect(await network.paymentsOf(card.customer.id)).toEqual([]);
    expect(await network.logOf(card.cardId)).toMatchObject([
      { approved: true, transaction_id: null, amount: 0n },
      { approved: false, reason: 'CARD_PAUSED' },
    ]);
  });

  it('authorizes and clears a financial authorization with one payment event', async () => {
    const card = await cardOf();
    expect(await network.request(card.cardId, 30_00, 'FINANCIAL_AUTHORIZATION')).toEqual(
      approvedDecision,
    );
    const [payment] = await network.paymentsOf(card.customer.id);
    expect(payment).toMatchObject({
      status: 'SETTLED',
      settledAmount: { amount: 30_00 },
      settlementSummary: { count: 1, totalAmount: 30_00 },
      pullSummary: { count: 1, totalAmount: 30_00, pendingCount: 1 },
    });
    expect(
      (await fixture.eventsOf('CARD_TRANSACTION.', payment.id)).map((each) => each.type),
    ).toEqual(['CARD_TRANSACTION.SETTLED']);
    await app.settle();
    expect(await readBalances(app, card.accountId)).toEqual({ balance: 70_00, total: 70_00 });
  });

  it('authorizes a merchant credit, and posts a financial credit', async () => {
    const card = await cardOf(0, { maxSpendPerTransaction: 1 });
    expect(await network.request(card.cardId, 40_00, 'CREDIT_AUTHORIZATION')).toEqual(
      approvedDecision,
    );
    expect((await readBalances(app, card.accountId)).total).toBe(0);
    const [firstPayment] = await network.paymentsOf(card.customer.id);
    expect(firstPayment).toMatchObject({ status: 'AUTHORIZED', direction: 'CREDIT' });
    expect(firstPayment).not.toHaveProperty('pullSummary');
    expect(await network.request(card.cardId, 7_00, 'FINANCIAL_CREDIT_AUTHORIZATION')).toEqual(
      approvedDecision,
    );
    expect(await readBalances(app, card.accountId)).toEqual({ balance: 7_00, total: 7_00 });
    const [, secondPayment] = await network.paymentsOf(card.customer.id);
    expect(secondPayment).toMatchObject({ status: 'SETTLED', settledAmount: { amount: 7_00 } });
    expect(secondPayment.accountId).toBe(card.accountId);
  });

  it('accepts a credit approved in stand-in processing on a frozen card', async () => {
    const card = await cardOf(0);
    ok(await fixture.patchCard(card.cardId, { state: 'FROZEN' }), 200);
    expect(await network.request(card.cardId, 5_00, 'CREDIT_AUTHORIZATION')).toEqual(
      declineDecision('CARD_PAUSED'),
    );
    expect(await network.request(card.cardId, 5_00, 'CREDIT_AUTHORIZATION_ADVICE')).toEqual(
      approvedDecision,
    );
  });
});

describe('a payment with a card', () => {
  it('prevents the closure of its account while the payment is open', async () => {
    const card = await cardOf();
    expect(await network.request(card.cardId, 100_00)).toEqual(approvedDecision);
    await app.settle();
    expect(await readBalances(app, card.accountId)).toEqual({ balance: 0, total: 0 });
    const conflict = {
      code: 'CONFLICT',
      message: expect.stringMatching(/^A payment of the (customer|account) is in progress/),
    };
    const deletionResponse = await app.call('DELETE', `/customers/${card.customer.id}`);
    expect(deletionResponse.body).toMatchObject(conflict);
    const closure = app.operate(async (ctx) => {
      const row = await ctx.read(internalAccounts, card.accountId);
      if (row) await checkClosable(ctx, { isPaymentInProgress }, row);
    });
    await expect(closure).rejects.toMatchObject(conflict);
  });

  it('has a unique transaction token of its issuer', async () => {
    const card = await cardOf();
    const request = network.message(card.cardId, 1_00);
    expect(await network.send(request)).toEqual(approvedDecision);
    const repeatedRequest = network.message(card.cardId, 1_00, { token: request.token });
    await expect(network.send(repeatedRequest)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await network.paymentsOf(card.customer.id)).toHaveLength(1);
    expect((await readBalances(app, card.accountId)).balance).toBe(99_00);
  });
});

describe('a card of another platform', () => {
  it('creates a payment of that platform only', async () => {
    const otherPlatformFixture = cardFixture(app, { platform: app.other });
    const holder = await otherPlatformFixture.createCardholder({ funds: 10_00 });
    const card = await otherPlatformFixture.createCard(holder);
    expect(await network.request(card.id, 4_00)).toEqual(approvedDecision);
    const [payment] = await network.paymentsOf(holder.customer.id, { platform: app.other });
    expect(payment.authorizedAmount.amount).toBe(4_00);
    expect((await app.call('GET', `/transactions/${payment.id}`)).body).toMatchObject({
      code: 'TRANSACTION_NOT_FOUND',
    });
  });
});

describe('an authorization of zero', () => {
  it('checks the card, creates no payment, and is rejected as a financial authorization', async () => {
    const card = await cardOf(0);
    const request = network.message(card.cardId, 0);
    expect(await network.send(request)).toEqual({ approved: true });
    expect(await network.send(request)).toEqual({ approved: true });
    expect(await network.logOf(card.cardId)).toMatchObject([
      { kind: 'BALANCE_INQUIRY', amount: 0n },
    ]);
    expect(await network.paymentsOf(card.customer.id)).toEqual([]);
    const financialRequest = network.message(card.cardId, 0, {
      kind: 'FINANCIAL_AUTHORIZATION',
    });
    await expect(network.send(financialRequest)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });
});
