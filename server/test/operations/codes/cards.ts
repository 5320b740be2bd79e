// Error codes of cards.

import { createCustomer, findInternalAccount } from '../../kit/app/fixtures.ts';
import { cardFixture, newCardName } from '../../kit/cards/cards.ts';
import { type CodeFixture, type Provocation, provocation } from './kit.ts';

const fixtureOf = ({ app }: CodeFixture) => cardFixture(app);

async function createCard(fixture: CodeFixture, overrides: Record<string, unknown> = {}) {
  const cards = fixtureOf(fixture);
  return cards.createCard(await cards.createCardholder(), overrides);
}

async function createClosedCard(fixture: CodeFixture): Promise<string> {
  const { id } = await createCard(fixture);
  await fixture.call('PATCH', `/cards/${id}`, { state: 'CLOSED' });
  return id;
}

export const CARDS: readonly Provocation[] = [
  provocation(
    'CARDHOLDER_KYC_NOT_APPROVED',
    'Issue a card to a customer who is not approved: the name ends in 001',
    async (fixture) => {
      const person = await createCustomer(fixture.app, {}, { fullName: 'Ada Lovelace 001' });
      const { id: accountId } = await findInternalAccount(fixture.app, person.id, 'USD');
      return fixtureOf(fixture).requestCard({ customer: person, accountId });
    },
  ),
  provocation(
    'FUNDING_SOURCE_INELIGIBLE',
    'Issue a card with a funding source in euros',
    async (fixture) => {
      const { customer: person } = await fixtureOf(fixture).createCardholder();
      const { id: accountId } = await findInternalAccount(fixture.app, person.id, 'EUR');
      return fixtureOf(fixture).requestCard({ customer: person, accountId });
    },
  ),
  provocation(
    'CARD_LIMIT_REACHED',
    'Issue an eleventh card to a cardholder. `railhead-server platform set-cards` changes the ' +
      'limit',
    async (fixture) => {
      const cards = fixtureOf(fixture);
      const holder = await cards.createCardholder();
      for (let index = 0; index < 10; index++) await cards.requestCard(holder);
      return cards.requestCard(holder);
    },
  ),
  provocation(
    'INVALID_STATE_TRANSITION',
    'Freeze a card that is still PROCESSING: a `platformCardId` that ends in 001',
    async (fixture) => {
      const { id } = await createCard(fixture, { platformCardId: newCardName('001') });
      return fixture.call('PATCH', `/cards/${id}`, { state: 'FROZEN' });
    },
  ),
  provocation('CARD_ALREADY_CLOSED', 'Close a card twice', async (fixture) =>
    fixture.call('PATCH', `/cards/${await createClosedCard(fixture)}`, { state: 'CLOSED' }),
  ),
  provocation('CARD_NOT_MUTABLE', 'Change the limit of a card that is CLOSED', async (fixture) =>
    fixture.call('PATCH', `/cards/${await createClosedCard(fixture)}`, {
      maxSpendPerTransaction: 1_00,
    }),
  ),
];
