// Cards as the API shows them, and the operations on them. A card never shows its number: for that there is a
// page of ours. What happens to one after it was created is told by webhooks.
import { Type } from '@sinclair/typebox';
import { defineEvent, type WebhookContract } from '../../kernel/contract/event.ts';
import { operation } from '../../kernel/contract/operation.ts';
import type { FieldError } from '../../kernel/fault.ts';
import {
  described,
  named,
  nullable,
  oneOf,
  PageQuery,
  page,
  Timestamp,
} from '../../kernel/schema.ts';
import { CARD_STATE_REASONS, CARD_STATES } from './issuing/states.ts';

export const CARDS_TAG = 'Cards';

const maybe = Type.Optional;
const shown = (description: string) => Type.String({ readOnly: true, description });

const CardStateName = named(
  'CardState',
  oneOf(CARD_STATES, {
    description: 'No card is ever in PENDING_KYC: its holder is checked before.',
  }),
);
const CardStateReasonName = named(
  'CardStateReason',
  oneOf(CARD_STATE_REASONS, { description: 'Why a card is closed.' }),
);
const CardForm = named(
  'CardForm',
  oneOf(['VIRTUAL'], { description: 'VIRTUAL: a number without plastic.' }),
);
const CardBrand = named(
  'CardBrand',
  oneOf(['VISA', 'MASTERCARD'], { description: 'The network of the card; the issuer decides.' }),
);

const Cap = Type.Integer({
  format: 'int64',
  minimum: 1,
  maximum: 9_000_000_000_000_000,
  description: 'The most that one payment may be for, smallest units of the currency of the card.',
});

const MAX_SOURCES = 10;
const sources = Type.Array(Type.String(), {
  minItems: 1,
  maxItems: MAX_SOURCES,
  uniqueItems: true,
  description: 'Internal accounts of the cardholder; the first pays.',
});

export const Card = named(
  'Card',
  Type.Object(
    {
      id: shown('Card:<uuid>'),
      cardholderId: Type.String({ description: 'The customer who holds it.' }),
      platformCardId: maybe(Type.String({ description: 'Your own id of the card.' })),
      state: CardStateName,
      stateReason: maybe(described(nullable(CardStateReasonName), 'Why it is closed, else null.')),
      brand: maybe(CardBrand),
      form: CardForm,
      last4: maybe(Type.String({ description: 'The end of its number, once it was issued.' })),
      expMonth: maybe(
        Type.Integer({ minimum: 1, maximum: 12, description: 'The last month it is good for.' }),
      ),
      expYear: maybe(Type.Integer({ description: 'The year of that month, four digits.' })),
      fundingSources: Type.Array(Type.String(), {
        description: 'Accounts that pay, the first at first; those of a closed card are its last.',
      }),
      maxSpendPerTransaction: nullable(Cap),
      currency: maybe(shown('What its amounts are in.')),
      processorRef: maybe(shown('What the processor calls it.')),
      issuerRef: maybe(shown('What the issuer calls it.')),
      createdAt: Timestamp,
      updatedAt: Timestamp,
    },
    { description: 'A card. It shows neither its number nor its code.' },
  ),
);

const CardCreateRequest = named(
  'CardCreateRequest',
  Type.Object(
    {
      cardholderId: Type.String({ description: 'An approved customer.' }),
      platformCardId: maybe(
        Type.String({
          minLength: 1,
          maxLength: 255,
          description: 'Your own id of the card; made up where there is none.',
        }),
      ),
      threeDSecurePassword: maybe(
        Type.String({ description: 'Refused: cards here have no password of their own.' }),
      ),
      form: CardForm,
      fundingSources: sources,
      maxSpendPerTransaction: maybe(Cap),
    },
    {
      description: 'A card to issue.',
      examples: [
        {
          cardholderId: 'Customer:019b8e2a-0c00-7000-8000-00000000a001',
          platformCardId: 'ada-groceries',
          form: 'VIRTUAL',
          fundingSources: ['InternalAccount:019b8e2a-0c00-7000-8000-00000000b001'],
          maxSpendPerTransaction: 250_00,
        },
      ],
    },
  ),
);

const CardUpdateRequest = named(
  'CardUpdateRequest',
  Type.Object(
    {
      state: maybe(
        oneOf(['ACTIVE', 'FROZEN', 'CLOSED'], { description: 'What it is to be from now on.' }),
      ),
      fundingSources: maybe(described(sources, 'Takes the place of the whole list.')),
      maxSpendPerTransaction: maybe(nullable(Cap)),
    },
    {
      description: 'At least one of the three. CLOSED comes alone.',
      examples: [{ state: 'FROZEN' }, { maxSpendPerTransaction: null }],
    },
  ),
);

