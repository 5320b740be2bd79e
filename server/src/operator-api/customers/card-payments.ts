// Card payments that need a decision, and pending funding debits.
import { Type } from '@sinclair/typebox';
import {
  endFundingDebit,
  listCardExceptions,
  listFundingDebits,
  resolveCardException,
} from '../../features/cards/index.ts';
import { CARD_STATUSES } from '../../features/payments/card-payments/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { MODES } from '../../kernel/mode.ts';
import {
  Amount,
  named,
  nullable,
  oneOf,
  PageQuery,
  page,
  text,
  time,
} from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import {
  CARD_PAYMENT_STATUS_DESCRIPTION,
  listInput,
  OptionalReason,
  PlatformFilter,
  Reason,
} from '../schemas.ts';

const TAG = 'Cards';

const Status = oneOf(CARD_STATUSES, { description: CARD_PAYMENT_STATUS_DESCRIPTION });
const PAYMENT = {
  transactionId: text('ID of the card payment.'),
  platformId: text('Platform of the payment.'),
  environment: oneOf(MODES, {
    description: 'Environment of the platform.',
  }),
  status: Status,
  cardId: text('ID of the card.'),
  accountId: nullable(text('Internal account of the payment. Never null in this list.')),
  merchant: text('Name of the merchant.'),
};
const currency = text('Currency code of the amounts.');
const amount = (description: string) => ({ ...Amount, description });
const params = Type.Object({ transactionId: text('ID of the card payment.') });

const Exception = named(
  'OperatorCardException',
  Type.Object(
    {
      ...PAYMENT,
      since: time('Time since which the payment needs a decision.'),
      settledAmount: amount('Amount settled with the network, in minor units.'),
      netAmount: Type.Integer({ description: 'Settled amount less refunds, in minor units.' }),
      missingAmount: amount('Settled amount that is neither refunded nor funded, in minor units.'),
      heldAmount: amount('Amount that is still held on the account, in minor units.'),
      currency,
      suspense: Type.Object(
        {
          amount: Type.Integer({ description: 'Amount in minor units. Negative for a shortfall.' }),
          currency: nullable(text('Currency code, or null if there is none.')),
        },
        { description: 'Funds of the payment in suspense.' },
      ),
    },
    { description: 'A card payment that needs a decision.' },
  ),
);

const listExceptions = operation({
  operationId: 'listCardExceptions',
  method: 'GET',
  path: '/card-exceptions',
  tag: TAG,
  summary: 'List card payments that need a decision',
  description:
    'Returns card payments whose account could not be debited after the settlement, and refunds ' +
    'for closed accounts, oldest first.',
  auth: 'operator',
  operatorPermission: 'cards.read',
  oldestFirst: true,
  commands: ['cards exceptions'],
  query: Type.Object({ ...PlatformFilter, ...PageQuery }),
  replies: {
    200: named(
      'OperatorCardExceptionPage',
      page(Exception, {
        description: 'A page of card payments that need a decision, oldest first.',
      }),
    ),
  },
  errors: [],
});

const resolve = operation({
  operationId: 'resolveCardException',
  postsMoney: true,
  method: 'POST',
  path: '/card-exceptions/{transactionId}/resolve',
  tag: TAG,
  summary: 'Resolve a card payment that could not be debited',
  description:
    'Debits the missing amount from the account, or writes the amount off. The debit can overdraw the ' +
    'account.',
  auth: 'operator',
  operatorPermission: 'cards.manage',
  commands: ['cards resolve'],
  params,
  body: Type.Object({
    outcome: oneOf(['collect', 'write-off'], {
      description: 'collect: debit the account. write-off: the operator bears the amount.',
    }),
    ...OptionalReason,
  }),
  replies: {
    200: Type.Object({
      transactionId: text('ID of the card payment.'),
      status: Status,
      writtenOffAmount: amount('Amount that was written off, in minor units.'),
      currency,
    }),
  },
  // The payment is not an exception, or its account is closed.
  errors: ['CONFLICT'],
  notFound: 'TRANSACTION_NOT_FOUND',
});

