// Internal accounts, external accounts, cards, wallets and agents.
import { useParams } from '@tanstack/react-router';
import { ActionButton, ActionButtons } from '../../action/action.tsx';
import type { Action } from '../../action/types.ts';
import type { Item } from '../../api/client.ts';
import { useReply } from '../../api/queries.ts';
import { columnsOf, placeIn } from '../../parts/columns.tsx';
import { Detail } from '../../parts/detail.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Empty, Loaded } from '../../parts/feedback.tsx';
import { Identifier } from '../../parts/identifier.tsx';
import { List } from '../../parts/list.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { ACCOUNT_TEXTS as T } from '../../texts/accounts.ts';
import { TEXTS } from '../../texts/texts.ts';

const listWalletRecoveriesColumns = columnsOf<'listWalletRecoveries'>();
const searchCardsColumns = columnsOf<'searchCards'>();

const listAccountsColumns = columnsOf<'listAccounts'>();
const listAccountHistoryColumns = columnsOf<'listAccountHistory'>();
const listExternalAccountActionsColumns = columnsOf<'listExternalAccountActions'>();
const listCardDecisionsColumns = columnsOf<'listCardDecisions'>();
const listWalletAuthorizationsColumns = columnsOf<'listWalletAuthorizations'>();
const searchAgentsColumns = columnsOf<'searchAgents'>();
const paymentColumns = columnsOf<'listPayments'>();
const listAgentAuditEntriesColumns = columnsOf<'listAgentAuditEntries'>();

export const Accounts = () => (
  <Screen title={TEXTS.pages.accounts}>
    <List
      id="listAccounts"
      columns={[
        ...listAccountsColumns.fields('updatedAt', 'status', 'currency'),
        ...listAccountsColumns.amounts('balance', 'held', 'owed'),
        ...listAccountsColumns.fields('platformId', 'customerId', 'accountId'),
      ]}
      filters={[{ name: 'status' }, { name: 'owing', values: ['true', 'false'] }]}
      placeOf={placeIn('/accounts', 'accountId')}
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
        ...paymentColumns.fields('createdAt', 'status', 'type'),
        ...paymentColumns.numbers('sentAmount', 'receivedAmount'),
        ...paymentColumns.fields('sourceAccountId', 'destinationAccountId', 'id'),
      ]}
      placeOf={placeIn('/payments', 'id')}
    />
  </Panel>
);

function AccountFacts({ account }: { account: Item<'listAccounts'> }) {
  const { accountId: _, balance, held, owed, currency, ...facts } = account;
  const money = (amount: number) => ({ amount, currency });
  const amounts = { balance: money(balance), held: money(held), owed: money(owed) };
  return <Facts value={{ ...facts, ...amounts }} />;
}

