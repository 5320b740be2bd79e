// Reconciliation with providers: differences with their decisions, days, and balances.
import { useParams } from '@tanstack/react-router';
import { ActionButton, ActionButtons } from '../../action/action.tsx';
import type { Action } from '../../action/types.ts';
import type { Item, Reply } from '../../api/client.ts';
import { useReply } from '../../api/queries.ts';
import { usePermits, useSession } from '../../api/session.tsx';
import { columnsOf, pathIn } from '../../parts/columns.tsx';
import { Facts } from '../../parts/facts.tsx';
import { EmptyState, QueryView } from '../../parts/feedback.tsx';
import { Identifier } from '../../parts/identifier.tsx';
import { List } from '../../parts/list.tsx';
import { Amount } from '../../parts/money.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { ModeMark, Status, statusText } from '../../parts/status.tsx';
import { RECONCILIATION_TEXTS as T } from '../../texts/reconciliation.ts';
import { TEXTS } from '../../texts/texts.ts';
import { useProviderNames } from './names.ts';

const differenceColumns = columnsOf<'listDifferences'>();
const dayColumns = columnsOf<'listProviderDays'>();
const balanceColumns = columnsOf<'listProviderBalances'>();

const kindText = (kind: string) => T.kinds[kind] ?? statusText(kind);

const DIFFERENCE_COLUMNS = [
  ...differenceColumns.amounts('amount'),
  differenceColumns.column(
    'kind',
    ({ kind }) => kindText(kind),
    ({ kind }) => kindText(kind),
  ),
  ...differenceColumns.fields('since', 'status', 'detail', 'providerId', 'day', 'ownerId'),
  ...differenceColumns.fields('transactionId', 'environment'),
  ...differenceColumns.hidden('lineId', 'note', 'decision', 'differenceId'),
];

type Day = Item<'listProviderDays'>;

function DayActions({ row }: { row: Day }) {
  const { providerId, currency, day, ties, status } = row;
  if (status !== 'OPEN') return null;
  const fixedFields = { currency, day };
  const base = { path: { providerId }, fixedFields };
  const descriptionOf = (text: string) => (
    <>
      <Facts value={{ providerId }} />
      <p>{text}</p>
    </>
  );
  const name = `${providerId} ${currency} ${day}`;
  return (
    <>
      <ActionButton
        {...base}
        id="reconcileProviderDay"
        label={T.compare}
        accessibleLabel={`${T.compare} ${name}`}
        description={descriptionOf(T.comparing)}
      />
      {ties && (
        <ActionButton
          {...base}
          id="closeProviderDay"
          label={T.closeDay}
          accessibleLabel={`${T.closeDay} ${name}`}
          description={descriptionOf(T.closing)}
        />
      )}
    </>
  );
}

const optionalAmount = (name: 'openingBalance' | 'closingBalance') => ({
  name,
  isNumber: true,
  cell: ({ currency, [name]: amount }: Day) => (
    <Amount value={amount === null ? null : { amount, currency }} />
  ),
});

const DAY_COLUMNS = [
  ...dayColumns.fields('day', 'providerId', 'ties', 'status', 'openDifferences'),
  optionalAmount('closingBalance'),
  ...dayColumns.amounts('bookedBalance'),
  ...dayColumns.fields('currency', 'environment', 'reconciledAt', 'closedAt', 'closedBy'),
  ...dayColumns.hidden('statementId', 'statementVersion'),
  dayColumns.actions((row) => <DayActions row={row} />),
];

const BALANCE_COLUMNS = [
  ...balanceColumns.fields('providerId'),
  ...balanceColumns.amounts('reportedBalance'),
  {
    name: 'availableBalance' as const,
    isNumber: true,
    cell: ({ currency, availableBalance: amount }: Item<'listProviderBalances'>) => (
      <Amount value={amount === null ? null : { amount, currency }} />
    ),
  },
  ...balanceColumns.amounts('bookedBalance'),
  ...balanceColumns.amounts('railInTransit', 'externalSettlement', 'suspense'),
  ...balanceColumns.fields('day', 'environment', 'reportedAt'),
];

/** Without a status, the operation returns open differences. */
const STATUS_FILTER = {
  name: 'status',
  unsetText: T.openOnly,
  values: ['CARRIED', 'IN_SUSPENSE', 'DECIDED', 'RESOLVED'],
};

export function Differences() {
  const names = useProviderNames();
  const provider = { name: 'providerId', values: names, textOf: (name: string) => name };
  return (
    <Screen title={TEXTS.pages.reconciliation}>
      <p className="sub soft">{T.intro}</p>
      <List
        id="listDifferences"
        columns={DIFFERENCE_COLUMNS}
        filters={[STATUS_FILTER, { name: 'kind', textOf: kindText }, provider]}
        pathOf={pathIn('/differences', 'differenceId')}
        emptyText={T.noDifferences}
      />
      <h2>{T.days}</h2>
      <p className="sub soft">{T.daysText}</p>
      <List id="listProviderDays" columns={DAY_COLUMNS} emptyText={T.noDays} />
      <h2>{T.balances}</h2>
      <p className="sub soft">{T.balancesText}</p>
      <List id="listProviderBalances" columns={BALANCE_COLUMNS} emptyText={T.noBalances} />
    </Screen>
  );
}

