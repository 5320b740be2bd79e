// A card payment as it stands in the list of transactions. Lists promise this shape to their readers
// whether or not a platform has issued cards.
import { Type } from '@sinclair/typebox';
import { CurrencyAmount, described, named, oneOf, Timestamp } from '../../kernel/schema.ts';
import { CARD_STATUSES } from './card-states.ts';

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
  pendingCount: Type.Optional(Type.Integer({ minimum: 0 })),
});

export const CardMerchant = named(
  'CardMerchant',
  Type.Object({
    descriptor: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'The name on the statement.',
    }),
    mcc: Type.Optional(Type.String({ maxLength: 10, description: 'Merchant category code.' })),
    country: Type.Optional(Type.String({ maxLength: 10 })),
  }),
);

export const CardTransaction = named(
  'CardTransaction',
  Type.Object(
    {
      type: oneOf(['CARD']),
      id: Type.String(),
      cardId: Type.Optional(Type.String()),
      customerId: Type.String(),
      platformCustomerId: Type.String(),
      issuerTransactionToken: Type.Optional(Type.String()),
      status: oneOf(CARD_STATUSES),
      direction: oneOf(['CREDIT', 'DEBIT']),
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
