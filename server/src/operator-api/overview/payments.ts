// Payments and quotes of all platforms, without personal data, and one payment with its history.
import { Type } from '@sinclair/typebox';
import { PaymentRail } from '../../catalog/rails/rails.ts';
import { listPostings } from '../../features/accounting/index.ts';
import {
  pageOfDeliveriesByOperator,
  WebhookDelivery,
} from '../../features/notifications/deliveries/index.ts';
import { pageOfEventsByOperator } from '../../features/notifications/events/index.ts';
import {
  pageOfPayments,
  pageOfQuotes,
  paymentById,
} from '../../features/payments/monitoring/index.ts';
import { quoteFeature } from '../../features/payments/quotes/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { named, nullable, oneOf, page, text, time, withDescription } from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { PostingOfTransaction } from '../payments/ledger.ts';
import {
  FUNDS_DESCRIPTION,
  namesOf,
  RecallFields,
  TransactionStatus,
  TransactionType,
  transactionParams,
} from '../payments/schemas.ts';
import { OperatorEvent } from './events.ts';
import {
  CustomerFilter,
  ListQuery,
  ModeFilter,
  Money,
  nullableMoney,
  SHORT_PAGES,
} from './schemas.ts';

const TAG = 'Payments';
const optional = Type.Optional;

const PAYMENT = {
  id: text('ID of the transaction.'),
  platformId: text('Platform of the payment.'),
  customerId: nullable(text('Customer of the payment, or null for a payment of the platform.')),
  type: TransactionType,
  direction: oneOf(['CREDIT', 'DEBIT'], {
    description: 'CREDIT: funds are received. DEBIT: funds are sent.',
  }),
  status: TransactionStatus,
  funds: text(FUNDS_DESCRIPTION),
  sentAmount: nullableMoney('Amount sent'),
  receivedAmount: nullableMoney('Amount received'),
  fees: nullableMoney('Fees of the service and the platform'),
  sourceAccountId: nullable(text('Debited account, or null if the source is an address.')),
  destinationAccountId: nullable(
    text('Credited account, or null if the destination is an address.'),
  ),
  quoteId: nullable(text('Quote of the payment, or null if there is none.')),
  agentId: nullable(text('Agent that requested the payment, or null if there is none.')),
  rail: nullable(text('Rail of the payment, or null if there is none.')),
  railMode: nullable(
    oneOf(['AUTO', 'MANUAL'], {
      description:
        'How the rail was selected: AUTO by the service, MANUAL by the request. Null if the payment ' +
        'has no rail.',
    }),
  ),
  reference: nullable(text('Reference on bank statements, or null for a card payment.')),
  failureReason: nullable(text('Reason for the failure, or null if the payment has not failed.')),
  pendingReason: nullable(
    text('Reason for the hold of received funds, or null if no funds are held.'),
  ),
  refundStatus: nullable(text('Status of the refund, or null if there is none.')),
  settledAt: nullable(time('Time of the settlement, or null before it.')),
  createdAt: time('Time of creation.'),
  updatedAt: time('Time of the last change.'),
};

const Payment = named(
  'OperatorPayment',
  Type.Object(PAYMENT, { description: 'A transaction without personal data.' }),
);

const listPayments = operation({
  operationId: 'listPayments',
  method: 'GET',
  path: '/payments',
  tag: TAG,
  summary: 'List payments',
  description:
    'Returns incoming, outgoing and card transactions without personal data, newest first. Each ' +
    `quote has a pending transaction until it is executed or expires. ${SHORT_PAGES}`,
  auth: 'operator',
  operatorPermission: 'payments.read',
  commands: [],
  query: Type.Object({
    ...ListQuery,
    ...ModeFilter,
    ...CustomerFilter,
    accountId: optional(text('Return only payments that debit or credit this account.')),
    type: optional(withDescription(TransactionType, 'Return only transactions of this type.')),
    status: optional(
      withDescription(TransactionStatus, 'Return only transactions with this status.'),
    ),
    currency: optional(text('Return only payments that send or receive this currency.')),
    rail: optional(withDescription(PaymentRail, 'Return only payments over this rail.')),
  }),
  replies: {
    200: named(
      'OperatorPaymentPage',
      page(Payment, { description: 'A page of transactions without personal data, newest first.' }),
    ),
  },
  errors: ['NOT_FOUND'],
});

const Result = Type.Object(
  {
    kind: text('Transfer or decision, such as `payout`, `refund` or `suspense`.'),
    state: text('Result, such as `settled` or `failed`.'),
    reference: nullable(text('Reference of the bank or provider, or null if there is none.')),
    reason: nullable(text('Reason for the failure, or null if there is none.')),
    createdAt: time('Time at which the result was recorded.'),
  },
  { description: 'A result of a bank or provider.' },
);

/** Maximum number of items of each part of a payment. */
const MAX_PARTS = 100;
/** Maximum number of pages of events or deliveries that are read for one payment. */
const MAX_PAGES = 50;

