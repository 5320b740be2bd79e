// Lists of customers, identity checks, resets and other resources of customers.
import { ActionButtons } from '../../action/action.tsx';
import { columnsOf, pathIn } from '../../parts/columns.tsx';
import { Facts } from '../../parts/facts.tsx';
import { List } from '../../parts/list.tsx';
import { Screen } from '../../parts/panel.tsx';
import { PEOPLE_TEXTS as T } from '../../texts/people.ts';
import { TEXTS } from '../../texts/texts.ts';

const listCustomersOfPlatformsColumns = columnsOf<'listCustomersOfPlatforms'>();
const listExternalAccountsColumns = columnsOf<'listExternalAccounts'>();
const listFactorResetsColumns = columnsOf<'listFactorResets'>();
const listMessagesColumns = columnsOf<'listMessages'>();

const listVerificationsForReviewColumns = columnsOf<'listVerificationsForReview'>();
const listErasuresColumns = columnsOf<'listErasures'>();

export const Customers = () => (
  <Screen title={TEXTS.pages.customers}>
    <List
      id="listCustomersOfPlatforms"
      columns={[
        listCustomersOfPlatformsColumns.key('id'),
        ...listCustomersOfPlatformsColumns.fields(
          'status',
          'createdAt',
          'type',
          'region',
          'platformId',
        ),
        ...listCustomersOfPlatformsColumns.hidden('isErased', 'deletedAt', 'updatedAt'),
      ]}
      filters={[
        ...[{ name: 'type' }, { name: 'status' }, { name: 'region' }],
        ...[
          { name: 'mode', label: 'Environment' },
          { name: 'isDeleted', values: ['true', 'false'] },
        ],
        ...([
          { name: 'createdAfter', label: 'From', kind: 'day' },
          { name: 'createdBefore', label: 'Until', kind: 'day' },
        ] as const),
      ]}
      pathOf={pathIn('/customers', 'id')}
    />
  </Screen>
);

export const Verifications = () => (
  <Screen title={TEXTS.pages.verifications}>
    <p className="sub soft">{T.verifications}</p>
    <List
      id="listVerificationsForReview"
      columns={[
        listVerificationsForReviewColumns.key('customerId'),
        ...listVerificationsForReviewColumns.fields('status', 'createdAt', 'updatedAt'),
        ...listVerificationsForReviewColumns.fields('decidedBy', 'platformId'),
      ]}
      filters={[{ name: 'status' }]}
      pathOf={pathIn('/verifications', 'customerId')}
      emptyText={T.noVerifications}
    />
  </Screen>
);

export const ExternalAccounts = () => (
  <Screen title={TEXTS.pages.externalAccounts}>
    <List
      id="listExternalAccounts"
      columns={[
        ...listExternalAccountsColumns.fields(
          'accountType',
          'status',
          'updatedAt',
          'currency',
          'customerId',
          'accountId',
        ),
        ...listExternalAccountsColumns.fields('platformId'),
        listExternalAccountsColumns.actions(({ accountId, status }) => {
          if (status !== 'PENDING' && status !== 'UNDER_REVIEW') return null;
          const base = {
            path: { accountId },
            description: <Facts value={{ accountId, status }} />,
          };
          return (
            <ActionButtons
              actions={[
                { ...base, id: 'clearExternalAccount', label: T.clear },
                { ...base, id: 'rejectExternalAccount', label: T.reject, isDangerous: true },
              ]}
            />
          );
        }),
      ]}
      filters={[{ name: 'status' }]}
      pathOf={pathIn('/external-accounts', 'accountId')}
    />
  </Screen>
);

/** Statuses of resets that an operator can decide. */
const UNDECIDED_STATUSES: readonly string[] = ['INITIATED', 'PENDING_REVIEW'];

export const Resets = () => (
  <Screen title={TEXTS.pages.resets}>
    <p className="sub soft">{T.resets}</p>
    <List
      id="listFactorResets"
      columns={[
        ...listFactorResetsColumns.fields(
          'factor',
          'status',
          'createdAt',
          'expiresAt',
          'customerId',
          'platformId',
        ),
        listFactorResetsColumns.actions(({ resetId, factor, customerId, status }) => {
          if (!UNDECIDED_STATUSES.includes(status)) return null;
          const facts = <Facts value={{ factor, customerId }} />;
          const base = { path: { resetId }, description: facts };
          return (
            <ActionButtons
              actions={[
                { ...base, id: 'passFactorReset', label: T.pass },
                { ...base, id: 'rejectFactorReset', label: T.reject, isDangerous: true },
              ]}
            />
          );
        }),
      ]}
      emptyText={T.noResets}
    />
  </Screen>
);

export const Erasures = () => (
  <Screen title={TEXTS.pages.erasures}>
    <List
      id="listErasures"
      columns={listErasuresColumns.fields(
        'customerId',
        'reason',
        'startedAt',
        'finishedAt',
        'actor',
        'platformId',
      )}
    />
  </Screen>
);

export const Messages = () => (
  <Screen title={TEXTS.pages.messages}>
    <List
      id="listMessages"
      columns={[
        ...listMessagesColumns.fields(
          'kind',
          'status',
          'createdAt',
          'failure',
          'channel',
          'attempts',
          'sentAt',
        ),
        ...listMessagesColumns.fields('customerId', 'platformId'),
        ...listMessagesColumns.hidden('messageId', 'expiresAt'),
      ]}
      filters={[{ name: 'status' }, { name: 'customerId' }]}
    />
  </Screen>
);
