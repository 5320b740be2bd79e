// Approval policies, platforms, users, sessions, tokens and the audit log.
import { useParams } from '@tanstack/react-router';
import { ActionButton, ActionButtons } from '../../action/action.tsx';
import { useReply } from '../../api/queries.ts';
import { columnsOf, pathIn } from '../../parts/columns.tsx';
import { Detail, ReplyFacts } from '../../parts/detail.tsx';
import { Facts } from '../../parts/facts.tsx';
import { QueryView } from '../../parts/feedback.tsx';
import { IntegrityCheck } from '../../parts/integrity-check.tsx';
import { List } from '../../parts/list.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { ModeMark, Status, statusText } from '../../parts/status.tsx';
import { ADMINISTRATION_TEXTS as T } from '../../texts/administration.ts';
import { TEXTS } from '../../texts/texts.ts';
import { AuditExport } from './audit-export.tsx';

const listApprovalPoliciesColumns = columnsOf<'listApprovalPolicies'>();
const listAuditRecordsColumns = columnsOf<'listAuditRecords'>();
const listOperatorSessionsColumns = columnsOf<'listOperatorSessions'>();
const listOperatorTokensColumns = columnsOf<'listOperatorTokens'>();
const listOperatorUsersColumns = columnsOf<'listOperatorUsers'>();
const listPlatformsColumns = columnsOf<'listPlatforms'>();

export const Policies = () => (
  <Screen
    title={TEXTS.pages.policies}
    actions={<ActionButton id="createApprovalPolicy" label={T.createPolicy} isPrimary />}
  >
    <p className="sub soft">{T.policies}</p>
    <List
      id="listApprovalPolicies"
      columns={[
        ...listApprovalPoliciesColumns.fields(
          'operationId',
          'platformId',
          'minimum',
          'hours',
          'createdBy',
          'createdAt',
        ),
        listApprovalPoliciesColumns.actions(({ id, operationId }) => (
          <ActionButton
            id="deleteApprovalPolicy"
            label={TEXTS.remove}
            path={{ policyId: id }}
            description={<Facts value={{ id, operationId }} />}
            isDangerous
          />
        )),
      ]}
    />
  </Screen>
);

export const Platforms = () => (
  <Screen
    title={TEXTS.pages.platforms}
    actions={<ActionButton id="createPlatform" label={T.createPlatform} isPrimary />}
  >
    <List
      id="listPlatforms"
      columns={[
        { name: 'name' },
        { name: 'environment', cell: ({ environment }) => <ModeMark mode={environment} /> },
        ...listPlatformsColumns.fields('currencies', 'regulated', 'umaDomain', 'createdAt'),
        ...listPlatformsColumns.hidden('webhookEndpoint', 'sca', 'updatedAt'),
        { name: 'platformId', cell: ({ platformId }) => <code>{platformId}</code>, isHidden: true },
      ]}
      pathOf={pathIn('/platforms', 'platformId')}
    />
  </Screen>
);

export const Platform = () => (
  <Detail
    id="getPlatform"
    parameter="platformId"
    title={T.platform}
    panel={T.settings}
    actions={(platform) => {
      const { platformId, name } = platform;
      const base = { path: { platformId }, description: <Facts value={{ name }} /> };
      return [
        { ...base, id: 'updatePlatform', label: T.change, current: platform, isPrimary: true },
        { ...base, id: 'setPaymentLimit', label: T.setLimit },
        { ...base, id: 'removePaymentLimit', label: T.removeLimit, isDangerous: true },
        { ...base, id: 'updateCardProgram', label: T.changeCardProgram },
        { ...base, id: 'setRequestBodyRetention', label: T.keepBodies },
        { ...base, id: 'refreshPlatformFunding', label: T.refreshFunding },
        { ...base, id: 'recountPaymentMetrics', label: T.recount },
      ];
    }}
  >
    {({ platformId }) => (
      <div className="columns even">
        <Panel title={T.limits}>
          <ReplyFacts id="listPaymentLimits" path={{ platformId }} />
        </Panel>
        <Panel title={T.cardProgram}>
          <ReplyFacts id="getCardProgram" path={{ platformId }} hiddenFields={['platformId']} />
        </Panel>
      </div>
    )}
  </Detail>
);

