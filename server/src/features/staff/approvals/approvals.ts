// Changes that require the approval of a second operator. The request is stored with the digest and
// a description of its change set, without a commit of the change. On approval the change is
// prepared again, and an identical change set is committed together with the decision. If the
// change set differs, the change must be requested again.
import type { Operator } from '../../../kernel/caller.ts';
import { canonical } from '../../../kernel/crypto/canonical.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId, newId } from '../../../kernel/id.ts';
import type { ChangeSet, RowVersion } from '../../../runtime/committer/change-set.ts';
import { equals, type Filter } from '../../../runtime/db/database.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import type { SealedColumn } from '../../../runtime/security/sealed-columns.ts';
import { INSTALLATION } from '../../tenancy/platform/index.ts';
import {
  type Changes,
  type CommitCheck,
  changesOf,
  changesText,
  openFor,
  ownersOf,
  sealFor,
} from '../audit/index.ts';
import { digestOf } from './digest.ts';
import { matchingPolicy } from './policies.ts';
import { type ApprovalRow, approvalStates, approvals, type PolicyRow } from './store.ts';

const HOUR_MS = 3_600_000;
const APPROVAL_NEEDED = 'ApprovalNeeded';

/** A change that must be approved, and the policy that requires it. */
export interface NeededApproval extends Error {
  set: ChangeSet;
  policy: Pick<PolicyRow, 'id' | 'hours'>;
}

/** The policy of operations that always require approval. */
const BUILT_IN_POLICY = { id: 'built-in', hours: 24 };

export const isApprovalNeeded = (error: unknown): error is NeededApproval =>
  error instanceof Error && error.name === APPROVAL_NEEDED;

/**
 * Prevents the commit of a change to which a policy applies, or of each change if
 * `isAlwaysRequired` is true.
 */
export const requirePolicies =
  ({ db }: Pick<Runtime, 'db'>, operationId: string, isAlwaysRequired = false): CommitCheck =>
  async (set, commits) => {
    const policy =
      (await matchingPolicy(db, operationId, set)) ??
      (isAlwaysRequired ? BUILT_IN_POLICY : undefined);
    if (!policy) return set;
    // An earlier part of the request is committed already, so the remaining changes cannot be
    // deferred.
    if (commits > 0) {
      throw new Fault(
        'CONFLICT',
        'The remaining part of the change requires approval and was not executed. Request this part ' +
          'separately.',
      );
    }
    throw Object.assign(new Error('approval needed'), { name: APPROVAL_NEEDED, set, policy });
  };

/** Input of the requested operation. */
interface RequestedInput {
  params: unknown;
  query: unknown;
  body: unknown;
}

export type ApprovalStatus = 'PENDING' | 'APPROVED' | 'REJECTED' | 'EXPIRED' | 'INVALID';

/**
 * Whether the requester of a change still has the required rights, and the rows that determine
 * them.
 */
interface RequesterRights {
  mayRequest: boolean;
  rows: RowVersion[];
}

/** Reads the current rights of a requester for one operation on one platform. */
export type RightsOfRequester = (
  reader: Reader,
  request: { requestedBy: string; operationId: string; platformId: string | null },
) => Promise<RequesterRights>;

interface Status {
  status: ApprovalStatus;
  /** Rows that the rights of the requester depend on. */
  rows: RowVersion[];
}

/**
 * The current status. Only the status of a pending change depends on the rights of its requester.
 */
async function statusOf(
  reader: Reader,
  row: ApprovalRow,
  now: Time,
  rightsOf: RightsOfRequester,
): Promise<Status> {
  if (row.status !== 'PENDING') return { status: row.status, rows: [] };
  if (row.expires_at <= now) return { status: 'EXPIRED', rows: [] };
  const { requested_by: requestedBy, operation_id: operationId, platform_id: platformId } = row;
  const { mayRequest, rows } = await rightsOf(reader, { requestedBy, operationId, platformId });
  return { status: mayRequest ? 'PENDING' : 'INVALID', rows };
}