const number = Type.Integer({
  minimum: 1,
  description: 'Number of the debit within the payment, from 1.',
});

const FundingDebit = named(
  'OperatorFundingDebit',
  Type.Object(
    {
      ...PAYMENT,
      customerId: nullable(text('Customer who holds the card, or null if there is none.')),
      number,
      since: time('Time of the first request.'),
      attempts: Type.Integer({ description: 'Number of requests to the issuer.' }),
      amount: amount('Amount of the debit, in minor units.'),
      currency,
    },
    { description: 'A funding debit that is in progress.' },
  ),
);

const listDebits = operation({
  operationId: 'listFundingDebits',
  method: 'GET',
  path: '/funding-debits',
  tag: TAG,
  summary: 'List funding debits in progress',
  description: 'Returns the funding debits without a final response of the issuer, oldest first.',
  auth: 'operator',
  operatorPermission: 'cards.read',
  oldestFirst: true,
  commands: ['cards funding-debits'],
  query: Type.Object({ ...PlatformFilter, ...PageQuery }),
  replies: {
    200: named(
      'OperatorFundingDebitPage',
      page(FundingDebit, {
        description:
          'A page of funding debits without a final response of the issuer, oldest first.',
      }),
    ),
  },
  errors: [],
});

const endDebit = operation({
  operationId: 'resolveFundingDebit',
  postsMoney: true,
  method: 'POST',
  path: '/funding-debits/{transactionId}/resolve',
  tag: TAG,
  summary: 'Record the result of a funding debit',
  description: 'Records the verified result of a funding debit that its issuer does not report.',
  auth: 'operator',
  operatorPermission: 'cards.manage',
  commands: ['cards resolve-debit'],
  params,
  body: Type.Object({
    outcome: oneOf(['completed', 'failed'], {
      description:
        'completed: the issuer has debited the funds. failed: the issuer has not debited them.',
    }),
    number: Type.Optional({
      ...number,
      description: 'Number of the debit. Required if several are in progress.',
    }),
    reason: Reason,
  }),
  replies: {
    200: Type.Object({
      transactionId: text('ID of the card payment.'),
      status: Status,
      number,
      debitStatus: Type.Optional(
        text('Status of the funding debit, such as `CONFIRMED`. Absent if unknown.'),
      ),
      amount: amount('Amount of the debit, in minor units.'),
      currency,
      reason: text('Reason for the decision.'),
    }),
  },
  // There is no such debit in progress.
  errors: ['CONFLICT'],
  notFound: 'TRANSACTION_NOT_FOUND',
});

export const cardPaymentOperations = [
  operatorHandle(listExceptions, async ({ installation }, { query }) => ({
    status: 200,
    body: await listCardExceptions(installation.runtime, listInput(query)),
  })),
  operatorHandle(resolve, async ({ installation }, { params, body: { outcome, reason } }) => ({
    status: 200,
    body: await resolveCardException(installation.runtime, { ...params, outcome, reason }),
  })),
  operatorHandle(listDebits, async ({ installation }, { query }) => {
    const { data, ...rest } = await listFundingDebits(installation.runtime, listInput(query));
    return { status: 200, body: { data: data.map(({ readable: _, ...each }) => each), ...rest } };
  }),
  operatorHandle(endDebit, async ({ installation }, { params, body }) => {
    const { outcome, number: debitNumber, reason } = body;
    const {
      readable: _,
      debitStatus,
      ...debitResult
    } = await endFundingDebit(installation.runtime, {
      ...{ ...params, number: debitNumber, reason },
      completed: outcome === 'completed',
    });
    const status = debitStatus === undefined ? {} : { debitStatus };
    return { status: 200, body: { ...debitResult, ...status } };
  }),
];
