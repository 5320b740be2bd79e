// Tables of approval policies and requested changes.
import { Fault } from '../../../kernel/fault.ts';
import { stateTable } from '../../../kernel/states.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';

export const approvalPolicies = table('operator_approval_policies', {
  id: col.text,
  operation_id: col.text,
  platform_id: col.text.null,
  currency: col.text.null,
  amount: col.int8.null,
  hours: col.int4,
  created_by: col.text,
  created_at: col.time,
  updated_at: col.time,
  version: col.int4,
});

export type PolicyRow = RowOf<typeof approvalPolicies>;

type StoredStatus = 'PENDING' | 'APPROVED' | 'REJECTED';

/** A change that was not decided in time remains PENDING and is shown as EXPIRED. */
export const approvalStates = stateTable<StoredStatus, 'approve' | 'reject'>('operator approval', {
  PENDING: { approve: 'APPROVED', reject: 'REJECTED' },
  APPROVED: {},
  REJECTED: {},
});

const COLUMNS = {
  id: col.text,
  operation_id: col.text,
  /** ID of the resource in the request. */
  subject: col.text.null,
  /**
   * Uniqueness key of the change. Null after the decision, or after a later request replaced it.
   */
  change_key: col.text.null.mut,
  platform_id: col.text.null,
  customer_id: col.text.null,
  request: col.text,
  changes: col.text,
  digest: col.text,
  policy_id: col.text,
  status: col.enum<StoredStatus>().mut,
  requested_by: col.text,
  requester_name: col.text,
  requester_person_id: col.text,
  reason: col.text.null,
  decided_by: col.text.null.mut,
  decider_name: col.text.null.mut,
  decision_reason: col.text.null.mut,
  expires_at: col.time,
  created_at: col.time,
  updated_at: col.time.mut,
  version: col.int4,
};

const CHANGE_KEY = 'operator_approvals_change_key';

export const approvals = table('operator_approvals', COLUMNS, {
  // The second of two concurrent requests is executed again, so that it reads the first one.
  contendedKeys: [CHANGE_KEY],
  unique: {
    [CHANGE_KEY]: () => new Fault('CONFLICT', 'An approval of the same change is already pending.'),
  },
  lifecycles: [{ state: (row) => row.status, states: approvalStates }],
});

export type ApprovalRow = RowOf<typeof approvals>;