export function Account() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useReply('listAccounts', { query: { accountId: id } });
  const base = { path: { accountId: id }, about: <Facts value={{ accountId: id }} /> };
  return (
    <Screen
      title={T.account}
      actions={
        <ActionButtons
          actions={[
            { ...base, id: 'freezeAccount', label: T.freeze, isDangerous: true },
            { ...base, id: 'unfreezeAccount', label: T.unfreeze },
            { ...base, id: 'closeAccount', label: T.close, isDangerous: true },
            { ...base, id: 'refreshAccountFunding', label: T.refresh },
          ]}
        />
      }
    >
      <p className="sub">
        <Identifier id={id} />
      </p>
      <Panel title={T.details}>
        <Loaded query={query}>
          {({ data: [found] }) =>
            found ? <AccountFacts account={found} /> : <Empty>{TEXTS.notFound}</Empty>
          }
        </Loaded>
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

/** Actions that are possible in each status. */
const EXTERNAL_ACCOUNT_ACTIONS: Readonly<
  Record<string, readonly Pick<Action, 'id' | 'label' | 'isPrimary' | 'isDangerous'>[]>
> = {
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
  const base = { path: { accountId: id }, about: <Facts value={{ accountId: id }} /> };
  const [account] = query.data?.data ?? [];
  const possibleActions = (account && EXTERNAL_ACCOUNT_ACTIONS[account.status]) ?? [];
  return (
    <Screen
      title={T.externalAccount}
      platformId={account?.platformId}
      actions={
        <ActionButtons actions={possibleActions.map((action) => ({ ...base, ...action }))} />
      }
    >
      <p className="sub">
        <Identifier id={id} />
      </p>
      <Panel title={T.details}>
        <Loaded query={query}>
          {({ data: [found] }) =>
            found ? (
              <Facts value={{ ...found, ...found.account }} without={['accountId', 'account']} />
            ) : (
              <Empty>{TEXTS.notFound}</Empty>
            )
          }
        </Loaded>
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
        ...searchCardsColumns.fields(
          'createdAt',
          'state',
          'stateReason',
          'last4',
          'platformId',
          'customerId',
        ),
        ...searchCardsColumns.fields('cardId'),
        ...searchCardsColumns.hidden('platformCardId'),
      ]}
      filters={[{ name: 'state' }, { name: 'customerId' }]}
      placeOf={placeIn('/cards', 'cardId')}
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
    actions={({ id: cardId }) => [
      {
        id: 'closeCard',
        label: T.close,
        isDangerous: true,
        path: { cardId },
        about: <Facts value={{ cardId }} />,
      },
    ]}
  >
    {({ id: cardId }) => (
      <Panel title={T.decisions}>
        <List
          id="listCardDecisions"
          query={{ cardId }}
          columns={[
            ...listCardDecisionsColumns.fields('at', 'kind', 'approved', 'reason'),
            ...listCardDecisionsColumns.amounts('amount'),
            ...listCardDecisionsColumns.fields('transactionId'),
          ]}
        />
      </Panel>
    )}
  </Detail>
);

export const Wallets = () => (
  <Screen title={TEXTS.pages.wallets}>
    <h2>{T.recoveries}</h2>
    <List
      id="listWalletRecoveries"
      columns={[
        ...listWalletRecoveriesColumns.fields(
          'createdAt',
          'status',
          'type',
          'dueAt',
          'platformId',
          'customerId',
          'accountId',
        ),
        ...listWalletRecoveriesColumns.fields('actor', 'reason'),
        listWalletRecoveriesColumns.actions(({ recoveryId, accountId }) => (
          <ActionButton
            id="cancelWalletRecovery"
            label={T.cancel}
            path={{ recoveryId }}
            about={<Facts value={{ recoveryId, accountId }} />}
          />
        )),
      ]}
      filters={[{ name: 'status' }]}
      placeOf={placeIn('/wallets', 'accountId')}
      empty={T.noRecoveries}
    />
  </Screen>
);

export const Wallet = () => (
  <Detail
    id="getWalletDetails"
    parameter="accountId"
    title={T.wallet}
    panel={T.details}
    actions={() => []}
  >
    {() => <WalletAuthorizations />}
  </Detail>
);

function WalletAuthorizations() {
  const { id } = useParams({ strict: false }) as { id: string };
  return (
    <Panel
      title={T.authorizations}
      actions={
        <ActionButton
          id="startWalletRecovery"
          label={T.recover}
          path={{ accountId: id }}
          about={<Facts value={{ accountId: id }} />}
          isDangerous
        />
      }
    >
      <List
        id="listWalletAuthorizations"
        path={{ accountId: id }}
        columns={listWalletAuthorizationsColumns.fields(
          'createdAt',
          'operation',
          'subject',
          'sessionId',
          'publicKey',
        )}
      />
    </Panel>
  );
}

export const Agents = () => (
  <Screen title={TEXTS.pages.agents}>
    <List
      id="searchAgents"
      columns={searchAgentsColumns.fields(
        'createdAt',
        'name',
        'state',
        'platformId',
        'customerId',
        'agentId',
      )}
      filters={[{ name: 'customerId' }]}
      placeOf={placeIn('/agents', 'agentId')}
    />
  </Screen>
);

export const Agent = () => (
  <Detail
    id="getAgentDetails"
    parameter="agentId"
    title={T.agent}
    panel={T.details}
    actions={({ id: agentId }) => {
      const base = { path: { agentId }, about: <Facts value={{ agentId }} /> };
      return [
        { ...base, id: 'pauseAgent', label: T.pause, isDangerous: true },
        { ...base, id: 'resumeAgent', label: T.resume },
      ];
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
