// Internal accounts, external accounts, cards and agents.
import { Link, useParams } from '@tanstack/react-router';
import { ActionButtons } from '../../action/action.tsx';
import { type Action, actionsIn } from '../../action/types.ts';
import type { Item } from '../../api/client.ts';
import { useReply } from '../../api/queries.ts';
import { usePermits } from '../../api/session.tsx';
import { columnsOf, pathIn } from '../../parts/columns.tsx';
import { Detail } from '../../parts/detail.tsx';
import { Facts } from '../../parts/facts.tsx';
import { EmptyState, QueryView } from '../../parts/feedback.tsx';
import { Identifier } from '../../parts/identifier.tsx';
import { List } from '../../parts/list.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { Status } from '../../parts/status.tsx';
import { ACCOUNT_TEXTS as T } from '../../texts/accounts.ts';
import { TEXTS } from '../../texts/texts.ts';

const searchCardsColumns = columnsOf<'searchCards'>();

const listAccountsColumns = columnsOf<'listAccounts'>();
const listAccountHistoryColumns = columnsOf<'listAccountHistory'>();
const listExternalAccountActionsColumns = columnsOf<'listExternalAccountActions'>();
const listCardDecisionsColumns = columnsOf<'listCardDecisions'>();
const searchAgentsColumns = columnsOf<'searchAgents'>();
const paymentColumns = columnsOf<'listPayments'>();
const listAgentAuditEntriesColumns = columnsOf<'listAgentAuditEntries'>();

export const Accounts = () => (
  <Screen title={TEXTS.pages.accounts}>
    <List
      id="listAccounts"
      columns={[
        ...listAccountsColumns.amounts('balance'),
        ...listAccountsColumns.fields('status', 'updatedAt'),
        ...listAccountsColumns.amounts('held', 'owed'),
        ...listAccountsColumns.fields('customerId', 'platformId', 'accountId'),
        ...listAccountsColumns.hidden('currency'),
      ]}
      filters={[{ name: 'status' }, { name: 'owing', values: ['true', 'false'] }]}
      pathOf={pathIn('/accounts', 'accountId')}
    />
  </Screen>
);

/** Payments from and to an account. */
const PaymentsOf = ({ accountId }: { accountId: string }) => (
  <Panel title={TEXTS.pages.payments}>
    <List
      id="listPayments"
      query={{ accountId }}
      columns={[
        ...paymentColumns.numbers('sentAmount'),
        ...paymentColumns.fields('status', 'createdAt', 'type'),
        ...paymentColumns.numbers('receivedAmount'),
        ...paymentColumns.fields('sourceAccountId', 'destinationAccountId', 'id'),
      ]}
      pathOf={pathIn('/payments', 'id')}
    />
  </Panel>
);

function AccountFacts({ account }: { account: Item<'listAccounts'> }) {
  const { accountId: _, balance, held, owed, currency, ...facts } = account;
  const money = (amount: number) => ({ amount, currency });
  const amounts = { balance: money(balance), held: money(held), owed: money(owed) };
  return <Facts value={{ ...facts, ...amounts }} />;
}

type StateActions = Readonly<
  Record<string, readonly Pick<Action, 'id' | 'label' | 'isPrimary' | 'isDangerous'>[]>
>;

const CLOSE = { id: 'closeAccount', label: T.close, isDangerous: true } as const;
const REFRESH = { id: 'refreshAccountFunding', label: T.refresh } as const;

/** Actions that are possible in each status. */
const ACCOUNT_ACTIONS: StateActions = {
  PENDING: [{ id: 'failAccount', label: T.failOpening, isDangerous: true }],
  FAILED: [{ id: 'retryAccount', label: T.retryOpening, isPrimary: true }],
  ACTIVE: [{ id: 'freezeAccount', label: T.freeze, isDangerous: true }, REFRESH, CLOSE],
  FROZEN: [{ id: 'unfreezeAccount', label: T.unfreeze, isPrimary: true }, REFRESH, CLOSE],
};

export function Account() {
  const { id } = useParams({ strict: false }) as { id: string };
  const permits = usePermits();
  const query = useReply('listAccounts', { query: { accountId: id } });
  const account = query.data?.data.find(({ accountId }) => accountId === id);
  const description = account && <Facts value={{ accountId: id, status: account.status }} />;
  const base = { path: { accountId: id }, description };
  const allowedActions = actionsIn(ACCOUNT_ACTIONS, account?.status);
  return (
    <Screen
      title={T.account}
      subject={id}
      mark={account && <Status value={account.status} />}
      platformId={account?.platformId}
      actions={<ActionButtons actions={allowedActions.map((action) => ({ ...base, ...action }))} />}
    >
      <p className="sub">
        <Identifier id={id} />{' '}
        {permits('listLedgerAccountPostings') && (
          <Link to={`/ledger/${encodeURIComponent(id)}`}>{T.ledgerAccount}</Link>
        )}
      </p>
      <Panel title={T.details}>
        <QueryView query={query}>
          {() =>
            account ? <AccountFacts account={account} /> : <EmptyState>{TEXTS.notFound}</EmptyState>
          }
        </QueryView>
      </Panel>
      <Panel title={T.history}>
        <List
          id="listAccountHistory"
          path={{ accountId: id }}
          columns={listAccountHistoryColumns.fields('createdAt', 'action', 'actor', 'reason')}
        />
      </Panel>
      <PaymentsOf accountId={id} />
    </Screen>
  );
}

