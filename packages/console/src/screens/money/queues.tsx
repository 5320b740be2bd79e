// Work of treasury: manual payouts, held deposits, suspense, card payments and stablecoins.
import { ActionButton, ActionButtons } from '../../action/action.tsx';
import type { Item } from '../../api/client.ts';
import { columnsOf, placeIn } from '../../parts/columns.tsx';
import { Facts } from '../../parts/facts.tsx';
import { List } from '../../parts/list.tsx';
import { Screen } from '../../parts/panel.tsx';
import { QUEUE_TEXTS as T } from '../../texts/queues.ts';
import { TEXTS } from '../../texts/texts.ts';

const searchStablecoinOperationsColumns = columnsOf<'searchStablecoinOperations'>();

const listCardDecisionsColumns = columnsOf<'listCardDecisions'>();
const listCardExceptionsColumns = columnsOf<'listCardExceptions'>();
const listAwaitedTransfersColumns = columnsOf<'listAwaitedTransfers'>();
const listFundingDebitsColumns = columnsOf<'listFundingDebits'>();
const listHeldDepositsColumns = columnsOf<'listHeldDeposits'>();
const listSuspenseItemsColumns = columnsOf<'listSuspenseItems'>();
const searchStablecoinsColumns = columnsOf<'searchStablecoins'>();

const toPayment = placeIn('/payments', 'transactionId');

interface Queued {
  transactionId: string;
  amount: number | string;
  currency: string;
}

const aboutOf = ({ transactionId, amount, currency }: Queued) => (
  <Facts value={{ transactionId, amount: { amount, currency } }} />
);

const PAYOUT_COLUMNS = [
  ...listAwaitedTransfersColumns.fields('since', 'kind'),
  ...listAwaitedTransfersColumns.amounts('amount'),
  ...listAwaitedTransfersColumns.fields(
    'rail',
    'beneficiary',
    'reference',
    'platformId',
    'cancelRequestedAt',
  ),
  ...listAwaitedTransfersColumns.hidden(
    'accountType',
    'remittanceInformation',
    'purposeOfPayment',
    'transactionId',
  ),
  listAwaitedTransfersColumns.actions((row) => {
    const base = { path: { transactionId: row.transactionId }, about: aboutOf(row) };
    const cancel = [
      { ...base, id: 'cancelTransfer', label: T.confirmCancel },
      { ...base, id: 'rejectTransferCancel', label: T.rejectCancel },
    ] as const;
    return (
      <ActionButtons
        actions={[
          { ...base, id: 'settleTransfer', label: T.settle },
          { ...base, id: 'failTransfer', label: T.fail, isDangerous: true },
          ...(row.cancelRequestedAt ? cancel : []),
        ]}
      />
    );
  }),
];

export const Payouts = () => (
  <Screen title={TEXTS.pages.payouts}>
    <p className="sub soft">{T.payouts}</p>
    <List
      id="listAwaitedTransfers"
      columns={PAYOUT_COLUMNS}
      placeOf={toPayment}
      empty={T.noPayouts}
    />
  </Screen>
);

const DEPOSIT_COLUMNS = [
  ...listHeldDepositsColumns.fields('since', 'reason'),
  ...listHeldDepositsColumns.amounts('amount'),
  ...listHeldDepositsColumns.fields('source', 'platformId', 'customerId', 'accountId'),
  ...listHeldDepositsColumns.hidden('transactionId'),
  listHeldDepositsColumns.actions((row) => {
    const base = { path: { transactionId: row.transactionId }, about: aboutOf(row) };
    return (
      <ActionButtons
        actions={[
          { ...base, id: 'releaseDeposit', label: T.release },
          { ...base, id: 'rejectDeposit', label: T.reject, isDangerous: true },
        ]}
      />
    );
  }),
];

export const Deposits = () => (
  <Screen
    title={TEXTS.pages.deposits}
    actions={<ActionButton id="recordDeposit" label={T.recordDeposit} isPrimary />}
  >
    <p className="sub soft">{T.deposits}</p>
    <List
      id="listHeldDeposits"
      columns={DEPOSIT_COLUMNS}
      placeOf={toPayment}
      empty={T.noDeposits}
    />
  </Screen>
);

const SUSPENSE_COLUMNS = [
  ...listSuspenseItemsColumns.fields('since', 'type', 'status'),
  ...listSuspenseItemsColumns.amounts('amount'),
  ...listSuspenseItemsColumns.fields('failureReason', 'to', 'environment', 'platformId'),
  ...listSuspenseItemsColumns.hidden('transactionId', 'outside'),
  listSuspenseItemsColumns.actions((row) => {
    const base = { path: { transactionId: row.transactionId }, about: aboutOf(row) };
    return (
      <ActionButtons
        actions={[
          { ...base, id: 'returnSuspenseItem', label: T.sendBack },
          { ...base, id: 'settleShortfall', label: T.settleShortfall },
        ]}
      />
    );
  }),
];

export const Suspense = () => (
  <Screen title={TEXTS.pages.suspense}>
    <p className="sub soft">{T.suspense}</p>
    <List
      id="listSuspenseItems"
      columns={SUSPENSE_COLUMNS}
      filters={[{ name: 'environment' }]}
      placeOf={toPayment}
      empty={T.noSuspense}
    />
  </Screen>
);