const getPayment = operation({
  operationId: 'getPayment',
  method: 'GET',
  path: '/payments/{transactionId}',
  tag: TAG,
  summary: 'Get a payment with its history',
  description:
    'Returns a payment with its postings, the results of banks and providers, and its events with ' +
    `their deliveries. Each list has at most ${MAX_PARTS} items, oldest first. Events are deleted after ` +
    'their retention period, by default 30 days. The type of an event names the status that it ' +
    'reports.',
  auth: 'operator',
  operatorPermission: 'payments.read',
  commands: [],
  params: transactionParams,
  replies: {
    200: Type.Object({
      ...PAYMENT,
      postings: Type.Array(PostingOfTransaction, { description: 'Transfers in the ledger.' }),
      awaitedTransfer: nullable(
        oneOf(['payout', 'debit', 'refund'], {
          description:
            'Transfer that an operator sends at the bank and whose result is awaited, or null if there ' +
            'is none.',
        }),
      ),
      recall: nullable(
        named(
          'PayoutRecall',
          Type.Object(RecallFields, {
            description: 'The requested return of a settled payout, or null if none was requested.',
          }),
        ),
      ),
      results: Type.Array(Result, { description: 'Results of banks and providers.' }),
      events: Type.Array(OperatorEvent, { description: 'Events about the payment.' }),
      deliveries: Type.Array(WebhookDelivery, { description: 'Deliveries of these events.' }),
    }),
  },
  errors: [],
  notFound: 'TRANSACTION_NOT_FOUND',
});

const FirmQuote = named(
  'OperatorFirmQuote',
  Type.Object(
    {
      providerId: text('Provider that holds the rate.'),
      reference: text('ID of the quote at the provider.'),
      state: oneOf(namesOf(quoteFeature.states.firmQuote.transitions), {
        description:
          'HELD: not redeemed. REDEEMED: exchanged. REJECTED: not exchanged. The FX position is ' +
          'open. DIFFERENT: other amounts were exchanged.',
      }),
      result: nullable(
        text(
          'REDEEMED: ID of the exchange. REJECTED: reason of the provider. DIFFERENT: ID of the exchange ' +
            'and the exchanged amounts. HELD: null.',
        ),
      ),
      sold: Money('Exchanged amount'),
      bought: Money('Amount received in exchange'),
      expiresAt: time('Time until which the provider holds the rate.'),
      endedAt: nullable(time('Time of the result, or null before it.')),
    },
    { description: 'A rate that a provider holds for a quote, or null for a mid rate.' },
  ),
);

const Quote = named(
  'OperatorQuote',
  Type.Object(
    {
      id: text('ID of the quote.'),
      platformId: PAYMENT.platformId,
      customerId: PAYMENT.customerId,
      transactionId: text('Transaction of the quote.'),
      transactionStatus: withDescription(
        TransactionStatus,
        'Status of the transaction: PENDING or PENDING_AUTHORIZATION until the quote is executed, ' +
          'EXPIRED if it was not executed.',
      ),
      sendingAmount: Money('Amount sent'),
      receivingAmount: Money('Amount received'),
      fees: Money('Fees of the service and the platform'),
      exchangeRate: text('Exchange rate: sending units per receiving unit.'),
      firmQuote: nullable(FirmQuote),
      lockedSide: oneOf(['SENDING', 'RECEIVING'], { description: 'Side with the fixed amount.' }),
      agentId: PAYMENT.agentId,
      expiresAt: time('Time at which the quote expires.'),
      createdAt: time('Time of creation.'),
    },
    { description: 'A quote without personal data.' },
  ),
);

const listQuotes = operation({
  operationId: 'listQuotesOfPlatforms',
  method: 'GET',
  path: '/quotes',
  tag: TAG,
  summary: 'List quotes',
  description: `Returns quotes without personal data, newest first. ${SHORT_PAGES}`,
  auth: 'operator',
  operatorPermission: 'payments.read',
  commands: [],
  query: Type.Object({
    ...ListQuery,
    ...ModeFilter,
    ...CustomerFilter,
    status: optional(
      withDescription(TransactionStatus, 'Return only quotes whose transaction has this status.'),
    ),
    currency: optional(text('Return only quotes that send or receive this currency.')),
  }),
  replies: {
    200: named(
      'OperatorQuotePage',
      page(Quote, { description: 'A page of quotes without personal data, newest first.' }),
    ),
  },
  errors: ['NOT_FOUND'],
});

interface ListPage<T> {
  data: readonly T[];
  nextCursor?: string;
}

/** A page ends after a bounded time and can be short, so a payment's history is read from several. */
async function readAllPages<T>(
  read: (page: { cursor?: string }) => Promise<ListPage<T>>,
): Promise<T[]> {
  const parts: T[] = [];
  let input: { cursor?: string } = {};
  for (let count = 0; count < MAX_PAGES; count++) {
    const { data, nextCursor } = await read(input);
    parts.push(...data);
    if (nextCursor === undefined || parts.length >= MAX_PARTS) break;
    input = { cursor: nextCursor };
  }
  return parts.slice(0, MAX_PARTS);
}

export const paymentListOperations = [
  operatorHandle(listPayments, async ({ installation }, { query }) => ({
    status: 200,
    body: await pageOfPayments(installation.runtime, query),
  })),
  operatorHandle(getPayment, async ({ installation }, { params: { transactionId } }) => {
    const { runtime } = installation;
    const payment = await paymentById(runtime, transactionId);
    const { platformId } = payment;
    const paymentFilter = { resourceId: transactionId, limit: MAX_PARTS };
    const [{ postings }, events, deliveries] = await Promise.all([
      listPostings(runtime, transactionId),
      readAllPages((page) =>
        pageOfEventsByOperator(runtime, { platformId, ...paymentFilter, ...page }),
      ),
      readAllPages((page) =>
        pageOfDeliveriesByOperator(runtime, platformId, { ...paymentFilter, ...page }),
      ),
    ]);
    const history = {
      postings: postings.slice(0, MAX_PARTS),
      events: events.reverse(),
      deliveries: deliveries.reverse(),
    };
    return { status: 200, body: { ...payment, ...history } };
  }),
  operatorHandle(listQuotes, async ({ installation }, { query }) => ({
    status: 200,
    body: await pageOfQuotes(installation.runtime, query),
  })),
];
