// Codes about cards.

import { customer, internalAccount } from '../../kit/app/fixtures.ts';
import { cardDesk, cardName } from '../../kit/cards/cards.ts';
import { type CodeDesk, type Way, way } from './kit.ts';

const deskOf = ({ app }: CodeDesk) => cardDesk(app);

async function card(desk: CodeDesk, more: Record<string, unknown> = {}) {
  const cards = deskOf(desk);
  return cards.card(await cards.holder(), more);
}

async function closed(desk: CodeDesk): Promise<string> {
  const { id } = await card(desk);
  await desk.call('PATCH', `/cards/${id}`, { state: 'CLOSED' });
  return id;
}

export const CARDS: readonly Way[] = [
  way(
    'CARDHOLDER_KYC_NOT_APPROVED',
    'Issue a card to a customer whose name ends in 001, who is not approved',
    async (desk) => {
      const person = await customer(desk.app, {}, { fullName: 'Ada Lovelace 001' });
      const { id: accountId } = await internalAccount(desk.app, person.id, 'USD');
      return deskOf(desk).askCard({ customer: person, accountId });
    },
  ),
  way(
    'FUNDING_SOURCE_INELIGIBLE',
    'Issue a card that an account in euros is to pay for',
    async (desk) => {
      const { customer: person } = await deskOf(desk).holder();
      const { id: accountId } = await internalAccount(desk.app, person.id, 'EUR');
      return deskOf(desk).askCard({ customer: person, accountId });
    },
  ),
  way(
    'CARD_LIMIT_REACHED',
    'Issue an eleventh card to a cardholder; `railhead-server platform set-cards` changes the limit',
    async (desk) => {
      const cards = deskOf(desk);
      const holder = await cards.holder();
      for (let at = 0; at < 10; at++) await cards.askCard(holder);
      return cards.askCard(holder);
    },
  ),
  way(
    'INVALID_STATE_TRANSITION',
    'Freeze a card that is still PROCESSING: a `platformCardId` that ends in 001',
    async (desk) => {
      const { id } = await card(desk, { platformCardId: cardName('001') });
      return desk.call('PATCH', `/cards/${id}`, { state: 'FROZEN' });
    },
  ),
  way('CARD_ALREADY_CLOSED', 'Close a card twice', async (desk) =>
    desk.call('PATCH', `/cards/${await closed(desk)}`, { state: 'CLOSED' }),
  ),
  way('CARD_NOT_MUTABLE', 'Change the limit of a card that is CLOSED', async (desk) =>
    desk.call('PATCH', `/cards/${await closed(desk)}`, { maxSpendPerTransaction: 1_00 }),
  ),
];
