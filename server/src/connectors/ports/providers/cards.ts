// Cards in the provider protocol: the calls that a card issuer implements, and the messages of its
// card network. Amounts are integers in minor units of the currency of the card. The provider
// assigns an ID to each authorization and to each later entry, so that a repeated message has no
// further effect.

import { type Static, Type } from '@sinclair/typebox';
import { Amount, named, oneOf, PositiveAmount, variant } from '../../../kernel/schema.ts';
import { CARD_REQUESTS, DECLINE_REASONS } from '../cards.ts';
import { CurrencyText, seconds, shortText } from './fields.ts';

const optional = Type.Optional;

const CardId = shortText('ID of the card at Railhead, `Card:<uuid>`.');
const CardReference = shortText('Reference of the card at the provider.');
const PROVIDER_CARD_STATES = ['PROCESSING', 'ACTIVE', 'FROZEN', 'CLOSED'] as const;

const expiry = {
  expMonth: Type.Integer({ minimum: 1, maximum: 12, description: 'Expiry month.' }),
  expYear: Type.Integer({ minimum: 2000, maximum: 2200, description: 'Expiry year, four digits.' }),
};

/** Rules for decisions of the provider. */
export const StandIn = named(
  'StandIn',
  Type.Object(
    {
      state: oneOf(PROVIDER_CARD_STATES, {
        description: 'State of the card. Only authorizations of an ACTIVE card may be approved.',
      }),
      maxPerPayment: optional({
        ...PositiveAmount,
        description:
          'Limit of one payment that the platform has set, in minor units. Absent: no limit.',
      }),
      maxAmount: {
        ...Amount,
        description:
          'Largest amount that the provider may approve if Railhead does not respond, in minor ' +
          'units. 0: the provider must decline.',
      },
    },
    {
      description:
        'Stand-in rules for authorizations to which Railhead does not respond in time. The ' +
        'latest rules that the provider has received apply.',
    },
  ),
);
export type StandIn = Static<typeof StandIn>;

const CARD = { cardId: CardId, currency: CurrencyText, standIn: StandIn };

export const IssueCard = named(
  'IssueCard',
  Type.Object(
    {
      ...CARD,
      cardholderId: shortText('ID of the cardholder at Railhead.'),
      platformCardId: optional(
        shortText('ID that the platform assigned to the card. Absent: none.'),
      ),
    },
    {
      description:
        'An order of a card. A repeated order with the same `cardId` must not issue another card.',
    },
  ),
);

export const CardIssuing = named(
  'CardIssuing',
  variant(
    'state',
    {
      issued: Type.Object(
        {
          reference: CardReference,
          processorReference: optional(
            shortText('Reference of the card at the processor. Default: `reference`.'),
          ),
          brand: oneOf(['VISA', 'MASTERCARD'], { description: 'Card network.' }),
          last4: Type.String({
            pattern: '^[0-9]{4}$',
            description: 'Last four digits of the card number.',
          }),
          ...expiry,
        },
        { description: 'The card was issued and is active.' },
      ),
      pending: Type.Object(
        {
          checkAfterSeconds: optional(
            seconds('Seconds until Railhead requests the state again. Default: 60.'),
          ),
        },
        { description: 'The order is in progress. Railhead requests its state again.' },
      ),
      rejected: Type.Object({}, { description: 'Final: the card is not issued.' }),
    },
    { description: 'State of the order of a card.' },
  ),
);
export type CardIssuing = Static<typeof CardIssuing>;

export const CardIdInput = Type.Object({ cardId: CardId });

export const ChangeCard = named(
  'ChangeCard',
  Type.Object(
    { ...CARD, reference: CardReference },
    { description: 'Sets the state and limits of a card. A closed card cannot be reopened.' },
  ),
);

export const CardChanged = Type.Object(
  { reference: CardReference },
  { description: 'The state and limits of the call were applied.' },
);

export const CardDetailsInput = Type.Object({ cardId: CardId, reference: CardReference });

export const CardNumber = named(
  'CardNumber',
  Type.Object(
    {
      number: Type.String({ pattern: '^[0-9]{12,19}$', description: 'Card number.' }),
      code: Type.String({ pattern: '^[0-9]{3,4}$', description: 'Security code.' }),
      ...expiry,
    },
    { description: 'Card data. Railhead shows them to the cardholder and does not store them.' },
  ),
);

