// Pending approvals, shown at the resources that they would change.
import { Link } from '@tanstack/react-router';
import type { Item, Query } from '../api/client.ts';
import { useReply } from '../api/queries.ts';
import { usePermits } from '../api/session.tsx';
import { usePlatform } from '../shell/platform.tsx';
import { TEXTS } from '../texts/texts.ts';
import { operationText } from './operation-name.tsx';
import { pathOf } from './paths.ts';
import { Time } from './time.tsx';

type Approval = Item<'listApprovals'>;

function usePendingApprovals(query: Query<'listApprovals'>): readonly Approval[] {
  const permits = usePermits();
  const { platformId } = usePlatform();
  const { data } = useReply(
    'listApprovals',
    { query: { status: 'PENDING', ...(platformId && { platformId }), ...query } },
    { enabled: permits('listApprovals') },
  );
  // The filter PENDING of the operation includes expired and invalid approvals.
  return (data?.data ?? []).filter(({ status }) => status === 'PENDING');
}

/** Only the newest approvals are read. The screen of a resource also shows older approvals. */
const NEWEST_APPROVALS = { limit: 100 };

/** The pending approval of a change, if there is one. */
export function usePendingApproval(
  operationId: string,
  subject: string | undefined,
): Approval | undefined {
  const approvals = usePendingApprovals(NEWEST_APPROVALS);
  if (subject === undefined) return undefined;
  return approvals.find((each) => each.subject === subject && each.operationId === operationId);
}

/** Link to a pending approval, in place of the button of the change. */
export const ApprovalLink = ({ id, label }: { id: string; label: string }) => (
  <Link to={pathOf(id) ?? '/approvals'} className="status caution">
    {TEXTS.waiting.of(label)}
  </Link>
);

/** Shows the pending approvals at the top of the screen of a resource. */
export function ApprovalNotice({ subject }: { subject: string }) {
  const approvals = usePendingApprovals({ subject });
  return approvals.map(({ id, operationId, requestedBy, createdAt }) => (
    <p key={id} className="notice" role="status">
      <strong>{TEXTS.waiting.title}</strong>{' '}
      {TEXTS.waiting.text(operationText(operationId), requestedBy.name)} <Time value={createdAt} />{' '}
      <Link to={pathOf(id) ?? '/approvals'}>{TEXTS.waiting.open}</Link>
    </p>
  ));
}