/** The latest balances reported by one provider, and the balances of the ledger. */
export function BalancesOfProvider({ providerId }: { providerId: string }) {
  const permits = usePermits();
  const query = useReply(
    'listProviderBalances',
    { query: { providerId } },
    { enabled: permits('listProviderBalances') },
  );
  if (!permits('listProviderBalances')) return null;
  return (
    <Panel title={T.balancesOfProvider}>
      <QueryView query={query} lines={2}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState>{T.noBalances}</EmptyState>
          ) : (
            data.map(
              ({ currency, day, reportedBalance, availableBalance, bookedBalance, reportedAt }) => (
                <section key={currency} className="record">
                  <Facts
                    value={{
                      reportedBalance: { amount: reportedBalance, currency },
                      ...(availableBalance === null
                        ? {}
                        : { availableBalance: { amount: availableBalance, currency } }),
                      bookedBalance: { amount: bookedBalance, currency },
                      ...{ day, reportedAt },
                    }}
                  />
                </section>
              ),
            )
          )
        }
      </QueryView>
    </Panel>
  );
}

type Value = Reply<'getDifference'>;
type Decision = Value['decisions'][number];

/** Fields of the form of each decision, in addition to the reason. */
const FIELDS: Readonly<Partial<Record<Decision, readonly string[]>>> = {
  MATCH: ['transactionId'],
  RECORD_DEPOSIT: ['accountId', 'paymentReference'],
  RETURN: ['failureReason'],
};
const ALL_FIELDS = ['transactionId', 'accountId', 'paymentReference', 'failureReason'];

const DANGEROUS_DECISIONS: readonly Decision[] = ['WRITE_OFF', 'IGNORE'];

const moneyOf = ({ amount, currency }: Value) => ({ amount, currency });

function decisionActions(difference: Value): Action[] {
  const { differenceId, kind, detail } = difference;
  return difference.decisions.map((decision) => {
    const fieldNames = FIELDS[decision] ?? [];
    const hiddenNames = ALL_FIELDS.filter((name) => !fieldNames.includes(name));
    return {
      id: 'decideDifference',
      label: T.decisions[decision],
      path: { differenceId },
      // A field without a value is neither shown nor sent.
      fixedFields: {
        decision,
        ...Object.fromEntries(hiddenNames.map((name) => [name, undefined])),
      },
      isDangerous: DANGEROUS_DECISIONS.includes(decision),
      description: (
        <>
          <Facts value={{ amount: moneyOf(difference), difference: kindText(kind), detail }} />
          <p>{T.consequences[decision]}</p>
        </>
      ),
    };
  });
}

function Owner({ difference }: { difference: Value }) {
  const { user } = useSession();
  const { differenceId, ownerId, note } = difference;
  const base = { path: { differenceId }, id: 'assignDifference' } as const;
  return (
    <>
      {ownerId !== user.id && (
        <ActionButton {...base} label={T.assignToMe} fixedFields={{ ownerId: user.id }} />
      )}
      <ActionButton {...base} label={T.note} current={{ ownerId, note }} />
    </>
  );
}

/** Fields that the header shows, and the age, which follows from `since`. */
const HIDDEN_FIELDS = ['differenceId', 'status', 'readable', 'ageHours'];

function Content({ difference }: { difference: Value }) {
  const { decision, reason, decidedBy, decidedAt, decisions, ...facts } = difference;
  const { amount, currency, kind, detail, ...otherFacts } = facts;
  return (
    <>
      <div className="figure-row">
        <p className="figure">
          <Amount value={{ amount, currency }} />
        </p>
      </div>
      <p className="lead">
        {kindText(kind)}. {detail}
      </p>
      <div className="columns even">
        <Panel title={T.details} actions={<Owner difference={difference} />}>
          <Facts value={otherFacts} hiddenFields={HIDDEN_FIELDS} />
        </Panel>
        <Panel title={T.decision}>
          {decision && <Facts value={{ decision, reason, decidedBy, decidedAt }} />}
          {!decision && <p className="soft">{T.open}</p>}
          <div className="actions">
            <ActionButtons actions={decisionActions(difference)} />
          </div>
        </Panel>
      </div>
    </>
  );
}

export function Difference() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useReply('getDifference', { path: { differenceId: id } });
  return (
    <QueryView query={query} title={T.difference} lines={8}>
      {(difference) => (
        <Screen
          title={T.difference}
          mark={
            <>
              <Status value={difference.status} />
              <ModeMark mode={difference.environment} />
            </>
          }
          subject={id}
        >
          <p className="sub">
            <Identifier id={id} />
          </p>
          <Content difference={difference} />
        </Screen>
      )}
    </QueryView>
  );
}
