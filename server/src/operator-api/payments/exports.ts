// Accounting exports by UTC day, in pages.
import { Type } from '@sinclair/typebox';
import { balancesPage, postingsPage, transactionsPage } from '../../features/accounting/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { MODES } from '../../kernel/mode.ts';
import {
  Amount,
  DateOnly,
  named,
  nullable,
  oneOf,
  PageQuery,
  page,
  text,
  time,
  withDescription,
} from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { PlatformFilter } from '../schemas.ts';
import {
  CurrencyCode,
  CustomerId,
  FUNDS_DESCRIPTION,
  PlatformId,
  Posting,
  TransactionId,
} from './schemas.ts';

const TAG = 'Exports';

const QUERY = {
  from: withDescription(DateOnly, 'First day, UTC.'),
  to: withDescription(DateOnly, 'Last day, UTC, inclusive. The period has at most 366 days.'),
  ...PlatformFilter,
  environment: Type.Optional(
    oneOf(MODES, { description: 'Return only items of this environment.' }),
  ),
  ...PageQuery,
};

const environment = text('Environment: sandbox or production.');
const optionalText = (description: string) =>
  nullable(text(`${description}, or null if there is none.`));
const optionalAmount = (description: string) =>
  nullable(
    Type.Integer({
      format: 'int64',
      description: `${description}, in minor units, or null if there is none.`,
    }),
  );
const requiredAmount = (description: string) =>
  Type.Integer({ format: 'int64', description: `${description}, in minor units.` });

const ExportedTransaction = named(
  'ExportedTransaction',
  Type.Object(
    {
      transactionId: TransactionId,
      platformId: PlatformId,
      environment,
      customerId: CustomerId,
      platformCustomerId: text('Identifier that the platform assigned to the customer.'),
      type: text('Type of the transaction: INCOMING, OUTGOING or CARD.'),
      status: text('Status of the transaction, such as `COMPLETED`.'),
      funds: text(FUNDS_DESCRIPTION),
      createdAt: time('Time of the creation.'),
      settledAt: nullable(time('Time of the settlement, or null before it.')),
      sentCurrency: optionalText('Currency sent'),
      sentAmount: optionalAmount('Amount sent'),
      receivedCurrency: optionalText('Currency received'),
      receivedAmount: optionalAmount('Amount received'),
      fees: optionalAmount('Fees of the service and the platform'),
      platformFees: optionalAmount('Fees of the platform'),
      exchangeRate: optionalText('Exchange rate in sending units per receiving unit'),
      rail: optionalText('Rail of the payment'),
      sourceAccount: optionalText('Source account or address'),
      destinationAccount: optionalText('Destination account or address'),
      quoteId: optionalText('ID of the quote'),
      failureReason: optionalText('Reason for the failure'),
      refundStatus: optionalText('Status of the refund'),
      refundReference: optionalText('Reference of the refund'),
      railReference: optionalText('Reference of the bank'),
      description: optionalText('Description of the payment'),
    },
    { description: 'A transaction in an export.' },
  ),
);

const transactions = operation({
  operationId: 'exportTransactions',
  method: 'GET',
  path: '/exports/transactions',
  tag: TAG,
  summary: 'Export transactions',
  description:
    'Returns the transactions created in a period, oldest first. Addresses and descriptions may ' +
    'be personal data, so this request is recorded.',
  auth: 'operator',
  operatorPermission: 'personal-data.reveal',
  oldestFirst: true,
  reveals: true,
  commands: ['export transactions'],
  query: Type.Object(QUERY),
  replies: {
    200: named(
      'ExportedTransactionPage',
      page(ExportedTransaction, {
        description: 'A page of the transactions created in a period, oldest first.',
      }),
    ),
  },
  errors: ['NOT_FOUND'],
});

const ExportedPosting = named(
  'ExportedPosting',
  Type.Object(
    {
      environment,
      platformId: nullable(withDescription(PlatformId, 'ID of the platform, or null if none.')),
      transactionId: TransactionId,
      ...Posting,
      amount: Amount,
      currency: CurrencyCode,
    },
    { description: 'A posting in an export.' },
  ),
);

const postings = operation({
  operationId: 'exportPostings',
  method: 'GET',
  path: '/exports/postings',
  tag: TAG,
  summary: 'Export postings',
  description:
    'Returns the postings of a period, oldest first. Postings of velocity limits and of stablecoin ' +
    'supplies are not included.',
  auth: 'operator',
  operatorPermission: 'ledger.read',
  oldestFirst: true,
  commands: ['export postings'],
  query: Type.Object(QUERY),
  replies: {
    200: named(
      'ExportedPostingPage',
      page(ExportedPosting, { description: 'A page of the postings of a period, oldest first.' }),
    ),
  },
  errors: ['NOT_FOUND'],
});

const ExportedBalance = named(
  'ExportedBalance',
  Type.Object(
    {
      environment,
      platformId: nullable(withDescription(PlatformId, 'ID of the platform, or null if none.')),
      customerId: CustomerId,
      account: text('ID of the ledger account.'),
      currency: CurrencyCode,
      day: withDescription(DateOnly, 'Day, UTC.'),
      opening: requiredAmount('Balance at the start of the day'),
      debits: requiredAmount('Sum of the debits'),
      credits: requiredAmount('Sum of the credits'),
      closing: requiredAmount('Balance at the end of the day'),
    },
    { description: 'The balance of an account on a day.' },
  ),
);

const balances = operation({
  operationId: 'exportBalances',
  method: 'GET',
  path: '/exports/balances',
  tag: TAG,
  summary: 'Export balances',
  description:
    'Returns opening and closing balances of days with postings, by day and account. For an operator ' +
    'of several selected platforms, the balances are ordered by platform first.',
  auth: 'operator',
  operatorPermission: 'ledger.read',
  commands: ['export balances'],
  query: Type.Object({
    ...QUERY,
    idle: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'If true, also return days without postings and with a nonzero balance.',
      }),
    ),
  }),
  replies: {
    200: named(
      'ExportedBalancePage',
      page(ExportedBalance, {
        description: 'A page of opening and closing balances, by day and account.',
      }),
    ),
  },
  errors: ['NOT_FOUND'],
});

export const exportOperations = [
  operatorHandle(transactions, async ({ installation }, { query }) => ({
    status: 200,
    body: await transactionsPage(installation.stream, query),
  })),
  operatorHandle(postings, async ({ installation }, { query }) => ({
    status: 200,
    body: await postingsPage(installation.stream, query),
  })),
  operatorHandle(balances, async ({ installation }, { query }) => ({
    status: 200,
    body: await balancesPage(installation.stream, query),
  })),
];
