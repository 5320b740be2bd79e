// Approvals: the queue, and one requested change with its description and values.
import { Link, useParams } from '@tanstack/react-router';
import { ActionButtons } from '../../action/action.tsx';
import type { Action } from '../../action/types.ts';
import type { Reply } from '../../api/client.ts';
import { useReply } from '../../api/queries.ts';
import { usePermits, useSession } from '../../api/session.tsx';
import { amountsOf, type Changes, ChangeView, largestOf } from '../../parts/change-view.tsx';
import { columnsOf, pathIn } from '../../parts/columns.tsx';
import { Facts } from '../../parts/facts.tsx';
import { QueryView } from '../../parts/feedback.tsx';
import { Identifier, shortId } from '../../parts/identifier.tsx';
import { List } from '../../parts/list.tsx';
import { Amount, type Money } from '../../parts/money.tsx';
import { OperationName, operationText } from '../../parts/operation-name.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { kindOf, pathOf } from '../../parts/paths.ts';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { usePlatform } from '../../shell/platform.tsx';
import { ADMINISTRATION_TEXTS as T } from '../../texts/administration.ts';
import { lowerFirst } from '../../texts/fields.ts';
import { TEXTS } from '../../texts/texts.ts';

const columns = columnsOf<'listApprovals'>();

const nameOf = (person: { name: string } | undefined) => person?.name ?? TEXTS.none;

export const Approvals = () => (
  <Screen title={TEXTS.pages.approvals}>
    <p className="sub soft">{T.approvals}</p>
    <List
      id="listApprovals"
      columns={[
        columns.column(
          'operationId',
          ({ operationId }) => operationText(operationId),
          ({ operationId }) => operationText(operationId),
        ),
        ...columns.fields('subject', 'status'),
        {
          name: 'requestedBy',
          cell: ({ requestedBy }) => nameOf(requestedBy),
          text: ({ requestedBy }) => nameOf(requestedBy),
        },
        ...columns.fields('reason', 'createdAt', 'expiresAt', 'platformId'),
        {
          name: 'decidedBy',
          cell: ({ decidedBy }) => nameOf(decidedBy),
          text: ({ decidedBy }) => nameOf(decidedBy),
        },
        ...columns.hidden('decisionReason', 'customerId', 'id'),
      ]}
      filters={[{ name: 'status' }]}
      pathOf={pathIn('/approvals', 'id')}
      emptyText={T.noApprovals}
    />
  </Screen>
);

type Approval = Reply<'getApproval'>;

/** Amount of the payment that a change concerns. */
function usePaymentAmount(subject: string | undefined): Money | undefined {
  const permits = usePermits();
  const isPayment = subject?.startsWith('Transaction:') ?? false;
  const { data } = useReply(
    'getPayment',
    { path: { transactionId: subject ?? '' } },
    { enabled: isPayment && permits('getPayment') },
  );
  return isPayment ? (data?.sentAmount ?? data?.receivedAmount ?? undefined) : undefined;
}

/** The entered amount, or the amount of the largest posting if no amount was entered. */
function amountOf({ input, changes }: Approval): Money | undefined {
  const { amount, currency } = input ?? {};
  if (typeof amount === 'number' && typeof currency === 'string') return { amount, currency };
  return changes && largestOf(amountsOf(changes));
}

/** Resource of a change, with a link to its screen. */
function Subject({ id }: { id: string }) {
  const { platforms } = usePlatform();
  const path = pathOf(id);
  const name = platforms.find((each) => each.id === id)?.name ?? shortId(id).split(':').at(-1);
  const text = `${kindOf(id)} ${name}`.trim();
  return path ? (
    <Link to={path} title={id}>
      {text}
    </Link>
  ) : (
    <span title={id}>{text}</span>
  );
}

/** A sentence with the requester and the change. */
function Request({ approval }: { approval: Approval }) {
  const { operationId, subject, status, requestedBy } = approval;
  const paymentAmount = usePaymentAmount(subject);
  const amount = amountOf(approval) ?? paymentAmount;
  return (
    <p className="lead">
      <strong>{requestedBy.name}</strong>{' '}
      {status === 'PENDING' ? T.pendingRequest : T.closedRequest}{' '}
      <strong>{lowerFirst(operationText(operationId))}</strong>
      {subject && (
        <>
          : <Subject id={subject} />
        </>
      )}
      {amount && (
        <>
          {' '}
          {T.of} <Amount value={amount} />
        </>
      )}
      .
    </p>
  );
}

/** The decision, with its operator and reason. */
const Decision = ({ decidedBy, decisionReason, status, updatedAt }: Approval) =>
  decidedBy && (
    <p>
      <strong>{decidedBy.name}</strong> {status === 'APPROVED' ? T.approvedIt : T.rejectedIt}{' '}
      <Time value={updatedAt} />
      {decisionReason && `: ${decisionReason}`}
    </p>
  );

/** The entered values, without the resource that the sentence already names. */
const enteredValuesOf = ({ input = {}, subject }: Approval) =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== subject));

function Content({ approval }: { approval: Approval }) {
  const { changes, subject, reason, operationId, platformId, customerId } = approval;
  const { createdAt, expiresAt, policyId, id } = approval;
  return (
    <>
      <section className="panel">
        <Request approval={approval} />
        <Decision {...approval} />
        <Facts
          value={{
            ...enteredValuesOf(approval),
            reason,
            platformId,
            customerId,
            createdAt,
            expiresAt,
          }}
        />
      </section>
      <Panel title={T.changes}>
        {changes ? (
          <ChangeView changes={changes as unknown as Changes} subject={subject} />
        ) : (
          <p className="empty">{T.noChanges}</p>
        )}
        <details className="record">
          <summary>{T.details}</summary>
          <p>
            <OperationName id={operationId} />
          </p>
          <Facts value={{ id, policyId, ...changes }} />
        </details>
      </Panel>
    </>
  );
}

export function Approval() {
  const { user } = useSession();
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useReply('getApproval', { path: { approvalId: id } });
  const actionsOf = ({ status, operationId, requestedBy, subject }: Approval): Action[] => {
    if (status !== 'PENDING' || requestedBy.id === user.id) return [];
    const facts = { operationId, ...(subject && { subject }), requestedBy: requestedBy.name };
    const base = { path: { approvalId: id }, description: <Facts value={facts} /> };
    return [
      { ...base, id: 'approveChange', label: T.approve, isPrimary: true },
      { ...base, id: 'rejectChange', label: T.reject, isDangerous: true },
    ];
  };
  return (
    <QueryView query={query} title={T.approval} lines={8}>
      {(approval) => (
        <Screen
          title={T.approval}
          mark={<Status value={approval.status} />}
          platformId={approval.platformId}
          actions={<ActionButtons actions={actionsOf(approval)} />}
        >
          <p className="sub">
            <Identifier id={id} />
          </p>
          {approval.status === 'PENDING' && approval.requestedBy.id === user.id && (
            <p className="soft">{T.ownApproval}</p>
          )}
          <Content approval={approval} />
        </Screen>
      )}
    </QueryView>
  );
}