const Merchant = Type.Object(
  {
    descriptor: shortText('Name of the merchant, as shown on the statement.'),
    mcc: optional(Type.String({ pattern: '^[0-9]{4}$', description: 'Merchant category code.' })),
    country: optional(
      Type.String({ pattern: '^[A-Z]{2}$', description: 'Country, ISO 3166-1 alpha-2.' }),
    ),
  },
  { description: 'Merchant of the payment.' },
);

const authorizationId = shortText(
  'ID of the authorization at the provider, identical in all messages about the payment.',
);

/** Common fields of the messages that follow an authorization. */
const ENTRY = {
  cardId: CardId,
  authorizationId,
  entryId: shortText('ID of this entry at the card network. Each entry is posted only once.'),
  currency: CurrencyText,
};

export const CARD_MESSAGES = {
  'card.authorization': Type.Object(
    {
      cardId: CardId,
      authorizationId,
      kind: optional(
        oneOf(CARD_REQUESTS, {
          description:
            'Kind of request. The default is AUTHORIZATION. FINANCIAL_AUTHORIZATION is also cleared. ' +
            'The CREDIT kinds credit the card. BALANCE_INQUIRY checks whether the card is valid.',
        }),
      ),
      amount: {
        ...Amount,
        description: 'Amount in minor units. 0 checks whether the card is valid.',
      },
      currency: CurrencyText,
      merchant: Merchant,
      answerWithinMs: optional(
        Type.Integer({
          minimum: 50,
          maximum: 10_000,
          description:
            'Time in which the provider needs the decision, in milliseconds. Default: 2000. An approval ' +
            'that takes longer is reversed, and the response is a decline with TOO_LATE.',
        }),
      ),
      stoodIn: optional(
        Type.Boolean({
          description:
            'Whether the provider has already approved the authorization by its stand-in ' +
            'rules. An approved authorization is posted even if the account has insufficient ' +
            'funds.',
        }),
      ),
    },
    { description: 'An authorization. The response contains the decision.' },
  ),
  'card.clearing': Type.Object(
    { ...ENTRY, amount: PositiveAmount, merchant: optional(Merchant) },
    {
      description:
        'A part or all of the authorized amount was cleared. A clearing with an unknown ' +
        '`authorizationId` has no authorization. It is posted even if the account has insufficient funds.',
    },
  ),
  'card.reversal': Type.Object(
    {
      ...ENTRY,
      amount: optional({
        ...PositiveAmount,
        description:
          'Released part of the authorized amount, in minor units. Absent: the complete uncleared ' +
          'amount.',
      }),
    },
    { description: 'An authorization was reversed.' },
  ),
  'card.adjustment': Type.Object(
    {
      ...ENTRY,
      amount: { ...Amount, description: 'New total of the authorization, in minor units.' },
    },
    { description: 'The total of an authorization was increased or decreased.' },
  ),
  'card.refund': Type.Object(
    { ...ENTRY, amount: PositiveAmount, merchant: optional(Merchant) },
    {
      description:
        'A merchant refunded a cleared amount. A refund with an unknown `authorizationId` is credited to ' +
        'the card.',
    },
  ),
  'card.refund_reversal': Type.Object(
    { ...ENTRY, amount: PositiveAmount },
    { description: 'The latest refund was reversed. `amount` must be the amount of the refund.' },
  ),
};

/** The decision about an authorization. */
export const CardAnswer = named(
  'CardAnswer',
  Type.Object(
    {
      decision: oneOf(['APPROVED', 'DECLINED'], {
        description: 'Decision about the authorization.',
      }),
      approvedAmount: {
        ...Amount,
        description: 'Approved amount, in minor units. 0 for a decline.',
      },
      currency: CurrencyText,
      reason: optional(
        oneOf(DECLINE_REASONS, { description: 'Reason for a decline. Absent for an approval.' }),
      ),
      transactionId: optional(shortText('ID of the payment at Railhead. Absent if there is none.')),
    },
    {
      description:
        'The decision about an authorization. Repeated messages receive the same decision.',
    },
  ),
);
export type CardAnswer = Static<typeof CardAnswer>;