const EXTERNAL_ACCOUNT_ACTIONS: StateActions = {
  PENDING: [
    { id: 'clearExternalAccount', label: T.clear, isPrimary: true },
    { id: 'rejectExternalAccount', label: T.reject, isDangerous: true },
  ],
  UNDER_REVIEW: [
    { id: 'clearExternalAccount', label: T.clear, isPrimary: true },
    { id: 'rejectExternalAccount', label: T.reject, isDangerous: true },
  ],
  ACTIVE: [
    { id: 'checkExternalAccount', label: T.check },
    { id: 'reviewExternalAccount', label: T.review },
    { id: 'disableExternalAccount', label: T.disable, isDangerous: true },
  ],
  INACTIVE: [{ id: 'reactivateExternalAccount', label: T.reactivate }],
};

export function ExternalAccount() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useReply('listExternalAccounts', { query: { accountId: id } });
  const base = { path: { accountId: id }, description: <Facts value={{ accountId: id }} /> };
  const [account] = query.data?.data ?? [];
  const possibleActions = actionsIn(EXTERNAL_ACCOUNT_ACTIONS, account?.status);
  return (
    <Screen
      title={T.externalAccount}
      subject={id}
      platformId={account?.platformId}
      actions={
        <ActionButtons actions={possibleActions.map((action) => ({ ...base, ...action }))} />
      }
    >
      <p className="sub">
        <Identifier id={id} />
      </p>
      <Panel title={T.details}>
        <QueryView query={query}>
          {({ data: [listedAccount] }) =>
            listedAccount ? (
              <Facts
                value={{ ...listedAccount, ...listedAccount.account }}
                hiddenFields={['accountId', 'account']}
              />
            ) : (
              <EmptyState>{TEXTS.notFound}</EmptyState>
            )
          }
        </QueryView>
      </Panel>
      <Panel title={T.history}>
        <List
          id="listExternalAccountActions"
          path={{ accountId: id }}
          columns={listExternalAccountActionsColumns.fields(
            'createdAt',
            'action',
            'actor',
            'reason',
          )}
        />
      </Panel>
      <PaymentsOf accountId={id} />
    </Screen>
  );
}

export const Cards = () => (
  <Screen title={TEXTS.pages.cards}>
    <List
      id="searchCards"
      columns={[
        ...searchCardsColumns.fields('last4', 'state', 'createdAt', 'stateReason'),
        ...searchCardsColumns.fields('customerId', 'platformId', 'cardId'),
        ...searchCardsColumns.hidden('platformCardId'),
      ]}
      filters={[{ name: 'state' }, { name: 'customerId' }]}
      pathOf={pathIn('/cards', 'cardId')}
    />
  </Screen>
);

export const Card = () => (
  <Detail
    id="getCardDetails"
    parameter="cardId"
    title={T.card}
    panel={T.details}
    status={({ state }) => state}
    actions={({ id: cardId, state, last4 }) =>
      state === 'CLOSED'
        ? []
        : [
            {
              id: 'closeCard',
              label: T.close,
              isDangerous: true,
              path: { cardId },
              description: <Facts value={{ cardId, last4, state }} />,
            },
          ]
    }
  >
    {({ id: cardId }) => (
      <Panel title={T.decisions}>
        <List
          id="listCardDecisions"
          query={{ cardId }}
          columns={[
            ...listCardDecisionsColumns.amounts('amount'),
            ...listCardDecisionsColumns.fields('approved', 'reason', 'at', 'kind'),
            ...listCardDecisionsColumns.fields('transactionId'),
          ]}
        />
      </Panel>
    )}
  </Detail>
);

export const Agents = () => (
  <Screen title={TEXTS.pages.agents}>
    <List
      id="searchAgents"
      columns={searchAgentsColumns.fields(
        'name',
        'state',
        'createdAt',
        'customerId',
        'platformId',
        'agentId',
      )}
      filters={[{ name: 'customerId' }]}
      pathOf={pathIn('/agents', 'agentId')}
    />
  </Screen>
);

export const Agent = () => (
  <Detail
    id="getAgentDetails"
    parameter="agentId"
    title={T.agent}
    panel={T.details}
    status={({ state }) => state}
    actions={({ id: agentId, name, state }) => {
      const base = { path: { agentId }, description: <Facts value={{ name, state, agentId }} /> };
      if (state === 'deleted') return [];
      return state === 'paused'
        ? [{ ...base, id: 'resumeAgent', label: T.resume, isPrimary: true }]
        : [{ ...base, id: 'pauseAgent', label: T.pause, isDangerous: true }];
    }}
  >
    {({ id: agentId }) => (
      <Panel title={T.agentLog}>
        <List
          id="listAgentAuditEntries"
          query={{ agentId }}
          columns={listAgentAuditEntriesColumns.fields(
            'at',
            'what',
            'actor',
            'actionId',
            'details',
          )}
        />
      </Panel>
    )}
  </Detail>
);
