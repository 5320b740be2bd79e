// Schema of a card payment in the list of transactions. The list has the same schema for platforms
// without cards.

import { Type } from '@sinclair/typebox';
import {
  CurrencyAmount,
  named,
  oneOf,
  Timestamp,
  text,
  withDescription,
} from '../../../kernel/schema.ts';
import { CARD_STATUSES } from '../card-payments/index.ts';

const summarySchema = (name: string, itemsName: string, description: string, overrides = {}) =>
  named(
    name,
    Type.Object(
      {
        count: Type.Integer({ minimum: 0, description: `Number of ${itemsName}.` }),
        totalAmount: Type.Integer({
          format: 'int64',
          description: `Sum of the ${itemsName}, in minor units of the currency of the card.`,
        }),
        ...overrides,
      },
      { description },
    ),
  );

const PullSummary = summarySchema(
  'CardPullSummary',
  'debits',
  'Debits of the account that funds the card, without failed debits. Absent for a merchant credit.',
  {
    pendingCount: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Number of debits that the issuer has not confirmed yet.',
      }),
    ),
  },
);

export const CardMerchant = named(
  'CardMerchant',
  Type.Object(
    {
      descriptor: text('Statement descriptor of the merchant.', { minLength: 1, maxLength: 255 }),
      mcc: Type.Optional(text('Merchant category code, ISO 18245.', { maxLength: 10 })),
      country: Type.Optional(
        text('Country of the merchant, as provided by the card network.', { maxLength: 10 }),
      ),
    },
    { description: 'Merchant of a card transaction.' },
  ),
);

export const CardTransaction = named(
  'CardTransaction',
  Type.Object(
    {
      type: oneOf(['CARD'], { description: 'Always CARD.' }),
      id: text('ID of the card transaction, `CardTransaction:<uuid>`.'),
      cardId: Type.Optional(text('ID of the card.')),
      customerId: text('ID of the cardholder.'),
      platformCustomerId: text('ID of the cardholder in the system of the platform.'),
      issuerTransactionToken: Type.Optional(text('ID of the transaction at the issuer.')),
      status: oneOf(CARD_STATUSES, {
        description:
          'AUTHORIZED: authorized and not cleared. PARTIALLY_SETTLED: cleared in part. ' +
          'SETTLED: cleared, or the remaining authorization was released, at the latest ' +
          'after 30 days. REFUNDED: merchants refunded the full settled amount. EXCEPTION: ' +
          'the network settled an amount that could not be debited. The operator resolves it.',
      }),
      direction: oneOf(['CREDIT', 'DEBIT'], {
        description: 'DEBIT: a purchase. CREDIT: a merchant credit.',
      }),
      merchant: CardMerchant,
      authorizedAmount: withDescription(
        CurrencyAmount,
        'Amount authorized, in the currency of the card.',
      ),
      settledAmount: Type.Optional(
        withDescription(
          CurrencyAmount,
          'Amount cleared. Absent until the first clearing or the release of the ' +
            'authorization.',
        ),
      ),
      refundedAmount: Type.Optional(
        withDescription(
          CurrencyAmount,
          'Amount refunded by merchants. Absent if there is no refund.',
        ),
      ),
      accountId: withDescription(
        Type.String(),
        'ID of the internal account that is debited, or credited for a merchant credit.',
      ),
      pullSummary: Type.Optional(PullSummary),
      refundSummary: Type.Optional(
        summarySchema(
          'CardRefundSummary',
          'refunds',
          'Refunds by merchants. Absent if there are none.',
        ),
      ),
      settlementSummary: Type.Optional(
        summarySchema(
          'CardSettlementSummary',
          'clearings',
          'Clearings by the network. Absent if there are none.',
        ),
      ),
      authorizedAt: withDescription(Timestamp, 'Time of the authorization.'),
      lastEventAt: Type.Optional(
        withDescription(Timestamp, 'Time of the last event from the issuer.'),
      ),
      createdAt: withDescription(Timestamp, 'Time of creation.'),
      updatedAt: withDescription(Timestamp, 'Time of the last change.'),
    },
    { description: 'A payment with a card, or a merchant credit to a card.' },
  ),
);