type Coin = Item<'searchStablecoins'>;

/** An exact amount of a token, which is in no catalog. */
function unitsText(units: string, decimals: number): string {
  const digits = units.padStart(decimals + 1, '0');
  const whole = BigInt(digits.slice(0, digits.length - decimals)).toLocaleString();
  const fraction = digits
    .slice(digits.length - decimals)
    .replace(/0+$/, '')
    .padEnd(2, '0');
  return decimals === 0 ? whole : `${whole}.${fraction}`;
}

const COIN_COLUMNS = [
  ...searchStablecoinsColumns.fields(
    'symbol',
    'name',
    'network',
    'issuanceStatus',
    'serviceOperationsStatus',
  ),
  {
    name: 'circulating',
    isNumber: true,
    cell: ({ circulating, decimals, symbol }: Coin) => (
      <span className="amount" title={circulating}>
        {unitsText(circulating, decimals)} {symbol}
      </span>
    ),
    text: ({ circulating, decimals }: Coin) => unitsText(circulating, decimals),
  },
  ...searchStablecoinsColumns.fields('provider', 'providerEnvironment', 'platformId', 'createdAt'),
  ...searchStablecoinsColumns.hidden('id', 'baseCurrency', 'networkTokenIdentifier'),
  searchStablecoinsColumns.actions(({ id, symbol }) => {
    const base = { path: { stablecoinId: id }, about: <Facts value={{ id, symbol }} /> };
    return (
      <ActionButtons
        actions={[
          { ...base, id: 'approveStablecoin', label: T.approve },
          { ...base, id: 'rejectStablecoin', label: T.reject, isDangerous: true },
          { ...base, id: 'disableStablecoin', label: T.disable, isDangerous: true },
        ]}
      />
    );
  }),
];

export const Stablecoins = () => (
  <Screen title={TEXTS.pages.stablecoins}>
    <p className="sub soft">{T.stablecoins}</p>
    <List id="searchStablecoins" columns={COIN_COLUMNS} empty={T.noStablecoins} />
    <h2>{T.operations}</h2>
    <List
      id="searchStablecoinOperations"
      columns={[
        ...searchStablecoinOperationsColumns.fields('createdAt', 'type', 'status'),
        {
          name: 'amount',
          isNumber: true,
          cell: ({ readable, amount }) => (
            <span className="amount" title={amount}>
              {readable ?? amount}
            </span>
          ),
          text: ({ readable, amount }) => readable ?? amount,
        },
        ...searchStablecoinOperationsColumns.fields('source', 'rail', 'providerStatus'),
        ...searchStablecoinOperationsColumns.fields(
          'failureReason',
          'uncounted',
          'platformId',
          'operationId',
        ),
        searchStablecoinOperationsColumns.actions(({ operationId, type, status, readable }) => (
          <ActionButton
            id="endStablecoinOperation"
            label={T.end}
            path={{ stablecoinOperationId: operationId }}
            about={<Facts value={{ type, status, amount: readable }} />}
          />
        )),
      ]}
    />
  </Screen>
);

export const CardPayments = () => (
  <Screen title={TEXTS.pages.cardPayments}>
    <p className="sub soft">{T.cardPayments}</p>
    <List
      id="listCardDecisions"
      columns={[
        ...listCardDecisionsColumns.fields('at', 'kind'),
        { name: 'approved' },
        ...listCardDecisionsColumns.fields('reason'),
        ...listCardDecisionsColumns.amounts('amount'),
        { name: 'merchant', cell: ({ merchant }) => merchant?.descriptor ?? TEXTS.none },
        ...listCardDecisionsColumns.fields('cardId', 'platformId', 'transactionId'),
      ]}
      filters={[{ name: 'declined', values: ['true', 'false'] }, { name: 'cardId' }]}
    />
    <h2>{T.exceptions}</h2>
    <List
      id="listCardExceptions"
      columns={[
        ...listCardExceptionsColumns.fields('since', 'status', 'merchant'),
        ...listCardExceptionsColumns.amounts(
          'settledAmount',
          'netAmount',
          'missingAmount',
          'heldAmount',
        ),
        ...listCardExceptionsColumns.fields('cardId', 'platformId'),
        listCardExceptionsColumns.actions(({ transactionId, merchant }) => (
          <ActionButton
            id="resolveCardException"
            label={T.resolve}
            path={{ transactionId }}
            about={<Facts value={{ transactionId, merchant }} />}
          />
        )),
      ]}
      placeOf={toPayment}
      empty={T.noExceptions}
    />
    <h2>{T.fundingDebits}</h2>
    <List
      id="listFundingDebits"
      columns={[
        ...listFundingDebitsColumns.fields('since', 'status', 'merchant', 'attempts'),
        ...listFundingDebitsColumns.amounts('amount'),
        ...listFundingDebitsColumns.fields('cardId', 'customerId', 'platformId'),
        listFundingDebitsColumns.actions(({ transactionId, number, merchant }) => (
          <ActionButton
            id="resolveFundingDebit"
            label={T.resolve}
            path={{ transactionId }}
            initial={{ number }}
            about={<Facts value={{ transactionId, merchant }} />}
          />
        )),
      ]}
      placeOf={toPayment}
      empty={T.noFundingDebits}
    />
  </Screen>
);
