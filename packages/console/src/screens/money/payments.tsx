// Lists of payments and quotes.
import type { Item } from '../../api/client.ts';
import { columnsOf, pathIn } from '../../parts/columns.tsx';
import { List } from '../../parts/list.tsx';
import { Amount, moneyText } from '../../parts/money.tsx';
import { Screen } from '../../parts/panel.tsx';
import { TEXTS } from '../../texts/texts.ts';

const listPaymentsColumns = columnsOf<'listPayments'>();
const listQuotesOfPlatformsColumns = columnsOf<'listQuotesOfPlatforms'>();

const PERIOD_FILTERS = [
  { name: 'createdAfter', label: 'From', kind: 'day' },
  { name: 'createdBefore', label: 'Until', kind: 'day' },
] as const;

type Payment = Item<'listPayments'>;

/** The sent amount, or the received amount if no amount was sent. */
const amountOf = ({ sentAmount, receivedAmount }: Payment) => sentAmount ?? receivedAmount;

const amountText = (row: Payment) => {
  const amount = amountOf(row);
  return amount ? moneyText(amount) : '';
};

const PAYMENT_COLUMNS = [
  {
    ...{ name: 'sentAmount', label: 'Amount', isNumber: true },
    cell: (row: Payment) => <Amount value={amountOf(row)} />,
    text: (row: Payment) => amountText(row),
  },
  ...listPaymentsColumns.fields('status', 'createdAt', 'failureReason', 'type'),
  ...listPaymentsColumns.numbers('receivedAmount'),
  ...listPaymentsColumns.fields('customerId', 'rail', 'reference', 'platformId', 'id'),
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
  ...PERIOD_FILTERS,
];

export const Payments = () => (
  <Screen title={TEXTS.pages.payments}>
    <List
      id="listPayments"
      columns={PAYMENT_COLUMNS}
      filters={PAYMENT_FILTERS}
      pathOf={pathIn('/payments', 'id')}
    />
  </Screen>
);

const QUOTE_COLUMNS = [
  ...listQuotesOfPlatformsColumns.numbers('sendingAmount'),
  ...listQuotesOfPlatformsColumns.fields('transactionStatus', 'createdAt'),
  ...listQuotesOfPlatformsColumns.numbers('receivingAmount', 'fees'),
  ...listQuotesOfPlatformsColumns.fields(
    'exchangeRate',
    'expiresAt',
    'customerId',
    'lockedSide',
    'platformId',
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
        ...PERIOD_FILTERS,
      ]}
      pathOf={pathIn('/payments', 'transactionId')}
    />
  </Screen>
);
