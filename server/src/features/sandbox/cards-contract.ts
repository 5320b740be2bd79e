// Contracts that simulate a card network: authorization requests, and notices about approved payments. Each
// returns the issuer's reference of the payment. Results are reported by webhooks and in the transactions.

import { Type } from '@sinclair/typebox';
import { operation } from '../../kernel/contract/operation.ts';
import { Currency, named, withDescription } from '../../kernel/schema.ts';
import { CardMerchant } from '../payments/presentation/index.ts';

/** Maximum amount. The ledger can store the sum of 100 such amounts in every funding currency. */
const MAX_CENTS = 100_000_000_000;

const amount = (description: string) =>
  Type.Integer({ format: 'int64', exclusiveMinimum: 0, maximum: MAX_CENTS, description });

const cardTransactionId = Type.String({ description: 'ID of a payment with this card.' });

const Payment = named(
  'SandboxCardAuthorizationRequest',
  Type.Object(
    {
      amount: amount('Amount in minor units of the currency of the card.'),
      currency: withDescription(
        Currency,
        'Currency of the card, of which only `code` is read. Default: the currency of the card.',
      ),
      merchant: CardMerchant,
    },
    {
      description: 'Amount, currency and merchant of a simulated card message.',
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

const simulationFields = {
  method: 'POST',
  tag: 'Sandbox',
  permission: 'TRANSACT',
  sandboxOnly: true,
  params: Type.Object({ id: Type.String({ description: 'ID of the card.' }) }),
  replies: {
    202: named(
      'SandboxCardSimulationResponse',
      Type.Object(
        {
          issuerTransactionToken: Type.String({
            description:
              'Reference of the payment at the issuer. Present for declined payments as well.',
          }),
        },
        { description: 'Result of a simulated card message.' },
      ),
    ),
  },
  errors: [],
  notFound: 'NOT_FOUND',
} as const;

const posting = { money: true } as const;

/** Authorization requests and merchant credits. */
const authorizationRequest = {
  ...simulationFields,
  ...posting,
  body: Payment,
  semanticValidation: true,
} as const;

export const sandboxSimulateCardAuthorization = operation({
  ...authorizationRequest,
  operationId: 'sandboxSimulateCardAuthorization',
  path: '/sandbox/cards/{id}/simulate/authorization',
  summary: 'Simulate a card authorization',
  description:
    'Simulates an authorization request of a merchant. If it is approved, the amount is ' +
    'held until it is cleared with `sandboxSimulateCardClearing`. A decline is a normal ' +
    'result, not an error.',
});

export const sandboxSimulateCardFinancialAuthorization = operation({
  ...authorizationRequest,
  operationId: 'sandboxSimulateCardFinancialAuthorization',
  path: '/sandbox/cards/{id}/simulate/financial_authorization',
  summary: 'Simulate a single-message authorization',
  description:
    'Simulates a single-message (financial) authorization. If it is approved, the amount ' +
    'is authorized and cleared immediately.',
});

export const sandboxSimulateCardCreditAuthorization = operation({
  ...authorizationRequest,
  operationId: 'sandboxSimulateCardCreditAuthorization',
  path: '/sandbox/cards/{id}/simulate/credit_authorization',
  summary: 'Simulate a credit authorization',
  description:
    'Simulates the authorization of a merchant credit. The funds are credited when the credit ' +
    'is cleared with `sandboxSimulateCardClearing`.',
});

export const sandboxSimulateCardFinancialCreditAuthorization = operation({
  ...authorizationRequest,
  operationId: 'sandboxSimulateCardFinancialCreditAuthorization',
  path: '/sandbox/cards/{id}/simulate/financial_credit_authorization',
  summary: 'Simulate a single-message credit',
  description:
    'Simulates a single-message (financial) merchant credit. The funds are credited ' +
    'immediately.',
});

export const sandboxSimulateCardCreditAuthorizationAdvice = operation({
  ...authorizationRequest,
  operationId: 'sandboxSimulateCardCreditAuthorizationAdvice',
  path: '/sandbox/cards/{id}/simulate/credit_authorization_advice',
  summary: 'Simulate a stand-in credit authorization',
  description:
    'Simulates the authorization of a merchant credit that the network approved in stand-in ' +
    'processing. The funds are credited when the credit is cleared with ' +
    '`sandboxSimulateCardClearing`.',
});

export const sandboxSimulateCardBalanceInquiry = operation({
  ...simulationFields,
  operationId: 'sandboxSimulateCardBalanceInquiry',
  path: '/sandbox/cards/{id}/simulate/balance_inquiry',
  summary: 'Simulate a balance inquiry',
  description:
    'Simulates an account verification by a merchant. No payment is created and no funds ' +
    'are held.',
  body: named(
    'SandboxCardBalanceInquiryRequest',
    Type.Object(
      { merchant: CardMerchant },
      { description: 'Merchant of a simulated balance inquiry.' },
    ),
  ),
});

/** Notices about an existing payment. */
const noticeOperation = { ...simulationFields, ...posting } as const;

export const sandboxSimulateCardAuthorizationAdvice = operation({
  ...noticeOperation,
  operationId: 'sandboxSimulateCardAuthorizationAdvice',
  errors: ['TRANSACTION_NOT_FOUND'],
  path: '/sandbox/cards/{id}/simulate/authorization_advice',
  summary: 'Simulate an authorization adjustment',
  description:
    'Simulates an adjustment of the authorized amount of a payment that is AUTHORIZED or ' +
    'PARTIALLY_SETTLED. The part of the new amount that is not settled is held. An increase ' +
    'that the account cannot cover is not held.',
  body: named(
    'SandboxCardAuthorizationAdviceRequest',
    Type.Object(
      {
        cardTransactionId,
        amount: amount(
          'New total amount of the authorization, in minor units of the currency of the card.',
        ),
      },
      { description: 'The payment and its new authorized amount.' },
    ),
  ),
});

export const sandboxSimulateCardClearing = operation({
  ...noticeOperation,
  operationId: 'sandboxSimulateCardClearing',
  errors: ['TRANSACTION_NOT_FOUND'],
  path: '/sandbox/cards/{id}/simulate/clearing',
  summary: 'Simulate a clearing',
  description:
    'Simulates the clearing of a payment that is AUTHORIZED or PARTIALLY_SETTLED. If the card ' +
    'is not closed, the part of the amount above the authorization is debited as well. If this ' +
    'debit fails, the payment becomes EXCEPTION. With amount 0 the remaining authorization ' +
    'expires and its hold is released. A payment has at most 100 clearings.',
  body: named(
    'SandboxCardClearingRequest',
    Type.Object(
      {
        cardTransactionId,
        amount: Type.Integer({
          format: 'int64',
          minimum: 0,
          maximum: MAX_CENTS,
          description:
            'Amount in minor units of the currency of the card. With 0 the authorization ' +
            'expires.',
        }),
      },
      {
        description: 'The payment and the amount to clear.',
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
  ...noticeOperation,
  operationId: 'sandboxSimulateCardReturn',
  errors: ['TRANSACTION_NOT_FOUND'],
  path: '/sandbox/cards/{id}/simulate/return',
  summary: 'Simulate a merchant refund',
  description:
    'Simulates a refund of a cleared payment by the merchant, in full or in part. The refunded ' +
    'amount is credited to the funding account, up to the amount debited from it. A payment has ' +
    'at most 100 refunds.',
  body: named(
    'SandboxCardReturnRequest',
    Type.Object(
      {
        cardTransactionId,
        amount: amount(
          'Amount of the refund, in minor units of the currency of the card. At most the ' +
            'settled amount that is not yet refunded.',
        ),
      },
      { description: 'The payment and the amount to refund.' },
    ),
  ),
});

export const sandboxSimulateCardReturnReversal = operation({
  ...noticeOperation,
  operationId: 'sandboxSimulateCardReturnReversal',
  errors: ['TRANSACTION_NOT_FOUND'],
  path: '/sandbox/cards/{id}/simulate/return_reversal',
  summary: 'Simulate a refund reversal',
  description: 'Simulates the reversal of the last refund of a payment that is REFUNDED.',
  body: named(
    'SandboxCardTransactionRefRequest',
    Type.Object({ cardTransactionId }, { description: 'The payment that the message refers to.' }),
  ),
});