const partOf = (body: unknown, field: string): unknown =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[field] : undefined;

const has = (body: unknown, field: string) => partOf(body, field) !== undefined;

function createErrors(body: unknown): FieldError[] {
  if (!has(body, 'threeDSecurePassword')) return [];
  return [{ field: 'threeDSecurePassword', message: 'is not taken by the issuer of your cards' }];
}

function updateErrors(body: unknown): FieldError[] {
  const others = ['fundingSources', 'maxSpendPerTransaction'].filter((each) => has(body, each));
  if (!has(body, 'state') && others.length === 0) {
    const message = 'One of state, fundingSources and maxSpendPerTransaction is required.';
    return [{ field: '', message }];
  }
  if (partOf(body, 'state') !== 'CLOSED') return [];
  return others.map((field) => ({ field, message: 'cannot be changed by what closes the card' }));
}

const params = Type.Object({ id: Type.String({ description: 'Id of the card.' }) });

export const createCard = operation({
  operationId: 'createCard',
  method: 'POST',
  path: '/cards',
  tag: CARDS_TAG,
  summary: 'Issue a card',
  description:
    'It begins PROCESSING and is ACTIVE once it was issued, which a webhook tells. A platform, and each ' +
    'cardholder, has so many cards at once and no more.',
  permission: 'MANAGE',
  body: CardCreateRequest,
  bodyRules: createErrors,
  semanticValidation: true,
  replies: { 201: Card },
  errors: [
    'CARDHOLDER_KYC_NOT_APPROVED',
    'FUNDING_SOURCE_INELIGIBLE',
    'CARD_LIMIT_REACHED',
    'CUSTOMER_DELETED',
    'NOT_IMPLEMENTED',
  ],
});

export const listCards = operation({
  operationId: 'listCards',
  method: 'GET',
  path: '/cards',
  tag: CARDS_TAG,
  summary: 'List cards',
  description: 'Newest first unless asked otherwise.',
  permission: 'VIEW',
  query: Type.Object({
    cardholderId: maybe(Type.String({ description: 'Only those of this customer.' })),
    accountId: maybe(Type.String({ description: 'Only those that this account pays for now.' })),
    platformCardId: maybe(Type.String({ description: 'Only those of this id of yours.' })),
    state: maybe(described(CardStateName, 'Only those in this state.')),
    ...PageQuery,
    sortOrder: maybe(
      oneOf(['asc', 'desc'], { default: 'desc', description: '`desc`: newest first.' }),
    ),
  }),
  replies: { 200: named('CardListResponse', page(Card, { description: 'A page of cards.' })) },
  errors: ['NOT_IMPLEMENTED'],
});

export const getCardById = operation({
  operationId: 'getCardById',
  method: 'GET',
  path: '/cards/{id}',
  tag: CARDS_TAG,
  summary: 'Show a card',
  permission: 'VIEW',
  params,
  replies: { 200: Card },
  errors: ['NOT_IMPLEMENTED'],
  notFound: 'NOT_FOUND',
});

export const updateCardById = operation({
  operationId: 'updateCardById',
  method: 'PATCH',
  path: '/cards/{id}',
  tag: CARDS_TAG,
  summary: 'Freeze, close or fund a card anew',
  description:
    'A frozen card pays nothing new until it is ACTIVE again. A closed one is closed for good; what it has ' +
    'under way comes to its end.',
  permission: 'MANAGE',
  params,
  body: CardUpdateRequest,
  bodyRules: updateErrors,
  replies: { 200: Card },
  errors: [
    'FUNDING_SOURCE_INELIGIBLE',
    'INVALID_STATE_TRANSITION',
    'CARD_ALREADY_CLOSED',
    'CARD_NOT_MUTABLE',
    'CUSTOMER_DELETED',
    'NOT_IMPLEMENTED',
  ],
  notFound: 'NOT_FOUND',
});

export const cardStateChange = defineEvent('CARD.STATE_CHANGE', Card);
export const cardFundingSourceChange = defineEvent('CARD.FUNDING_SOURCE_CHANGE', Card);

export const cardWebhooks: readonly WebhookContract[] = [
  {
    name: 'card-state-change',
    summary: 'A card was issued, frozen, opened again or closed',
    description: 'Sent at every change of its state after it was created.',
    events: [cardStateChange],
  },
  {
    name: 'card-funding-source-change',
    summary: 'A card is paid for by other accounts',
    description: 'Sent when the list of its funding sources was replaced.',
    events: [cardFundingSourceChange],
  },
];
