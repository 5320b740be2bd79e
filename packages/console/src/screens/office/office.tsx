// Approvals, platforms, users, tokens and the audit log.
import { useParams } from '@tanstack/react-router';
import { ActionButton, ActionButtons } from '../../action/action.tsx';
import { useReply } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { columnsOf, placeIn } from '../../parts/columns.tsx';
import { Detail, ReplyFacts } from '../../parts/detail.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Loaded } from '../../parts/feedback.tsx';
import { IntegrityCheck } from '../../parts/integrity-check.tsx';
import { List } from '../../parts/list.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { ModeMark } from '../../parts/status.tsx';
import { OFFICE_TEXTS as T } from '../../texts/office.ts';
import { TEXTS } from '../../texts/texts.ts';

const listApprovalPoliciesColumns = columnsOf<'listApprovalPolicies'>();
const listApprovalsColumns = columnsOf<'listApprovals'>();
const listAuditRecordsColumns = columnsOf<'listAuditRecords'>();
const listOperatorSessionsColumns = columnsOf<'listOperatorSessions'>();
const listOperatorTokensColumns = columnsOf<'listOperatorTokens'>();
const listOperatorUsersColumns = columnsOf<'listOperatorUsers'>();
const listPlatformsColumns = columnsOf<'listPlatforms'>();

const nameOf = (person: { name: string } | undefined) => person?.name ?? TEXTS.none;

export const Approvals = () => (
  <Screen title={TEXTS.pages.approvals}>
    <p className="sub soft">{T.approvals}</p>
    <List
      id="listApprovals"
      columns={[
        ...listApprovalsColumns.fields('createdAt', 'status'),
        { name: 'operationId' },
        { name: 'requestedBy', cell: ({ requestedBy }) => nameOf(requestedBy) },
        ...listApprovalsColumns.fields('reason', 'platformId', 'expiresAt'),
        { name: 'decidedBy', cell: ({ decidedBy }) => nameOf(decidedBy) },
        ...listApprovalsColumns.hidden('decisionReason', 'customerId', 'id'),
      ]}
      filters={[{ name: 'status' }]}
      placeOf={placeIn('/approvals', 'id')}
      empty={T.noApprovals}
    />
  </Screen>
);

export function Approval() {
  const { user } = useSession();
  return (
    <Detail
      id="getApproval"
      parameter="approvalId"
      title={T.approval}
      panel={T.request}
      status={({ status }) => status}
      without={['changes']}
      actions={({ id, status, operationId, requestedBy }) => {
        const isOwn = requestedBy.id === user.id;
        if (status !== 'PENDING' || isOwn) return [];
        const facts = <Facts value={{ operationId, requestedBy: requestedBy.name }} />;
        const base = { path: { approvalId: id }, about: facts };
        return [
          { ...base, id: 'approveChange', label: T.approve, isPrimary: true },
          { ...base, id: 'rejectChange', label: T.reject, isDangerous: true },
        ];
      }}
    >
      {(reply) => {
        const { changes } = reply as { changes?: Record<string, unknown> };
        return (
          <Panel title={T.changes}>
            {changes ? <Facts value={changes} /> : <p className="empty">{T.noChanges}</p>}
          </Panel>
        );
      }}
    </Detail>
  );
}

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
            about={<Facts value={{ id, operationId }} />}
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
      placeOf={placeIn('/platforms', 'platformId')}
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
      const base = { path: { platformId }, about: <Facts value={{ name }} /> };
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
          <ReplyFacts id="getCardProgram" path={{ platformId }} without={['platformId']} />
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
        ...listOperatorUsersColumns.fields('email', 'roles', 'status', 'createdAt'),
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
            about: <Facts value={{ name, roles, status }} />,
          };
          return (
            <ActionButtons
              actions={[
                { ...base, id: 'updateOperatorUser', label: T.change, initial: { roles } },
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
          'usedAt',
          'operatorUserId',
          'method',
          'status',
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
              about={<Facts value={{ operatorUserId, id, address }} />}
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
          'roles',
          'status',
          'createdBy',
          'createdAt',
          'expiresAt',
        ),
        listOperatorTokensColumns.actions(({ id, name }) => (
          <ActionButton
            id="revokeOperatorToken"
            label={T.revoke}
            path={{ operatorTokenId: id }}
            about={<Facts value={{ id, name }} />}
            isDangerous
          />
        )),
      ]}
    />
  </Screen>
);

export const Audit = () => (
  <Screen title={TEXTS.pages.audit}>
    <List
      id="listAuditRecords"
      columns={[
        { name: 'number', isNumber: true },
        ...listAuditRecordsColumns.fields('createdAt'),
        { name: 'actor', cell: ({ actor }) => actor.name, text: ({ actor }) => actor.name },
        { name: 'operationId' },
        ...listAuditRecordsColumns.fields(
          'subject',
          'reason',
          'platformId',
          'customerId',
          'address',
        ),
        ...listAuditRecordsColumns.hidden('requestId', 'hasChanges', 'hash', 'previousHash', 'id'),
      ]}
      filters={[
        ...[{ name: 'operationId' }, { name: 'subject' }, { name: 'actorId' }],
        ...([
          { name: 'createdAfter', label: 'From', kind: 'day' },
          { name: 'createdBefore', label: 'Until', kind: 'day' },
        ] as const),
      ]}
      placeOf={placeIn('/audit', 'id')}
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
        <Loaded query={query}>
          {(reply) => <Facts value={reply as Record<string, unknown>} />}
        </Loaded>
      </Panel>
    </Screen>
  );
}
