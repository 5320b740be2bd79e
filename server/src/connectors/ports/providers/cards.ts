// Cards in the protocol for providers: the calls that a card issuer serves, and the messages of its
// network. Amounts are integers in minor units of the currency of the card. An authorization is
// identified by the ID that the provider assigns to it, and every later entry by its own, so that
// another message about the same entry has no further effect.

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

/** What the provider may decide by itself. */
export const StandIn = named(
  'StandIn',
  Type.Object(
    {
      state: oneOf(PROVIDER_CARD_STATES, {
        description: 'State of the card. Only an ACTIVE card may be approved.',
      }),
      maxPerPayment: optional({
        ...PositiveAmount,
        description: 'Limit of one payment that the platform has set. Absent: none.',
      }),
      maxAmount: {
        ...Amount,
        description:
          'Largest amount that the provider may approve if Railhead does not answer; 0: none.',
      },
    },
    {
      description:
        'Rules for authorizations that Railhead does not answer. The latest ones received apply.',
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
      platformCardId: optional(shortText('ID of the card that the platform chose.')),
    },
    { description: 'An order of a card. A repeated order of a `cardId` issues no second card.' },
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
          processorReference: optional(shortText('Reference of the card at the processor.')),
          brand: oneOf(['VISA', 'MASTERCARD'], { description: 'Card network.' }),
          last4: Type.String({ pattern: '^[0-9]{4}$', description: 'Last four digits.' }),
          ...expiry,
        },
        { description: 'The card exists and is active.' },
      ),
      pending: Type.Object(
        { checkAfterSeconds: optional(seconds('Seconds until the next request. Default: 60.')) },
        { description: 'The provider issues the card; Railhead requests the result.' },
      ),
      rejected: Type.Object({}, { description: 'The card is not issued and never will be.' }),
    },
    { description: 'State of an order.' },
  ),
);
export type CardIssuing = Static<typeof CardIssuing>;

export const CardIdInput = Type.Object({ cardId: CardId });

export const ChangeCard = named(
  'ChangeCard',
  Type.Object(
    { ...CARD, reference: CardReference },
    { description: 'The state and limits of a card. A closed card is never opened again.' },
  ),
);

export const CardChanged = Type.Object(
  { reference: CardReference },
  { description: 'The card has the state and limits of the call.' },
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
    { description: 'Shown once to the cardholder and never stored.' },
  ),
);

const Merchant = Type.Object(
  {
    descriptor: shortText('Name of the merchant, as on the statement.'),
    mcc: optional(Type.String({ pattern: '^[0-9]{4}$', description: 'Merchant category code.' })),
    country: optional(
      Type.String({ pattern: '^[A-Z]{2}$', description: 'Country, ISO 3166-1 alpha-2.' }),
    ),
  },
  { description: 'The merchant.' },
);

const authorizationId = shortText(
  'ID of the authorization at the provider, the same in all messages about this payment.',
);

/** Fields of every message about an authorization. */
const ENTRY = {
  cardId: CardId,
  authorizationId,
  entryId: shortText('ID of this entry at the network: an entry is posted once.'),
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
            'Default: AUTHORIZATION. FINANCIAL_AUTHORIZATION is cleared at once, a CREDIT kind ' +
            'credits the card, and BALANCE_INQUIRY asks whether the card is valid.',
        }),
      ),
      amount: { ...Amount, description: 'Amount in minor units; zero asks about the card.' },
      currency: CurrencyText,
      merchant: Merchant,
      answerWithinMs: optional(
        Type.Integer({
          minimum: 50,
          maximum: 10_000,
          description:
            'Time in which the provider needs the answer, in milliseconds. Default: 2000. A later ' +
            'approval is undone and answered with TOO_LATE.',
        }),
      ),
      stoodIn: optional(
        Type.Boolean({
          description:
            'Whether the provider has approved it already. It is posted, even without funds.',
        }),
      ),
    },
    { description: 'An authorization. The response contains the decision.' },
  ),
  'card.clearing': Type.Object(
    { ...ENTRY, amount: PositiveAmount, merchant: optional(Merchant) },
    {
      description:
        'An amount was cleared, of a part or of everything. An unknown `authorizationId` is a ' +
        'clearing without an authorization: it is posted, even without funds.',
    },
  ),
  'card.reversal': Type.Object(
    {
      ...ENTRY,
      amount: optional({
        ...PositiveAmount,
        description: 'Released part of the authorized amount. Absent: everything not cleared.',
      }),
    },
    { description: 'An authorization was reversed.' },
  ),
  'card.adjustment': Type.Object(
    { ...ENTRY, amount: { ...Amount, description: 'New total of the authorization.' } },
    { description: 'The total of an authorization has changed, up or down.' },
  ),
  'card.refund': Type.Object(
    { ...ENTRY, amount: PositiveAmount, merchant: optional(Merchant) },
    {
      description:
        'A merchant has refunded a cleared amount. With an unknown `authorizationId` it is a ' +
        'credit to the card.',
    },
  ),
  'card.refund_reversal': Type.Object(
    { ...ENTRY, amount: PositiveAmount },
    { description: 'The last refund was reversed. `amount` is that of the refund.' },
  ),
};

/** The answer to an authorization. */
export const CardAnswer = named(
  'CardAnswer',
  Type.Object(
    {
      decision: oneOf(['APPROVED', 'DECLINED'], { description: 'The decision.' }),
      approvedAmount: { ...Amount, description: 'Approved amount; 0 if it is declined.' },
      currency: CurrencyText,
      reason: optional(oneOf(DECLINE_REASONS, { description: 'Why it is declined.' })),
      transactionId: optional(shortText('The payment at Railhead.')),
    },
    { description: 'The decision about an authorization, the same at each repetition.' },
  ),
);
export type CardAnswer = Static<typeof CardAnswer>;