export const Users = () => (
  <Screen
    title={TEXTS.pages.users}
    actions={<ActionButton id="createOperatorUser" label={T.createUser} isPrimary />}
  >
    <List
      id="listOperatorUsers"
      columns={[
        { name: 'name' },
        ...listOperatorUsersColumns.fields('status', 'roles', 'email', 'createdAt'),
        ...listOperatorUsersColumns.hidden(
          'hasPassword',
          'usesIdentityProvider',
          'createdBy',
          'updatedAt',
          'id',
        ),
        listOperatorUsersColumns.actions(({ id, name, roles, status }) => {
          const base = {
            path: { operatorUserId: id },
            description: <Facts value={{ name, roles, status }} />,
          };
          return (
            <ActionButtons
              actions={[
                { ...base, id: 'updateOperatorUser', label: T.change, initialValues: { roles } },
                { ...base, id: 'recoverOperatorUser', label: T.recover },
              ]}
            />
          );
        }),
      ]}
    />
  </Screen>
);

export const Sessions = () => (
  <Screen title={TEXTS.pages.sessions}>
    <List
      id="listOperatorSessions"
      columns={[
        ...listOperatorSessionsColumns.fields(
          'operatorUserId',
          'status',
          'usedAt',
          'method',
          'address',
          'createdAt',
          'expiresAt',
        ),
        listOperatorSessionsColumns.actions(({ id, operatorUserId, address, status }) =>
          status === 'ACTIVE' ? (
            <ActionButton
              id="endOperatorSession"
              label={T.endSession}
              path={{ operatorSessionId: id }}
              description={<Facts value={{ operatorUserId, id, address }} />}
              isDangerous
            />
          ) : null,
        ),
      ]}
    />
  </Screen>
);

export const OperatorTokens = () => (
  <Screen
    title={TEXTS.pages.operatorTokens}
    actions={<ActionButton id="createOperatorToken" label={T.createToken} isPrimary />}
  >
    <List
      id="listOperatorTokens"
      columns={[
        { name: 'name' },
        ...listOperatorTokensColumns.fields(
          'status',
          'expiresAt',
          'roles',
          'createdBy',
          'createdAt',
        ),
        listOperatorTokensColumns.actions(({ id, name, status }) =>
          status === 'ACTIVE' ? (
            <ActionButton
              id="revokeOperatorToken"
              label={T.revoke}
              path={{ operatorTokenId: id }}
              description={<Facts value={{ id, name }} />}
              isDangerous
            />
          ) : null,
        ),
      ]}
    />
  </Screen>
);

/** Outcomes by which the list can be filtered. */
const OUTCOMES = [
  ...['SUCCEEDED', 'WAITING_FOR_APPROVAL', 'CONFLICT', 'FORBIDDEN'],
  ...['INVALID_INPUT', 'NOT_FOUND', 'UNAUTHORIZED'],
];

/** Label of the outcome of a request. Codes other than the two in the condition are errors. */
const Outcome = ({ value }: { value: string }) =>
  value === 'SUCCEEDED' || value === 'WAITING_FOR_APPROVAL' ? (
    <Status value={value} />
  ) : (
    <span className="status bad" title={value}>
      {T.failed(statusText(value))}
    </span>
  );

export const Audit = () => (
  <Screen title={TEXTS.pages.audit} actions={<AuditExport />}>
    <List
      id="listAuditRecords"
      columns={[
        ...listAuditRecordsColumns.fields('operationId'),
        listAuditRecordsColumns.column('outcome', ({ outcome }) => <Outcome value={outcome} />),
        ...listAuditRecordsColumns.fields('createdAt'),
        { name: 'actor', cell: ({ actor }) => actor.name, text: ({ actor }) => actor.name },
        ...listAuditRecordsColumns.fields('reason', 'subject'),
        ...listAuditRecordsColumns.fields('platformId', 'customerId', 'address'),
        { name: 'number', isNumber: true },
        ...listAuditRecordsColumns.hidden('requestId', 'hasChanges', 'hash', 'previousHash', 'id'),
      ]}
      filters={[
        { name: 'operationId', kind: 'operation' },
        { name: 'outcome', values: OUTCOMES },
        ...[{ name: 'subject' }, { name: 'actorId' }],
        ...([
          { name: 'createdAfter', label: 'From', kind: 'day' },
          { name: 'createdBefore', label: 'Until', kind: 'day' },
        ] as const),
      ]}
      pathOf={pathIn('/audit', 'id')}
    />
    <IntegrityCheck
      id="verifyAuditRecords"
      title={T.verification}
      text={T.verifyText}
      label={T.verify}
    />
  </Screen>
);

export function AuditChanges() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useReply('getAuditRecordChanges', { path: { auditRecordId: id } });
  return (
    <Screen title={T.auditRecord}>
      <Panel title={T.changes}>
        <QueryView query={query}>
          {(reply) => <Facts value={reply as Record<string, unknown>} />}
        </QueryView>
      </Panel>
    </Screen>
  );
}
