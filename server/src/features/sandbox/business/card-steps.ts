// Cards and their payments in the world `business`.
import type { Time } from '../../../kernel/effects.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { Action, PlannedStep } from './steps.ts';

const HOUR_MS = 3_600_000;

/** Invented merchants, with category codes. */
const MERCHANTS = [
  ['HARBOR GROCERS', '5411'],
  ['BLUE FINCH COFFEE', '5814'],
  ['CITY TRANSIT', '4111'],
  ['LANTERN BOOKS', '5942'],
  ['SUMMIT OUTDOOR', '5941'],
  ['JUNIPER PHARMACY', '5912'],
  ['ROADSIDE FUEL', '5541'],
  ['ORCHARD HOTEL', '7011'],
  ['PAPER LANE OFFICE', '5943'],
  ['CLOUD NINE HOSTING', '4816'],
] as const;

/** Orders the card of a customer. The suffix of `platformCardId` selects the regular outcome. */
export const newCard = (key: string, account: string): PlannedStep => ({
  name: `${key}-card`,
  operationId: 'createCard',
  body: {
    cardholderId: `$${key}.id`,
    platformCardId: `${key}-card-700`,
    form: 'VIRTUAL',
    fundingSources: [`$${account}.data.0.id`],
  },
});

interface CardPayment {
  owner: string;
  name: string;
  amount: number;
}

const noticeOf = ({ owner, name, amount }: CardPayment, operationId: string, at: Time): Action => ({
  at,
  owner,
  steps: [
    {
      operationId,
      params: { id: `$${owner}-card.id` },
      body: { cardTransactionId: `$${name}.data.0.id`, amount },
      mayBeRejected: true,
    },
  ],
});

/** Suffix of a merchant descriptor that selects the outcome in the sandbox. */
function outcomeSuffix(random: SeededRandom): string {
  if (random.is(0.035)) return ' #002'; // declined: INSUFFICIENT_FUNDS
  if (random.is(0.015)) return ' #003'; // declined: CARD_PAUSED
  if (random.is(0.008)) return ' #006'; // the funding debit fails
  return ` #${random.integer(11, 98)}`;
}

/** An authorization, its clearing 20 to 60 hours later and, for some payments, a refund. */
export function cardPayment(payment: CardPayment, at: Time, random: SeededRandom): Action[] {
  const { owner, name, amount } = payment;
  const [merchant, mcc] = random.pick(MERCHANTS);
  const authorization: Action = {
    at,
    owner,
    steps: [
      {
        operationId: 'sandboxSimulateCardAuthorization',
        params: { id: `$${owner}-card.id` },
        body: {
          amount,
          currency: { code: 'USD' },
          merchant: { descriptor: `${merchant}${outcomeSuffix(random)}`, mcc, country: 'US' },
        },
        mayBeRejected: true,
      },
      {
        name,
        operationId: 'listTransactions',
        query: { type: 'CARD', customerId: `$${owner}.id`, limit: 1 },
      },
    ],
  };
  const clearedAt = at + random.integer(20, 60) * HOUR_MS;
  const clearing = noticeOf(payment, 'sandboxSimulateCardClearing', clearedAt);
  if (!random.is(0.025)) return [authorization, clearing];
  const refundedAt = clearedAt + random.integer(24, 96) * HOUR_MS;
  return [authorization, clearing, noticeOf(payment, 'sandboxSimulateCardReturn', refundedAt)];
}
