// Embedded wallets: the list, one wallet with its authorizations, and recoveries.
import { useParams } from '@tanstack/react-router';
import { ActionButton } from '../../action/action.tsx';
import { columnsOf, pathIn } from '../../parts/columns.tsx';
import { Detail } from '../../parts/detail.tsx';
import { Facts } from '../../parts/facts.tsx';
import { List } from '../../parts/list.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { statusText } from '../../parts/status.tsx';
import { ACCOUNT_TEXTS as T } from '../../texts/accounts.ts';
import { TEXTS } from '../../texts/texts.ts';

const walletColumns = columnsOf<'searchWallets'>();
const recoveryColumns = columnsOf<'listWalletRecoveries'>();
const authorizationColumns = columnsOf<'listWalletAuthorizations'>();

const typesText = ({ credentialTypes }: { credentialTypes: readonly string[] }) =>
  credentialTypes.length === 0 ? TEXTS.none : credentialTypes.map(statusText).join(', ');

export const Wallets = () => (
  <Screen title={TEXTS.pages.wallets}>
    <List
      id="searchWallets"
      columns={[
        walletColumns.key('accountId'),
        ...walletColumns.fields('status'),
        walletColumns.column('credentialTypes', typesText, typesText),
        ...walletColumns.fields('isRecovering', 'createdAt', 'customerId', 'platformId'),
      ]}
      filters={[{ name: 'customerId' }]}
      pathOf={pathIn('/wallets', 'accountId')}
      emptyText={T.noWallets}
    />
    <h2>{T.recoveries}</h2>
    <List
      id="listWalletRecoveries"
      columns={[
        recoveryColumns.key('accountId'),
        ...recoveryColumns.fields('status', 'dueAt', 'type', 'reason', 'actor'),
        ...recoveryColumns.fields('createdAt', 'customerId', 'platformId'),
        recoveryColumns.actions(({ recoveryId, accountId, status }) =>
          status === 'WAITING' ? (
            <ActionButton
              id="cancelWalletRecovery"
              label={T.cancel}
              path={{ recoveryId }}
              description={<Facts value={{ recoveryId, accountId }} />}
            />
          ) : null,
        ),
      ]}
      filters={[{ name: 'status' }]}
      pathOf={pathIn('/wallets', 'accountId')}
      emptyText={T.noRecoveries}
    />
  </Screen>
);

export const Wallet = () => (
  <Detail
    id="getWalletDetails"
    parameter="accountId"
    title={T.wallet}
    panel={T.details}
    status={({ status }) => status}
    actions={({ accountId, recovery }) => {
      const path = { accountId };
      return recovery
        ? [
            {
              id: 'cancelWalletRecovery',
              label: T.cancel,
              path: { recoveryId: recovery.recoveryId },
              description: <Facts value={{ ...recovery, accountId }} />,
            },
          ]
        : [
            {
              id: 'startWalletRecovery',
              label: T.recover,
              path,
              description: <Facts value={path} />,
              isDangerous: true,
            },
          ];
    }}
  >
    {() => <WalletAuthorizations />}
  </Detail>
);

function WalletAuthorizations() {
  const { id } = useParams({ strict: false }) as { id: string };
  return (
    <Panel title={T.authorizations}>
      <List
        id="listWalletAuthorizations"
        path={{ accountId: id }}
        columns={authorizationColumns.fields(
          'operation',
          'createdAt',
          'subject',
          'sessionId',
          'publicKey',
        )}
      />
    </Panel>
  );
}
