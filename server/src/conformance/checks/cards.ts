// Checks of cards: one card for each order, and payments only by decisions of Railhead or its
// stand-in rules.
import { CardChanged, CardIssuing, CardNumber } from '../../connectors/ports/providers/cards.ts';
import { uuid7 } from '../../kernel/id.ts';
import type { CheckGroup } from '../check.ts';
import type { Attempt, CardDecision } from '../inbox.ts';
import type { Session } from '../session.ts';
import { failure } from '../verdict.ts';

const TEST_MODE =
  'In its test mode the adapter pays 10.00 once with each new card whose platformCardId is ' +
  '"TEST PAYMENT". It requests authorization from Railhead, and clears an approved payment.';
/** Platform ID of a card with which the adapter pays. */
const PAYING_CARD_ID = 'TEST PAYMENT';

const newOrder = ({ context }: Session, platformCardId?: string) => {
  const id = uuid7(context.effects);
  return {
    ...{ cardId: `Card:${id}`, cardholderId: `Customer:${id}`, currency: 'USD' },
    ...(platformCardId === undefined ? {} : { platformCardId }),
    standIn: { state: 'ACTIVE', maxAmount: 0 },
  };
};
type Order = ReturnType<typeof newOrder>;

const issue = (session: Session, order: Order) => session.read('/cards/issue', order, CardIssuing);

async function issueAndWait(session: Session, order: Order) {
  await issue(session, order);
  const card = await session.poll(async () => {
    const state = await session.read('/cards/state', { cardId: order.cardId }, CardIssuing);
    return state.state === 'pending' ? undefined : state;
  });
  if (card?.state === 'issued') return card;
  throw failure(card?.state ?? 'still pending');
}

const messagesOfCard = (session: Session, type: string, { cardId }: Order): Attempt[] =>
  session.messagesOf({ type, cardId });

/**
 * Orders a card with which the adapter pays. Returns the order and the fields of the authorization.
 */
async function payWithNewCard(session: Session, decision?: CardDecision) {
  const order = newOrder(session, PAYING_CARD_ID);
  if (decision) session.context.inbox.setDecision(order.cardId, decision);
  await issueAndWait(session, order);
  const type = 'card.authorization';
  const { fields } = await session.waitForMessage({ type, cardId: order.cardId });
  return { order, fields };
}

/** Throws if the payment is cleared, or reported as approved by the stand-in rules. */
async function assertNotPaid(session: Session, order: Order): Promise<string> {
  await session.waitQuietPeriod();
  const clearingCount = messagesOfCard(session, 'card.clearing', order).length;
  if (clearingCount > 0) throw failure('the payment is cleared');
  const approvedRequests = messagesOfCard(session, 'card.authorization', order).filter(
    ({ fields }) => fields.stoodIn === true,
  );
  if (approvedRequests.length > 0)
    throw failure('the provider has approved the payment without authorization');
  return 'not paid';
}

export const cardChecks: CheckGroup = {
  applies: ({ cards }) => cards === true,
  phase: 'parallel',
  checks: [
    {
      name: 'cards.once',
      action: 'a card is ordered three times, twice concurrently',
      expected: 'one card: the same reference and digits',
      remedy: 'Store the card by cardId before it is issued, and return it to later calls.',
      async run(session) {
        const order = newOrder(session);
        await Promise.all([issue(session, order), issue(session, order)]);
        const firstCard = await issueAndWait(session, order);
        const repeatedReply = await issue(session, order);
        if (JSON.stringify(firstCard) !== JSON.stringify(repeatedReply))
          throw failure('several cards');
        return `${firstCard.brand} …${firstCard.last4}`;
      },
    },
    {
      name: 'cards.unknown',
      action: 'the state of a card that was never ordered is requested',
      expected: 'status 404',
      remedy: 'Return 404 from /cards/state unless the order is stored.',
      async run(session) {
        const { status } = await session.call('/cards/state', { cardId: newOrder(session).cardId });
        if (status !== 404) throw failure(`status ${status}`);
        return 'status 404';
      },
    },
    {
      name: 'cards.number',
      action: 'the number of a card is compared with its last digits and its expiry',
      expected: 'the same digits and expiry',
      remedy: 'Return the number of the card with this reference.',
      async run(session) {
        const order = newOrder(session);
        const { reference, last4, expMonth, expYear } = await issueAndWait(session, order);
        const body = { cardId: order.cardId, reference };
        const details = await session.read('/cards/details', body, CardNumber);
        if (!details.number.endsWith(last4)) throw failure(`the number does not end in ${last4}`);
        if (details.expMonth !== expMonth || details.expYear !== expYear)
          throw failure('the expiry differs');
        return `…${last4}`;
      },
    },
    {
      name: 'cards.freeze',
      action: 'a card is frozen twice',
      expected: 'the reference of the card in both replies',
      remedy: 'Store the state and the stand-in rules of each call. Those of the last call apply.',
      async run(session) {
        const { cardId, currency, ...order } = newOrder(session);
        const { reference } = await issueAndWait(session, { cardId, currency, ...order });
        const standIn = { state: 'FROZEN', maxAmount: 0 };
        const body = { cardId, currency, reference, standIn };
        for (let count = 0; count < 2; count++) {
          const reply = await session.read('/cards/change', body, CardChanged);
          if (reply.reference !== reference) throw failure(`the card ${reply.reference}`);
        }
        return 'frozen';
      },
    },
    {
      name: 'cards.approved',
      action: 'a payment is approved',
      expected: 'clearing of at most the approved amount, with the same authorizationId',
      remedy: `${TEST_MODE} Report each entry of the network once, with its entryId.`,
      async run(session) {
        const { order, fields } = await payWithNewCard(session, 'APPROVED');
        const { authorizationId, currency } = fields;
        const clearing = await session.waitForMessage({
          ...{ type: 'card.clearing', cardId: order.cardId, authorizationId, currency },
        });
        await session.waitQuietPeriod();
        const entries = messagesOfCard(session, 'card.clearing', order);
        const sum = entries.reduce((total, each) => total + Number(each.fields.amount), 0);
        if (sum > Number(fields.amount)) throw failure(`${sum} of ${fields.amount} were cleared`);
        return `${clearing.fields.amount} of ${fields.amount} cleared`;
      },
    },
    {
      name: 'cards.declined',
      action: 'a payment is declined',
      expected: 'the payment is not cleared',
      remedy: `${TEST_MODE} A declined payment has no further effect.`,
      async run(session) {
        const { order } = await payWithNewCard(session, 'DECLINED');
        return assertNotPaid(session, order);
      },
    },
    {
      name: 'cards.unanswered',
      action: 'the response to an authorization is 503, and the card has no stand-in amount',
      expected: 'the authorization is not approved',
      remedy: `${TEST_MODE} Without a decision, approve at most standIn.maxAmount.`,
      async run(session) {
        const { order } = await payWithNewCard(session);
        return assertNotPaid(session, order);
      },
    },
  ],
};
