// Lists of payments and quotes.
import { columnsOf, placeIn } from '../../parts/columns.tsx';
import { List } from '../../parts/list.tsx';
import { Screen } from '../../parts/panel.tsx';
import { TEXTS } from '../../texts/texts.ts';

const listPaymentsColumns = columnsOf<'listPayments'>();
const listQuotesOfPlatformsColumns = columnsOf<'listQuotesOfPlatforms'>();

const PERIOD = [
  { name: 'createdAfter', label: 'From', kind: 'day' },
  { name: 'createdBefore', label: 'Until', kind: 'day' },
] as const;

const PAYMENT_COLUMNS = [
  ...listPaymentsColumns.fields('createdAt', 'status', 'type'),
  ...listPaymentsColumns.numbers('sentAmount', 'receivedAmount'),
  ...listPaymentsColumns.fields(
    'rail',
    'platformId',
    'customerId',
    'reference',
    'failureReason',
    'id',
  ),
  ...listPaymentsColumns.hidden(
    'direction',
    'funds',
    'fees',
    'railMode',
    'quoteId',
    'agentId',
    'pendingReason',
  ),
  ...listPaymentsColumns.hidden(
    'refundStatus',
    'sourceAccountId',
    'destinationAccountId',
    'settledAt',
    'updatedAt',
  ),
];

const PAYMENT_FILTERS = [
  ...[{ name: 'status' }, { name: 'type' }, { name: 'rail' }],
  ...[{ name: 'mode', label: 'Environment' }, { name: 'currency' }, { name: 'customerId' }],
  { name: 'accountId' },
  ...PERIOD,
];

export const Payments = () => (
  <Screen title={TEXTS.pages.payments}>
    <List
      id="listPayments"
      columns={PAYMENT_COLUMNS}
      filters={PAYMENT_FILTERS}
      placeOf={placeIn('/payments', 'id')}
    />
  </Screen>
);

const QUOTE_COLUMNS = [
  ...listQuotesOfPlatformsColumns.fields('createdAt', 'transactionStatus'),
  ...listQuotesOfPlatformsColumns.numbers('sendingAmount', 'receivingAmount', 'fees'),
  ...listQuotesOfPlatformsColumns.fields(
    'exchangeRate',
    'lockedSide',
    'expiresAt',
    'platformId',
    'customerId',
    'id',
  ),
  ...listQuotesOfPlatformsColumns.hidden('agentId', 'transactionId'),
];

export const Quotes = () => (
  <Screen title={TEXTS.pages.quotes}>
    <List
      id="listQuotesOfPlatforms"
      columns={QUOTE_COLUMNS}
      filters={[
        ...[{ name: 'status' }, { name: 'mode', label: 'Environment' }],
        ...[{ name: 'currency' }, { name: 'customerId' }],
        ...PERIOD,
      ]}
      placeOf={placeIn('/payments', 'transactionId')}
    />
  </Screen>
);
