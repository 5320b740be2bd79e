// Cards: list, closure, authorization decisions, and requests to show card numbers.
import { Type } from '@sinclair/typebox';
import { DECLINE_REASONS } from '../../connectors/ports/cards.ts';
import {
  Card,
  cardFeature,
  closeCardByOperator,
  listCardMessages,
  listCardReveals,
  readCardDetails,
  searchCards,
} from '../../features/cards/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import {
  Amount,
  named,
  nullable,
  oneOf,
  PageQuery,
  page,
  text,
  time,
} from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { listInput, PlatformFilter } from '../schemas.ts';

const TAG = 'Cards';

const CARD_STATES = Object.keys(cardFeature.states.card.transitions);

const OWNER = {
  platformId: text('Platform of the card.'),
  customerId: text('Customer who holds the card.'),
};
const Summary = named(
  'OperatorCardSummary',
  Type.Object(
    {
      cardId: text('ID of the card.'),
      ...OWNER,
      platformCardId: text('Identifier in the system of the platform.'),
      state: oneOf(CARD_STATES, {
        description:
          'PROCESSING: awaits the issuer. ACTIVE: can be used. FROZEN: declines new payments. CLOSED: ' +
          'permanently closed.',
      }),
      stateReason: nullable(text('Reason for the closure, or null unless closed.')),
      last4: nullable(text('Last four digits of the number, or null until issued.')),
      createdAt: time('Time at which the card was ordered.'),
    },
    { description: 'A card, without its number.' },
  ),
);
const Details = named(
  'OperatorCard',
  Type.Object(
    {
      ...Card.properties,
      platformId: text('Platform of the card.'),
      note: nullable(
        text('Reason stated by the operator who closed the card, or null if there is none.'),
      ),
      bindings: Type.Array(
        Type.Object({
          id: text('ID of the funding source.'),
          accountId: text('ID of the internal account.'),
          since: time('Time since which the account funds the card.'),
          endedAt: nullable(
            time('Time until which the account funded the card, or null for a current source.'),
          ),
        }),
        { description: 'Current and former funding sources, oldest first.' },
      ),
    },
    { description: 'A card with its funding sources, without its number.' },
  ),
);
const params = Type.Object({ cardId: text('ID of the card.') });
const cardFilter = Type.Optional(text('Return only items of this card.'));

const list = operation({
  operationId: 'searchCards',
  method: 'GET',
  path: '/cards',
  tag: TAG,
  summary: 'List cards',
  description: 'Returns the cards that match every filter, newest first.',
  auth: 'operator',
  operatorPermission: 'cards.read',
  commands: ['cards list'],
  query: Type.Object({
    customerId: Type.Optional(text('Return only cards of this customer.')),
    state: Type.Optional(oneOf(CARD_STATES, { description: 'Return only cards in this state.' })),
    ...PlatformFilter,
    ...PageQuery,
  }),
  replies: {
    200: named(
      'OperatorCardPage',
      page(Summary, { description: 'A page of cards, newest first.' }),
    ),
  },
  errors: [],
});

const show = operation({
  operationId: 'getCardDetails',
  method: 'GET',
  path: '/cards/{cardId}',
  tag: TAG,
  summary: 'Get a card',
  description: 'Returns a card and its funding sources. The card number is never shown.',
  auth: 'operator',
  operatorPermission: 'cards.read',
  commands: ['cards show'],
  params,
  replies: { 200: Details },
  errors: [],
  notFound: 'NOT_FOUND',
});

const close = operation({
  operationId: 'closeCard',
  postsMoney: true,
  method: 'POST',
  path: '/cards/{cardId}/close',
  tag: TAG,
  summary: 'Close a card',
  description: 'Closes a card permanently. Payments in progress are completed.',
  auth: 'operator',
  operatorPermission: 'cards.manage',
  commands: ['cards close'],
  params,
  body: Type.Object({
    reason: text('Reason, stored with the card. Must not contain personal data.', {
      minLength: 1,
      maxLength: 255,
    }),
  }),
  replies: { 200: Details },
  // The card is closed already.
  errors: ['CONFLICT'],
  notFound: 'NOT_FOUND',
});

