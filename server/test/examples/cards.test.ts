// Examples of cards and of messages of a card network.
import { describe } from 'vitest';
import { ok } from '../kit/app/fixtures.ts';
import { balanceOf, createPerson } from '../kit/http/example-people.ts';
import { type ExampleRecorder, examples } from '../kit/http/examples.ts';

/** An active card funded by a balance of 500.00 USD. */
async function recordActiveCard(recorder: ExampleRecorder, platformCardId: string) {
  const customer = await createPerson(recorder);
  const { id: accountId } = await balanceOf(recorder, customer.id, 'USD');
  await recorder.app.call('POST', `/sandbox/internal-accounts/${accountId}/fund`, {
    amount: 500_00,
  });
  const card = await recorder.record('createCard', 'virtual', {
    summary: 'A virtual card funded from a balance in USD',
    body: {
      cardholderId: customer.id,
      platformCardId,
      form: 'VIRTUAL',
      fundingSources: [accountId],
    },
  });
  await recorder.app.settle();
  return { id: card.id as string, customerId: customer.id as string };
}

async function recordCards(recorder: ExampleRecorder) {
  const { id, customerId } = await recordActiveCard(recorder, 'card-3010');
  await recorder.record('getCardById', 'active', { summary: 'An active card', params: { id } });
  await recorder.record('listCards', 'of-a-cardholder', {
    summary: 'Cards of a cardholder',
    query: { cardholderId: customerId },
  });
  await recorder.record('updateCardById', 'limit', {
    summary: 'Limit each payment to 200.00 USD',
    params: { id },
    body: { maxSpendPerTransaction: 200_00 },
  });
  await recorder.record('revealCard', 'link', {
    summary: 'A link that shows number, expiry and security code once',
    params: { id },
    body: {},
  });
  await recorder.record('updateCardById', 'freeze', {
    summary: 'Freeze the card',
    params: { id },
    body: { state: 'FROZEN' },
  });
}

const merchant = { descriptor: 'Harbour Books' };
const usd = { code: 'USD' };

async function recordPurchase(recorder: ExampleRecorder) {
  const { id, customerId } = await recordActiveCard(recorder, 'card-3020');
  const params = { id };
  await recorder.record('sandboxSimulateCardBalanceInquiry', 'atm', {
    summary: 'A balance inquiry of an ATM',
    params,
    body: { merchant: { descriptor: 'City Bank ATM' } },
  });
  await recorder.record('sandboxSimulateCardAuthorization', 'purchase', {
    summary: 'A purchase of 42.50 USD',
    params,
    body: { amount: 42_50, currency: usd, merchant },
  });
  await recorder.app.settle();
  const path = `/transactions?customerId=${customerId}&type=CARD`;
  const { data } = ok(await recorder.app.call('GET', path), 200);
  const cardTransactionId: string = data[0].id;
  await recorder.record('sandboxSimulateCardAuthorizationAdvice', 'lower', {
    summary: 'The merchant lowers the authorization to 40.00 USD',
    params,
    body: { cardTransactionId, amount: 40_00 },
  });
  await recorder.record('sandboxSimulateCardClearing', 'whole', {
    summary: 'The merchant clears 40.00 USD',
    params,
    body: { cardTransactionId, amount: 40_00 },
  });
  await recorder.app.settle();
  await recorder.record('sandboxSimulateCardReturn', 'whole', {
    summary: 'The merchant refunds 40.00 USD',
    params,
    body: { cardTransactionId, amount: 40_00 },
  });
  await recorder.app.settle();
  await recorder.record('sandboxSimulateCardReturnReversal', 'last', {
    summary: 'The merchant reverses the refund',
    params,
    body: { cardTransactionId },
  });
  await recorder.app.settle();
  await recorder.record('listTransactions', 'of-a-card', {
    summary: 'Card payments of a customer',
    query: { customerId, type: 'CARD' },
  });
}

/** Messages of a network other than a purchase with a later clearing. */
async function recordOtherMessages(recorder: ExampleRecorder) {
  const { id } = await recordActiveCard(recorder, 'card-3030');
  const params = { id };
  const messages = [
    ['FinancialAuthorization', 'cash', 'A withdrawal of 60.00 USD, cleared immediately', 60_00],
    ['CreditAuthorization', 'credit', 'A credit of 15.00 USD that is cleared later', 15_00],
    ['FinancialCreditAuthorization', 'payment', 'A payment of 30.00 USD to the card', 30_00],
    ['CreditAuthorizationAdvice', 'stand-in', 'A credit approved in stand-in processing', 5_00],
  ] as const;
  for (const [operation, name, summary, amount] of messages) {
    await recorder.record(`sandboxSimulateCard${operation}`, name, {
      summary,
      params,
      body: { amount, currency: usd, merchant },
    });
    await recorder.app.settle();
  }
}

describe('examples of cards', () => {
  examples('cards', { recordCards, recordPurchase, recordOtherMessages });
});
