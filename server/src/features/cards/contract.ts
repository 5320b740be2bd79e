// Cards as the API shows them, and the operations on cards. Only the hosted page shows the number
// of a card. Webhooks report changes of the state and of the funding sources.
import { Type } from '@sinclair/typebox';
import { defineEvent, type WebhookContract } from '../../kernel/contract/event.ts';
import { operation } from '../../kernel/contract/operation.ts';
import type { FieldError } from '../../kernel/fault.ts';
import {
  named,
  nullable,
  oneOf,
  PageQuery,
  page,
  time,
  withDescription,
} from '../../kernel/schema.ts';
import { CARD_STATE_REASONS, CARD_STATES } from './issuing/states.ts';

export const CARDS_TAG = 'Cards';

const optional = Type.Optional;
const readOnlyText = (description: string) => Type.String({ readOnly: true, description });

const CardStateName = named(
  'CardState',
  oneOf(CARD_STATES, {
    description:
      'PROCESSING: awaits the issuer. ACTIVE: can pay. FROZEN: declines new payments. CLOSED: ' +
      'permanent. PENDING_KYC is not used, because the cardholder is verified before a card is ' +
      'issued.',
  }),
);
const CardStateReasonName = named(
  'CardStateReason',
  oneOf(CARD_STATE_REASONS, { description: 'Reason for the closure.' }),
);
const CardForm = named(
  'CardForm',
  oneOf(['VIRTUAL'], { description: 'VIRTUAL: a card without a physical form.' }),
);
const CardBrand = named(
  'CardBrand',
  oneOf(['VISA', 'MASTERCARD'], {
    description: 'Card network, chosen by the issuer. Absent until issued.',
  }),
);

const MAX_SPEND_DESCRIPTION =
  'Maximum amount of one payment, in minor units of the currency of the card.';
const MaxSpend = Type.Integer({
  format: 'int64',
  minimum: 1,
  maximum: 9_000_000_000_000_000,
  description: MAX_SPEND_DESCRIPTION,
});

const MAX_SOURCES = 10;
const sources = Type.Array(Type.String(), {
  minItems: 1,
  maxItems: MAX_SOURCES,
  uniqueItems: true,
  description: 'Internal accounts of the cardholder that fund the card. Payments debit the first.',
});

export const Card = named(
  'Card',
  Type.Object(
    {
      id: readOnlyText('ID of the card, `Card:<uuid>`.'),
      cardholderId: Type.String({ description: 'ID of the customer who holds the card.' }),
      platformCardId: optional(
        Type.String({ description: 'ID of the card in the system of the platform.' }),
      ),
      state: CardStateName,
      stateReason: optional(
        withDescription(
          nullable(CardStateReasonName),
          'Reason for the closure, or null unless closed.',
        ),
      ),
      brand: optional(CardBrand),
      form: CardForm,
      last4: optional(
        Type.String({ description: 'Last four digits of the number. Absent until issued.' }),
      ),
      expMonth: optional(
        Type.Integer({
          minimum: 1,
          maximum: 12,
          description: 'Expiry month. Absent until issued.',
        }),
      ),
      expYear: optional(
        Type.Integer({ description: 'Expiry year, four digits. Absent until issued.' }),
      ),
      fundingSources: Type.Array(Type.String(), {
        description:
          'IDs of the accounts that fund the card, in order. A closed card keeps the IDs that it ' +
          'had when it was closed.',
      }),
      maxSpendPerTransaction: nullable({
        ...MaxSpend,
        description: `${MAX_SPEND_DESCRIPTION} Null for no limit.`,
      }),
      currency: optional(readOnlyText('Currency of the amounts of the card.')),
      processorRef: optional(readOnlyText('ID of the card at the processor. Absent until issued.')),
      issuerRef: optional(readOnlyText('ID of the card at the issuer. Absent until issued.')),
      createdAt: time('Time at which the card was ordered.'),
      updatedAt: time('Time of the last change.'),
    },
    { description: 'A card, without its number and security code.' },
  ),
);

