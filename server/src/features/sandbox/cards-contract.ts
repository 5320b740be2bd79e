// Pretending to be the network of a card: what it asks of one, and what it tells about a payment that it
// let through. Each answers the issuer's name for the payment; what comes of it is told by webhooks, and
// whether there is a payment at all is seen in the list of transactions.

import { Type } from '@sinclair/typebox';
import { operation } from '../../kernel/contract/operation.ts';
import { Currency, named } from '../../kernel/schema.ts';
import { CardMerchant } from '../payments/presentation/index.ts';

/** Room is left for a hundred of them in the units of every currency that may pay. */
const MOST = 100_000_000_000;

const amount = (description: string) =>
  Type.Integer({ format: 'int64', exclusiveMinimum: 0, maximum: MOST, description });

const cardTransactionId = Type.String({ description: 'A payment with this card.' });

const Payment = named(
  'SandboxCardAuthorizationRequest',
  Type.Object(
    {
      amount: amount('Smallest units of the currency of the card.'),
      currency: Currency,
      merchant: CardMerchant,
    },
    {
      description: 'What a merchant asks of a card, or brings it.',
      examples: [
        {
          amount: 12_50,
          currency: { code: 'USD' },
          merchant: { descriptor: 'Corner shop', mcc: '5411', country: 'US' },
        },
      ],
    },
  ),
);

const simulated = {
  method: 'POST',
  tag: 'Sandbox',
  permission: 'TRANSACT',
  sandboxOnly: true,
  params: Type.Object({ id: Type.String({ description: 'The card.' }) }),
  replies: {
    202: named(
      'SandboxCardSimulationResponse',
      Type.Object(
        {
          issuerTransactionToken: Type.String({
            description: "The issuer's name for the payment, declined or not.",
          }),
        },
        { description: 'What the network heard.' },
      ),
    ),
  },
  errors: [],
  notFound: 'NOT_FOUND',
} as const;

const moving = { money: true } as const;

/** What asks a card for money or brings it some. */
const asked = { ...simulated, ...moving, body: Payment, semanticValidation: true } as const;

const BY_DESCRIPTOR = 'The last three characters of the descriptor may say how it goes.';

export const sandboxSimulateCardAuthorization = operation({
  ...asked,
  operationId: 'sandboxSimulateCardAuthorization',
  path: '/sandbox/cards/{id}/simulate/authorization',
  summary: 'Simulate an authorization',
  description: `A merchant asks for money and clears it later. ${BY_DESCRIPTOR}`,
});

export const sandboxSimulateCardFinancialAuthorization = operation({
  ...asked,
  operationId: 'sandboxSimulateCardFinancialAuthorization',
  path: '/sandbox/cards/{id}/simulate/financial_authorization',
  summary: 'Simulate a payment in a single message',
  description: `A merchant asks for money that is cleared at once. ${BY_DESCRIPTOR}`,
});

export const sandboxSimulateCardCreditAuthorization = operation({
  ...asked,
  operationId: 'sandboxSimulateCardCreditAuthorization',
  path: '/sandbox/cards/{id}/simulate/credit_authorization',
  summary: 'Simulate an authorization of a credit',
  description: `A merchant announces money, which comes when it is cleared. ${BY_DESCRIPTOR}`,
});

export const sandboxSimulateCardFinancialCreditAuthorization = operation({
  ...asked,
  operationId: 'sandboxSimulateCardFinancialCreditAuthorization',
  path: '/sandbox/cards/{id}/simulate/financial_credit_authorization',
  summary: 'Simulate a credit in a single message',
  description: `A merchant pays money that comes at once. ${BY_DESCRIPTOR}`,
});

export const sandboxSimulateCardCreditAuthorizationAdvice = operation({
  ...asked,
  operationId: 'sandboxSimulateCardCreditAuthorizationAdvice',
  path: '/sandbox/cards/{id}/simulate/credit_authorization_advice',
  summary: 'Simulate the advice of a credit',
  description:
    'The network tells of a credit that it let through by itself, and that is cleared later. ' +
    BY_DESCRIPTOR,
});

export const sandboxSimulateCardBalanceInquiry = operation({
  ...simulated,
  operationId: 'sandboxSimulateCardBalanceInquiry',
  path: '/sandbox/cards/{id}/simulate/balance_inquiry',
  summary: 'Simulate a balance inquiry',
  description: 'A merchant asks whether the card is good. No payment comes of it.',
  body: named(
    'SandboxCardBalanceInquiryRequest',
    Type.Object({ merchant: CardMerchant }, { description: 'Who asks whether the card is good.' }),
  ),
});

/** What tells about a payment that is there. */
const told = { ...simulated, ...moving } as const;

export const sandboxSimulateCardAuthorizationAdvice = operation({
  ...told,
  operationId: 'sandboxSimulateCardAuthorizationAdvice',
  errors: ['TRANSACTION_NOT_FOUND'],
  path: '/sandbox/cards/{id}/simulate/authorization_advice',
  summary: 'Simulate a change of what is authorized',
  description: 'Of a payment that is AUTHORIZED or PARTIALLY_SETTLED.',
  body: named(
    'SandboxCardAuthorizationAdviceRequest',
    Type.Object(
      { cardTransactionId, amount: amount('What the payment is for from now on, in all.') },
      { description: 'Another amount for a payment.' },
    ),
  ),
});

export const sandboxSimulateCardClearing = operation({
  ...told,
  operationId: 'sandboxSimulateCardClearing',
  errors: ['TRANSACTION_NOT_FOUND'],
  path: '/sandbox/cards/{id}/simulate/clearing',
  summary: 'Simulate a clearing',
  description:
    'Of a payment that is AUTHORIZED or PARTIALLY_SETTLED. More than was authorized is taken from the ' +
    'account that pays; with 0 the authorization expires, and what was not cleared goes back.',
  body: named(
    'SandboxCardClearingRequest',
    Type.Object(
      {
        cardTransactionId,
        amount: Type.Integer({
          format: 'int64',
          minimum: 0,
          maximum: MOST,
          description: 'Smallest units; 0 for an authorization that expires.',
        }),
      },
      {
        description: 'A clearing of a payment.',
        examples: [
          {
            cardTransactionId: 'CardTransaction:019b8e2a-0c00-7000-8000-00000000d001',
            amount: 12_50,
          },
        ],
      },
    ),
  ),
});

export const sandboxSimulateCardReturn = operation({
  ...told,
  operationId: 'sandboxSimulateCardReturn',
  errors: ['TRANSACTION_NOT_FOUND'],
  path: '/sandbox/cards/{id}/simulate/return',
  summary: 'Simulate a return',
  description: 'A merchant gives back what was cleared, or a part of it.',
  body: named(
    'SandboxCardReturnRequest',
    Type.Object(
      { cardTransactionId, amount: amount('At most what was settled and has not come back.') },
      { description: 'What of a payment comes back.' },
    ),
  ),
});

export const sandboxSimulateCardReturnReversal = operation({
  ...told,
  operationId: 'sandboxSimulateCardReturnReversal',
  errors: ['TRANSACTION_NOT_FOUND'],
  path: '/sandbox/cards/{id}/simulate/return_reversal',
  summary: 'Simulate that a return is taken back',
  description: 'Of a payment that is REFUNDED: the last return is undone.',
  body: named(
    'SandboxCardTransactionRefRequest',
    Type.Object({ cardTransactionId }, { description: 'Which payment it is about.' }),
  ),
});
