// Payments of the card `$activeNew` in the world `cards`, in each status.
import { advance } from './builders.ts';
import type { Step } from './step.ts';

/** The suffix of the merchant descriptor selects the outcome. */
const PAYMENTS = [
  ['authorized', '000', 25_00],
  ['partiallySettled', '000', 25_00],
  ['settled', '000', 25_00],
  ['refunded', '000', 25_00],
  ['exception', '006', 25_00],
] as const;

/** References to the payment use `$NAMEList.data.0`. */
const authorization = ([name, suffix, amount]: (typeof PAYMENTS)[number]): Step[] => [
  {
    operationId: 'sandboxSimulateCardAuthorization',
    params: { id: '$activeNew.id' },
    body: {
      amount,
      currency: { code: 'USD' },
      merchant: { descriptor: `ACME BOOKS ${suffix}`, mcc: '5942' },
    },
  },
  {
    name: `${name}List`,
    operationId: 'listTransactions',
    query: { type: 'CARD', customerId: '$cardholder.id', limit: 1 },
  },
];

const followUp = (name: string, operationId: string, amount: number): Step => ({
  operationId,
  params: { id: '$activeNew.id' },
  body: { cardTransactionId: `$${name}List.data.0.id`, amount },
});

export const CARD_PAYMENTS: Step[] = [
  ...PAYMENTS.flatMap(authorization),
  followUp('partiallySettled', 'sandboxSimulateCardClearing', 10_00),
  // The payment `exception` has no clearing, because a clearing is rejected once its debit has failed.
  ...['settled', 'refunded'].map((name) => followUp(name, 'sandboxSimulateCardClearing', 25_00)),
  // The issuer confirms or rejects the funding debits.
  advance('PT1M'),
  followUp('refunded', 'sandboxSimulateCardReturn', 25_00),
  ...PAYMENTS.map(([name]) => ({
    name: `${name}Payment`,
    operationId: 'getTransactionById',
    params: { transactionId: `$${name}List.data.0.id` },
  })),
];
