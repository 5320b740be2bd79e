// Queues of the treasury team: manual payouts, held deposits, suspense, card payments and stablecoins.
import { ActionButton, ActionButtons } from '../../action/action.tsx';
import { type Action, actionsIn } from '../../action/types.ts';
import type { Item } from '../../api/client.ts';
import { columnsOf, pathIn } from '../../parts/columns.tsx';
import { Facts } from '../../parts/facts.tsx';
import { List } from '../../parts/list.tsx';
import { unitsText } from '../../parts/money.tsx';
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

const paymentPathOf = pathIn('/payments', 'transactionId');

interface QueuedPayment {
  transactionId: string;
  amount: number | string;
  currency: string;
}

const descriptionOf = ({ transactionId, amount, currency }: QueuedPayment) => (
  <Facts value={{ transactionId, amount: { amount, currency } }} />
);

const PAYOUT_COLUMNS = [
  ...listAwaitedTransfersColumns.amounts('amount'),
  ...listAwaitedTransfersColumns.fields(
    'kind',
    'since',
    'beneficiary',
    'reference',
    'rail',
    'cancelRequestedAt',
    'platformId',
  ),
  ...listAwaitedTransfersColumns.hidden(
    'accountType',
    'remittanceInformation',
    'purposeOfPayment',
    'transactionId',
  ),
  listAwaitedTransfersColumns.actions((row) => {
    const base = { path: { transactionId: row.transactionId }, description: descriptionOf(row) };
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
      pathOf={paymentPathOf}
      emptyText={T.noPayouts}
    />
  </Screen>
);

const DEPOSIT_COLUMNS = [
  ...listHeldDepositsColumns.amounts('amount'),
  ...listHeldDepositsColumns.fields('reason', 'since', 'source', 'customerId', 'accountId'),
  ...listHeldDepositsColumns.fields('platformId'),
  ...listHeldDepositsColumns.hidden('transactionId'),
  listHeldDepositsColumns.actions((row) => {
    const base = { path: { transactionId: row.transactionId }, description: descriptionOf(row) };
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
      pathOf={paymentPathOf}
      emptyText={T.noDeposits}
    />
  </Screen>
);

const SUSPENSE_COLUMNS = [
  ...listSuspenseItemsColumns.amounts('amount'),
  ...listSuspenseItemsColumns.fields('failureReason', 'since', 'status', 'type', 'to'),
  ...listSuspenseItemsColumns.fields('environment', 'platformId'),
  ...listSuspenseItemsColumns.hidden('transactionId', 'outside'),
  listSuspenseItemsColumns.actions((row) => {
    const base = { path: { transactionId: row.transactionId }, description: descriptionOf(row) };
    // A shortfall is a negative amount.
    return row.amount < 0 ? (
      <ActionButton {...base} id="settleShortfall" label={T.settleShortfall} />
    ) : (
      <ActionButton {...base} id="returnSuspenseItem" label={T.sendBack} />
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
      pathOf={paymentPathOf}
      emptyText={T.noSuspense}
    />
  </Screen>
);

type Coin = Item<'searchStablecoins'>;

const APPROVE_COIN = { id: 'approveStablecoin', label: T.approve } as const;
const DISABLE_COIN = { id: 'disableStablecoin', label: T.disable, isDangerous: true } as const;
const REJECT_COIN = { id: 'rejectStablecoin', label: T.reject, isDangerous: true } as const;

/** Actions that each `serviceOperationsStatus` allows. */
export const COIN_ACTIONS: Readonly<Record<string, readonly Action[]>> = {
  NOT_ENABLED: [APPROVE_COIN],
  PENDING_APPROVAL: [APPROVE_COIN, REJECT_COIN],
  ENABLING: [DISABLE_COIN],
  ENABLED: [DISABLE_COIN],
  DISABLED: [APPROVE_COIN],
};

/**
 * Statuses without the action that ends a mint or burn. The API can still complete an EXPIRED
 * operation.
 */
const FINAL_STATUSES: readonly string[] = ['COMPLETED', 'FAILED', 'EXPIRED'];

const COIN_COLUMNS = [
  ...searchStablecoinsColumns.fields('symbol', 'serviceOperationsStatus'),
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
  ...searchStablecoinsColumns.fields('issuanceStatus', 'network', 'createdAt', 'name'),
  ...searchStablecoinsColumns.fields('provider', 'providerEnvironment', 'platformId'),
  ...searchStablecoinsColumns.hidden('id', 'baseCurrency', 'networkTokenIdentifier'),
  searchStablecoinsColumns.actions(({ id, symbol, serviceOperationsStatus: status }) => {
    const description = <Facts value={{ id, symbol, serviceOperationsStatus: status }} />;
    const base = { path: { stablecoinId: id }, description };
    return (
      <ActionButtons
        actions={actionsIn(COIN_ACTIONS, status).map((action) => ({ ...base, ...action }))}
      />
    );
  }),
];

export const Stablecoins = () => (
  <Screen title={TEXTS.pages.stablecoins}>
    <p className="sub soft">{T.stablecoins}</p>
    <List
      id="searchStablecoins"
      columns={COIN_COLUMNS}
      pathOf={pathIn('/stablecoins', 'id')}
      emptyText={T.noStablecoins}
    />
    <h2>{T.operations}</h2>
    <List
      id="searchStablecoinOperations"
      columns={[
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
        ...searchStablecoinOperationsColumns.fields('status', 'createdAt', 'failureReason', 'type'),
        ...searchStablecoinOperationsColumns.fields('source', 'rail', 'providerStatus'),
        ...searchStablecoinOperationsColumns.fields('uncounted', 'platformId', 'operationId'),
        searchStablecoinOperationsColumns.actions(({ operationId, type, status, readable }) =>
          FINAL_STATUSES.includes(status) ? null : (
            <ActionButton
              id="endStablecoinOperation"
              label={T.end}
              path={{ stablecoinOperationId: operationId }}
              description={<Facts value={{ type, status, amount: readable }} />}
            />
          ),
        ),
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
        ...listCardDecisionsColumns.amounts('amount'),
        ...listCardDecisionsColumns.fields('approved', 'reason', 'at'),
        { name: 'merchant', cell: ({ merchant }) => merchant?.descriptor ?? TEXTS.none },
        ...listCardDecisionsColumns.fields('kind', 'cardId', 'platformId', 'transactionId'),
      ]}
      filters={[{ name: 'declined', values: ['true', 'false'] }, { name: 'cardId' }]}
    />
    <h2>{T.exceptions}</h2>
    <List
      id="listCardExceptions"
      columns={[
        ...listCardExceptionsColumns.amounts('missingAmount'),
        ...listCardExceptionsColumns.fields('status', 'since', 'merchant'),
        ...listCardExceptionsColumns.amounts('settledAmount', 'netAmount', 'heldAmount'),
        ...listCardExceptionsColumns.fields('cardId', 'platformId'),
        listCardExceptionsColumns.actions(({ transactionId, merchant }) => (
          <ActionButton
            id="resolveCardException"
            label={T.resolve}
            path={{ transactionId }}
            description={<Facts value={{ transactionId, merchant }} />}
          />
        )),
      ]}
      pathOf={paymentPathOf}
      emptyText={T.noExceptions}
    />
    <h2>{T.fundingDebits}</h2>
    <List
      id="listFundingDebits"
      columns={[
        ...listFundingDebitsColumns.amounts('amount'),
        ...listFundingDebitsColumns.fields('status', 'since', 'merchant', 'attempts'),
        ...listFundingDebitsColumns.fields('cardId', 'customerId', 'platformId'),
        listFundingDebitsColumns.actions(({ transactionId, number, merchant }) => (
          <ActionButton
            id="resolveFundingDebit"
            label={T.resolve}
            path={{ transactionId }}
            initialValues={{ number }}
            description={<Facts value={{ transactionId, merchant }} />}
          />
        )),
      ]}
      pathOf={paymentPathOf}
      emptyText={T.noFundingDebits}
    />
  </Screen>
);
