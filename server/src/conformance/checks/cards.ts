// Checks of cards: one card for each order, and payments only as Railhead, or its stand-in rules, decided.
import { CardChanged, CardIssuing, CardNumber } from '../../connectors/ports/providers/cards.ts';
import { uuid7 } from '../../kernel/id.ts';
import type { CheckGroup } from '../check.ts';
import type { Attempt, CardDecision } from '../inbox.ts';
import type { Trial } from '../trial.ts';
import { problem } from '../verdict.ts';

const MODE =
  'In its test mode the adapter pays 10.00 once with each new card whose platformCardId is ' +
  '"TEST PAYMENT": it asks Railhead, and clears an approved payment.';
/** With this ID the adapter pays with the card. */
const PAYING = 'TEST PAYMENT';

const newOrder = ({ parts }: Trial, platformCardId?: string) => {
  const id = uuid7(parts.effects);
  return {
    ...{ cardId: `Card:${id}`, cardholderId: `Customer:${id}`, currency: 'USD' },
    ...(platformCardId === undefined ? {} : { platformCardId }),
    standIn: { state: 'ACTIVE', maxAmount: 0 },
  };
};
type Order = ReturnType<typeof newOrder>;

const issue = (trial: Trial, order: Order) => trial.read('/cards/issue', order, CardIssuing);

/** The issued card. */
async function issuedCard(trial: Trial, order: Order) {
  await issue(trial, order);
  const card = await trial.until(async () => {
    const state = await trial.read('/cards/state', { cardId: order.cardId }, CardIssuing);
    return state.state === 'pending' ? undefined : state;
  });
  if (card?.state === 'issued') return card;
  throw problem(card?.state ?? 'still pending');
}

const ofCard = (trial: Trial, type: string, { cardId }: Order): Attempt[] =>
  trial.messagesOf({ type, cardId });

/** A card with which the adapter pays, and the authorization. */
async function payment(trial: Trial, decision?: CardDecision) {
  const order = newOrder(trial, PAYING);
  if (decision) trial.parts.inbox.answer(order.cardId, decision);
  await issuedCard(trial, order);
  const type = 'card.authorization';
  const { fields } = await trial.receivesMessage({ type, cardId: order.cardId });
  return { order, fields };
}

/** Throws if a payment that nothing has approved is cleared or reported as approved. */
async function notPaid(trial: Trial, order: Order): Promise<string> {
  await trial.quiet();
  const cleared = ofCard(trial, 'card.clearing', order).length;
  if (cleared > 0) throw problem('the payment is cleared');
  const approved = ofCard(trial, 'card.authorization', order).filter(
    ({ fields }) => fields.stoodIn === true,
  );
  if (approved.length > 0) throw problem('the provider has approved the payment by itself');
  return 'not paid';
}

export const cardChecks: CheckGroup = {
  applies: ({ cards }) => cards === true,
  when: 'together',
  checks: [
    {
      name: 'cards.once',
      tried: 'a card is ordered three times, twice at once',
      expected: 'one card: the same reference and digits',
      remedy: 'Store the card by cardId before it is issued, and return it to later calls.',
      async run(trial) {
        const order = newOrder(trial);
        await Promise.all([issue(trial, order), issue(trial, order)]);
        const first = await issuedCard(trial, order);
        const again = await issue(trial, order);
        if (JSON.stringify(first) !== JSON.stringify(again)) throw problem('several cards');
        return `${first.brand} …${first.last4}`;
      },
    },
    {
      name: 'cards.unknown',
      tried: 'the state of a card that was never ordered',
      expected: 'status 404',
      remedy: 'Return 404 from /cards/state unless the order is stored.',
      async run(trial) {
        const { status } = await trial.call('/cards/state', { cardId: newOrder(trial).cardId });
        if (status !== 404) throw problem(`status ${status}`);
        return 'status 404';
      },
    },
    {
      name: 'cards.number',
      tried: 'the number of a card is compared with its last digits and its expiry',
      expected: 'the same digits and expiry',
      remedy: 'Return the number of the card with this reference.',
      async run(trial) {
        const order = newOrder(trial);
        const { reference, last4, expMonth, expYear } = await issuedCard(trial, order);
        const body = { cardId: order.cardId, reference };
        const shown = await trial.read('/cards/details', body, CardNumber);
        if (!shown.number.endsWith(last4)) throw problem(`it does not end in ${last4}`);
        if (shown.expMonth !== expMonth || shown.expYear !== expYear) throw problem('other expiry');
        return `…${last4}`;
      },
    },
    {
      name: 'cards.freeze',
      tried: 'a card is frozen, twice',
      expected: 'the reference of the card, both times',
      remedy: 'Store the state and the stand-in rules of each call; the last ones apply.',
      async run(trial) {
        const { cardId, currency, ...order } = newOrder(trial);
        const { reference } = await issuedCard(trial, { cardId, currency, ...order });
        const standIn = { state: 'FROZEN', maxAmount: 0 };
        const body = { cardId, currency, reference, standIn };
        for (let count = 0; count < 2; count++) {
          const reply = await trial.read('/cards/change', body, CardChanged);
          if (reply.reference !== reference) throw problem(`the card ${reply.reference}`);
        }
        return 'frozen';
      },
    },
    {
      name: 'cards.approved',
      tried: 'a payment is approved',
      expected: 'one clearing of at most the approved amount, about the same authorization',
      remedy: `${MODE} Report each entry of the network once, with its entryId.`,
      async run(trial) {
        const { order, fields } = await payment(trial, 'APPROVED');
        const { authorizationId, currency } = fields;
        const cleared = await trial.receivesMessage({
          ...{ type: 'card.clearing', cardId: order.cardId, authorizationId, currency },
        });
        await trial.quiet();
        const entries = ofCard(trial, 'card.clearing', order);
        const sum = entries.reduce((total, each) => total + Number(each.fields.amount), 0);
        if (sum > Number(fields.amount)) throw problem(`${sum} of ${fields.amount} were cleared`);
        return `${cleared.fields.amount} of ${fields.amount} cleared`;
      },
    },
    {
      name: 'cards.declined',
      tried: 'a payment is declined',
      expected: 'it is not cleared',
      remedy: `${MODE} A declined payment has no further effect.`,
      async run(trial) {
        const { order } = await payment(trial, 'DECLINED');
        return notPaid(trial, order);
      },
    },
    {
      name: 'cards.unanswered',
      tried: 'a payment is answered with 503, and the card has no stand-in amount',
      expected: 'it is not approved',
      remedy: `${MODE} Without an answer, approve at most standIn.maxAmount.`,
      async run(trial) {
        const { order } = await payment(trial);
        return notPaid(trial, order);
      },
    },
  ],
};
