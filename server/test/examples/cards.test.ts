// Examples of cards and of messages of a card network.
import { describe } from 'vitest';
import { ok } from '../kit/app/fixtures.ts';
import { balanceOf, createPerson } from '../kit/http/example-people.ts';
import { examples, type Stage } from '../kit/http/examples.ts';

/** An active card funded by a balance of 500.00 USD. */
async function activeCard(stage: Stage, platformCardId: string) {
  const customer = await createPerson(stage);
  const { id: accountId } = await balanceOf(stage, customer.id, 'USD');
  await stage.app.call('POST', `/sandbox/internal-accounts/${accountId}/fund`, {
    amount: 500_00,
  });
  const card = await stage.show('createCard', 'virtual', {
    summary: 'A virtual card that a balance in USD pays for',
    body: {
      cardholderId: customer.id,
      platformCardId,
      form: 'VIRTUAL',
      fundingSources: [accountId],
    },
  });
  await stage.app.settle();
  return { id: card.id as string, customerId: customer.id as string };
}

async function cards(stage: Stage) {
  const { id, customerId } = await activeCard(stage, 'card-3010');
  await stage.show('getCardById', 'active', { summary: 'An active card', params: { id } });
  await stage.show('listCards', 'of-a-cardholder', {
    summary: 'Cards of a cardholder',
    query: { cardholderId: customerId },
  });
  await stage.show('updateCardById', 'limit', {
    summary: 'Limit each payment to 200.00 USD',
    params: { id },
    body: { maxSpendPerTransaction: 200_00 },
  });
  await stage.show('revealCard', 'link', {
    summary: 'A link that shows number, expiry and security code once',
    params: { id },
    body: {},
  });
  await stage.show('updateCardById', 'freeze', {
    summary: 'Freeze the card',
    params: { id },
    body: { state: 'FROZEN' },
  });
}

const merchant = { descriptor: 'Harbour Books' };
const usd = { code: 'USD' };

async function purchase(stage: Stage) {
  const { id, customerId } = await activeCard(stage, 'card-3020');
  const params = { id };
  await stage.show('sandboxSimulateCardBalanceInquiry', 'cash-machine', {
    summary: 'A cash machine asks for the balance',
    params,
    body: { merchant: { descriptor: 'City Bank ATM' } },
  });
  await stage.show('sandboxSimulateCardAuthorization', 'purchase', {
    summary: 'A purchase of 42.50 USD',
    params,
    body: { amount: 42_50, currency: usd, merchant },
  });
  await stage.app.settle();
  const path = `/transactions?customerId=${customerId}&type=CARD`;
  const { data } = ok(await stage.app.call('GET', path), 200);
  const cardTransactionId: string = data[0].id;
  await stage.show('sandboxSimulateCardAuthorizationAdvice', 'lower', {
    summary: 'The merchant lowers the authorization to 40.00 USD',
    params,
    body: { cardTransactionId, amount: 40_00 },
  });
  await stage.show('sandboxSimulateCardClearing', 'whole', {
    summary: 'The merchant clears 40.00 USD',
    params,
    body: { cardTransactionId, amount: 40_00 },
  });
  await stage.app.settle();
  await stage.show('sandboxSimulateCardReturn', 'whole', {
    summary: 'The merchant refunds 40.00 USD',
    params,
    body: { cardTransactionId, amount: 40_00 },
  });
  await stage.app.settle();
  await stage.show('sandboxSimulateCardReturnReversal', 'last', {
    summary: 'The merchant reverses the refund',
    params,
    body: { cardTransactionId },
  });
  await stage.app.settle();
  await stage.show('listTransactions', 'of-a-card', {
    summary: 'Card payments of a customer',
    query: { customerId, type: 'CARD' },
  });
}

/** Messages of a network other than a purchase with a later clearing. */
async function otherMessages(stage: Stage) {
  const { id } = await activeCard(stage, 'card-3030');
  const params = { id };
  const messages = [
    ['FinancialAuthorization', 'cash', 'A withdrawal of 60.00 USD, cleared at once', 60_00],
    ['CreditAuthorization', 'credit', 'A credit of 15.00 USD that is cleared later', 15_00],
    ['FinancialCreditAuthorization', 'payment', 'A payment of 30.00 USD to the card', 30_00],
    ['CreditAuthorizationAdvice', 'stand-in', 'A credit that the network approved itself', 5_00],
  ] as const;
  for (const [operation, name, summary, amount] of messages) {
    await stage.show(`sandboxSimulateCard${operation}`, name, {
      summary,
      params,
      body: { amount, currency: usd, merchant },
    });
    await stage.app.settle();
  }
}

describe('examples of cards', () => {
  examples('cards', { cards, purchase, otherMessages });
});