const CardCreateRequest = named(
  'CardCreateRequest',
  Type.Object(
    {
      cardholderId: Type.String({ description: 'ID of a customer with an approved verification.' }),
      platformCardId: optional(
        Type.String({
          minLength: 1,
          maxLength: 255,
          description:
            'ID of the card in the system of the platform, unique among its open cards. ' +
            'Generated if absent.',
        }),
      ),
      threeDSecurePassword: optional(
        Type.String({ description: 'Not supported. Rejected if present.' }),
      ),
      form: CardForm,
      fundingSources: sources,
      maxSpendPerTransaction: optional(MaxSpend),
    },
    {
      description: 'Card to issue.',
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
      state: optional(
        oneOf(['ACTIVE', 'FROZEN', 'CLOSED'], { description: 'New state of the card.' }),
      ),
      fundingSources: optional(
        withDescription(
          sources,
          'Internal accounts that fund the card. Replaces the complete list.',
        ),
      ),
      maxSpendPerTransaction: optional(
        nullable({ ...MaxSpend, description: `${MAX_SPEND_DESCRIPTION} Null removes the limit.` }),
      ),
    },
    {
      description: 'At least one field is required. CLOSED cannot be combined with other fields.',
      examples: [{ state: 'FROZEN' }, { maxSpendPerTransaction: null }],
    },
  ),
);

const partOf = (body: unknown, field: string): unknown =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[field] : undefined;

const hasField = (body: unknown, field: string) => partOf(body, field) !== undefined;

function createErrors(body: unknown): FieldError[] {
  if (!hasField(body, 'threeDSecurePassword')) return [];
  return [{ field: 'threeDSecurePassword', message: 'is not supported by the card issuer' }];
}

function updateErrors(body: unknown): FieldError[] {
  const otherFields = ['fundingSources', 'maxSpendPerTransaction'].filter((each) =>
    hasField(body, each),
  );
  if (!hasField(body, 'state') && otherFields.length === 0) {
    const message = 'At least one of state, fundingSources and maxSpendPerTransaction is required.';
    return [{ field: '', message }];
  }
  if (partOf(body, 'state') !== 'CLOSED') return [];
  return otherFields.map((field) => ({
    field,
    message: 'cannot be changed together with the closure of the card',
  }));
}

const params = Type.Object({ id: Type.String({ description: 'ID of the card.' }) });

export const createCard = operation({
  operationId: 'createCard',
  method: 'POST',
  path: '/cards',
  tag: CARDS_TAG,
  summary: 'Issue a card',
  description:
    'Orders a card from the issuer. The card is PROCESSING until it is issued, then ACTIVE, or ' +
    'CLOSED if the issuer rejects it. A webhook reports the change. The operator limits the ' +
    'number of open cards, by default to 10,000 per platform and 10 per cardholder.',
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
  description: 'Lists the cards of the platform, newest first by default.',
  permission: 'VIEW',
  query: Type.Object({
    cardholderId: optional(Type.String({ description: 'Filter by the ID of the cardholder.' })),
    accountId: optional(
      Type.String({ description: 'Filter by the ID of an account that funds the card.' }),
    ),
    platformCardId: optional(
      Type.String({ description: 'Filter by the ID in the system of the platform.' }),
    ),
    state: optional(withDescription(CardStateName, 'Filter by state.')),
    ...PageQuery,
    sortOrder: optional(
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
  summary: 'Get a card',
  description: 'Returns a card with its state and funding sources.',
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
  summary: 'Update a card',
  description:
    'Freezes, unfreezes or closes a card, or replaces its funding sources or its limit. A FROZEN ' +
    'card declines new payments until it is ACTIVE again. A closed card cannot be reopened. Its ' +
    'payments in progress are completed.',
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
    summary: 'The state of a card changed',
    description: 'Sent on each change of state after creation: issued, frozen, unfrozen or closed.',
    events: [cardStateChange],
  },
  {
    name: 'card-funding-source-change',
    summary: 'The funding sources of a card changed',
    description: 'Sent when the list of funding sources was replaced.',
    events: [cardFundingSourceChange],
  },
];