const presentApproval = (row: ApprovalRow, status: ApprovalStatus) => ({
  id: row.id,
  operationId: row.operation_id,
  ...(row.subject === null ? {} : { subject: row.subject }),
  status,
  ...(row.platform_id === null ? {} : { platformId: row.platform_id }),
  ...(row.customer_id === null ? {} : { customerId: row.customer_id }),
  policyId: row.policy_id,
  requestedBy: { id: row.requested_by, name: row.requester_name },
  ...(row.reason === null ? {} : { reason: row.reason }),
  ...(row.decided_by === null
    ? {}
    : { decidedBy: { id: row.decided_by, name: row.decider_name ?? '' } }),
  ...(row.decision_reason === null ? {} : { decisionReason: row.decision_reason }),
  expiresAt: iso(row.expires_at),
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

export type Approval = ReturnType<typeof presentApproval>;

const contextOf = (id: string, column: string) => `operator_approvals ${id} ${column}`;

export const sealedApprovalColumns = ['request', 'changes'].map(
  (column): SealedColumn => ({
    table: 'operator_approvals',
    column,
    contexts: (id) => [contextOf(id, column)],
    // Changes of a customer are sealed under the customer's key and have another prefix.
    prefix: 'O',
  }),
);

interface ApprovalRequest {
  operator: Operator;
  operationId: string;
  /** ID of the resource in the request. */
  subject: string | undefined;
  input: RequestedInput;
  reason: string | undefined;
  requiredApproval: NeededApproval;
}

/** The fields of a request, without its reason. */
function fieldsOf({ params, query, body }: RequestedInput): Record<string, unknown> {
  const { reason: _, ...fields } = { ...(params ?? {}), ...(query ?? {}), ...(body ?? {}) } as {
    reason?: unknown;
  };
  return fields;
}

/**
 * Uniqueness key of a change. Changes by one operation that update or remove the same subject have
 * the same key, because the execution of one invalidates the other. For all other changes the key
 * depends on the input.
 */
function changeKeyOf(
  { vault }: Pick<Runtime, 'vault'>,
  { operationId, subject, input, requiredApproval: { set } }: ApprovalRequest,
): string {
  const isOfSubject = [...set.updates, ...set.removes].some(({ id }) => id === subject);
  const change = isOfSubject ? subject : fieldsOf(input);
  return vault.digest('requested change', canonical([operationId, change]));
}

/**
 * Throws CONFLICT if the same change is pending. Requests that can no longer be approved lose their
 * key.
 */
async function assertNotRequested(
  ctx: Ctx,
  changeKey: string,
  rightsOf: RightsOfRequester,
): Promise<void> {
  const [earlierApproval] = await ctx.db.find(approvals, { change_key: changeKey });
  if (!earlierApproval) return;
  const { status } = await statusOf(ctx, earlierApproval, ctx.now, rightsOf);
  if (status === 'PENDING') {
    const { id: approvalId, requester_name: requester } = earlierApproval;
    throw new Fault(
      'CONFLICT',
      `Approval ${approvalId}, requested by ${requester}, is already pending for the same change. ` +
        'Approve or reject it first.',
      { approvalId },
    );
  }
  ctx.update(approvals, earlierApproval, { change_key: null });
}

/**
 * Stores a change that requires approval. Throws CONFLICT if the same change is already pending.
 */
export async function requestApproval(
  runtime: Runtime,
  rightsOf: RightsOfRequester,
  requestedChange: ApprovalRequest,
): Promise<Approval> {
  const { operator, operationId, subject, input, reason } = requestedChange;
  const { set, policy } = requestedChange.requiredApproval;
  const { platformId, customerId } = ownersOf(set);
  const changeKey = changeKeyOf(runtime, requestedChange);
  const id = newId(runtime.effects, 'Approval');
  const [request, changes] = await Promise.all([
    sealFor(runtime, customerId, JSON.stringify(input), contextOf(id, 'request')),
    sealFor(runtime, customerId, changesText(changesOf(set)), contextOf(id, 'changes')),
  ]);
  return operate(runtime, INSTALLATION, async (ctx) => {
    await assertNotRequested(ctx, changeKey, rightsOf);
    const row = ctx.insert(approvals, {
      id,
      operation_id: operationId,
      subject: subject ?? null,
      change_key: changeKey,
      platform_id: platformId ?? null,
      customer_id: customerId ?? null,
      request,
      changes,
      digest: digestOf(set),
      policy_id: policy.id,
      status: 'PENDING',
      requested_by: operator.id,
      requester_name: operator.name,
      requester_person_id: operator.personId,
      reason: reason ?? null,
      expires_at: ctx.now + policy.hours * HOUR_MS,
      created_at: ctx.now,
      updated_at: ctx.now,
    });
    return presentApproval(row, row.status);
  });
}

async function approvalRow(
  { read }: Pick<Ctx, 'read'>,
  { platformIds }: Pick<Operator, 'platformIds'>,
  id: string,
): Promise<ApprovalRow> {
  const row = isId(id, 'Approval') ? await read(approvals, id) : undefined;
  const isVisible = platformIds === null || platformIds.includes(row?.platform_id ?? '');
  if (!row || !isVisible) throw new Fault('NOT_FOUND', 'Approval not found.');
  return row;
}

/** A page of approvals, newest first. */
export async function listApprovals(
  { db, effects }: Pick<Runtime, 'db' | 'effects'>,
  rightsOf: RightsOfRequester,
  { platformIds }: Pick<Operator, 'platformIds'>,
  query: {
    status?: 'PENDING' | 'APPROVED' | 'REJECTED' | undefined;
    subject?: string | undefined;
    platformId?: string | undefined;
    limit?: number;
    cursor?: string;
  },
) {
  const { status, subject, platformId, limit = 20, cursor } = query;
  const filters: Filter<typeof approvals>[] = equals({ status, subject, platform_id: platformId });
  if (platformIds) filters.push({ column: 'platform_id', op: 'in', value: [...platformIds] });
  const { rows, ...rest } = await db.page(approvals, { filters, sort: 'desc', limit, cursor });
  const now = effects.now();
  const data = rows.map(async (row) =>
    presentApproval(row, (await statusOf(db, row, now, rightsOf)).status),
  );
  return { data: await Promise.all(data), ...rest };
}

/** An approval with its input and changes, which are absent after an erasure of the customer. */
export async function approvalDetails(
  runtime: Runtime,
  rightsOf: RightsOfRequester,
  operator: Operator,
  id: string,
) {
  const row = await approvalRow(runtime.db, operator, id);
  const openColumn = (column: 'request' | 'changes') =>
    openFor(runtime, row.customer_id, row[column], contextOf(id, column));
  const [request, changes] = await Promise.all([openColumn('request'), openColumn('changes')]);
  const { status } = await statusOf(runtime.db, row, runtime.effects.now(), rightsOf);
  return {
    ...presentApproval(row, status),
    ...(request === undefined ? {} : { input: fieldsOf(JSON.parse(request) as RequestedInput) }),
    ...(changes === undefined ? {} : { changes: JSON.parse(changes) as Changes }),
  };
}

const undecidableFault = (status: ApprovalStatus): Fault =>
  new Fault(
    'CONFLICT',
    status === 'INVALID'
      ? 'The approval is INVALID, because its requester has lost the permission. Request the ' +
          'change again.'
      : `The approval is ${status} and can no longer be decided. Request the change again if it is ` +
          'still necessary.',
  );

function assertNotRequester(row: ApprovalRow, { personId }: Operator): void {
  if (row.requester_person_id === personId) {
    throw new Fault(
      'FORBIDDEN',
      'The requester of a change cannot decide about the change. Another operator must decide.',
    );
  }
}

/**
 * Throws if this operator cannot approve this change now. Returns the rows on which the check
 * depends.
 */
async function assertApprovable(
  reader: Reader,
  row: ApprovalRow,
  { operator, rightsOf }: Approver,
  now: Time,
): Promise<RowVersion[]> {
  assertNotRequester(row, operator);
  const { status, rows } = await statusOf(reader, row, now, rightsOf);
  if (status !== 'PENDING') throw undecidableFault(status);
  return rows;
}

export interface Decision {
  operator: Operator;
  reason: string;
}

interface Approver {
  operator: Operator;
  rightsOf: RightsOfRequester;
}

const decisionPatch = (
  event: 'approve' | 'reject',
  row: ApprovalRow,
  { operator, reason }: Decision,
  now: Time,
) => ({
  status: approvalStates.next(row.status, event),
  change_key: null,
  decided_by: operator.id,
  decider_name: operator.name,
  decision_reason: reason,
  updated_at: now,
});

/**
 * Rejects a change, even if the requester has lost the required rights. Throws NOT_FOUND, FORBIDDEN
 * and CONFLICT.
 */
export const rejectApproval = (runtime: Runtime, id: string, decision: Decision) =>
  operate(runtime, INSTALLATION, async (ctx) => {
    const row = await approvalRow(ctx, decision.operator, id);
    assertNotRequester(row, decision.operator);
    if (row.status !== 'PENDING') throw undecidableFault(row.status);
    if (row.expires_at <= ctx.now) throw undecidableFault('EXPIRED');
    const patch = decisionPatch('reject', row, decision, ctx.now);
    const rejectedApproval = ctx.update(approvals, row, patch);
    return presentApproval(rejectedApproval, rejectedApproval.status);
  });

/** Adds rows that must be unchanged at the commit. Rows of the change set are always checked. */
function withRequiredRows(set: ChangeSet, rows: readonly RowVersion[]): ChangeSet {
  const changedIds = new Set([...set.updates, ...set.removes].map(({ id }) => id));
  return { ...set, requires: [...set.requires, ...rows.filter(({ id }) => !changedIds.has(id))] };
}

/** An approved change: its operation, its input, and the check of its commit. */
export interface ApprovedChange {
  operationId: string;
  input: RequestedInput;
  requestedBy: string;
  /**
   * Adds the decision to the change set. Throws CONFLICT if the change differs from the approved
   * one.
   */
  check: CommitCheck;
}

const CUSTOMER_ERASED = 'The customer of this change was erased. Reject the approval.';

/** Prepares the execution of a change. Throws NOT_FOUND, FORBIDDEN and CONFLICT. */
export async function prepareApproved(
  runtime: Runtime,
  id: string,
  decision: Decision & Approver,
): Promise<ApprovedChange> {
  const { operator } = decision;
  const row = await approvalRow(runtime.db, operator, id);
  await assertApprovable(runtime.db, row, decision, runtime.effects.now());
  const openedRequest = await openFor(
    runtime,
    row.customer_id,
    row.request,
    contextOf(id, 'request'),
  );
  if (openedRequest === undefined) throw new Fault('CONFLICT', CUSTOMER_ERASED);
  return {
    operationId: row.operation_id,
    input: JSON.parse(openedRequest) as RequestedInput,
    requestedBy: row.requested_by,
    async check(set, commits) {
      if (commits > 0) return set;
      // Another operator may have decided concurrently.
      const currentRow = await approvalRow(runtime.db, operator, id);
      const now = runtime.effects.now();
      const requires = await assertApprovable(runtime.db, currentRow, decision, now);
      if (digestOf(set) !== currentRow.digest) {
        throw new Fault(
          'CONFLICT',
          'The state has changed since the request. Request the change again.',
        );
      }
      const patch = decisionPatch('approve', currentRow, decision, now);
      const update = {
        ...{ table: approvals, id, version: currentRow.version, previousRow: currentRow },
        row: { ...currentRow, ...patch },
        changedColumns: new Set(Object.keys(patch)),
      };
      return withRequiredRows({ ...set, updates: [...set.updates, update] }, requires);
    },
  };
}