const Message = named(
  'OperatorCardMessage',
  Type.Object(
    {
      at: time('Time of the decision.'),
      platformId: text('Platform of the card.'),
      cardId: text('ID of the card.'),
      kind: text('Kind of the message, such as `AUTHORIZATION`.'),
      amount: Amount,
      currency: text('Currency code.'),
      merchant: nullable(
        Type.Object(
          {
            descriptor: text('Name of the merchant.'),
            mcc: Type.Optional(text('Merchant category code. Absent if not reported.')),
            country: Type.Optional(text('Country of the merchant. Absent if not reported.')),
          },
          { description: 'The merchant, or null after an erasure.' },
        ),
      ),
      approved: Type.Boolean({ description: 'Whether the request was approved.' }),
      reason: nullable(
        oneOf(DECLINE_REASONS, { description: 'Reason for the decline, or null if approved.' }),
      ),
      transactionId: nullable(text('Card payment, or null if there is none.')),
    },
    { description: 'A message of a card network with its decision.' },
  ),
);

const listDecisions = operation({
  operationId: 'listCardDecisions',
  method: 'GET',
  path: '/card-decisions',
  tag: TAG,
  summary: 'List authorization requests and decisions',
  description:
    'Returns the messages of card networks and their decisions, newest first. Declines are ' +
    'shown only here, because they create no payment and emit no event.',
  auth: 'operator',
  operatorPermission: 'cards.read',
  commands: ['cards decisions'],
  query: Type.Object({
    cardId: cardFilter,
    declined: Type.Optional(
      Type.Boolean({ description: 'Whether to return only declines. Defaults to false.' }),
    ),
    ...PlatformFilter,
    ...PageQuery,
  }),
  replies: {
    200: named(
      'OperatorCardMessagePage',
      page(Message, {
        description: 'A page of messages of card networks and their decisions, newest first.',
      }),
    ),
  },
  errors: [],
});

const Reveal = named(
  'OperatorCardReveal',
  Type.Object(
    {
      cardId: text('ID of the card.'),
      ...OWNER,
      tokenId: text('ID of the API token that requested the number.'),
      requestedAt: time('Time of the request.'),
      expiresAt: time('Time at which the link expires.'),
      openedAt: nullable(time('Time at which the number was shown, or null if it was not shown.')),
    },
    { description: 'A request to show a card number, without its link.' },
  ),
);

const listReveals = operation({
  operationId: 'listCardReveals',
  method: 'GET',
  path: '/card-reveals',
  tag: TAG,
  summary: 'List requests to show card numbers',
  description:
    'Returns the requests to show card numbers, newest first. Each request has the time at which the ' +
    'number was shown.',
  auth: 'operator',
  operatorPermission: 'cards.read',
  commands: ['cards reveals'],
  query: Type.Object({ cardId: cardFilter, ...PlatformFilter, ...PageQuery }),
  replies: {
    200: named(
      'OperatorCardRevealPage',
      page(Reveal, { description: 'A page of requests to show card numbers, newest first.' }),
    ),
  },
  errors: [],
});

export const cardOperations = [
  operatorHandle(list, async ({ installation }, { query }) => ({
    status: 200,
    body: await searchCards(installation.runtime, listInput(query)),
  })),
  operatorHandle(show, async ({ installation }, { params: { cardId } }) => ({
    status: 200,
    body: await readCardDetails(installation.runtime, cardId),
  })),
  operatorHandle(close, async ({ installation }, { params: { cardId }, body: { reason } }) => ({
    status: 200,
    body: await closeCardByOperator(installation.runtime, { cardId, reason }),
  })),
  operatorHandle(listDecisions, async ({ installation }, { query }) => {
    const input = { ...listInput(query), declinedOnly: query.declined ?? false };
    const { data, ...rest } = await listCardMessages(installation.runtime, input);
    return { status: 200, body: { data: data.map(({ readable: _, ...each }) => each), ...rest } };
  }),
  operatorHandle(listReveals, async ({ installation }, { query }) => ({
    status: 200,
    body: await listCardReveals(installation.runtime, listInput(query)),
  })),
];
