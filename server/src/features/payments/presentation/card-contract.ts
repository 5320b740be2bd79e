// A card payment as it stands in the list of transactions. Lists promise this shape to their readers
// whether or not a platform has issued cards.

import { Type } from '@sinclair/typebox';
import { CurrencyAmount, described, named, oneOf, Timestamp } from '../../../kernel/schema.ts';
import { CARD_STATUSES } from '../card-payments/index.ts';

const text = (description: string, more: object = {}) => Type.String({ description, ...more });

const summary = (name: string, description: string, more = {}) =>
  named(
    name,
    Type.Object(
      {
        count: Type.Integer({ minimum: 0, description: 'How many there were.' }),
        totalAmount: Type.Integer({ format: 'int64', description: 'Their sum, smallest units.' }),
        ...more,
      },
      { description },
    ),
  );

const PullSummary = summary('CardPullSummary', 'What was taken from the funding account.', {
  pendingCount: Type.Optional(
    Type.Integer({ minimum: 0, description: 'How many of them are not confirmed yet.' }),
  ),
});

export const CardMerchant = named(
  'CardMerchant',
  Type.Object(
    {
      descriptor: text('The name on the statement.', { minLength: 1, maxLength: 255 }),
      mcc: Type.Optional(text('Merchant category code.', { maxLength: 10 })),
      country: Type.Optional(
        text('Where the merchant is, as the network says it.', { maxLength: 10 }),
      ),
    },
    { description: 'Who is paid with a card.' },
  ),
);

export const CardTransaction = named(
  'CardTransaction',
  Type.Object(
    {
      type: oneOf(['CARD'], { description: 'Always CARD.' }),
      id: text('CardTransaction:<uuid>'),
      cardId: Type.Optional(text('The card that was used.')),
      customerId: text('The cardholder.'),
      platformCustomerId: text('The id the platform knows the cardholder by.'),
      issuerTransactionToken: Type.Optional(text("The issuer's name for the payment.")),
      status: oneOf(CARD_STATUSES, {
        description: 'How far it is. An EXCEPTION is looked into by the operator of the service.',
      }),
      direction: oneOf(['CREDIT', 'DEBIT'], {
        description: 'DEBIT: the merchant is paid. CREDIT: the merchant pays.',
      }),
      merchant: CardMerchant,
      authorizedAmount: CurrencyAmount,
      settledAmount: Type.Optional(CurrencyAmount),
      refundedAmount: Type.Optional(CurrencyAmount),
      accountId: described(Type.String(), 'The account that pays.'),
      pullSummary: Type.Optional(PullSummary),
      refundSummary: Type.Optional(summary('CardRefundSummary', 'What merchants gave back.')),
      settlementSummary: Type.Optional(summary('CardSettlementSummary', 'What was cleared.')),
      authorizedAt: Timestamp,
      lastEventAt: Type.Optional(Timestamp),
      createdAt: Timestamp,
      updatedAt: Timestamp,
    },
    { description: 'A payment with a card.' },
  ),
);
